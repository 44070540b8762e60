"""What a scripted model reads out of a request, and what the Messages API refuses in one. The body is untrusted."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.model.score import Json

Name = TypeVar("Name", str, int)

CHARACTERS_PER_TOKEN = 2.6  # measured over public skills with a current tokenizer's offline reconstruction: 2.57
MOST_LEVELS = 100  # of a body's nesting; what a judge asks has ten, and Python's own limit is not reached
SKILL, READ = "Skill", "Read"  # the tools of a session
SESSION = "simulation"  # what every request of a session is taken for: it asks no question by name
LEAST_IN_COMMON = 2  # words
_QUESTION = re.compile(r"^Question: ([a-z][a-z0-9_]{0,63})[ \t]*$", re.MULTILINE)
_NO_TEXT = frozenset({"type", "role", "cache_control", "id", "tool_use_id", "media_type", "data", "signature"})
# The form of the fences around an author's text, which separate it from the question.
_BEGIN = re.compile(r"^⟦begin ([a-z][a-z0-9 ]*) ([0-9a-f]+)⟧$", re.MULTILINE)
_OURS = "⟦"  # begins a marker between an author's lines, or replaces a character that is not shown
_UNQUOTABLE = (_OURS, "...", "…")  # dots in a quotation would say that something is left out
_WORD = re.compile(r"[^\W\d_]{3,}")
_DESCRIPTION = re.compile(r"^description:(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_DIMENSION = re.compile(r"^Dimension (\w+)$", re.MULTILINE)
_LONGEST_QUOTATION = 160  # characters
_MOST_LINES = 200  # of a text that are looked at for quotations: a demonstration is not to wait for itself
_FEWEST_WORDS = 3  # of a line that is worth quoting
# Words that say nothing of a subject; as prose they can be read.
_COMMON = frozenset(
    """
    about after all also and any are because been before being both but can cannot could did does each every for from
    had has have here how into its just like made make many may more most much must need not now one only other our out
    over own per please same she should skill skills some such than that the their them then there these they this those
    through too two under use used user users uses using very want wants was way were what when where whenever which
    while who why will with within without would yes you your
    """.split()  # noqa: SIM905
)
_KNOWN = frozenset(
    {
        *("cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model"),
        *("output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice"),
        *("tools", "user_profile_id", "workspace_id"),
        # From a client that names a beta, as coding agents do, the API takes these too: ignored here.
        *("billing_policy", "compaction", "context_management", "fallback_credit_token", "fallbacks", "mcp_servers"),
        "thread",
    }
)
_SAMPLING = ("temperature", "top_p", "top_k")  # gone with API version 2026-10-21
_UNSUPPORTED = frozenset(  # keywords that structured outputs do not take, by the API's documentation
    {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("maxItems", "uniqueItems", "minProperties", "maxProperties"),
    }
)
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_MOST_CACHE_MARKS = 4
_MOST_TOKENS = 128_000  # that a current model writes in one reply
_MOST_SCHEMAS = 2_000  # parts of one schema


class Fenced(NamedTuple):
    """One fenced text: its kind and its lines, without the markers between them that its author did not write."""

    kind: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines as one string."""
        return "\n".join(self.lines)


def nesting(value: Json) -> int:
    """Return how deep a value is nested, without recursion; a scalar is 0 deep."""
    deepest, level = 0, [value] if isinstance(value, dict | list) else []
    while level and deepest <= MOST_LEVELS:
        deepest += any(map(len, level))
        level = [
            item
            for outer in level
            for item in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(item, dict | list)
        ]
    return deepest


