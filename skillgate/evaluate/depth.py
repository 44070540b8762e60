"""How deep a run goes: what was asked for, or a refusal; a depth is never replaced by another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import IncompleteError, UsageError
from skillgate.model.score import Depth

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from skillgate.config import Config

MODEL_OPTIONS = (
    *("provider", "base-url", "key-variable", "script", "judge-model", "judges", "temperature", "max-cost-usd"),
    *("max-calls", "in-flight", "poll-seconds", "cache-dir", "refresh", "record", "replay", "calibration", "dry-run"),
)
SESSION_OPTIONS = (
    *("model", "simulations", "near-misses", "seed", "max-turns", "runner", "min-activation", "max-failure-rate"),
    *("early-stop", "lift", "benchmark-json"),
)
"""Options that only mean something where sessions are simulated."""
"""Options that say who judges and what it may cost, beside depth and layers."""

WITHOUT_TOOLS = ("openai-compatible",)
"""Providers that give models no tools: they judge and compare, and simulate no session."""
_LAYERS = {
    frozenset({"static"}): Depth.QUICK,
    frozenset({"static", "judge"}): Depth.STANDARD,
    frozenset({"static", "judge", "montecarlo"}): Depth.DEEP,
}


def chosen_depth(config: Config) -> Depth:
    """Give the depth that configuration and options ask for.

    Raises:
        UsageError: ``layers`` names a set that is no depth, or another than ``depth``.
    """
    depth = Depth(str(config.get(settings.DEPTH)))
    layers = config.get(settings.LAYERS)
    if isinstance(layers, tuple):
        by_layers = _LAYERS.get(frozenset(layers))
        if by_layers is None:
            raise UsageError(
                f"layers {', '.join(layers)}: each layer needs those before it, as the judge is given what the static"
                " one measured; ask for static, for static,judge, or for static,judge,montecarlo"
            )
        if by_layers is not depth and config.origin(settings.DEPTH) == "option" == config.origin(settings.LAYERS):
            raise UsageError(f"--layers {','.join(layers)} is depth {by_layers.value}, and --depth says {depth.value}")
        if config.origin(settings.DEPTH) != "option" or config.origin(settings.LAYERS) == "option":
            depth = by_layers
    return depth


def require_no_models(args: argparse.Namespace) -> None:
    """Refuse options that only mean something where a model is asked.

    Raises:
        UsageError: naming those that were given.
    """
    given = _given(args, (*MODEL_OPTIONS, *SESSION_OPTIONS, "corpus-dir", "opponents"))
    if given:
        needed = "standard" if _given(args, MODEL_OPTIONS) else "deep"
        raise UsageError(f"{', '.join(given)}: quick depth asks no model; give --depth {needed} too")


def require_sessions(args: argparse.Namespace, depth: Depth) -> None:
    """Refuse options that the depth has no use for.

    Raises:
        UsageError: naming those that were given.
    """
    if depth in (Depth.DEEP, Depth.CERTIFY):
        given = _given(args, ("corpus-dir", "opponents")) if depth is Depth.DEEP else []
        if "--corpus-dir" in given:
            given.remove("--corpus-dir")  # skills are listed beside those of a corpus too
        if given:
            raise UsageError(f"{', '.join(given)}: depth deep plays no matches; give --depth certify")
        return
    given = _given(args, (*SESSION_OPTIONS, "corpus-dir", "opponents"))
    if given:
        raise UsageError(f"{', '.join(given)}: {depth.value} depth simulates no sessions; give --depth deep")


def require_able(config: Config, depth: Depth, *, replay: bool = False) -> None:
    """Refuse a depth that the provider can never run, before anything is asked.

    Args:
        config: names the provider.
        depth: the depth asked for.
        replay: whether a recording answers in the provider's place.

    Raises:
        UsageError: sessions need tools, and the provider gives models none.
    """
    provider = config.get(settings.PROVIDER)
    if depth in (Depth.DEEP, Depth.CERTIFY) and provider in WITHOUT_TOOLS and not replay:
        raise UsageError(
            f"provider {provider} cannot run depth {depth.value}: sessions need tools, and it gives models none; use"
            " depth standard, or provider anthropic with base-url for a server that speaks the Messages API"
        )


def _given(args: argparse.Namespace, names: Sequence[str]) -> list[str]:
    return [f"--{name}" for name in names if getattr(args, name.replace("-", "_"), None) not in (None, False, [])]


def static_depth(config: Config) -> Depth:
    """Give the depth of a command that measures the static layer alone, whatever the configuration says of scores.

    Raises:
        IncompleteError: an option asks for more.
    """
    depth = str(config.get(settings.DEPTH))
    if config.origin(settings.DEPTH) == "option" and depth != "quick":
        raise IncompleteError(
            f"depth {depth} cannot run here: check measures the static layer alone, and asks no model;"
            f" use skillgate score --depth {depth}"
        )
    return Depth.QUICK
