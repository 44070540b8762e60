"""The gates of recorded invocations: three that come with the rubric, and those of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.format import did_you_mean
from skillgate.model.setting import REQUIREMENT, TRIGGER
from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Gate(NamedTuple):
    """What is asked of a skill's figures; a bound of None asks nothing.

    A requirement is met where every bound holds. A trigger goes off if all of its conditions hold. The average is at
    most ``max_score``, and the last improvement is at least as old as ``max_age_without_improvement``. There must be
    enough rated invocations to say so (R23).
    """

    name: str
    kind: str  # ``requirement`` or ``trigger``
    description: str
    min_score: float | None = None  # min_score, max_score: of the average, 0–100
    max_score: float | None = None
    min_invocations: int | None = None
    max_error_rate: float | None = None  # the share that met an error, in [0, 1]
    max_unrecovered_rate: float | None = None
    max_age_without_improvement: int | None = None
    min_coverage: float | None = None  # how much was observed on average, in [0, 1]

    @property
    def bounds(self) -> dict[str, float]:
        """Return what is asked, by its name."""
        return {name: value for name in BOUNDS if (value := getattr(self, name)) is not None}


BOUNDS = Gate._fields[3:]
OF_TRIGGERS = ("max_score", "min_invocations", "max_age_without_improvement")
CONDITIONS = ("max_score", "max_age_without_improvement")  # a number of invocations alone is none
OF_REQUIREMENTS = tuple(name for name in BOUNDS if name != "max_score")

# Source: the rubric's table of gates.
_PACKAGED = (
    Gate("publish", REQUIREMENT, "What a skill must reach before it is published.", 70, None, 10, 0.1),
    Gate("feature", REQUIREMENT, "What a skill must reach to serve as a good example.", 85, None, 50, 0.05),
    Gate("deprecation", TRIGGER, "When to consider removing a skill.", None, 40, 20, None, None, 90),
)
PACKAGED: Mapping[str, Gate] = {gate.name: gate for gate in _PACKAGED}


def built(name: str, table: Mapping[str, object]) -> Gate:
    """Make a gate from its table in a configuration, whose values have been checked one by one.

    What it says of a packaged gate goes over that one, bound by bound. Without ``kind`` a gate with ``max_score`` is a
    trigger, as the rubric's own is, and any other a requirement.

    Raises:
        ValueError: it asks for nothing, or for what its kind cannot ask for.
    """
    packaged = PACKAGED.get(name)
    merged: dict[str, object] = {**(packaged._asdict() if packaged else {}), **table, "name": name}
    merged.setdefault("kind", TRIGGER if "max_score" in table else REQUIREMENT)
    merged.setdefault("description", "")
    gate = Gate(**merged)  # type: ignore[arg-type]  # values were checked by their settings
    allowed = OF_TRIGGERS if gate.kind == TRIGGER else OF_REQUIREMENTS
    for bound in gate.bounds:
        if bound not in allowed:
            raise ValueError(f"a {gate.kind} does not ask for {bound}; it takes {', '.join(allowed)}")
    asks = CONDITIONS if gate.kind == TRIGGER else BOUNDS
    if not set(gate.bounds) & set(asks):
        raise ValueError(f"a {gate.kind} needs {' or '.join(asks if gate.kind == TRIGGER else allowed)}")
    return gate


def known(custom: object = None) -> dict[str, Gate]:
    """Return all gates by name: the packaged ones, changed and added to by what the setting ``gates`` holds."""
    tables: Mapping[str, Mapping[str, object]] = custom if isinstance(custom, Mapping) else {}
    return {**PACKAGED, **{name: built(name, table) for name, table in tables.items()}}


def chosen(names: Iterable[str], gates: Mapping[str, Gate]) -> tuple[Gate, ...]:
    """Return gates by name, each once, in the order they are asked for.

    Raises:
        UsageError: there is no such gate; the known ones are named.
    """
    found: dict[str, Gate] = {}
    for name in names:
        if name not in gates:
            raise UsageError(f"unknown gate {name[:80]!r}{did_you_mean(name, gates)}; known are {', '.join(gates)}")
        found[name] = gates[name]
    return tuple(found.values())
