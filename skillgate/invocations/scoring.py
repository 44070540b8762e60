"""Score the invocations of files, and keep nothing."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import IncompleteError, UsageError
from skillgate.invocations.forms import UnrecognisedError, reader
from skillgate.invocations.importing import form_of, passed_over, reading_options, required
from skillgate.invocations.reading import lines, opened, recordings
from skillgate.invocations.rubric import explainer, scorer
from skillgate.invocations.taking import Counts, Problems
from skillgate.model.invocation import Tier
from skillgate.registry import INVOCATION_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.invocations.reading import Recording
    from skillgate.invocations.request import ScoreRequest
    from skillgate.model.invocation import Invocation, InvocationScore, Part
    from skillgate.session import Session

_MOST = 1_000  # invocations that are shown, and problems; there is `log import` for more
_MOST_SHOWN = 50  # problems that stderr has


class Scores(NamedTuple):
    """Invocations of files with their scores.

    Attributes:
        problems: the first of all problems; ``more_problems`` is how many there are beyond them.
        unrecognised: descriptions of files without any use of a skill, where one was needed.
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
        """Return what the score is made of where there is a single one."""
        return explainer(self.rubric)(self.scored[0][0]) if len(self.scored) == 1 else ()

    def require_all(self) -> None:
        """Make sure that everything could be read.

        Raises:
            UsageError: something could not.
            IncompleteError: a file holds no use of a skill that can be read.
        """
        if self.problems:
            more = self.more_problems + len(self.problems[_MOST_SHOWN:])
            last = [f"and {more:,} more"] if more else []
            raise UsageError("\n".join([*self.problems[:_MOST_SHOWN], *self.unrecognised, *last]))
        if self.unrecognised:
            raise IncompleteError("\n".join(self.unrecognised))


def score(request: ScoreRequest, session: Session) -> Scores:
    """Score what can be read.

    Raises:
        UsageError: there are too many invocations.
    """
    files, missing = recordings(request.files, cwd=session.cwd)
    problems = list(missing)
    found: list[Invocation] = []
    unknown: list[tuple[Recording, str]] = []
    known: set[str | None] = set()
    more = 0

    def report(text: str) -> None:
        nonlocal more
        if len(problems) < _MOST:
            problems.append(text)
        else:
            more += 1

    for recording in files:
        try:
            found += islice(_read(recording, request, session, report), _MOST + 1 - len(found))
            known.add(recording.parent)
        except UnrecognisedError as error:
            unknown.append((recording, str(error)))
        except UsageError as error:
            report(str(error))
    if len(found) > _MOST:
        raise UsageError(f"there are more than {_MOST:,} invocations; log import takes any number")
    for line in passed_over(unknown):
        session.note(line)
    rate = scorer(request.rubric)
    scored = tuple((invocation, rate(invocation)) for invocation in found)
    return Scores(request.rubric, scored, tuple(problems), more, tuple(required(unknown, known)))


def _read(
    recording: Recording, request: ScoreRequest, session: Session, report: Callable[[str], None]
) -> Iterator[Invocation]:
    problems, counts = Problems(recording.shown, report), Counts()
    with opened(recording) as file:
        form = form_of(request.form, file, recording.shown)
        whole = INVOCATION_FORMATS.flag(form, "ONE_DOCUMENT")
        for read in reader(form)(lines(file.file, whole=whole), reading_options(request, recording)):
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
