"""Manage the corpus that skills are ranked against: build, rate, list, verify and share it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.options import Rare, add_models, add_settings, option_values, request_from, style_of
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED
from skillgate.format import printable
from skillgate.model.codec import encode
from skillgate.report.rendering import render

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from skillgate.console import Console
    from skillgate.evaluation.corpus.members import CorpusChange

GROUP = "model"
_BUILD = "index the skills in some directories, with their texts; a rating belongs to the content that earned it"
_RATE = "compare each skill with its nearest ones, in both orders, and rate all of them by Bradley–Terry"
_LIST = "list the skills of the corpus, best rating first"
_SHOW = "show a skill of the corpus and all its matches"
_VERIFY = "check the texts, matches and ratings of the corpus"
_EXPORT = "write the whole corpus to one file: skills with their texts, matches and ratings"
_IMPORT = "import the skills and matches of such a file, and compute all ratings again; its ratings are not imported"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    words = parser.add_subparsers(dest="word", required=True, metavar="|".join(_WORDS))
    for name, (help_text, declare, _) in _WORDS.items():
        declare(words.add_parser(name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}."))


def run(args: argparse.Namespace, session: Console) -> int:
    """Run the subcommand.

    Raises:
        UsageError: a path or an option is not valid, or there is no corpus.
        IncompleteError: another run is writing the corpus, or a package is missing.
    """
    return _WORDS[args.word][2](args, session)


def _declare_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        f"--{settings.CORPUS_DIR.key}",
        metavar="DIR",
        help="the directory of the corpus (default: the setting, else the system's data directory)",
    )


def _declare_build(parser: argparse.ArgumentParser) -> None:
    badges = settings.MIN_BADGE.choices
    parser.add_argument("paths", nargs="+", metavar="DIR", help="skills, or directories with skills")
    parser.add_argument(
        f"--{settings.MIN_BADGE.key}",
        metavar="BADGE",
        choices=badges,
        help=f"skip skills below this badge: {', '.join(badges)}",
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="remove every skill from the corpus that is not found now",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help=Rare("score every skill from scratch, and cache nothing")
    )
    _declare_place(parser)


def _declare_rate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--opponents", metavar="N", type=int, help="how many skills to compare each skill with")
    _declare_place(parser)
    add_settings(parser, settings.RATE)
    add_models(parser, no_cache=True)


def _declaring(name: str, text: str) -> Callable[[argparse.ArgumentParser], None]:
    def declare(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(name, metavar=name.upper(), help=text)
        _declare_place(parser)

    return declare


def _run_build(args: argparse.Namespace, session: Console) -> int:
    from skillgate.evaluation.corpus.members import BuildRequest, build

    request = request_from(BuildRequest, args, cached=not args.no_cache)
    return _publish_change(build(request, session), session)


def _run_rate(args: argparse.Namespace, session: Console) -> int:
    from skillgate.cli.evaluation import model_options
    from skillgate.evaluation.corpus.members import CorpusChange, RateRequest
    from skillgate.evaluation.corpus.rating import rate  # imports the models

    request = RateRequest(corpus_dir=args.corpus_dir, options=option_values(args), models=model_options(args))
    done = rate(request, session)
    if isinstance(done, CorpusChange):
        return _publish_change(done, session)
    session.out(done.document if session.json else done.text)
    return EXIT_PASSED


def _run_list(args: argparse.Namespace, session: Console) -> int:
    from skillgate.evaluation.corpus.members import members

    found = members(args.corpus_dir, session)
    _publish(session, found, "corpus-list")
    return EXIT_PASSED


def _run_show(args: argparse.Namespace, session: Console) -> int:
    from skillgate.evaluation.corpus.members import show

    shown = show(args.name, args.corpus_dir, session)
    _publish(session, shown, "corpus-show")
    return EXIT_PASSED


def _run_verify(args: argparse.Namespace, session: Console) -> int:
    from skillgate.evaluation.corpus.store import verify
    from skillgate.report.corpus import verify_view
    from skillgate.report.formats.text import write

    verified, folder = verify(args.corpus_dir, session)
    if session.json:
        session.out(_written(verified))
    else:
        session.out(write(verify_view(verified, folder), style_of(session)))
    return EXIT_GATE_FAILED if verified.defects else EXIT_PASSED


def _run_export(args: argparse.Namespace, session: Console) -> int:
    from skillgate.evaluation.corpus.members import export

    done = export(args.file, args.corpus_dir, session)
    skills, matches = len(done.members), len(done.matches)
    session.out(f"wrote {printable(args.file)}: {skills} skills with their texts, {matches} matches")
    return EXIT_PASSED


def _run_import(args: argparse.Namespace, session: Console) -> int:
    from skillgate.evaluation.corpus.members import import_file

    return _publish_change(import_file(args.file, args.corpus_dir, session), session)


# To add a subcommand, add a line: its help, its arguments, and what it does.
_WORDS: dict[
    str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace, Console], int]]
] = {
    "build": (_BUILD, _declare_build, _run_build),
    "rate": (_RATE, _declare_rate, _run_rate),
    "list": (_LIST, _declare_place, _run_list),
    "show": (_SHOW, _declaring("name", "the name of a skill, or the beginning of its digest"), _run_show),
    "verify": (_VERIFY, _declare_place, _run_verify),
    "export": (_EXPORT, _declaring("file", "the file to write"), _run_export),
    "import": (_IMPORT, _declaring("file", "a file that corpus export wrote"), _run_import),
}


def _publish(session: Console, document: object, kind: str) -> None:
    session.out(_written(document) if session.json else render(document, kind, "text", style_of(session)))


def _publish_change(done: CorpusChange, session: Console) -> int:
    """Print what changed; with ``--json`` print the current members, and the lines as notes."""
    for line in done.lines:
        (session.note if session.json else session.out)(line)
    if session.json:
        session.out(_written(done.members))
    for line in done.notes:
        session.note(line)
    return EXIT_PASSED if done.complete else EXIT_INCOMPLETE


def _written(document: object) -> str:
    text = json.dumps(encode(document), indent=2, ensure_ascii=False)
    # The same document, without what a CI runner takes for a command or UTF-8 cannot encode.
    return text.replace("##[", "\\u0023#[").encode("utf-8", "backslashreplace").decode() + "\n"
