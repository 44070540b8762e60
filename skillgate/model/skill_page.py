"""What is known of one skill, side by side: document kind ``log-skill``.

Promised is what scores say of its files, tested what benchmarks and certificates say, observed what records of real
invocations say. What is not known is empty or None with a reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from skillgate.model.documents import PastEvaluation, PastScore
from skillgate.model.invocation import InvocationReport
from skillgate.model.report import Tool
from skillgate.model.score import SCHEMA_VERSION, Count, Range


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """The rank correlation of scores at one depth with the observed averages, over the skills that have both."""

    depth: str
    n: Count
    rho: Annotated[float, Range(-1, 1)] | None  # Spearman's; None with a reason
    low: Annotated[float, Range(-1, 1)] | None  # low, high: its 95 % interval
    high: Annotated[float, Range(-1, 1)] | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """What a certificate says of the skill."""

    badge: str | None
    certified: bool
    issued: str
    expires: str
    expired: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillPage:
    """The document."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "log-skill")

    tool: Tool
    store: str
    skill: str
    promised: tuple[PastScore, ...]  # the newest of each depth, the newest first
    tested: tuple[PastEvaluation, ...]  # the newest complete one of each benchmark and model, the newest first
    certificate: Certified | None  # None where none was passed, or it is not about the skill
    observed: InvocationReport  # of this skill alone; its trend is corrected for all skills of the store
    correlations: tuple[Correlation, ...]  # over all skills of the store
    notices: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION
