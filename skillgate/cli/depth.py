"""How deep a run goes: what was asked for, or a refusal; a depth is never replaced by another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.errors import IncompleteError, UsageError
from skillgate.model.score import Depth

if TYPE_CHECKING:
    import argparse

    from skillgate.config import Config

MODEL_OPTIONS = (
    *("provider", "base-url", "key-variable", "script", "judge-model", "judges", "temperature", "max-cost-usd"),
    *("max-calls", "in-flight", "cache-dir", "refresh", "record", "replay", "calibration", "dry-run"),
)
"""Options that say who judges and what it may cost, beside depth and layers."""

_LAYERS = {
    frozenset({"static"}): Depth.QUICK,
    frozenset({"static", "judge"}): Depth.STANDARD,
    frozenset({"static", "judge", "montecarlo"}): Depth.DEEP,
}


def chosen_depth(config: Config) -> Depth:
    """Give the depth that configuration and options ask for.

    Raises:
        UsageError: ``layers`` names a set that is no depth, or another than ``depth``.
        IncompleteError: the depth cannot run.
    """
    depth = Depth(str(config.get("depth")))
    layers = config.get("layers")
    if isinstance(layers, tuple):
        by_layers = _LAYERS.get(frozenset(layers))
        if by_layers is None:
            raise UsageError(
                f"layers {', '.join(layers)}: each layer needs those before it, as the judge is given what the static"
                " one measured; ask for static, for static,judge, or for static,judge,montecarlo"
            )
        if by_layers is not depth and config.origin("depth") == "option" == config.origin("layers"):
            raise UsageError(f"--layers {','.join(layers)} is depth {by_layers.value}, and --depth says {depth.value}")
        if config.origin("depth") != "option" or config.origin("layers") == "option":
            depth = by_layers
    if depth not in (Depth.QUICK, Depth.STANDARD):
        raise IncompleteError(
            f"depth {depth.value} cannot run: this version has the static layer and the judge, and a lower depth is"
            " never run in its place; ask for --depth standard or --depth quick, or set depth in the configuration"
        )
    return depth


def require_no_models(args: argparse.Namespace) -> None:
    """Refuse options that only mean something where a model is asked.

    Raises:
        UsageError: naming those that were given.
    """
    given = [f"--{name}" for name in MODEL_OPTIONS if getattr(args, name.replace("-", "_"), None)]
    if given:
        raise UsageError(f"{', '.join(given)}: quick depth asks no model; give --depth standard too")


def static_depth(config: Config) -> Depth:
    """Give the depth of a command that measures the static layer alone, whatever the configuration says of scores.

    Raises:
        IncompleteError: an option asks for more.
    """
    depth = str(config.get("depth"))
    if config.origin("depth") == "option" and depth != "quick":
        raise IncompleteError(
            f"depth {depth} cannot run here: check measures the static layer alone, and asks no model;"
            f" use skillgate score --depth {depth}"
        )
    return Depth.QUICK
