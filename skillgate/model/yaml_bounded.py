"""YAML from files that are not trusted: counted before it is built, and every failure one exception.

A configuration file or a skill's frontmatter may come from a stranger's pull request. libyaml builds its tree by
recursion in C and takes the process down on deep nesting, and a few aliases can stand for millions of nodes. So the
parser's events, which cost constant stack, are counted first; only a document inside the limits is built.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import yaml

from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's scanner is about ten times as fast
_TAG = "tag:yaml.org,2002:"
_NUMBER_TAGS = (_TAG + "int", _TAG + "float")
_OWN_LIMIT = "maximum nesting depth"  # libyaml's own from 0.2.6 on, a thousand levels
_NUMBER_LENGTH = 300  # characters; a double ends at 309 digits, and Python refuses to print integers above 4,300
# What PyYAML's constructors let escape: `!!int ""` is an IndexError, `!!bool x` a KeyError, `!!timestamp x` an
# AttributeError, a 13th month a ValueError.
_BUILDING = (ValueError, LookupError, AttributeError, TypeError, OverflowError, RecursionError, MemoryError)
_FAILURES = (yaml.YAMLError, *_BUILDING)


class Limits(NamedTuple):
    """How large a document may be: UTF-8 bytes, levels of nesting, nodes with aliases written out, and aliases."""

    bytes: int = 65536
    depth: int = 32
    nodes: int = 2000
    aliases: int = 50


DOCUMENT_LIMITS = Limits()
BLOCK_LIMITS = Limits(nodes=20_000)


class YamlProblem(ValueError):  # noqa: N818 - what a finding or an error is made of, not always an error itself
    """Why text is not the YAML that was expected, and where: ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, *, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class MappingDocument(NamedTuple):
    """One mapping, built."""

    values: dict[str, Any]
    lines: dict[str, int]  # the line of each key of ``values``, counted from 1
    duplicates: tuple[tuple[str, int], ...]  # (key, line) of each repetition, at any depth
    places: dict[str, int]  # the line of everything in the document, under names such as ``overrides[0].threshold``


def load_mapping(text: str, *, limits: Limits = DOCUMENT_LIMITS) -> MappingDocument:
    """Read text that must be one YAML mapping.

    Keys of the mapping that YAML takes for an integer or a boolean (``on:``, ``7:``) are kept as they were written.

    Raises:
        YamlProblem: it is not YAML, not a mapping, outside the limits, has merge keys (``<<``), more than one document,
            or keys that are no text.
    """
    _count(text, limits=limits, single=True)
    root = _compose(text)
    pairs = [(_text_key(key), value) for key, value in root.value]
    root.value = pairs
    places: dict[str, int] = {}
    duplicates: list[tuple[str, int]] = []
    _survey(root, "", places, duplicates)
    lines = {key.value: _place(key)[0] for key, _ in pairs}
    values = _construct(root)
    return MappingDocument(values=values, lines=lines, duplicates=tuple(duplicates), places=places)


def check_syntax(text: str, *, limits: Limits = BLOCK_LIMITS) -> YamlProblem | None:
    """Return why text is not YAML, or None when it is: any number of documents, any shape, tags of any kind."""
    try:
        _count(text, limits=limits, single=False)
    except YamlProblem as problem:
        return problem
    return None


class _Frame:
    """One collection the counting is inside of: its anchor, its nodes with aliases written out, and its height."""

    __slots__ = ("anchor", "height", "nodes")

    def __init__(self, anchor: str | None = None, *, height: int = 1) -> None:
        self.anchor = anchor
        self.nodes = 1
        self.height = height

    def add(self, nodes: int, height: int) -> None:
        self.nodes += nodes
        self.height = max(self.height, height + 1)


def _count(text: str, *, limits: Limits, single: bool) -> None:
    """Run through the parser's events and raise at the first limit passed; nothing is built.

    An alias counts as all it stands for, in nodes and in depth, so a walk over the built values is bounded too.
    """
    if len(text.encode("utf-8", "surrogatepass")) > limits.bytes:
        raise YamlProblem(f"larger than {limits.bytes // 1024} KiB")
    stack = [_Frame()]
    anchors: dict[str, _Frame] = {}
    aliases = documents = 0
    for event in _events(text):
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            anchors.clear()
            if single and documents > 1:
                raise _problem("a second document starts here; only one is read", event)
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
            if aliases > limits.aliases:
                raise _problem(f"more than {limits.aliases} aliases", event)
            _add_alias(event, stack, anchors)
        elif isinstance(event, yaml.NodeEvent):
            scalar = isinstance(event, yaml.ScalarEvent)
            stack.append(_Frame(event.anchor, height=0 if scalar else 1))
            if scalar:
                _close(stack, anchors)
        elif isinstance(event, yaml.CollectionEndEvent):
            _close(stack, anchors)
        _check(event, stack, limits)


def _add_alias(event: yaml.AliasEvent, stack: list[_Frame], anchors: dict[str, _Frame]) -> None:
    if any(frame.anchor == event.anchor for frame in stack):
        raise _problem(f"the alias *{event.anchor} is inside its own anchor", event)
    target = anchors.get(event.anchor or "")
    if target is None:
        raise _problem(f"the alias *{event.anchor} has no anchor", event)
    stack[-1].add(target.nodes, target.height)


def _close(stack: list[_Frame], anchors: dict[str, _Frame]) -> None:
    done = stack.pop()
    stack[-1].add(done.nodes, done.height)
    if done.anchor is not None:
        anchors[done.anchor] = done


