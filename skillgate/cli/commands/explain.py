"""Explain a rule, a dimension, the grades, badges or penalty, or one dimension of a report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.cli.options import house_pages, style_of
from skillgate.errors import UsageError
from skillgate.format import did_you_mean
from skillgate.model.score import Badge, Dimension, Grade
from skillgate.report import rules
from skillgate.static.catalogue import check_pages, pages

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from skillgate.console import Console

POSITION = 4
GROUP = "everyday"
_TABLES: dict[str, Callable[[], str]] = {
    "grades": rules.grades_markdown,
    "badges": rules.badges_markdown,
    "penalty": rules.penalty_markdown,
}

_ALIASES = {badge.value.lower(): "badges" for badge in Badge} | {grade.value.lower(): "grades" for grade in Grade}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the topics."""
    parser.add_argument("topic", metavar="ID", help="a rule's id, a dimension, grades, badges or penalty")
    parser.add_argument("--report", metavar="FILE", help="explain a score of this report; then ID is a skill in it")
    parser.add_argument("dimension", metavar="DIMENSION", nargs="?", help="with --report: the dimension")


def run(args: argparse.Namespace, session: Console) -> int:
    """Print one page."""
    text = _of_report(args, session) if args.report is not None else _page(args.topic, session)
    if args.report is None and args.dimension is not None:
        raise UsageError(
            f"explain takes one topic; to explain a score use explain --report FILE {args.topic} DIMENSION"
        )
    if session.json:
        import json

        text = json.dumps({"topic": args.topic, "markdown": text}, ensure_ascii=False, indent=2)
    elif args.report is None and session.stdout.isatty():
        from skillgate.cli.markdown_text import markdown_text

        text = markdown_text(text, style_of(session))
    session.out(text)
    return 0


def _of_report(args: argparse.Namespace, session: Console) -> str:
    """Explain one dimension of one skill from a report."""
    if args.dimension is None:
        raise UsageError("explain --report FILE needs a skill and a dimension")
    from skillgate.evaluation.request import read_whole
    from skillgate.judge.questions import anchors
    from skillgate.model.report import Report
    from skillgate.model.single_report import SingleReport
    from skillgate.report.explain_report import explain
    from skillgate.report.json import read

    text = read_whole(os.path.join(session.cwd, args.report), args.report, "the report")  # noqa: PTH118
    document = read(text, source=args.report)
    if not isinstance(document, Report | SingleReport):
        raise UsageError(f"{args.report} is not a score report; write one with: skillgate score --output json")
    return explain(document, args.topic, args.dimension, anchors=anchors, markdown=session.json)


def _anchors(dimension: Dimension) -> str:
    """Return the rating scale that judges get."""
    from skillgate.judge.questions import anchors  # only where a dimension is explained

    rows = [f"| {low:.2f}–{high:.2f} | {text} |" for low, high, text in anchors(dimension)]
    return "\n".join(["", "The judge's rating scale (standard depth):", "", "| score | |", "|---|---|", *rows, ""])


def _page(topic: str, session: Console) -> str:
    table = _ALIASES.get(topic.lower(), topic.lower())
    if table in _TABLES:
        return _TABLES[table]()
    found = {page.rule.id: page for page in pages()}
    identifier = topic.upper().replace("-", "_")
    if identifier in found:
        return rules.page_markdown(found[identifier])
    checks = {page.check.dimension: page for page in check_pages()}
    names = {dimension.value: dimension for dimension in Dimension} | {
        page.name: dimension for dimension, page in checks.items()
    }
    name = topic.lower().replace("-", "_")
    if name in names:
        return rules.dimension_markdown(names[name], checks.get(names[name])) + _anchors(names[name])
    house = {page.rule.id: page for page in house_pages(session)}  # runs their code: only for what is none of ours
    if identifier in house:
        return rules.page_markdown(house[identifier])
    found |= house
    known = [*found, *names, *_TABLES]
    near = did_you_mean(identifier, found) or did_you_mean(name, known)
    raise UsageError(
        f"unknown topic {topic!r}{near}; name a rule (run skillgate rules to list them), a"
        " dimension, a sub-check, grades, badges or penalty"
    )
