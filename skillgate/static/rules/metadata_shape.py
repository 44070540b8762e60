"""metadata is not a mapping of strings to strings.

Why:
    The specification allows only strings there. Codex reads metadata as a mapping and drops a skill if metadata is a
    string, a number or a list; short-description must be a string too. No client reads lists and mappings in it, and
    tools disagree about them (a warning). Numbers, booleans and dates are common and do little harm (an info): YAML
    turns 1.10 into the number 1.1, and quotes prevent that.

Bad:
    metadata:
      openclaw:
        requires:
          - git

Good:
    metadata:
      author: example-org
      version: "1.0"

Source: Agent Skills specification, field `metadata` (its validator does not check it); the skills loader of
openai/codex (SkillFrontmatterMetadata).
"""

from collections.abc import Mapping

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.text import excerpt

_NAMED = 3  # keys that a message lists
_TO_CODEX = "short-description"


def find(skill: Skill) -> Hits:
    """Yield a hit if it is not a mapping, else one for nested values and one for other values that are not strings."""
    metadata = skill.frontmatter.values.get("metadata")
    span = Span(skill.frontmatter.line("metadata"))
    if isinstance(metadata, dict):
        yield from _values(metadata, span)
    elif metadata is not None:
        what = "a list" if isinstance(metadata, list) else "a single value"
        message = f"metadata is {what}; the specification requires a mapping of strings, and Codex drops the skill"
        yield Hit(span, message, refused_by=(Client.SPEC, Client.CODEX))


def _values(metadata: Mapping[object, object], span: Span) -> Hits:
    wrong = {key: value for key, value in metadata.items() if not isinstance(value, str)}
    if wrong.get(_TO_CODEX) is not None:
        del wrong[_TO_CODEX]
        message = f"metadata.{_TO_CODEX} is not a string; Codex drops the skill"
        yield Hit(span, message, refused_by=(Client.SPEC, Client.CODEX))
    nested = [key for key, value in wrong.items() if isinstance(value, dict | list | set | tuple)]
    others = [key for key in wrong if key not in nested]
    if nested:
        message = (
            f"metadata contains lists or mappings ({_listed(nested)}); the specification requires a string for each key"
        )
        yield Hit(span, message)
    if others:
        message = f"metadata contains values that YAML does not read as strings ({_listed(others)})"
        yield Hit(span, message, severity=Severity.INFO, refused_by=(), fix="put them in quotes")


def _listed(keys: list[object]) -> str:
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(excerpt(str(key)) for key in keys[:_NAMED]) + more


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="give each key of metadata a string; move nested values to their own keys, or to a file",
    refused_by=(Client.SPEC,),
)
