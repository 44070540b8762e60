"""Runs the sampled layers: connects to a provider, drives the judge over all skills, and says what it is doing."""

from __future__ import annotations

import importlib
import os
import threading
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from skillgate.evaluation.deepen import Deepened, total
from skillgate.evaluation.findings import read_whole
from skillgate.evaluation.models.progress import clear, expected_calls, watching
from skillgate.evaluation.models.setup import layer_of, models_of
from skillgate.evaluation.models.spending import SpendApproval
from skillgate.judge.siblings import Shelves
from skillgate.model.finding import Hit, Severity
from skillgate.model.report import StaticLayer
from skillgate.model.simulating import FAILED
from skillgate.scoring.regression import NOT_RANKED
from skillgate.scoring.result import Deeper
from skillgate.static.layer import claim, judged_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.evaluation.deepen import Asked
    from skillgate.evaluation.models.setup import Found, ModelSetup
    from skillgate.judge.subject import Judged
    from skillgate.model.calibration import Calibration
    from skillgate.model.exchange import Steps
    from skillgate.model.finding import Claim
    from skillgate.model.judging import Agreement, Estimate, Trust
    from skillgate.model.report import Layer
    from skillgate.model.score import Dimension
    from skillgate.model.skill import SkillRoot
    from skillgate.montecarlo.subject import Simulated
    from skillgate.session import Session

_LATER = ("skillgate.llm.shape", "skillgate.stats.intervals", "skillgate.stats.agreement", "skillgate.scoring.sampled")


class Deepener:
    """Judges the skills that are asked about, as ``SampledLayers.measure`` does; may be called several times."""

    def __init__(self, setup: ModelSetup, session: Session, *, calibration: str | None = None) -> None:
        """Take who judges, where to say how far it is, and a file of ratings that people gave too."""
        self._setup = setup
        self._session = session
        self._calibration = None if calibration is None else load_calibration(calibration, session.cwd)
        self._shelves = Shelves()
        self._approval = SpendApproval(setup, session)

    def __call__(self, asked: Sequence[Asked]) -> Deepened:
        """Judge them all, several at a time; what cannot be judged is said so and stops none of the others.

        Raises:
            KeyboardInterrupt: the user wants no more; answers that came are kept.
        """
        setup, panel = self._setup, self._setup.panel
        wanted = [one for one in asked if one.facts.unscored is None]
        layers = [partial(self._layer, one) for one in wanted]
        self._approval.require(wanted, layers)
        threading.Thread(target=_load_later, daemon=True).start()
        watch = watching(self._session, len(layers), expected_calls(setup, len(layers)))
        try:
            found = list(setup.drive(layers, watch))
        except KeyboardInterrupt:
            self._session.note("interrupted: the answers that came are kept; the same command goes on from them")
            raise
        finally:
            if watch is not None and self._session.stderr.isatty():
                clear(self._session)
        judges = len(panel.opinions)
        agreed = _agreement([one.judged for one in found], judges) if judges > 1 else None
        skills = {str(one.source.root.path): _unscored(one) for one in asked if one.facts.unscored is not None}
        for one, got in zip(wanted, found, strict=True):
            self._warn(str(one.source.root.path), got.simulated)
            skills[str(one.source.root.path)] = deeper(self._calibrated(got), agreed, one.source.root)
        known = None if self._calibration is None else _trust(self._calibration, [one.judged for one in found])
        return Deepened(skills, agreed, models_of(panel, setup.plan), setup.spent(), known)

    def _warn(self, path: str, simulated: Simulated | None) -> None:
        """Say that no session meant for a skill completed: it is measured, and its score is about failures alone."""
        layer = None if simulated is None else simulated.layer
        if layer is None or layer.loads is None or layer.loads.completed:
            return
        kinds = Counter(run.kind or "" for run in layer.runs if run.should_trigger and run.outcome == FAILED)
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        many = "the only session" if kinds.total() == 1 else f"all {kinds.total()} sessions"
        self._session.note(f"warning: {path}: {many} meant for the skill failed ({counts})")

    def _calibrated(self, found: Found) -> Found:
        if self._calibration is None:
            return found
        from skillgate.judge.calibration import calibrate  # few runs have one

        judged = found.judged._replace(layer=calibrate(self._calibration, found.judged.layer))
        return found._replace(judged=judged)

    def _layer(self, asked: Asked) -> Steps[Found]:
        """Begin with one skill: its files are read when its turn comes, and not kept after it."""
        return layer_of(asked, self._setup, self._shelves, self._session.note)


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


def deeper(found: Found, agreed: Agreement | None, root: SkillRoot) -> Deeper:
    """Give what scoring needs of a skill that was asked about."""
    judged, simulated, ranked, lifted = found
    layer = judged.layer._replace(silenced=judged.silenced)
    if agreed is not None:
        layer = layer._replace(
            agreement=agreed,
            kappa=agreed.kappa,
            kappa_reason=agreed.kappa_reason,
            kappa_trigger=agreed.kappa_trigger,
        )
    layers: tuple[Layer, ...] = (layer,)
    if simulated is not None:
        layers += (simulated.layer._replace(silenced=simulated.silenced),)
    if ranked is not None:
        layers += (ranked.layer,)
    lift = None if lifted is None else lifted.lift
    usages = [one.usage for one in (*layers, lift) if not isinstance(one, StaticLayer | None)]
    return Deeper(
        layers=layers,
        scores=layer.assessments,
        simulated={} if simulated is None else measured_by(simulated),
        failure=_failure(judged) or (None if simulated is None else _not_simulated(simulated)),
        no_badge=judged.partial or _unearned(found),
        usage=total(usages),
        claims=tuple(_claims(found, root)),
        lift=lift,
    )


def measured_by(simulated: Simulated) -> Mapping[Dimension, Estimate]:
    """Give what sessions say of dimensions, where they say something."""
    return {name: one for name, one in simulated.layer.scores.items() if one.value is not None}


def _not_simulated(simulated: Simulated) -> str | None:
    """Say why there can be no score at this depth, None where there is one."""
    layer = simulated.layer
    if layer.stopped_early is not None:
        return f"stopped early: {layer.stopped_early}"
    why = simulated.silenced or simulated.failure or (None if layer.scores else layer.reason or "nothing was measured")
    # What is left of a blend would be another number by its name: the judge's opinion of what a skill does in the
    # place of what it did.
    gaps = [one.reason or name.value for name, one in layer.scores.items() if one.value is None]
    why = why or "; ".join(dict.fromkeys(gaps))
    return f"not simulated: {why}" if why else None


def _unearned(found: Found) -> str | None:
    """Say why there can be no badge whatever the score, None where there can be one.

    The composite alone decides where nobody was there to play; where matches were lost, a text could choose to.
    """
    ranked, simulated = found.ranked, found.simulated
    if ranked is not None and ranked.failure is not None:
        return f"{NOT_RANKED}: {ranked.failure}"
    for one in (ranked, simulated):
        withheld: str | None = getattr(one, "no_badge", None)
        if withheld is not None:
            return withheld
    return None


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


def _claims(found: Found, root: SkillRoot) -> Iterator[Claim]:
    judged = found.judged
    told = [*((problem, None) for problem in judged.problems), *((note, Severity.INFO) for note in judged.notes)]
    for one in (found.simulated, found.ranked):
        told += [(problem, None) for problem in (one.problems if one is not None else ())]
    for problem, severity in told:
        hit = Hit(problem.span, problem.message, severity=severity)
        yield claim(judged_rule(problem.rule), hit, problem.file or root.file_name, "judge")
