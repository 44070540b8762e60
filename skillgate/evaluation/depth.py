"""How deep a run goes: what was asked for, or a refusal; a depth is never replaced by another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import IncompleteError, UsageError
from skillgate.model.score import Depth
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from typing import Any

    from skillgate.config import Config
    from skillgate.evaluation.request import ModelOptions
    from skillgate.model.setting import Group, Setting

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
    depth = Depth(config.get(settings.DEPTH))
    layers = config.get(settings.LAYERS)
    if layers is not None:
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


def require_no_models(config: Config, options: ModelOptions) -> None:
    """Refuse options that only mean something where a model is asked.

    Raises:
        UsageError: naming those that were given.
    """
    of_models = _model_options(config, options)
    given = [*of_models, *_session_options(config, options), *_given(config, settings.MATCHES)]
    if given:
        needed = "standard" if of_models else "deep"
        raise UsageError(f"{', '.join(given)}: quick depth asks no model; give --depth {needed} too")


def require_sessions(config: Config, options: ModelOptions, depth: Depth) -> None:
    """Refuse options that the depth has no use for.

    Raises:
        UsageError: naming those that were given.
    """
    if depth in (Depth.DEEP, Depth.CERTIFY):
        # The folder of a corpus has a use: skills are listed next to those of a corpus too.
        if depth is Depth.DEEP and _is_given(config, settings.OPPONENTS):
            raise UsageError(f"--{settings.OPPONENTS.key}: depth deep plays no matches; give --depth certify")
        return
    given = [*_session_options(config, options), *_given(config, settings.MATCHES)]
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
    if depth in (Depth.DEEP, Depth.CERTIFY) and PROVIDERS.flag(provider, "WITHOUT_TOOLS") and not replay:
        raise UsageError(
            f"provider {provider} cannot run depth {depth.value}: sessions need tools, and it gives models none; use"
            f" depth standard, or provider anthropic with {settings.BASE_URL.key} for a server that speaks the Messages"
            " API"
        )


def _model_options(config: Config, options: ModelOptions) -> list[str]:
    others = {
        "--refresh": options.refresh,
        "--record": options.record is not None,
        "--replay": options.replay is not None,
        "--calibration": options.calibration is not None,
        "--dry-run": options.dry_run,
    }
    return _given(config, settings.MODELS) + [option for option, is_given in others.items() if is_given]


def _session_options(config: Config, options: ModelOptions) -> list[str]:
    others = {"--lift": options.lift, "--benchmark-json": options.benchmark_json is not None}
    return _given(config, settings.SESSIONS) + [option for option, is_given in others.items() if is_given]


def _given(config: Config, group: Group) -> list[str]:
    """List the options of a group that were given."""
    return [f"--{setting.key}" for setting in settings.of_group(group) if _is_given(config, setting)]


def _is_given(config: Config, setting: Setting[Any]) -> bool:
    """Whether an option sets a setting; one that sets a number to 0 asks for nothing."""
    return config.origin(setting) == "option" and config.get(setting) not in (None, 0)


def static_depth(config: Config) -> Depth:
    """Give the depth of a command that measures the static layer alone, whatever the configuration says of scores.

    Raises:
        IncompleteError: an option asks for more.
    """
    depth = config.get(settings.DEPTH)
    if config.origin(settings.DEPTH) == "option" and depth != "quick":
        raise IncompleteError(
            f"depth {depth} cannot run here: check measures the static layer alone, and asks no model;"
            f" use skillgate score --depth {depth}"
        )
    return Depth.QUICK
