"""Skills that were found, and those that were selected.

Annotations are evaluated when candidates are read or a schema is made. Keys are camelCase. Ratios lie in [0, 1], times
are in milliseconds.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar

from skillgate.model.bench import NotLoaded
from skillgate.model.bench_result import Milliseconds
from skillgate.model.executable import AdapterType
from skillgate.model.judging import Count, Ratio
from skillgate.model.marks import Range, camel
from skillgate.model.report import Tool
from skillgate.model.score import SCHEMA_VERSION


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a skill's evaluation says of it; None where it was not measured."""

    completion_rate: Ratio | None = None
    partial_score: Ratio | None = None
    error_rate: Ratio | None = None
    composite_score: Ratio | None = None
    latency_p95_ms: Milliseconds | None = None
    tokens: Count | None = None
    cost_usd: float | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a skill completed when it was last evaluated.

    Attributes:
        completion_rate: the share of tasks that passed.
        benchmark_id: on what; None where nobody says.
        source: ``store`` for what was measured here, ``skill.json`` for what the skill says of itself.
        measured_at: None where nobody says.
    """

    completion_rate: Ratio
    source: str
    benchmark_id: str | None = None
    measured_at: datetime | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSkill:
    """One skill that was found.

    Attributes:
        id, name, description, tags, adapter_type: as its skill.json or SKILL.md says.
        version: None for a SKILL.md that names none: its content is its version.
        path: of its directory, as shown.
        completion: what it completed when it was last evaluated; None where nobody knows.
        relevance: how well it matches the query, None without one.
    """

    id: str
    adapter_type: AdapterType
    version: str | None = None
    name: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    path: str = ""
    completion: Past | None = None
    relevance: Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSkills:
    """The document of ``find``: kind ``find``.

    Attributes:
        skills: the best first.
        matched: how many match, ``skills`` being cut to the limit.
        not_evaluated: how many match all but the least completion, since they were never evaluated.
        not_loaded: skills that could not be read, and why.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "find")

    tool: Tool
    skills: tuple[FoundSkill, ...]
    matched: Count
    not_evaluated: Count = 0
    not_loaded: tuple[NotLoaded, ...] = ()
    schema_version: int = SCHEMA_VERSION


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedSkill:
    """One skill that was selected, with the figures that it was selected by and why."""

    id: str
    rank: Annotated[int, Range(1, None)]
    adapter_type: AdapterType
    version: str | None
    name: str
    description: str
    tags: tuple[str, ...]
    benchmark_id: str
    benchmark_version: str
    measured_at: datetime
    figures: Figures
    reasons: tuple[str, ...]
