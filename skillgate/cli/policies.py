"""Which gates a run asks for, from configuration and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.score import Badge, Depth
from skillgate.scoring.gate import MAX_DROP, Policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePosixPath

    from skillgate.config import Config
    from skillgate.model.setting import Value

_BOUNDS = {"threshold": "threshold", "badge": "min-badge", "dimension": "min-dimension", "regression": "baseline"}
_ELSEWHERE = ("benchmark",)  # gates of other commands, which share the list
_SAMPLED = ("budget",)  # gates of depths that ask a model
_BUDGETS = ("max-cost-usd", "max-calls")


def require_bounds(config: Config, depth: Depth) -> None:
    """Refuse a list of gates that could not fail: a gate without its bound, or one that nothing here measures.

    Raises:
        UsageError: saying what is missing.
    """
    decisive = [layer for layer in config.layers if layer.patterns and "fail-on" in layer.values]
    listed, origin = config.get("fail-on"), config.origin("fail-on")
    if origin == "option":
        decisive = []  # it stands above every override
    _require(config, depth, listed, origin)
    for layer in decisive:
        _require(config, depth, layer.values["fail-on"], layer.origins["fail-on"])


def _require(config: Config, depth: Depth, listed: Value, origin: str) -> None:
    if not isinstance(listed, tuple):
        return
    where = "--fail-on" if origin == "option" else f"fail-on ({origin})"
    if "never" in listed and len(listed) > 1:
        others = ", ".join(word for word in listed if word != "never")
        raise UsageError(f"{where} lists never beside {others}: choose one")
    for gate, key in _BOUNDS.items():
        if gate in listed and not any(key in layer.values for layer in config.layers):
            raise UsageError(f"{where} lists {gate}, which needs {key}: without it the gate would always pass")
    if "budget" in listed and depth is not Depth.QUICK and all(config.get(key) is None for key in _BUDGETS):
        raise UsageError(f"{where} lists budget, which needs {' or '.join(_BUDGETS)}: without one it would always pass")
    elsewhere = (*_ELSEWHERE, *(_SAMPLED if depth is Depth.QUICK else ()))
    unmeasured = [gate for gate in listed if gate in elsewhere]
    if unmeasured and (origin == "option" or len(unmeasured) == len(listed)):
        raise UsageError(f"{where} lists {', '.join(unmeasured)}, which this command does not measure")


def policies(config: Config, *, command: str, note: Callable[[str], None]) -> Callable[[PurePosixPath], Policy]:
    """Give the gate of each skill, by its shown path; ``note`` is told once of each bound that fails nothing."""
    told: set[str] = set()

    def policy(path: PurePosixPath) -> Policy:
        bounds = {gate: config.get(key, path) for gate, key in _BOUNDS.items()}
        asked = frozenset(gate for gate, bound in bounds.items() if bound or bound == 0)
        listed = config.get("fail-on", path)
        fail_on = asked | ({"error"} if command == "check" else frozenset())
        if isinstance(listed, tuple):
            # What the command line asks for is asked for, unless its own --fail-on says otherwise.
            own = config.origin("fail-on", path) == "option"
            insisted = frozenset(g for g in asked if not own and config.origin(_BOUNDS[g], path) == "option")
            fail_on = insisted if "never" in listed else frozenset(listed) | insisted
            for gate in sorted(asked - fail_on - told):
                told.add(gate)
                note(f"{_BOUNDS[gate]} is set, but fail-on does not list {gate}: it is shown, and fails nothing")
        return _policy(config, path, fail_on, bounds)

    return policy


def _policy(config: Config, path: PurePosixPath, fail_on: frozenset[str], bounds: dict[str, Value]) -> Policy:
    threshold, badge, dimensions = bounds["threshold"], bounds["badge"], bounds["dimension"]
    drop, undecided = config.get("max-drop", path), config.get("on-inconclusive", path)
    return Policy(
        fail_on=fail_on,
        threshold=threshold if isinstance(threshold, float) else None,
        min_badge=Badge(badge.title()) if isinstance(badge, str) else None,
        min_dimension=dimensions if isinstance(dimensions, Mapping) else {},
        max_drop=drop if isinstance(drop, float) else MAX_DROP,
        on_inconclusive=str(undecided),
    )
