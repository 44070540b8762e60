"""Which gates a run asks for, from configuration and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.score import Badge, Depth
from skillgate.scoring.gate import MAX_DROP, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import PurePosixPath

    from skillgate.config import Config
    from skillgate.model.setting import Value

_BOUNDS = {"threshold": "threshold", "badge": "min-badge", "dimension": "min-dimension", "regression": "baseline"}
_ELSEWHERE = ("benchmark",)  # gates of other commands, which share the list
_SAMPLED = ("budget",)  # gates of depths that ask a model
_BUDGETS = ("max-cost-usd", "max-calls")
_SESSIONS = ("min-activation", "max-failure-rate")  # bounds of the threshold gate where sessions are simulated
_SIMULATED = (Depth.DEEP, Depth.CERTIFY)


def require_bounds(config: Config, depth: Depth, *, also: Collection[str] = ()) -> None:
    """Refuse a list of gates that could not fail: a gate without its bound, or one that nothing here measures.

    Args:
        config: the effective configuration.
        depth: which layers there are.
        also: gates of other commands that this run measures too.

    Raises:
        UsageError: saying what is missing.
    """
    decisive = [layer for layer in config.layers if layer.patterns and "fail-on" in layer.values]
    listed, origin = config.get("fail-on"), config.origin("fail-on")
    if origin == "option":
        decisive = []  # it stands above every override
    _require(config, depth, listed, origin, also)
    for layer in decisive:
        _require(config, depth, layer.values["fail-on"], layer.origins["fail-on"], also)


def _require(config: Config, depth: Depth, listed: Value, origin: str, also: Collection[str]) -> None:
    if not isinstance(listed, tuple):
        return
    where = "--fail-on" if origin == "option" else f"fail-on ({origin})"
    if "never" in listed and len(listed) > 1:
        others = ", ".join(word for word in listed if word != "never")
        raise UsageError(f"{where} lists never beside {others}: choose one")
    for gate, key in _BOUNDS.items():
        keys = (key, *(_SESSIONS if gate == "threshold" and depth in _SIMULATED else ()))
        if gate in listed and not any(key in layer.values for layer in config.layers for key in keys):
            raise UsageError(f"{where} lists {gate}, which needs {key}: without it the gate would always pass")
    if "budget" in listed and depth is not Depth.QUICK and all(config.get(key) is None for key in _BUDGETS):
        raise UsageError(f"{where} lists budget, which needs {' or '.join(_BUDGETS)}: without one it would always pass")
    elsewhere = (*_ELSEWHERE, *(_SAMPLED if depth is Depth.QUICK else ()))
    unmeasured = [gate for gate in listed if gate in elsewhere and gate not in also]
    if unmeasured and (origin == "option" or len(unmeasured) == len(listed)):
        raise UsageError(f"{where} lists {', '.join(unmeasured)}, which this command does not measure")


def policies(
    config: Config, *, command: str, note: Callable[[str], None], depth: Depth = Depth.QUICK
) -> Callable[[PurePosixPath], Policy]:
    """Give the gate of each skill, by its shown path; ``note`` is told once of each bound that fails nothing."""
    told: set[str] = set()

    def policy(path: PurePosixPath) -> Policy:
        bounds = {gate: config.get(key, path) for gate, key in _BOUNDS.items()}
        asked = frozenset(gate for gate, bound in bounds.items() if bound or bound == 0)
        sessions = {key: config.get(key, path) for key in _SESSIONS}
        for key in [key for key, bound in sessions.items() if bound is not None]:
            if depth in _SIMULATED:
                asked |= {"threshold"}
            elif command != "check" and key not in told:
                told.add(key)
                note(f"{key} is set, and {depth.value} depth simulates no sessions: it fails nothing here")
        listed = config.get("fail-on", path)
        fail_on = asked | ({"error"} if command == "check" else frozenset())
        if isinstance(listed, tuple):
            # What the command line asks for is asked for, unless its own --fail-on says otherwise.
            own = config.origin("fail-on", path) == "option"
            insisted = frozenset(g for g in asked if not own and _is_insisted(config, g, path))
            fail_on = insisted if "never" in listed else frozenset(listed) | insisted
            for gate in sorted(asked - fail_on - told):
                told.add(gate)
                key = _BOUNDS[gate] if bounds[gate] is not None else " or ".join(k for k in sessions if sessions[k])
                note(f"{key} is set, but fail-on does not list {gate}: it is shown, and fails nothing")
        found = _policy(config, path, fail_on, bounds)
        if depth not in _SIMULATED:
            return found
        least, most = sessions.values()
        return found._replace(
            min_activation=least if isinstance(least, float) else None,
            max_failure_rate=most if isinstance(most, float) else None,
        )

    return policy


def _is_insisted(config: Config, gate: str, path: PurePosixPath) -> bool:
    """Tell whether the command line itself sets a bound of a gate."""
    keys = (_BOUNDS[gate], *(_SESSIONS if gate == "threshold" else ()))
    return any(config.origin(key, path) == "option" for key in keys)


def _policy(config: Config, path: PurePosixPath, fail_on: frozenset[str], bounds: dict[str, Value]) -> Policy:
    threshold, badge, dimensions = bounds["threshold"], bounds["badge"], bounds["dimension"]
    drop, undecided = config.get("max-drop", path), config.get("on-inconclusive", path)
    scores = dimensions.items() if isinstance(dimensions, Mapping) else ()
    return Policy(
        fail_on=fail_on,
        threshold=threshold if isinstance(threshold, float) else None,
        min_badge=Badge(badge.title()) if isinstance(badge, str) else None,
        min_dimension={name: least for name, least in scores if isinstance(least, float)},
        max_drop=drop if isinstance(drop, float) else MAX_DROP,
        on_inconclusive=str(undecided),
    )
