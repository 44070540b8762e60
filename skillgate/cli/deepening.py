"""Runs the sampled layers: connects to a provider, drives the judge over all skills, and says what it is doing."""

from __future__ import annotations

import importlib
import os
import threading
from functools import partial
from typing import TYPE_CHECKING

from skillgate.cli.bench import layer_of
from skillgate.cli.findings import read_whole
from skillgate.cli.spending import Leave
from skillgate.deepen import Deepened
from skillgate.judge.siblings import Shelves
from skillgate.llm import driver
from skillgate.model.finding import Hit, Severity
from skillgate.scoring.result import Deeper
from skillgate.static.layer import claim, judged_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.cli.bench import Bench
    from skillgate.cli.session import Session
    from skillgate.deepen import Asked
    from skillgate.judge.subject import Judged
    from skillgate.llm.port import Progress
    from skillgate.model.calibration import Calibration
    from skillgate.model.exchange import Steps
    from skillgate.model.finding import Claim
    from skillgate.model.judging import Agreement, Trust
    from skillgate.model.skill import SkillRoot

_LATER = ("skillgate.llm.shape", "skillgate.stats.intervals", "skillgate.stats.agreement", "skillgate.scoring.sampled")
LOG_S = 15.0  # between two lines where there is no terminal
WATCH_S = 0.2  # between two drawings of the progress


class Deepener:
    """Judges the skills that are asked about, as ``pipeline.Context.deepen`` asks for; may be called several times."""

    def __init__(self, bench: Bench, session: Session, *, calibration: str | None = None) -> None:
        """Take who judges, where to say how far it is, and a file of ratings that people gave too."""
        self._bench = bench
        self._session = session
        self._calibration = None if calibration is None else load_calibration(calibration, session.cwd)
        self._shelves = Shelves()
        self._leave = Leave(bench, session)

    def __call__(self, asked: Sequence[Asked]) -> Deepened:
        """Judge them all, several at a time; what cannot be judged is said so and stops none of the others.

        Raises:
            KeyboardInterrupt: the user wants no more; answers that came are kept.
        """
        bench, panel = self._bench, self._bench.panel
        wanted = [one for one in asked if one.facts.unscored is None]
        layers = [partial(self._layer, one) for one in wanted]
        self._leave.require(wanted, layers)
        threading.Thread(target=_load_later, daemon=True).start()
        watch = _watch(self._session, len(layers))
        try:
            found = list(driver.run(layers, bench.asker, in_flight=bench.in_flight, watch=watch, stop=bench.stop))
        except KeyboardInterrupt:
            self._session.note("interrupted: the answers that came are kept; the same command goes on from them")
            raise
        finally:
            if watch is not None and self._session.stderr.isatty():
                self._session.show_progress("\r" + " " * 79 + "\r")
        judges = len(panel.opinions)
        agreed = _agreement(found, judges) if judges > 1 else None
        skills = {str(one.source.root.path): _unscored(one) for one in asked if one.facts.unscored is not None}
        for one, judged in zip(wanted, found, strict=True):
            skills[str(one.source.root.path)] = deeper(self._calibrated(judged), agreed, one.source.root)
        models = tuple(dict.fromkeys(opinion.model for opinion in panel.opinions))
        known = None if self._calibration is None else _trust(self._calibration, found)
        return Deepened(skills, agreed, models, bench.spent(), known)

    def _calibrated(self, judged: Judged) -> Judged:
        if self._calibration is None:
            return judged
        from skillgate.judge.calibration import calibrate  # few runs have one

        return judged._replace(layer=calibrate(self._calibration, judged.layer))

    def _layer(self, asked: Asked) -> Steps[Judged]:
        """Begin to judge one skill: its files are read when its turn comes, and not kept after it."""
        return layer_of(asked, self._bench.panel, self._shelves, self._session.note)


def _load_later() -> None:
    """Load what is needed only with the answers, while they are awaited: it takes as long as several of them."""
    for name in _LATER:
        importlib.import_module(name)


