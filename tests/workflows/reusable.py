"""The reusable workflows that the examples call, as documents."""

from __future__ import annotations

import re
from typing import Any

import yaml

from skillgate.cli.commands.init import workflow
from skillgate.homepage import ACCOUNT, repository
from tests.container.engine import PROJECT

CALLED = {"fork": "comment.yml", "nightly": "gate.yml", "certify": "certify.yml"}
"""The reusable workflow of each example that calls one."""


def called(name: str) -> dict[Any, Any]:
    """Read a reusable workflow, with our account in place of what stands for it."""
    text = (PROJECT / ".github/workflows" / name).read_text(encoding="utf-8")
    document: dict[Any, Any] = yaml.safe_load(text.replace(f"{ACCOUNT}/skillgate", repository()))
    return document


def interface(name: str) -> dict[str, dict[str, Any]]:
    """Give the inputs and the secrets of a reusable workflow."""
    call = called(name)[True]["workflow_call"]
    return {"inputs": call.get("inputs", {}), "secrets": call.get("secrets", {})}


def caller(name: str) -> dict[str, Any]:
    """Give the only job of an example."""
    (job,) = yaml.safe_load(workflow(name))["jobs"].values()
    found: dict[str, Any] = job
    return found


def steps(job: dict[str, Any], uses: str) -> list[dict[str, Any]]:
    """Give the steps of a job that use an action."""
    return [step for step in job["steps"] if step.get("uses", "").partition("@")[0] == uses.partition("@")[0]]


def inputs_in(text: str) -> set[str]:
    """Name the inputs that expressions read."""
    return set(re.findall(r"\binputs\.([a-z-]+)", text))
