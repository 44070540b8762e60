"""The word ``score`` of ``log``: what a rubric says of the invocations of a file, with nothing kept."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from skillgate.cli.log_options import rubric_of
from skillgate.errors import EXIT_PASSED, IncompleteError, UsageError
from skillgate.invocations.forms import DOCUMENTS, UnrecognisedError, reader
from skillgate.invocations.importing import form_of, options_of, passed_over, unread_of
from skillgate.invocations.reading import lines, opened, recordings
from skillgate.invocations.rubric import explainer, scorer
from skillgate.invocations.taking import Counts, Problems
from skillgate.model.invocation import Tier
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from skillgate.invocations.reading import Recording
    from skillgate.model.invocation import Invocation, InvocationScore, Part
    from skillgate.session import Session

_MOST = 1_000  # invocations that are shown, and problems; there is `log import` for more
_TOLD = 50  # problems that stderr has


def score(args: argparse.Namespace, session: Session) -> int:
    """Score and show.

    Raises:
        UsageError: something could not be read; the others are shown.
        IncompleteError: a file holds no use of a skill that can be read; the others are shown.
    """
    rubric = rubric_of(args, session)
    files, problems = recordings(args.files, cwd=session.cwd)
    bad = list(problems)
    found: list[Invocation] = []
    unknown: list[tuple[Recording, str]] = []
    known: set[str | None] = set()
    left = 0

    def tell(text: str) -> None:
        nonlocal left
        if len(bad) < _MOST:
            bad.append(text)
        else:
            left += 1

    for recording in files:
        try:
            found += islice(_read(recording, args, session, tell), _MOST + 1 - len(found))
            known.add(recording.parent)
        except UnrecognisedError as error:
            unknown.append((recording, str(error)))
        except UsageError as error:
            tell(str(error))
    if len(found) > _MOST:
        raise UsageError(f"there are more than {_MOST:,} invocations; log import takes any number")
    for line in passed_over(unknown):
        session.note(line)
    unread = unread_of(unknown, known)
    rate, explain = scorer(rubric), explainer(rubric)
    scores = [(invocation, rate(invocation)) for invocation in found]
    parts = explain(found[0]) if len(found) == 1 else ()
    if session.json:
        rows = [_row(invocation, one, explain(invocation)) for invocation, one in scores]
        document = {"kind": "log-score", "rubric_version": rubric, "invocations": rows, "problems": [*bad, *unread]}
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
    elif scores:
        from skillgate.report.invocations_text import render_scores

        session.out(render_scores(scores, Style(width=session.width, color=session.color), parts=parts))
    if bad:
        left += len(bad[_TOLD:])
        raise UsageError("\n".join([*bad[:_TOLD], *unread, *([f"and {left:,} more"] if left else [])]))
    if unread:
        raise IncompleteError("\n".join(unread))
    return EXIT_PASSED


def _read(
    recording: Recording, args: argparse.Namespace, session: Session, tell: Callable[[str], None]
) -> Iterator[Invocation]:
    problems, counts = Problems(recording.shown, tell), Counts()
    with opened(recording) as file:
        form = form_of(args.format, file, recording.shown)
        for read in reader(form)(lines(file.file, whole=form in DOCUMENTS), options_of(args, recording)):
            for warning in read.warnings:
                counts.warn(warning)
            if read.invocation is not None:
                yield read.invocation
            elif read.problem is not None:
                problems.add(read, read.problem)
            counts.unused = read.unused or counts.unused
    problems.close()
    for warning in counts.warnings:
        session.note(f"{recording.shown}: {warning}")
    if counts.unused is not None:
        raise UnrecognisedError(f"{recording.shown}: {counts.unused}")


def _row(invocation: Invocation, found: InvocationScore, parts: tuple[Part, ...]) -> dict[str, Any]:
    return {
        "invocation_id": invocation.invocation_id,
        "skill": invocation.skill_name,
        "timestamp": invocation.timestamp.isoformat().replace("+00:00", "Z"),
        "quality_score": found.total,
        "tier": None if found.total is None else Tier.of(found.total).value,
        "scores": {
            "completion": found.completion,
            "efficiency": found.efficiency,
            "quality": found.quality,
            "satisfaction": found.satisfaction,
        },
        "coverage": found.coverage,
        "baseline_category": found.baseline,
        "parts": [{**part._asdict(), "component": part.component.value} for part in parts],
    }
