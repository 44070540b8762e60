"""What is asked of skills that are selected, and which of a run were.

Annotations are evaluated when a strategy is read or its schema is made. Keys are camelCase. Ratios lie in [0, 1], times
are in milliseconds.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, ClassVar, NamedTuple

from skillgate.model.bench_result import Milliseconds
from skillgate.model.executable import AdapterType
from skillgate.model.judging import Ratio
from skillgate.model.marks import Range, camel


class SortKey(Enum):
    """What skills are ranked by: ``latency`` is the 95th percentile, ``tokenCost`` the tokens of all results."""

    COMPLETION_RATE = "completionRate"
    COMPOSITE_SCORE = "compositeScore"
    LATENCY = "latency"
    TOKEN_COST = "tokenCost"  # noqa: S105 - the name of a figure


class Order(Enum):
    """In which order they are ranked."""

    ASCENDING = "asc"
    DESCENDING = "desc"


BETTER_LOW = frozenset({SortKey.LATENCY, SortKey.TOKEN_COST})
"""Keys of which less is better: they rank in ascending order where nobody says otherwise."""


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a skill must have to be selected; None and nothing ask for nothing.

    Attributes:
        min_completion_rate: the least share of tasks that passed.
        max_error_rate: the largest share of tasks that ended in an error or a timeout.
        max_latency_p95_ms: the largest 95th percentile of latencies.
        adapter_types: one of these.
        required_tags: all of these, whatever their case.
    """

    CLOSED: ClassVar[bool] = True

    min_completion_rate: Ratio | None = None
    max_error_rate: Ratio | None = None
    max_latency_p95_ms: Milliseconds | None = None
    adapter_types: tuple[AdapterType, ...] = ()
    required_tags: tuple[str, ...] = ()


_NO_FILTERS = Filters()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How skills are selected: filter, rank, keep the first.

    Attributes:
        filters: what each must have.
        sort_by: what they are ranked by.
        order: None: the best first.
        top_k: how many are selected at most; None: all that pass.
    """

    CLOSED: ClassVar[bool] = True

    filters: Filters = _NO_FILTERS
    sort_by: SortKey = SortKey.COMPOSITE_SCORE
    order: Order | None = None
    top_k: Annotated[int, Range(1, None)] | None = None

    @property
    def descending(self) -> bool:
        """Whether the largest comes first."""
        if self.order is not None:
            return self.order is Order.DESCENDING
        return self.sort_by not in BETTER_LOW


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """Whether one skill of a run was selected: its rank among those that passed every filter, and the reasons."""

    skill_id: str
    selected: bool
    rank: Annotated[int, Range(1, None)] | None
    reasons: tuple[str, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What ``run`` selected, and by what."""

    strategy: Strategy
    skills: tuple[Pick, ...]


class Choice(NamedTuple):
    """What became of one entrant.

    Attributes:
        entrant: which one it is, by its place among them.
        selected: whether it is among the first that passed all filters.
        rank: among those that passed them; None for others.
        reasons: what it passed, or every filter that it did not.
    """

    entrant: int
    selected: bool
    rank: int | None
    reasons: tuple[str, ...]
