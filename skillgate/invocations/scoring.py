"""Score the invocations of files, and store nothing."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import IncompleteError, UsageError
from skillgate.invocations.formats import Counts, Problems, UnrecognisedError, reader
from skillgate.invocations.importing import (
    MOST_PROBLEMS,
    Recording,
    format_of,
    lines,
    opened,
    options_of,
    recordings,
    required,
    without_invocations,
)
from skillgate.invocations.rubric import explainer, scorer
from skillgate.model.invocation import Tier
from skillgate.registry import INVOCATION_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.console import Console
    from skillgate.invocations.records import ScoreRequest
    from skillgate.model.invocation import Invocation, InvocationScore, Part

_MOST_SCORED = 1_000  # maximum invocations to show; `log import` takes more
_MOST_SHOWN = 50  # maximum problems of a scoring on stderr


class Scores(NamedTuple):
    """Invocations of files with their scores.

    Attributes:
        problems: the first 1,000 problems; ``more_problems`` is the number of others.
        unrecognised: descriptions of files that should contain uses of skills and do not.
    """

    rubric: str
    scored: tuple[tuple[Invocation, InvocationScore], ...]
    problems: tuple[str, ...]
    more_problems: int
    unrecognised: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        explain = explainer(self.rubric)
        return {
            "kind": "log-score",
            "rubric_version": self.rubric,
            "invocations": [_row(invocation, score, explain(invocation)) for invocation, score in self.scored],
            "problems": [*self.problems, *self.unrecognised],
        }

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of the score if there is exactly one invocation."""
        return explainer(self.rubric)(self.scored[0][0]) if len(self.scored) == 1 else ()

    def require_all(self) -> None:
        """Raise UsageError if a file could not be read, IncompleteError if one has no use of a skill."""
        if self.problems:
            more = self.more_problems + len(self.problems[_MOST_SHOWN:])
            last = [f"and {more:,} more"] if more else []
            raise UsageError("\n".join([*self.problems[:_MOST_SHOWN], *self.unrecognised, *last]))
        if self.unrecognised:
            raise IncompleteError("\n".join(self.unrecognised))


def _row(invocation: Invocation, score: InvocationScore, parts: tuple[Part, ...]) -> dict[str, Any]:
    return {
        "invocation_id": invocation.invocation_id,
        "skill": invocation.skill_name,
        "timestamp": invocation.timestamp.isoformat().replace("+00:00", "Z"),
        "quality_score": score.total,
        "tier": None if score.total is None else Tier.of(score.total).value,
        "scores": {name: getattr(score, name) for name in ("completion", "efficiency", "quality", "satisfaction")},
        "coverage": score.coverage,
        "baseline_category": score.baseline,
        "parts": [{**part._asdict(), "component": part.component.value} for part in parts],
    }


def score(request: ScoreRequest, session: Console) -> Scores:
    """Score the readable invocations; raise UsageError if there are more than 1,000."""
    files, missing = recordings(request.files, cwd=session.cwd)
    problems = list(missing)
    found: list[Invocation] = []
    unknown: list[tuple[Recording, str]] = []
    known: set[str | None] = set()
    more = 0

    def report(text: str) -> None:
        nonlocal more
        if len(problems) < MOST_PROBLEMS:
            problems.append(text)
        else:
            more += 1

    for recording in files:
        try:
            found += islice(_read(recording, request, session, report), _MOST_SCORED + 1 - len(found))
            known.add(recording.parent)
        except UnrecognisedError as error:
            unknown.append((recording, str(error)))
        except UsageError as error:
            report(str(error))
    if len(found) > _MOST_SCORED:
        raise UsageError(f"more than {_MOST_SCORED:,} invocations; use log import, which takes any number")
    for line in without_invocations(unknown):
        session.note(line)
    rate = scorer(request.rubric)
    scored = tuple((invocation, rate(invocation)) for invocation in found)
    return Scores(request.rubric, scored, tuple(problems), more, tuple(required(unknown, known)))


def _read(
    recording: Recording, request: ScoreRequest, session: Console, report: Callable[[str], None]
) -> Iterator[Invocation]:
    problems, counts = Problems(recording.shown, report), Counts()
    with opened(recording) as file:
        form = format_of(request.form, file, recording.shown)
        whole = INVOCATION_FORMATS.flag(form, "ONE_DOCUMENT")
        for read in reader(form)(lines(file.file, whole=whole), options_of(request, recording, set())):
            counts.note(read)
            if read.invocation is not None:
                yield read.invocation
            elif read.problem is not None:
                problems.add(read, read.problem)
    problems.close()
    for warning in counts.warnings:
        session.note(f"{recording.shown}: {warning}")
    if counts.unused is not None:
        raise UnrecognisedError(f"{recording.shown}: {counts.unused}")
