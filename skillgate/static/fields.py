"""The frontmatter fields that are known: those of the specification, and what Claude Code adds (as of 2026-11)."""

from __future__ import annotations

SPECIFIED = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
CLAUDE_CODE = (
    "when_to_use",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "disallowed-tools",
    "model",
    "effort",
    "context",
    "agent",
    "background",
    "hooks",
    "paths",
    "shell",
)
