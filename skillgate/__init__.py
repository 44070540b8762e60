"""Score Agent Skills, show what to fix first, and gate their quality.

``evaluate`` scores skills on disk; ``composite_score`` computes the composite from dimension scores alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillgate.api import evaluate
    from skillgate.scoring.composite import composite_score

__version__ = "0.1.0"
__all__ = ["__version__", "composite_score", "evaluate"]

_HOMES = {"evaluate": "skillgate.api", "composite_score": "skillgate.scoring.composite"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a public name at its first use; its parsers take longer to import than many commands run."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
