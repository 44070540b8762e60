"""The model port: providers, retries, cache, budget and the drivers of layers. Nothing here knows what is asked."""

from __future__ import annotations

from importlib.util import find_spec

from skillgate.errors import IncompleteError

_OF_LLM = ("anthropic", "httpx2", "tenacity", "jsonschema", "numpy", "scipy")


def require_packages() -> None:
    """Raise IncompleteError where what is loaded later is not there, before anything is sent."""
    for name in _OF_LLM:
        if find_spec(name) is None:
            raise missing_extra(ModuleNotFoundError(name=name))


def missing_extra(error: ModuleNotFoundError) -> IncompleteError:
    """Return which package is missing and how to install it; raise the error where it is of no extra."""
    name = (error.name or "").partition(".")[0]
    if name not in _OF_LLM:
        raise error
    return IncompleteError(
        f"asking a model needs packages that are not installed ({name} is missing); pip install 'skillgate-action[llm]'"
    )
