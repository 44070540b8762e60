"""Keep a corpus of skills: index it, rate it, look at it, verify it, share it. Skills are ranked against it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.options import Rare, add_models, add_settings, option_values, style_of
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
_BUILD = "index the skills below some directories, with their texts; ratings stay with the content they were won by"
_RATE = "play each skill against its nearest ones, in both orders, and rate them all by Bradley–Terry"
_LIST = "show the skills of the corpus, the best rated first"
_SHOW = "show a skill of the corpus and all its matches"
_VERIFY = "say whether texts, matches and ratings of the corpus are what they should be"
_EXPORT = "write the whole corpus to one file: skills with their texts, matches, ratings"
_IMPORT = "take the skills and matches of such a file in, and rate anew; no rating is taken over"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words, each with what it takes."""
    words = parser.add_subparsers(dest="word", required=True, metavar="|".join(_WORDS))
    for name, (help_text, declare, _) in _WORDS.items():
        declare(words.add_parser(name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}."))


def run(args: argparse.Namespace, session: Console) -> int:
    """Do what the word says.

    Raises:
        UsageError: a path or an option is not valid, or there is no corpus.
        IncompleteError: another run writes the corpus, or a package is missing.
    """
    return _WORDS[args.word][2](args, session)


def _declare_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        f"--{settings.CORPUS_DIR.key}",
        metavar="DIR",
        help="where the corpus lies (default: the setting, else the system's data folder)",
    )


def _declare_build(parser: argparse.ArgumentParser) -> None:
    badges = settings.MIN_BADGE.choices
    parser.add_argument("paths", nargs="+", metavar="DIR", help="directories that hold skills, or skills")
    parser.add_argument(
        f"--{settings.MIN_BADGE.key}",
        metavar="BADGE",
        choices=badges,
        help=f"leave lesser skills out: {', '.join(badges)}",
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="have nothing in the corpus but what is found now, whatever was built before",
    )
    parser.add_argument("--no-cache", action="store_true", help=Rare("score every skill anew, and keep nothing"))
    _declare_place(parser)


def _declare_rate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--opponents", metavar="N", type=int, help="how many skills each is compared with")
    _declare_place(parser)
    add_settings(parser, settings.RATE)
    add_models(parser, no_cache=True)


def _declare_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of a skill, or the beginning of its digest")
    _declare_place(parser)


def _declare_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="where the document goes")
    _declare_place(parser)


def _declare_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what corpus export wrote")
    _declare_place(parser)


def _run_build(args: argparse.Namespace, session: Console) -> int:
    from skillgate.evaluation.corpus.members import BuildRequest, build

    request = BuildRequest(
        corpus_dir=args.corpus_dir,
        paths=tuple(args.paths),
        min_badge=args.min_badge,
        replace=args.replace,
        cached=not args.no_cache,
    )
    return _publish_change(build(request, session), session)


def _run_rate(args: argparse.Namespace, session: Console) -> int:
    from skillgate.cli.evaluation import model_options
    from skillgate.evaluation.corpus.members import CorpusChange, RateRequest
    from skillgate.evaluation.corpus.rating import rate  # brings in the models

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


# A word more is one line here: what it does in a few words, what it takes, and what it does.
_WORDS: dict[
    str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace, Console], int]]
] = {
    "build": (_BUILD, _declare_build, _run_build),
    "rate": (_RATE, _declare_rate, _run_rate),
    "list": (_LIST, _declare_place, _run_list),
    "show": (_SHOW, _declare_show, _run_show),
    "verify": (_VERIFY, _declare_place, _run_verify),
    "export": (_EXPORT, _declare_export, _run_export),
    "import": (_IMPORT, _declare_import, _run_import),
}


def _publish(session: Console, document: object, kind: str) -> None:
    session.out(_written(document) if session.json else render(document, kind, "text", style_of(session)))


def _publish_change(done: CorpusChange, session: Console) -> int:
    """Print what was done in lines; with ``--json`` the members as they are now, and the lines as notes."""
    for line in done.lines:
        (session.note if session.json else session.out)(line)
    if session.json:
        session.out(_written(done.members))
    for line in done.notes:
        session.note(line)
    return EXIT_PASSED if done.complete else EXIT_INCOMPLETE


def _written(document: object) -> str:
    text = json.dumps(encode(document), indent=2, ensure_ascii=False)
    # The same document; a CI runner would take the other for a command, and what UTF-8 lacks cannot be printed.
    return text.replace("##[", "\\u0023#[").encode("utf-8", "backslashreplace").decode() + "\n"
