"""The rules of a scripted model: which requests get which reply. The first rule that matches is the one.

Beside its rules a file may hold a ``world``, the truth that whatever no rule answers follows.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, NamedTuple

from skillgate.errors import CodecError, UsageError
from skillgate.llm.scripted.world import World, contradictions
from skillgate.model.codec import decode
from skillgate.model.marks import Range
from skillgate.model.yaml_bounded import Limits, MappingDocument, YamlProblem, load_mapping

LIMITS = Limits(bytes=1 << 20, depth=64, nodes=50_000, aliases=500)
ABSENT: Any = object()  # a rule may well ask for a reply of null
_MODIFIERS = ("stop_reason", "category", "rating", "truncate", "cut")  # of a message, never of a failure


class Match(NamedTuple):
    """Which requests a rule is for: those that are all of what is given here.

    Attributes:
        question: the name of the question, or several of which it is one.
        model: the model asked for; ``*`` and ``?`` stand for any text and any character.
        contains: texts that all stand somewhere in the request, schema and names apart.
        not_contains: texts of which none does.
        times: how many such requests the rule answers; the next one goes on to the rules below. None: all.
    """

    question: str | tuple[str, ...] | None = None
    model: str | None = None
    contains: str | tuple[str, ...] = ()
    not_contains: str | tuple[str, ...] = ()
    times: Annotated[int, Range(1, None)] | None = None


class Given(NamedTuple):
    """What a rule replies: at most one of json, text, tool_use and status; without any, what is made up.

    Attributes:
        json: written as the reply's text.
        text: likewise, as it is.
        tool_use: the name of a tool to call.
        input: what the tool is called with.
        status: fail with this HTTP status, from 400 to 599.
        error: the type of that failure; None: the one the API gives with the status.
        message: of that failure.
        retry_after_s: of that failure.
        stop_reason: instead of ``end_turn``; with ``refusal`` and no text the reply is empty.
        category: of a refusal.
        rating: of what is made up: one rating for all, or by the name of a field that holds one.
        truncate: half of the text, and ``max_tokens`` as the reason that it stopped.
        cut: the connection ends in the middle of the reply.
        delay_ms: before the reply.
    """

    json: Any = ABSENT
    text: str | None = None
    tool_use: str | None = None
    input: dict[str, Any] | None = None
    status: Annotated[int, Range(400, 599)] | None = None
    error: str | None = None
    message: str | None = None
    retry_after_s: Annotated[float, Range(0, 86_400)] | None = None
    stop_reason: str | None = None
    category: str | None = None
    rating: Annotated[int, Range(0, 10)] | dict[str, int] | None = None
    truncate: bool = False
    cut: bool = False
    delay_ms: Annotated[int, Range(0, 600_000)] = 0


class Rule(NamedTuple):
    """One rule."""

    reply: Given
    match: Match = Match()


class Rules(NamedTuple):
    """A file of rules.

    Attributes:
        rules: in their order.
        world: the truth that answers follow which no rule gives; None: that of ``World()``.
    """

    rules: tuple[Rule, ...] = ()
    world: World | None = None


def parse(data: bytes, label: str) -> Rules:
    """Read rules from a file's bytes: YAML, or JSON that is not indented by tabs.

    Args:
        data: the file's content.
        label: the file as shown to people.

    Raises:
        UsageError: with every problem and its line.
    """
    try:
        document = load_mapping(data.decode("utf-8-sig"), limits=LIMITS)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{label}:{line}: not UTF-8; save the file as UTF-8") from None
    except YamlProblem as problem:
        raise UsageError(f"{label}:{problem.line}:{problem.column}: {problem.message}") from None
    problems = [f"{label}:{line}: the key {key} stands here a second time" for key, line in document.duplicates]
    try:
        found = decode(Rules, document.values, unknown="error")
    except CodecError as error:
        problems += [_placed(text, document, label) for text in str(error).split("\n")]
    else:
        problems += [
            f"{_place(f'rules[{index}].reply', document, label)}: {text}"
            for index, rule in enumerate(found.rules)
            for text in _contradictions(rule.reply)
        ]
        problems += [
            _placed(f"world.{path}: {text}", document, label)
            for path, text in (contradictions(found.world) if found.world is not None else ())
        ]
        if found == Rules() and "rules" not in document.values:
            problems.append(f"{label}: neither rules nor a world; give one of them")
    if problems:
        raise UsageError("\n".join(problems))
    return found


def words(given: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Give one text, several or none as a tuple."""
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else given


def _contradictions(given: Given) -> list[str]:
    """List what cannot be replied at once, or not at all."""
    kinds = [name for name in ("text", "tool_use", "status") if getattr(given, name) is not None]
    kinds += ["json"] * (given.json is not ABSENT)
    found = []
    if len(kinds) > 1:
        found.append(f"{' and '.join(sorted(kinds))} are different replies; keep one of them")
    if given.status is None:
        lone = [name for name in ("error", "message", "retry_after_s") if getattr(given, name) is not None]
        found += [f"{name} belongs to a failure; give its status too" for name in lone]
    else:
        set_too = [name for name in _MODIFIERS if getattr(given, name) != Given._field_defaults[name]]
        found += [f"{name} has no place in a failure" for name in set_too]
    if given.input is not None and given.tool_use is None:
        found.append("input belongs to tool_use, the name of a tool")
    if given.rating is not None and kinds:
        found.append(f"rating is for a reply that is made up, not beside {kinds[0]}")
    if given.json is not ABSENT and not _writable(given.json):
        found.append("json has a value that JSON cannot hold, such as a date; quote it")
    if given.input is not None and not _writable(given.input):
        found.append("input has a value that JSON cannot hold, such as a date; quote it")
    return found


def _writable(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _placed(text: str, document: MappingDocument, label: str) -> str:
    """Put the line before a problem that begins with a path, as in ``rules[0].match: …``."""
    path = text.partition(": ")[0]
    return f"{_place(path, document, label)}: {text}"


def _place(path: str, document: MappingDocument, label: str) -> str:
    while path and path not in document.places:
        cut = max(path.rfind("."), path.rfind("["))
        path = path[:cut] if cut > 0 else ""
    return f"{label}:{document.places[path]}" if path else label
