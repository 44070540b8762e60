"""Explain a rule, a dimension, the grades, the badges or the penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.score import Badge, Dimension, Grade
from skillgate.model.text import did_you_mean
from skillgate.report import rules
from skillgate.static.catalogue import check_pages, pages

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from skillgate.cli.session import Session

_TABLES: dict[str, Callable[[], str]] = {
    "grades": rules.grades_markdown,
    "badges": rules.badges_markdown,
    "penalty": rules.penalty_markdown,
}

_ALIASES = {badge.value.lower(): "badges" for badge in Badge} | {grade.value.lower(): "grades" for grade in Grade}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be asked for."""
    parser.add_argument("topic", metavar="ID", help="a rule's id, a dimension, grades, badges or penalty")


def run(args: argparse.Namespace, session: Session) -> int:
    """Print one page."""
    text = _page(args.topic)
    if session.json:
        import json

        text = json.dumps({"topic": args.topic, "markdown": text}, ensure_ascii=False, indent=2)
    session.out(text)
    return 0


def _page(topic: str) -> str:
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
        return rules.dimension_markdown(names[name], checks.get(names[name]))
    known = [*found, *names, *_TABLES]
    near = did_you_mean(identifier, found) or did_you_mean(name, known)
    raise UsageError(
        f"nothing is called {topic!r}{near}; explain takes a rule (skillgate rules lists them), a dimension,"
        " a sub-check, grades, badges or penalty"
    )
