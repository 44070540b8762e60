"""Calibrate the judge: judge the skills that people have rated, and keep both."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.evaluation.findings import read_whole
from skillgate.evaluation.run import evaluate
from skillgate.files import require_place, write
from skillgate.llm.extras import require_packages
from skillgate.model.codec import encode
from skillgate.model.judging import JudgeLayer

if TYPE_CHECKING:
    from skillgate.evaluation.models.spending import DryRun
    from skillgate.evaluation.request import EvaluateRequest
    from skillgate.model.calibration import Calibration
    from skillgate.model.judging import Estimate
    from skillgate.session import Session

_MEASURES = ("kappa", "sensitivity", "specificity")


class CalibrateRequest(NamedTuple):
    """Judge skills, and write a calibration.

    Attributes:
        labels: a file with the ratings that people gave.
        file: where the calibration goes.
        evaluation: how the skills are judged.
    """

    labels: str
    file: str
    evaluation: EvaluateRequest


class Calibrated(NamedTuple):
    """A calibration that was written.

    Attributes:
        items: how many labels are in it, of how many ``labels``.
        left_out: why the others are not, a line each.
        measures: by name.
    """

    items: int
    labels: int
    left_out: tuple[str, ...]
    measures: tuple[tuple[str, Estimate], ...]


def calibrate(request: CalibrateRequest, session: Session) -> Calibrated | DryRun:
    """Judge, pair with the labels, write; with ``dry_run`` return what judging would cost.

    Raises:
        UsageError: the labels or an option are not valid.
        IncompleteError: a package is missing.
    """
    require_packages()
    from skillgate.judge.calibration import build, read_labels  # numpy
    from skillgate.judge.trust import trust

    require_place(request.file, session.cwd)
    place = os.path.join(session.cwd, request.labels)  # noqa: PTH118
    labels = read_labels(read_whole(place, request.labels, "the labels"), request.labels)
    if request.evaluation.models.calibration:
        raise UsageError("evals calibrate makes a calibration, and takes none")
    evaluation = evaluate(request.evaluation, session)
    if evaluation.estimate is not None:
        return evaluation.estimate
    layers = {
        result.skill.path: layer
        for result in evaluation.report.results
        for layer in result.layers
        if isinstance(layer, JudgeLayer)
    }
    built = build(labels, layers, date=time.strftime("%Y-%m-%d", time.gmtime()))
    for line in built.left_out:
        session.note(line)
    write(request.file, _written(built.document), cwd=session.cwd)
    known = trust(built.document, ())
    measures = tuple((name, getattr(known, name)) for name in _MEASURES)
    return Calibrated(len(built.document.items), len(labels), tuple(built.left_out), measures)


def _written(document: Calibration) -> bytes:
    return (json.dumps(encode(document), indent=2, ensure_ascii=False) + "\n").encode()
