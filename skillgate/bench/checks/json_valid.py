"""The manifest: a skill.json that declares valid schemas of input and output; of prose, flawless frontmatter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.bench.checks._found import Found, UncheckedError, is_program, portion, prose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.checks._found import Subject

_MOST_TOLD = 5


def check(skill: Subject) -> Found:
    """Check one skill; that skill.json is valid is half of it, and each of its schemas a quarter."""
    if is_program(skill):  # it was read before, and what is not valid was refused
        return portion(
            (0.5, None),
            (0.25, _problem("inputSchema", skill.spec.input_schema)),
            (0.25, _problem("outputSchema", skill.spec.output_schema)),
        )
    found = prose(skill)
    if found is None or not found.frontmatter.valid:
        return Found(0.0, ("the frontmatter of SKILL.md is missing or no YAML mapping",))
    problems = [problem.message for problem in found.problems if problem.file is None]
    return Found(0.5 if problems else 1.0, tuple(problems[:_MOST_TOLD]))


def _problem(key: str, schema: Mapping[str, Any]) -> str | None:
    if not schema:
        return f"skill.json declares no {key}"
    try:
        from skillgate.bench.schemas import schema_problem
    except ImportError as missing:  # not ModuleNotFoundError: a thread that waited for a load that failed gets this
        raise UncheckedError(
            'whether a schema is one is known to jsonschema: pip install "skillgate-action[bench]"'
        ) from missing
    found = schema_problem(dict(schema))
    return None if found is None else f"skill.json: {key}: {found}"
