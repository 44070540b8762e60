"""Makes a calibration: judges the skills that people have rated, and keeps both beside each other."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from skillgate.cli.evaluation import score_request
from skillgate.cli.options import add_models, add_paths
from skillgate.cli.parser import Parser, shared_defaults
from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluate.findings import read_whole
from skillgate.evaluate.run import evaluate
from skillgate.files import require_place, write
from skillgate.llm.extras import require_packages
from skillgate.model.codec import encode
from skillgate.model.judging import JudgeLayer

if TYPE_CHECKING:
    import argparse

    from skillgate.model.calibration import Calibration
    from skillgate.model.judging import Estimate
    from skillgate.session import Session

HELP = "judge the skills that people have rated, and write a calibration of the judge"


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the labels, the skills they are of, who judges, and the file."""
    parser.add_argument("labels", metavar="LABELS", help="a YAML list of skill, dimension and human (0 to 10)")
    add_paths(parser)
    parser.add_argument(
        "--output-file", dest="calibration_file", metavar="FILE", required=True, help="where the calibration goes"
    )
    add_models(parser, no_cache=True)


def run(args: argparse.Namespace, session: Session) -> int:
    """Judge, pair with the labels, write.

    Raises:
        UsageError: the labels or an option are not valid.
        IncompleteError: a package is missing.
    """
    require_packages()
    from skillgate.judge.calibration import build, read_labels  # numpy
    from skillgate.judge.trust import trust

    require_place(args.calibration_file, session.cwd)
    labels = read_labels(
        read_whole(os.path.join(session.cwd, args.labels), args.labels, "the labels"),  # noqa: PTH118
        args.labels,
    )
    evaluation = evaluate(score_request(_as_score(args), session), session)
    if evaluation.estimate is not None:
        session.out(evaluation.estimate)
        return EXIT_PASSED
    layers = {
        result.skill.path: layer
        for result in evaluation.report.results
        for layer in result.layers
        if isinstance(layer, JudgeLayer)
    }
    date = time.strftime("%Y-%m-%d", time.gmtime())
    built = build(labels, layers, date=date)
    for line in built.left_out:
        session.note(line)
    write(args.calibration_file, _written(built.document), cwd=session.cwd)
    session.out(f"wrote {args.calibration_file}: {len(built.document.items)} of {len(labels)} labels")
    known = trust(built.document, ())
    for name in ("kappa", "sensitivity", "specificity"):
        one: Estimate = getattr(known, name)
        shown = one.reason if one.value is None else f"{one.value:.2f} ({one.ci_low:.2f} to {one.ci_high:.2f})"
        session.out(f"  {name:<12} {shown}")
    return EXIT_INCOMPLETE if built.left_out else EXIT_PASSED


def _written(document: Calibration) -> bytes:
    return (json.dumps(encode(document), indent=2, ensure_ascii=False) + "\n").encode()


def _as_score(args: argparse.Namespace) -> argparse.Namespace:
    """Give the arguments of ``score --depth standard`` over the same skills."""
    from skillgate.cli.commands import score

    parser = Parser(prog="skillgate score")
    score.add_arguments(parser)
    asked = parser.parse([], shared_defaults())
    for key, value in vars(args).items():
        if key in vars(asked) and value is not None:
            setattr(asked, key, value)
    if args.calibration:
        raise UsageError("evals calibrate makes a calibration, and takes none")
    asked.depth = "standard"
    asked.paths = args.paths or ["."]
    return asked
