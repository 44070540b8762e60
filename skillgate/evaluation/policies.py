"""Which gates a run asks for, from configuration and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.model.score import Badge, Depth
from skillgate.scoring.gate import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import PurePosixPath

    from skillgate.config import Config
    from skillgate.model.setting import Setting, Value

_BOUNDS = {setting.gate: setting for setting in settings.of_group(settings.GATE) if setting.gate}
_ELSEWHERE = ("benchmark",)  # gates of other commands, which share the list
_SAMPLED = ("budget",)  # gates of depths that ask a model
_BUDGETS: tuple[Setting[Any], ...] = (settings.MAX_COST_USD, settings.MAX_CALLS)
_SESSIONS = tuple(setting for setting in settings.of_group(settings.SESSIONS) if setting.gate)
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
    decisive = [layer for layer in config.layers if layer.patterns and settings.FAIL_ON.key in layer.values]
    listed, origin = config.get(settings.FAIL_ON), config.origin(settings.FAIL_ON)
    if origin == "option":
        decisive = []  # it stands above every override
    _require(config, depth, listed, origin, also)
    for layer in decisive:
        _require(config, depth, layer.values[settings.FAIL_ON.key], layer.origins[settings.FAIL_ON.key], also)


def _require(config: Config, depth: Depth, listed: Value, origin: str, also: Collection[str]) -> None:
    if not isinstance(listed, tuple):
        return
    where = f"--{settings.FAIL_ON.key}" if origin == "option" else f"{settings.FAIL_ON.key} ({origin})"
    if "never" in listed and len(listed) > 1:
        others = ", ".join(word for word in listed if word != "never")
        raise UsageError(f"{where} lists never beside {others}: choose one")
    for gate, bound in _BOUNDS.items():
        bounds = (bound, *(_SESSIONS if gate == "threshold" and depth in _SIMULATED else ()))
        if gate in listed and not any(one.key in layer.values for layer in config.layers for one in bounds):
            raise UsageError(f"{where} lists {gate}, which needs {bound.key}: without it the gate would always pass")
    if "budget" in listed and depth is not Depth.QUICK and all(config.get(one) is None for one in _BUDGETS):
        names = " or ".join(one.key for one in _BUDGETS)
        raise UsageError(f"{where} lists budget, which needs {names}: without one it would always pass")
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
        bounds = {gate: config.get(setting, path) for gate, setting in _BOUNDS.items()}
        asked = frozenset(gate for gate, bound in bounds.items() if bound or bound == 0)
        sessions = {setting.key: config.get(setting, path) for setting in _SESSIONS}
        for key in [key for key, bound in sessions.items() if bound is not None]:
            if depth in _SIMULATED:
                asked |= {"threshold"}
            elif command != "check" and key not in told:
                told.add(key)
                note(f"{key} is set, and {depth.value} depth simulates no sessions: it fails nothing here")
        listed = config.get(settings.FAIL_ON, path)
        fail_on = asked | ({"error"} if command == "check" else frozenset())
        if listed is not None:
            # What the command line asks for is asked for, unless its own --fail-on says otherwise.
            own = config.origin(settings.FAIL_ON, path) == "option"
            insisted = frozenset(g for g in asked if not own and _is_insisted(config, g, path))
            fail_on = insisted if "never" in listed else frozenset(listed) | insisted
            for gate in sorted(asked - fail_on - told):
                told.add(gate)
                key = _BOUNDS[gate].key if bounds[gate] is not None else " or ".join(k for k in sessions if sessions[k])
                note(f"{key} is set, but {settings.FAIL_ON.key} does not list {gate}: it is shown, and fails nothing")
        found = _policy(config, path, fail_on)
        if depth not in _SIMULATED:
            return found
        return found._replace(
            min_activation=config.get(settings.MIN_ACTIVATION, path),
            max_failure_rate=config.get(settings.MAX_FAILURE_RATE, path),
        )

    return policy


def _is_insisted(config: Config, gate: str, path: PurePosixPath) -> bool:
    """Tell whether the command line itself sets a bound of a gate."""
    bounds = (_BOUNDS[gate], *(_SESSIONS if gate == "threshold" else ()))
    return any(config.origin(setting, path) == "option" for setting in bounds)


def _policy(config: Config, path: PurePosixPath, fail_on: frozenset[str]) -> Policy:
    badge, dimensions = config.get(settings.MIN_BADGE, path), config.get(settings.MIN_DIMENSION, path)
    return Policy(
        fail_on=fail_on,
        threshold=config.get(settings.THRESHOLD, path),
        min_badge=None if badge is None else Badge(badge.title()),
        min_dimension={} if dimensions is None else dimensions,
        max_drop=config.get(settings.MAX_DROP, path),
        on_inconclusive=config.get(settings.ON_INCONCLUSIVE, path),
    )
