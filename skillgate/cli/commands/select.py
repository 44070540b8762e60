"""Select skills by their evaluations: filter, rank, keep the best.

The newest complete report of each skill's version counts, from --reports or the store; with several benchmarks, choose
one with --benchmark. Skills without a report or a measured figure are not selected; they are listed with the reason.
Exits with 1 if no skill is selected. Unreadable candidates are skipped, and the exit code is 2.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from skillgate.cli.bench_options import add_filters, add_ranking
from skillgate.cli.options import Rare, request_from, style_of
from skillgate.cli.store_options import add_looking, store_choice
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, UsageError
from skillgate.report.rendering import formats_of

if TYPE_CHECKING:
    from skillgate.bench.selecting import Selected
    from skillgate.console import Console

GROUP = "programs"
_STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--from",
        dest="source",
        metavar="DIR|FILE|-",
        help="required: the candidates, as a directory, a JSON file of skills, or - for standard input",
    )
    parser.add_argument(
        "--prose",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="include SKILL.md files (default), or only programs",
    )
    parser.add_argument(
        "--reports",
        metavar="FILE",
        nargs="+",
        action="extend",
        help=Rare("JSON reports of eval, or patterns (default: the reports in the store)"),
    )
    parser.add_argument("--benchmark", metavar="ID", help="the benchmark to select by")
    add_filters(parser)
    add_ranking(parser)
    parser.add_argument(
        "--output",
        metavar="PATH|-",
        type=_place,
        help="write the selected skills as JSON to a file or to standard output",
    )
    add_looking(parser)


def run(args: argparse.Namespace, session: Console) -> int:
    """Select and report.

    Raises:
        UsageError: something is not valid; or, after the output, a candidate is broken.
    """
    if args.source is None:
        raise UsageError("--from DIR|FILE is required\nTry: skillgate select --help")
    from skillgate.bench.selecting import SelectRequest, select
    from skillgate.cli.bench_options import strategy_request
    from skillgate.files import require_place, write

    to_file = args.output if args.output != _STDOUT else None
    if to_file is not None:
        require_place(to_file, session.cwd)
    request = request_from(SelectRequest, args, strategy=strategy_request(args), store=store_choice(args))
    found = select(request, session)
    text = _document(found)
    if to_file is not None:
        write(to_file, text.encode(), cwd=session.cwd)
    selected = sum(choice.selected for choice in found.choices)
    if session.json or args.output == _STDOUT:
        session.out(text)
        for choice in found.choices:
            if not choice.selected:
                name = found.candidates[choice.entrant].id
                session.note(f"{name} not selected: {'; '.join(choice.reasons)}")
    else:
        session.out(_text(found, session))
    if to_file is not None:
        session.note(f"wrote {to_file}: {selected} skill{'s' * (selected != 1)}")
    if found.broken:
        raise UsageError("\n".join(f"{one.path}: {one.reason}" for one in found.broken))
    return EXIT_PASSED if selected else EXIT_GATE_FAILED


def _document(found: Selected) -> str:
    from skillgate.model.codec import encode

    skills = [encode(one) for one in found.skills()]
    return json.dumps(skills, indent=2, ensure_ascii=False).replace("##[", "\\u0023#[") + "\n"


def _text(found: Selected, session: Console) -> str:
    from skillgate.report.choosing import selected
    from skillgate.report.formats.text import write

    names = [one.id for one in found.candidates]
    figures = [None if one is None else one.figures for one in found.evidence]
    style = style_of(session)
    return write(selected(names, figures, found.choices), style, verbose=session.verbose)


def _place(text: str) -> str:
    if text in formats_of():
        raise argparse.ArgumentTypeError(f"expected a path; to print JSON use --json (for a file: ./{text})")
    return text
