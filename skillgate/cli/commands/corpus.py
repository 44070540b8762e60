"""Keep a corpus of skills: index it, rate it, look at it, verify it, share it. Skills are ranked against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.options import add_models
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, UsageError
from skillgate.evaluate.corpus import building as corpus_building
from skillgate.evaluate.corpus import place as corpus_place
from skillgate.evaluate.corpus import sharing as corpus_sharing
from skillgate.evaluate.corpus.checking import defects, notes
from skillgate.evaluate.corpus.listing import listed, listing
from skillgate.llm.extras import missing_extra
from skillgate.model.corpus import (
    CorpusIndex,
    CorpusShow,
    CorpusVerify,
    Indexed,
    Played,
    ShownMatch,
    ShownSkill,
)
from skillgate.model.text import did_you_mean
from skillgate.ranking.standings import resting_on
from skillgate.report import corpus as rendering
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from skillgate.evaluate.corpus.folder import Matches, Store
    from skillgate.session import Session

GROUP = "model"
_RATE = "play each skill against its nearest ones, in both orders, and rate them all by Bradley–Terry"
_LIST = "show the skills of the corpus, the best rated first"
_SHOW = "show a skill of the corpus and all its matches"
_VERIFY = "say whether texts, matches and ratings of the corpus are what they should be"
_LEAST_DIGITS = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words, each with what it takes."""
    words = parser.add_subparsers(dest="word", required=True, metavar="|".join(_WORDS))
    for name, (help_text, declare, _) in _WORDS.items():
        declare(words.add_parser(name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}."))


def run(args: argparse.Namespace, session: Session) -> int:
    """Do what the word says.

    Raises:
        UsageError: a path or an option is not valid, or there is no corpus.
        IncompleteError: another run writes the corpus, or a package is missing.
    """
    code: int = _WORDS[args.word][2](args, session)
    return code


def _declare_rate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--opponents", metavar="N", type=int, help="how many skills each is compared with")
    corpus_place.add_place(parser)
    add_models(parser, no_cache=True)


def _run_rate(args: argparse.Namespace, session: Session) -> int:
    from skillgate.evaluate.corpus.rating import run as rate  # brings in the models

    return rate(args, session)


def _declare_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of a skill, or the beginning of its digest")
    corpus_place.add_place(parser)


def _run_list(args: argparse.Namespace, session: Session) -> int:
    index = corpus_place.require_index(corpus_place.store_of(args, session))
    found = listing(index)
    _publish(session, found, lambda style: rendering.render_list(found, style))
    return EXIT_PASSED


def _run_show(args: argparse.Namespace, session: Session) -> int:
    store = corpus_place.store_of(args, session)
    index, matches = corpus_place.require_index(store), store.matches()
    found = [one for one in index.members if _is_meant(one, args.name)]
    if not found:
        near = did_you_mean(args.name, {one.name for one in index.members})
        raise UsageError(f"there is no skill {args.name!r} in the corpus in {store.folder}{near}")
    shown = CorpusShow(tool=corpus_place.TOOL, skills=tuple(_shown(one, index, matches) for one in found))
    _publish(session, shown, lambda style: rendering.render_show(shown, style))
    return EXIT_PASSED


def _run_verify(args: argparse.Namespace, session: Session) -> int:
    store = corpus_place.store_of(args, session)
    if not store.exists:
        corpus_place.require_index(store)
    verified = _verified(store)
    _publish(session, verified, lambda style: rendering.render_verify(verified, style, folder=store.folder))
    return EXIT_GATE_FAILED if verified.defects else EXIT_PASSED


def _verified(store: Store) -> CorpusVerify:
    """Look the corpus through; what cannot be read at all is a defect too.

    Raises:
        IncompleteError: numpy is not installed, and there are ratings to be computed again.
    """
    try:
        index, matches = corpus_place.require_index(store), store.matches()
    except UsageError as error:
        return CorpusVerify(tool=corpus_place.TOOL, members=0, matches=0, defects=(str(error),), notes=())
    try:
        found = tuple(defects(store, index, matches))
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    return CorpusVerify(
        tool=corpus_place.TOOL,
        members=len(index.members),
        matches=len(matches.played),
        defects=found,
        notes=tuple(notes(index, matches)),
    )


# A word more is one line here: what it does in a few words, what it takes, and what it does.
_WORDS: dict[str, tuple[str, Callable[..., None], Callable[..., int]]] = {
    "build": (corpus_building.HELP, corpus_building.declare, corpus_building.run),
    "rate": (_RATE, _declare_rate, _run_rate),
    "list": (_LIST, corpus_place.add_place, _run_list),
    "show": (_SHOW, _declare_show, _run_show),
    "verify": (_VERIFY, corpus_place.add_place, _run_verify),
    "export": (corpus_sharing.EXPORT, corpus_sharing.declare_export, corpus_sharing.run_export),
    "import": (corpus_sharing.IMPORT, corpus_sharing.declare_import, corpus_sharing.run_import),
}


def _publish(session: Session, document: object, render: Callable[[Style], str]) -> None:
    if session.json:
        session.out(corpus_place.written(document))
    else:
        session.out(render(Style(width=session.width, color=session.color)))


def _is_meant(one: Indexed, name: str) -> bool:
    return one.name == name or (len(name) >= _LEAST_DIGITS and one.digest.startswith(name))


def _shown(one: Indexed, index: CorpusIndex, matches: Matches) -> ShownSkill:
    """Give a member with the matches that its rating rests on."""
    everyone = {other.digest: other for other in (*index.members, *index.former)}
    played = resting_on(index, matches.played)
    own = [_seen(match, one.digest, everyone) for match in played if one.digest in (match.first, match.second)]
    return ShownSkill(listed(one), tuple(sorted(own, key=lambda match: (-match.result, match.opponent))))


def _seen(match: Played, digest: str, everyone: dict[str, Indexed]) -> ShownMatch:
    """Give a match as one of its skills has it."""
    is_first = match.first == digest
    opponent = everyone[match.second if is_first else match.first]
    return ShownMatch(
        opponent=opponent.name,
        opponent_digest=opponent.digest,
        opponent_rating=opponent.rating if opponent.matches else None,
        result=match.result if is_first else 1.0 - match.result,
        position_bias=match.position_bias,
        won=match.won if is_first else match.lost,
        lost=match.lost if is_first else match.won,
        model=match.model,
        source=match.source,
        origin=match.origin,
    )
