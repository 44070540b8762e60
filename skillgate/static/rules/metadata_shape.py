"""The field metadata is not a mapping of text to text.

Why:
    The specification knows nothing else there. Codex reads metadata as a mapping and drops a skill where it is text, a
    number or a list; it also wants short-description to be text. Lists and mappings in it are read by no client, and by
    no two tools alike (a warning). Numbers, truth values and dates are common and do little harm (an info): YAML makes
    1.10 the number 1.1, and quotes prevent it.

Bad:
    metadata:
      openclaw:
        requires:
          - git

Good:
    metadata:
      author: example-org
      version: "1.0"

Source: Agent Skills specification, field `metadata` (its validator does not look); the skills loader of openai/codex
(SkillFrontmatterMetadata).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static.text import excerpt

_NAMED = 3  # keys that a message lists
_TO_CODEX = "short-description"


def find(skill: Skill) -> Iterator[Hit]:
    """Yield a hit where it is no mapping, else one for nested values and one for other values that are no text."""
    metadata = skill.frontmatter.values.get("metadata")
    span = Span(skill.frontmatter.line("metadata"))
    if isinstance(metadata, dict):
        yield from _values(metadata, span)
    elif metadata is not None:
        what = "a list" if isinstance(metadata, list) else "a single value"
        message = f"metadata is {what}; the specification wants keys with text, and Codex drops the skill for it"
        yield Hit(span, message, refused_by=(Client.SPEC, Client.CODEX))


def _values(metadata: Mapping[object, object], span: Span) -> Iterator[Hit]:
    wrong = {key: value for key, value in metadata.items() if not isinstance(value, str)}
    if wrong.get(_TO_CODEX) is not None:
        del wrong[_TO_CODEX]
        message = f"metadata.{_TO_CODEX} is no text; Codex drops the skill for it"
        yield Hit(span, message, refused_by=(Client.SPEC, Client.CODEX))
    nested = [key for key, value in wrong.items() if isinstance(value, dict | list | set | tuple)]
    others = [key for key in wrong if key not in nested]
    if nested:
        message = f"metadata holds lists or mappings ({_listed(nested)}); the specification wants text for each key"
        yield Hit(span, message)
    if others:
        message = f"metadata holds values that YAML does not read as text ({_listed(others)})"
        yield Hit(span, message, severity=Severity.INFO, refused_by=(), fix="write them in quotes")


def _listed(keys: list[object]) -> str:
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(excerpt(str(key)) for key in keys[:_NAMED]) + more


RULE = Rule(
    id="METADATA_SHAPE",
    severity=Severity.WARNING,
    summary="metadata is not a mapping of text to text",
    fix="give each key of metadata one text; put what is nested into keys of their own, or into a file",
    find=find,
    group="spec",
    refused_by=(Client.SPEC,),
)
