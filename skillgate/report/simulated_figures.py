"""What sessions measure, in lines: the figures that there are, then those that there are not, each reason once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.report.simulated_words import label, measured, short, tokens, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.layers import Estimate, MonteCarloLayer


def figures(layer: MonteCarloLayer) -> Iterator[str]:
    """Say what the sessions measure, a line for each group, then what is not measured; each reason once.

    Nothing where no session was measured: that is said by itself.
    """
    if not layer.completed + layer.failed:
        return
    names = (("activation_rate", "false_activation_rate", "f1"), ("quality", "failure_rate"), ("tokens",))
    groups = [[_figure(layer, name) for name in group if not is_missing(layer.measures.get(name))] for group in names]
    groups[-1].append(f"mc_score {layer.mc_score:.4f}" if layer.mc_score is not None else "")
    yield from filter(None, ("; ".join(filter(None, group)) for group in groups))
    yield from not_measured(layer, [name for group in names for name in group])


def further(layer: MonteCarloLayer, names: Sequence[str]) -> Iterator[str]:
    """Say what else the sessions measure, in a line; then what of it is not measured, each reason once."""
    if not layer.completed + layer.failed:
        return
    known = [value(layer, name) for name in names if not is_missing(layer.measures.get(name))]
    yield from filter(None, ("; ".join(filter(None, known)),))
    yield from not_measured(layer, names, score=False)


def is_missing(found: Estimate | None) -> bool:
    """Tell whether a measure has neither a value nor bounds."""
    return found is None or (found.value is None and found.ci_low is None)


def not_measured(layer: MonteCarloLayer, names: Sequence[str], *, score: bool = True) -> Iterator[str]:
    """Give the measures that are missing, by their reason; the layer's own reason stands among its remarks already.

    Args:
        layer: the sessions.
        names: the measures that are told of.
        score: whether the score of all parts together is one of them.
    """
    if layer.stopped_early is not None:
        return
    missing: dict[str, list[str]] = {}
    for name in names:
        found = layer.measures.get(name)
        if found is not None and is_missing(found):
            missing.setdefault(found.reason or "", []).append(label(name))
    reason = _score_reason(layer, missing) if score else None
    if reason is not None:
        missing.setdefault(reason, []).append("mc_score")
    for reason, lacking in missing.items():
        if reason and reason in (layer.reason or ""):
            yield f"not measured for that: {', '.join(lacking)}"
        else:
            yield f"not measured: {', '.join(lacking)}: {short(reason)}"


def _score_reason(layer: MonteCarloLayer, known: Iterable[str]) -> str | None:
    """Say why there is no score of all parts together, by a reason that is known where it is the same in more words."""
    if layer.mc_score is not None or not layer.mc_reason:
        return None
    return next((reason for reason in known if reason and reason in layer.mc_reason), layer.mc_reason)


def _figure(layer: MonteCarloLayer, name: str) -> str:
    if name == "tokens" and layer.tokens is not None:
        return tokens(layer.tokens)
    if name == "quality":
        return _quality(layer)
    return value(layer, name, n=name not in ("f1", "tokens"))


def _quality(layer: MonteCarloLayer) -> str:
    found, variation = layer.measures["quality"], layer.measures.get("quality_cv")
    cv = f", CV {variation.value:.2f}" if variation is not None and variation.value is not None else ""
    return f"quality {measured('quality', found)}{cv}, n = {found.n:,}"