def _agreement(judged: Sequence[Judged], judges: int) -> Agreement:
    from skillgate.judge.pooling import agreement  # numpy: loaded by now

    return agreement([one.ratings for one in judged], judges)


def _trust(known: Calibration, judged: Sequence[Judged]) -> Trust:
    from skillgate.judge.trust import trust  # few runs have a calibration

    return trust(known, [one.layer for one in judged])


def load_calibration(path: str, cwd: str) -> Calibration:
    """Read a calibration document.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    from skillgate.judge import calibration  # few runs have one

    return calibration.read(read_whole(os.path.join(cwd, path), path, "the calibration"), path)  # noqa: PTH118


def deeper(judged: Judged, agreed: Agreement | None, root: SkillRoot) -> Deeper:
    """Give what scoring needs of a judged skill."""
    layer = judged.layer._replace(silenced=judged.silenced)
    if agreed is not None:
        layer = layer._replace(
            agreement=agreed,
            kappa=agreed.kappa,
            kappa_reason=agreed.kappa_reason,
            kappa_trigger=agreed.kappa_trigger,
        )
    return Deeper(
        layers=(layer,),
        scores=layer.assessments,
        failure=_failure(judged),
        no_badge=judged.partial,
        usage=layer.usage,
        claims=tuple(_claims(judged, root)),
    )


def _failure(judged: Judged) -> str | None:
    """Say why a skill has no judged score, None where it has one.

    Where an outage kept one of several judges from answering, the others give the score; where what it read may have
    done so, they do not: else a text could choose its judges.
    """
    scores = judged.layer.assessments
    gaps = ", ".join(dimension.value for dimension, one in scores.items() if one.score is None)
    if judged.silenced is None and scores and not gaps:
        return None
    return f"not judged: {judged.silenced or judged.failure or f'no rating of {gaps}'}"


def _unscored(asked: Asked) -> Deeper:
    return Deeper(failure=f"not judged: {asked.facts.unscored}")


def _claims(judged: Judged, root: SkillRoot) -> Iterator[Claim]:
    told = [*((problem, None) for problem in judged.problems), *((note, Severity.INFO) for note in judged.notes)]
    for problem, severity in told:
        hit = Hit(problem.span, problem.message, severity=severity)
        yield claim(judged_rule(problem.rule), hit, problem.file or root.file_name, "judge")


def _watch(session: Session, skills: int) -> Callable[[Progress], None] | None:
    """Draw a line on stderr where somebody is looking."""
    if session.quiet:
        return None
    if not session.stderr.isatty():
        return _log(session, skills) if session.verbose else None
    drawn = [-WATCH_S]

    def show(now: Progress) -> None:
        if now.elapsed_s - drawn[0] < WATCH_S and now.layers_done < now.layers:
            return
        drawn[0] = now.elapsed_s
        session.show_progress("\r" + progress_line(now, skills).ljust(79)[:79])

    return show


def _log(session: Session, skills: int) -> Callable[[Progress], None]:
    """Say it in lines of their own, where nobody looks at a terminal, so that a long run does not look dead."""
    told = [0.0]

    def say(now: Progress) -> None:
        if now.elapsed_s - told[0] >= LOG_S or (now.layers_done == now.layers and told[0] != float("inf")):
            told[0] = now.elapsed_s if now.layers_done < now.layers else float("inf")
            session.detail(progress_line(now, skills))

    return say


def progress_line(now: Progress, skills: int) -> str:
    """Say how far a run is: skills, calls, cost, and how long the rest takes if it goes on like this."""
    cost = "cost unknown" if now.cost_usd is None else f"${now.cost_usd:.2f}"
    failed = f" · {now.failed} failed" if now.failed else ""
    left = ""
    if 0 < now.layers_done < skills:
        seconds = int(now.elapsed_s / now.layers_done * (skills - now.layers_done))
        left = f" · about {seconds // 60}:{seconds % 60:02d} left"
    return f"judged {now.layers_done} of {skills} · {now.calls} answers, {now.cached} kept{failed} · {cost}{left}"
