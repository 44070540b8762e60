"""Select skills by what their evaluations say: filter, rank, keep the first.

The newest whole report of each skill's version counts, of --reports or of the store; on several benchmarks --benchmark
says which. A skill without one is not selected, nor one whose figure was not measured: both are listed, with why. The
exit code is 1 where nothing is selected. A candidate that cannot be read stops no other, and makes it 2.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from skillgate.bench.choosing.strategies import add_filters, add_ranking, strategy_of
from skillgate.cli.choosing_options import add_looking
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.bench.choosing.candidates import Field
    from skillgate.bench.evidence import Evidence
    from skillgate.model.strategy import Choice
    from skillgate.session import Session

GROUP = "programs"
_STDOUT = "-"
_FORMATS = ("text", "json", "markdown", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--from",
        dest="source",
        metavar="DIR|FILE|-",
        help="the candidates: a directory, a JSON file of skills, or that on standard input; required",
    )
    parser.add_argument(
        "--prose", action=argparse.BooleanOptionalAction, default=True, help="SKILL.md files too, or programs alone"
    )
    parser.add_argument(
        "--reports",
        metavar="FILE",
        nargs="+",
        action="extend",
        help="JSON reports of eval, or patterns (default: what the store holds)",
    )
    parser.add_argument("--benchmark", metavar="ID", help="the benchmark that counts")
    add_filters(parser)
    add_ranking(parser)
    parser.add_argument(
        "--output", metavar="PATH|-", type=_place, help="write the selected as JSON to a file, or to standard output"
    )
    add_looking(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    """Select and tell.

    Raises:
        UsageError: something is not valid; or a candidate is broken, after the others were told.
    """
    if args.source is None:
        raise UsageError("--from DIR|FILE is required: where the candidates are\nTry: skillgate select --help")
    from skillgate.bench.choosing.candidates import candidates_of, entrants_of
    from skillgate.bench.selecting import choose
    from skillgate.files import require_place, write

    strategy = strategy_of(args, session)
    to_file = args.output if args.output != _STDOUT else None
    if to_file is not None:
        require_place(to_file, session.cwd)
    field = candidates_of(args.source, session, prose=args.prose)
    entrants, held = entrants_of(field, args, session)
    choices = choose(entrants, strategy)
    text = _document(field, held, choices)
    if to_file is not None:
        write(to_file, text.encode(), cwd=session.cwd)
    selected = sum(choice.selected for choice in choices)
    if session.json or args.output == _STDOUT:
        session.out(text)
        for choice in choices:
            if not choice.selected:
                session.note(f"{_name(field, choice)} not selected: {'; '.join(choice.reasons)}")
    else:
        session.out(_text(field, held, choices, session))
    if to_file is not None:
        session.note(f"wrote {to_file}: {selected} skill{'s' * (selected != 1)}")
    if field.broken:
        raise UsageError("\n".join(f"{one.path}: {one.reason}" for one in field.broken))
    return EXIT_PASSED if selected else EXIT_GATE_FAILED


def _document(field: Field, held: Sequence[Evidence | None], choices: Sequence[Choice]) -> str:
    from skillgate.model.choosing import SelectedSkill
    from skillgate.model.codec import encode

    found = []
    for choice in choices:
        evidence, skill = held[choice.entrant], field.candidates[choice.entrant].skill
        if not choice.selected or evidence is None or choice.rank is None:
            continue
        one = SelectedSkill(
            id=skill.id,
            rank=choice.rank,
            adapter_type=skill.adapter_type,
            version=skill.version,
            name=skill.name,
            description=skill.description,
            tags=skill.tags,
            benchmark_id=evidence.benchmark_id,
            benchmark_version=evidence.benchmark_version,
            measured_at=evidence.at,
            figures=evidence.figures,
            reasons=choice.reasons,
        )
        found.append(encode(one))
    return json.dumps(found, indent=2, ensure_ascii=False).replace("##[", "\\u0023#[") + "\n"


def _text(field: Field, held: Sequence[Evidence | None], choices: Sequence[Choice], session: Session) -> str:
    from skillgate.report.choosing_text import selected_text
    from skillgate.report.terminal import Style

    names = [one.skill.id for one in field.candidates]
    figures = [None if one is None else one.figures for one in held]
    style = Style(width=session.width, color=session.color)
    return selected_text(names, figures, choices, style, verbose=session.verbose)


def _name(field: Field, choice: Choice) -> str:
    return field.candidates[choice.entrant].skill.id


def _place(text: str) -> str:
    if text in _FORMATS:
        raise argparse.ArgumentTypeError(f"takes a path; to print JSON use --json (for a file: ./{text})")
    return text
