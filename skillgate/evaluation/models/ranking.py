"""What skills are ranked against: the corpus, where there is one, and how matches are played."""

from __future__ import annotations

import os
import time
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.corpus.checking import rating_faults
from skillgate.evaluation.corpus.entrants import entrant_of
from skillgate.evaluation.corpus.folder import place_of
from skillgate.evaluation.corpus.stored import open_corpus, siblings
from skillgate.llm.extras import missing_extra
from skillgate.model.exchange import Together
from skillgate.model.simulating import RankingLayer
from skillgate.model.text import printable
from skillgate.ranking.entrant import Arena, Corpus, Ranked
from skillgate.ranking.layer import rank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillgate.config import Config
    from skillgate.evaluation.corpus.stored import Beside, StoredCorpus
    from skillgate.evaluation.deepen import Asked
    from skillgate.judge.subject import Panel
    from skillgate.model.exchange import Steps

NO_CORPUS = "there is no corpus to rank against: skillgate corpus build DIR makes one, skillgate corpus rate rates it"


class Contest(NamedTuple):
    """What skills are ranked against.

    Attributes:
        corpus: None where there is none.
        arena: how matches are played; None where none are.
        siblings: skills of the corpus, to be listed beside one that lies alone.
    """

    corpus: Corpus | None
    arena: Arena | None
    siblings: tuple[Beside, ...] = ()


def contest(
    config: Config,
    environ: Mapping[str, str],
    panel: Panel,
    *,
    matches: bool,
    note: Callable[[str], None] | None = None,
) -> Contest:
    """Open the corpus that configuration and options name.

    Args:
        config: the configuration.
        environ: the environment, for the system's place.
        panel: who compares.
        matches: whether skills are ranked; else the corpus gives siblings alone, and its ratings are not looked at.
        note: told where a project's file chose the corpus: whoever may change the one may choose the other.

    Raises:
        UsageError: there is one that is broken, whose ratings its matches do not give, or none where an option names
            one.
        IncompleteError: there are ratings, and numpy is not installed.
    """
    folder = place_of(environ, config.get(settings.CORPUS_DIR), config.base(settings.CORPUS_DIR))
    corpus = open_corpus(folder) if folder else None
    if corpus is not None and matches:
        _require_borne_out(corpus)
    if corpus is not None and note is not None and _is_of_project(config):
        note(f"the corpus is the one that {config.origin(settings.CORPUS_DIR)} names: {printable(folder)}")
    arena = Arena(
        judge=panel.opinions[0],
        seed=config.get(settings.SEED),
        opponents=config.get(settings.OPPONENTS),
        provider=panel.provider,
        live=panel.live,
        most_characters=panel.most_characters,
    )
    return Contest(corpus, arena if matches else None, () if corpus is None else tuple(siblings(corpus)))


def _require_borne_out(corpus: StoredCorpus) -> None:
    """Make sure that ratings are those that the matches give: what was written by hand is no rating.

    Raises:
        UsageError: they are not.
        IncompleteError: numpy is not installed.
    """
    try:
        faults = tuple(islice(rating_faults(corpus.index, corpus.store.matches()), 1))
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    if faults:
        raise UsageError(
            f"the ratings in {corpus.store.folder} are not those that its matches give: {printable(faults[0])};"
            " skillgate corpus verify says all, skillgate corpus rate rates it anew"
        )


def _is_of_project(config: Config) -> bool:
    """Tell whether a project's file names the corpus: no option, and not the user's own configuration.

    A file that was found is shown relative to the working directory, the user's own from home or from the root.
    """
    origin = config.origin(settings.CORPUS_DIR)
    return origin not in ("default", "option") and not origin.startswith("~") and not os.path.isabs(origin)  # noqa: PTH117


def ranked(asked: Asked, contest: Contest) -> Steps[Ranked]:
    """Give the generator of a skill's matches; without a corpus there are none, and that is no failure."""
    if contest.arena is None or contest.corpus is None:
        return _unranked(contest, NO_CORPUS)
    entrant = entrant_of(asked.source)
    if entrant is None:
        return _unranked(contest, "the skill holds no text to compare")
    path = str(asked.source.root.path)
    return rank(entrant, contest.corpus, contest.arena, time.perf_counter_ns, subject=path, path=path)


def _unranked(contest: Contest, reason: str) -> Steps[Ranked]:
    yield Together(())
    arena = contest.arena
    live = True if arena is None else arena.live
    return Ranked(RankingLayer(0, 0, None, None, None, reason=reason, live=live))