def texts(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every text of the system part and of the messages, in their order."""
    return (*texts_of(body.get("system")), *texts_of(body.get("messages")))


def texts_of(value: Json) -> list[str]:
    """Return the texts in a value of bounded depth, without names, types and the like."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [item for key, item in value.items() if key not in _NO_TEXT]
    return [text for item in value for text in texts_of(item)] if isinstance(value, list | tuple) else []


def user_blocks(body: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Return the texts of each user message, a tuple for each."""
    return tuple(tuple(texts_of(turn["content"])) for turn in body["messages"] if turn["role"] == "user")


def question_of(body: Mapping[str, Any]) -> str:
    """Return the name of the question in the line ``Question: <name>``; ``""`` where there is none.

    It is looked for in the last text of each user message, the last message first, since an answer that did not fit is
    followed by a message that only says so. Earlier texts are the skill's, which may hold such a line too; if
    everything came as one string, the question is below the skill, so the last such line counts. A session
    is known by its tools, whatever it holds.
    """
    if offers_tools(body):
        return SESSION
    for blocks in reversed(user_blocks(body)):
        names = _QUESTION.findall(blocks[-1]) if blocks else []
        if names:
            return str(names[-1])
    return ""


def tool_names(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the tools that a request offers."""
    tools = body.get("tools")
    names = (tool.get("name") for tool in (tools if isinstance(tools, list) else ()) if isinstance(tool, dict))
    return tuple(name for name in names if isinstance(name, str))


def offers_tools(body: Mapping[str, Any]) -> bool:
    """Return whether a request offers a tool that sessions have."""
    return not {SKILL, READ}.isdisjoint(tool_names(body))


def schema_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the JSON schema that the reply has to fit, None where it may be any text.

    A server that knows no ``output_config`` gets the schema within the last user text; it is found there too.
    """
    form = (body.get("output_config") or {}).get("format")
    if form is not None:
        schema: Mapping[str, Any] = form["schema"]
        return schema
    blocks = next((blocks for blocks in reversed(user_blocks(body)) if blocks), ("",))
    return _schema_within(blocks[-1])


def tokens(*parts: str) -> int:
    """Estimate the tokens of some texts."""
    return math.ceil(sum(map(len, parts)) / CHARACTERS_PER_TOKEN)


def input_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of a request: its texts, its tools and its schema."""
    extras = (json.dumps(body[name]) for name in ("tools", "output_config") if name in body)
    return max(1, tokens(*texts(body), *extras))


def fenced(parts: Sequence[str]) -> tuple[Fenced, ...]:
    """Return the fenced texts."""
    return tuple(
        Fenced(kind, tuple(line for line in text[first:last].split("\n")[1:-1] if not line.startswith(_OURS)))
        for text in parts
        for kind, first, last in _spans(text)
    )


def outside(text: str) -> str:
    """Return what of a text is outside of fences."""
    rest, end = [], 0
    for _, first, last in _spans(text):
        rest.append(text[end:first])
        end = last
    return "".join([*rest, text[end:]])


def quotable(parts: Sequence[Fenced]) -> tuple[str, ...]:
    """List lines of an author that can be quoted, long ones cut at a word; of a long text every n-th."""
    lines = [line for part in parts for line in part.lines]
    some = (line.strip() for line in lines[:: 1 + len(lines) // _MOST_LINES])
    plain = (line for line in some if not any(mark in line for mark in _UNQUOTABLE))
    return tuple(_shortened(line) for line in plain if len(_WORD.findall(line)) >= _FEWEST_WORDS)


def topic_words(text: str) -> tuple[str, ...]:
    """List the words that say what a text is about, each once, in small letters, in their order; plurals as one."""
    words = (word.casefold() for word in _WORD.findall(text))
    return tuple(dict.fromkeys(_singular(word) for word in words if word not in _COMMON))


def nearest(words: frozenset[str], skills: Mapping[Name, frozenset[str]]) -> Name | None:
    """Return the skill with most words in common, rare ones first; None where none has enough, the first of equals."""
    spread = Counter(word for known in skills.values() for word in known)
    weighed = {
        name: sum(math.log1p(len(skills) / spread[word]) for word in sorted(words & known))
        for name, known in skills.items()
        if len(words & known) >= LEAST_IN_COMMON
    }
    return max(sorted(weighed), key=lambda name: weighed[name], default=None)


def description(parts: Sequence[Fenced]) -> str:
    """Return the description in the first fenced text that has one; ``""`` where none has."""
    match = next((match for part in parts if (match := _DESCRIPTION.search(part.text))), None)
    return "" if match is None else " ".join(match[1].split()).strip("'\"|>- ")


def requested(names: Sequence[str], text: str) -> tuple[str, ...]:
    """List those of some names that a question is about, in its order.

    Each is in its own line, as in ``Dimension robustness``; if no such line exists, any mention counts.
    """
    headed = [match[1] for match in _DIMENSION.finditer(text) if match[1] in names]
    if headed:
        return tuple(dict.fromkeys(headed))
    places = ((re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text), name) for name in names)
    return tuple(name for _, name in sorted((match.start(), name) for match, name in places if match is not None))


def complaint(body: Json) -> str | None:
    """Return why the API refuses a request (400, ``invalid_request_error``), None where it does not."""
    if not isinstance(body, dict):
        return "the request body is not a JSON object"
    if nesting(body) > MOST_LEVELS:
        return f"the request body is nested deeper than {MOST_LEVELS} levels"
    return next(_complaints(body), None)


def _complaints(body: dict[str, Any]) -> Iterator[str]:
    for name in _SAMPLING:
        if name in body:
            yield f"{name}: sampling parameters are not supported"
    for name in body:
        if name not in _KNOWN and name not in _SAMPLING:
            yield f"{name[:60]}: extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: a non-empty string is required"
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 < limit <= _MOST_TOKENS:
        yield f"max_tokens: an integer from 1 to {_MOST_TOKENS} is required"
    if not isinstance(body.get("stream", False), bool):
        yield "stream: expected true or false"
    yield from _message_complaints(body.get("messages"))
    if "system" in body:
        yield from _content_complaints(body["system"], "system")
    contents = [body.get("system"), *(message.get("content") for message in body["messages"])]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    if sum("cache_control" in block for block in blocks) > _MOST_CACHE_MARKS:
        yield f"cache_control: at most {_MOST_CACHE_MARKS} blocks may carry it"
    if body.get("output_config") is not None:
        yield from _output_complaints(body["output_config"])


def _message_complaints(messages: Json) -> Iterator[str]:
    if not isinstance(messages, list) or not messages:
        yield "messages: a non-empty list is required"
        return
    for index, message in enumerate(messages):
        place = f"messages.{index}"
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant", "system"):
            yield f"{place}.role: expected user, assistant or system"
            return
        yield from _content_complaints(message.get("content"), f"{place}.content")
    if messages[0]["role"] == "assistant":
        yield "messages.0.role: the first message has to be the user's"
    if messages[-1]["role"] == "assistant":
        yield "messages: the conversation has to end with a user message"


def _content_complaints(content: Json, place: str) -> Iterator[str]:
    if isinstance(content, str):
        if not content:
            yield f"{place}: text must not be empty"
        return
    if not isinstance(content, list) or not content:
        yield f"{place}: expected text or a non-empty list of blocks"
        return
    for index, block in enumerate(content):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            yield f"{place}.{index}.type: required"
        elif block["type"] == "text" and (not isinstance(block.get("text"), str) or not block["text"]):
            yield f"{place}.{index}.text: text content blocks must be non-empty"


def _output_complaints(config: Json) -> Iterator[str]:
    if not isinstance(config, dict):
        yield "output_config: expected an object"
        return
    if config.get("effort") is not None and config["effort"] not in _EFFORTS:
        yield f"output_config.effort: expected one of {', '.join(_EFFORTS)}"
    form = config.get("format")
    if form is None:
        return
    if not isinstance(form, dict) or form.get("type") != "json_schema" or not isinstance(form.get("schema"), dict):
        yield "output_config.format: expected a type of json_schema, and a schema"
        return
    yield from _schema_complaints(form["schema"])


def _schema_complaints(schema: dict[str, Any]) -> Iterator[str]:
    """Look at every part of a schema; what is in ``enum``, ``const`` and the like is a value and no part."""
    parts: list[tuple[str, Any]] = [("schema", schema)]
    for count, (place, part) in enumerate(parts):
        if count > _MOST_SCHEMAS:
            yield f"output_config.format.schema: more than {_MOST_SCHEMAS} parts"
            return
        if not isinstance(part, dict):
            yield f"output_config.format.{place}: expected an object"
            return
        for name in sorted(_UNSUPPORTED & part.keys()):
            yield f"output_config.format.{place}: {name} is not supported"
        if part.get("minItems", 0) not in (0, 1):
            yield f"output_config.format.{place}: minItems may be 0 or 1"
        if part.get("type") == "object" and part.get("additionalProperties") is not False:
            yield f"output_config.format.{place}: additionalProperties must be false"
        parts += _parts(place, part)


def _parts(place: str, part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    if "items" in part:
        yield f"{place}.items", part["items"]
    for name in ("properties", "$defs", "definitions"):
        if isinstance(part.get(name), dict):
            yield from ((f"{place}.{name}.{key[:60]}", below) for key, below in part[name].items())
    for name in ("anyOf", "allOf", "oneOf"):
        if isinstance(part.get(name), list):
            yield from ((f"{place}.{name}.{index}", below) for index, below in enumerate(part[name]))


def _schema_within(text: str) -> Mapping[str, Any] | None:
    start = text.find('{"')
    while start >= 0:
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and isinstance(value.get("properties"), dict) and nesting(value) <= MOST_LEVELS:
            return value
        start = text.find('{"', start + 1)
    return None


def _spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, the start and the end of each fenced part, both fences included; an open end is the text's."""
    last = 0
    while (begin := _BEGIN.search(text, last)) is not None:
        closer = f"\n⟦end {begin[1]} {begin[2]}⟧"
        at = text.find(closer, begin.end())
        last = len(text) if at < 0 else at + len(closer)
        yield begin[1], begin.start(), last


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _shortened(line: str) -> str:
    if len(line) <= _LONGEST_QUOTATION:
        return line
    return line[:_LONGEST_QUOTATION].rpartition(" ")[0] or line[:_LONGEST_QUOTATION]
