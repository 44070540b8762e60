"""Print the JSON Schema of a document that skillgate writes (report) or reads (config, skill, …)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.options import json_text
from skillgate.errors import UsageError
from skillgate.format import did_you_mean
from skillgate.invocations.record_schema import invocation_schema
from skillgate.report.schema import (
    adapter_schema,
    benchmark_schema,
    config_schema,
    report_schema,
    skill_schema,
    strategy_schema,
)

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console

GROUP = "reference"
_SCHEMAS = {
    "report": report_schema,
    "config": config_schema,
    "skill": skill_schema,
    "adapter": adapter_schema,
    "benchmark": benchmark_schema,
    "strategy": strategy_schema,
    "invocation": invocation_schema,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the document."""
    parser.add_argument("document", metavar="DOCUMENT", help=" or ".join(_SCHEMAS))


def run(args: argparse.Namespace, session: Console) -> int:
    """Print one schema."""
    make = _SCHEMAS.get(args.document)
    if make is None:
        known = ", ".join(_SCHEMAS)
        raise UsageError(f"unknown schema {args.document!r}{did_you_mean(args.document, _SCHEMAS)}; known: {known}")
    session.out(json_text(make()))
    return 0