def _check(event: yaml.Event, stack: list[_Frame], limits: Limits) -> None:
    # The outermost frame is the stream, which is no level; a collection's own level is in its height.
    if len(stack) - 1 + stack[-1].height - 1 > limits.depth:
        raise _problem(f"nested deeper than {limits.depth} levels", event)
    if stack[-1].nodes - 1 > limits.nodes:
        raise _problem(f"more than {limits.nodes} values", event)


def _events(text: str) -> Iterator[Any]:
    yielded = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            yield event
            yielded += 1
    except _FAILURES as error:
        if _OWN_LIMIT not in str(getattr(error, "problem", "")):
            raise _translated(error, text) from None
    else:
        return
    # It looks ahead before it gives anything; whoever counts meets the limit at its place in what Python parses.
    try:
        yield from islice(yaml.parse(text, Loader=yaml.SafeLoader), yielded, None)
    except _FAILURES as error:
        raise _translated(error, text) from None


def _compose(text: str) -> yaml.MappingNode:
    try:
        root = _LOADER(text).get_single_node()
    except _FAILURES as error:
        raise _translated(error, text) from None
    if isinstance(root, yaml.MappingNode):
        return root
    found = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
    if root is None or root.tag == _TAG + "null":
        raise YamlProblem("empty; a mapping of keys to values is required")
    raise _problem(f"{found}; a mapping of keys to values is required", root)


def _text_key(key: yaml.Node) -> yaml.ScalarNode:
    if isinstance(key, yaml.ScalarNode):
        if key.tag == _TAG + "str":
            return key
        if key.tag in (_TAG + "int", _TAG + "bool"):
            return yaml.ScalarNode(_TAG + "str", key.value, key.start_mark, key.end_mark)
        if key.tag == _TAG + "merge":
            raise _problem("merge keys (<<) are not supported", key)
    raise _problem("this key is not a string", key)


def _survey(node: yaml.Node, path: str, places: dict[str, int], duplicates: list[tuple[str, int]]) -> None:
    """Note where everything is and which keys repeat; recursion is bounded by the depth that was counted."""
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            place = f"{path}[{index}]"
            places[place] = _place(item)[0]
            _survey(item, place, places, duplicates)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if key.tag == _TAG + "merge":
                raise _problem("merge keys (<<) are not supported", key)
            name = key.value if isinstance(key, yaml.ScalarNode) else "?"
            place, line = (f"{path}.{name}" if path else name), _place(key)[0]
            if isinstance(key, yaml.ScalarNode) and (key.tag, name) in seen:
                duplicates.append((place, line))
            seen.add((key.tag, name))
            places[place] = line
            _survey(value, place, places, duplicates)
    elif node.tag in _NUMBER_TAGS and len(node.value) > _NUMBER_LENGTH:
        raise _problem(f"a number of {len(node.value)} characters", node)


def _construct(root: yaml.MappingNode) -> dict[str, Any]:
    try:
        built: dict[str, Any] = _LOADER("").construct_document(root)
    except _FAILURES as error:
        if isinstance(error, yaml.MarkedYAMLError):
            raise _translated(error, "") from None
        raise _unbuildable(root) from None
    return built


def _unbuildable(root: yaml.MappingNode) -> YamlProblem:
    """Find the value whose constructor failed without saying where: a date that does not exist, for one."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.ScalarNode):
            try:
                _LOADER("").construct_document(node)
            except _FAILURES:
                return _problem(f"not a valid {node.tag.removeprefix(_TAG)}: {node.value[:40]!r}", node)
        else:
            children = node.value if isinstance(node, yaml.SequenceNode) else [n for pair in node.value for n in pair]
            nodes.extend(reversed(children))
    return _problem("a value that cannot be built", root)


def _problem(message: str, where: yaml.Event | yaml.Node) -> YamlProblem:
    """Make a problem out of an event or node, which know where they start."""
    line, column = _place(where)
    return YamlProblem(message, line=line, column=column)


def _place(where: yaml.Event | yaml.Node) -> tuple[int, int]:
    mark = where.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


def _translated(error: BaseException, text: str) -> YamlProblem:
    """Put a failure of the parser into one problem, at the place the parser names."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        words = ", ".join(part for part in (error.context, error.problem) if part)
        if mark is None:
            return YamlProblem(words)
        last = text.rstrip("\n").count("\n") + 1
        if text and mark.line >= last:  # what is missing at the end is missed on a line that is not there
            return YamlProblem(words, line=last)
        return YamlProblem(words, line=mark.line + 1, column=mark.column + 1)
    if isinstance(error, UnicodeError):
        return _character(text, "half of a surrogate pair, which is not a character")
    if isinstance(error, yaml.YAMLError):
        return _character(text, "a control character, which YAML does not allow")
    return YamlProblem("too deep or too large to parse")


def _character(text: str, message: str) -> YamlProblem:
    """Point at the first character YAML refuses: neither printable nor a tab or line break (YAML 1.1, 5.1)."""
    line = column = 1
    for character in text:
        point = ord(character)
        if (point < 0x20 and character not in "\t\n\r") or 0x7F <= point <= 0x9F or 0xD800 <= point <= 0xDFFF:
            break
        line, column = (line + 1, 1) if character == "\n" else (line, column + 1)
    return YamlProblem(message, line=line, column=column)
