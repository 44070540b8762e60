"""Output files and log commands for the runner, without secrets."""

from __future__ import annotations

import base64
import dataclasses
import re
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import unquote

from skillgate.format import uncommanded
from skillgate.report.formats.github import Annotation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")  # valid names of outputs and commands
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,256}")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # a variable cannot contain the first, UTF-8 none of the others
_TRIES = 8  # a random token that is already in the text is no accident; eight of them mean a broken source


T = TypeVar("T")
_Value: TypeAlias = Any  # of a document, of any type
MASK = "***"
SHORTEST = 8  # characters: anything shorter also occurs in texts by chance, which would be damaged
# Limit backslashes, so that a long run is not scanned from each of its places; JSON in JSON in JSON has seven.
_ESCAPES = r"\\{0,8}"
_GLUE = r"(?:\u200b|\\{1,8}u200b)?"  # what keeps Markdown inert, at places that depend on the context
_NAMED = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos", "\xa0": "nbsp"}
_LEVELS = 3  # characters by which the alternatives are grouped before they are tried one by one
_NEVER = re.compile(r"(?!)")
_ANYWHERE = re.compile(r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|COOKIE|APIKEY|WEBHOOK")
_AS_WORD = frozenset({"KEY", "KEYS", "AUTH", "PASS", "PAT", "PWD", "SESSION", "DSN"})
_TELLS_OF = frozenset(  # a name with this end describes a secret but is not one
    {"BACKEND", "DIR", "ENABLED", "FILE", "HOME", "METHOD", "MODE", "NAME", "PATH", "PROVIDER", "SOCK", "TYPE", "USER"}
)
_PLAIN_NAMES = frozenset({"PWD", "INPUT_COMMENT-KEY"})
_FACTS = ("GITHUB_SHA", "GITHUB_REPOSITORY", "GITHUB_REPOSITORY_OWNER", "GITHUB_RUN_ID", "GITHUB_ACTOR")
_WORDS = frozenset(
    {"anonymous", "default", "development", "disabled", "kubernetes", "optional", "password", "production", "required"}
)
_PATH = re.compile(r"/(?:__w|etc|github|home|mnt|opt|root|run|runner|tmp|usr|var|Users)/")
_ADDRESS = re.compile(r"(?i:[a-z][a-z0-9+.-]{0,30})://")
_PLAIN_ADDRESS = re.compile(_ADDRESS.pattern + r"[^?#\s]*")
_USER_INFO = re.compile(_ADDRESS.pattern + r"([^/?#\s]+)@")
_BARE_TOKEN = 20  # characters of a user without a password that is more than a name
_SHAPES = re.compile(
    r"gh[oprsu]_[A-Za-z0-9_.-]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|sk-[\w-]{20,}|A[KS]IA[A-Z0-9]{16}"
    r"|xox[a-z]-[\w-]{10,}|AIza[\w-]{35}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{40,}|hf_[A-Za-z0-9]{30,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?s:.{1,20000}?)-----END [A-Z ]{0,30}PRIVATE KEY-----"
)


def outputs_text(values: Mapping[str, str], delimiter: Callable[[], str]) -> str:
    """Return outputs to append to the file that ``GITHUB_OUTPUT`` names.

    Every value is read back unchanged, line ends included, except NUL and lone surrogates, which become U+FFFD.

    ``delimiter``: returns a new random text of 16 to 256 letters, digits, ``_`` and ``-`` at each call.

    Raises:
        ValueError: a name is invalid, or the delimiter source is unusable.
    """
    for name in values:
        if not _NAME.fullmatch(name):
            raise ValueError(f"invalid name of an output: {name!r}")
    texts = {name: _NO_TEXT.sub("\ufffd", value) for name, value in values.items()}
    end = _unused(delimiter, (*texts, *texts.values()))
    return "".join(f"{name}<<{end}\n{value}\n{end}\n" for name, value in texts.items())


def command(name: str, properties: Iterable[tuple[str, str]] = (), text: str = "") -> str:
    """Return a workflow command on one line, without a line end, whatever its values contain.

    Raises:
        ValueError: a name, or the name of a property, is invalid.
    """
    pairs = tuple(properties)
    for word in (name, *(key for key, _ in pairs)):
        if not _NAME.fullmatch(word):
            raise ValueError(f"invalid name of a command or property: {word!r}")
    return _NO_TEXT.sub("\ufffd", str(Annotation(name, pairs, text)))


def quiet(text: str, token: Callable[[], str]) -> str:
    """Wrap a text for the log so that nothing in it acts as a command.

    Commands are stopped until the runner reads the token, which is secret. Text that looks like a command is
    broken up too, for runners without ``stop-commands``, and for lines that are read at another time.

    ``text``: any text; every line end becomes a line feed. ``token``: returns a new random text of 16 to 256 letters,
    digits, ``_`` and ``-`` at each call.

    Returns:
        Whole lines, with a line feed at the end; ``""`` for no text.

    Raises:
        ValueError: the token source is unusable.
    """
    if not text:
        return ""
    lines = _LINE_END.split(_NO_TEXT.sub("\ufffd", text))
    shown = [uncommanded(line) for line in (lines if lines[-1] else lines[:-1])]
    end = _unused(token, (text,))
    return "\n".join((command("stop-commands", text=end), *shown, f"::{end}::", ""))


def _unused(source: Callable[[], str], texts: Iterable[str]) -> str:
    """Return a token that none of the texts contains; the runner ignores case in commands."""
    folded = [text.lower() for text in texts]
    for _ in range(_TRIES):
        token = source()
        if not _TOKEN.fullmatch(token):
            raise ValueError(f"expected a delimiter of 16 to 256 letters, digits, _ and -, found {token[:80]!r}")
        if not any(token.lower() in text for text in folded):
            return token
    raise ValueError("the source of delimiters returns text that is already used")


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """List values that look like secrets among some variables.

    These are values of variables that are named like secrets (token, password, key, …), passwords and tokens in
    addresses, and known forms of tokens or private keys under any name. Paths, addresses without a query, plain words,
    and GitHub's own facts about the run are not secrets.
    """
    facts = {environ.get(name) for name in _FACTS} | _WORDS
    found = []
    for name, value in environ.items():
        found += _SHAPES.findall(value)
        found += _passwords(value)
        if _is_secret_name(name.upper()) and value not in facts and not _PATH.match(value):
            found += [value] if "WEBHOOK" in name.upper() or not _PLAIN_ADDRESS.fullmatch(value) else []
    return tuple(dict.fromkeys(value for value in found if len(value) >= SHORTEST))


def _is_secret_name(name: str) -> bool:
    words = re.split(r"[^A-Z0-9]+", name)
    if name in _PLAIN_NAMES or words[-1] in _TELLS_OF:
        return False
    return bool(_ANYWHERE.search(name)) or not _AS_WORD.isdisjoint(words)


def _passwords(value: str) -> Iterator[str]:
    for match in _USER_INFO.finditer(value):
        user, colon, password = match[1].partition(":")
        if colon:
            yield from (password, unquote(password))
        if len(user) >= _BARE_TOKEN:
            yield user


class Redactor:
    """Removes secret values from texts.

    A value is found unchanged; escaped for JSON, HTML, Markdown, a URL or a workflow command, also nested; and within
    base64 at any offset. A value of several lines is also searched by line.
    """

    def __init__(self, values: Iterable[str]) -> None:
        r"""Prepare the search.

        Args:
            values: secrets. Those with fewer than eight characters (without backslashes and invisible spaces, which the
                search ignores) or a single repeated character are skipped.
        """
        looked_for = {part for value in values for part in _parts(value)}
        spelled = {_spelling(value) for value in looked_for} | {
            spelling for value in looked_for for spelling in _in_base64(value)
        }
        self._pattern = re.compile(f"(?=({_forest(sorted(spelled))}))") if spelled else _NEVER
        self._idle = not spelled

    def clean(self, text: str) -> str:
        """Replace every value by ``***``, overlapping ones as one. Return the same text if there is none."""
        if self._idle:
            return text
        while (cleaned := self._cleaned(text)) is not text:  # a mask may complete a value with asterisks
            text = cleaned
        return text

    def clean_values(self, value: T) -> T:
        """Clean every text and path in a value: records, tuples, lists and the values (not the keys) of mappings.

        A changed mapping becomes a dict. Numbers, members of enums and everything else are unchanged; a value without
        secrets is returned as the same object.
        """
        if self._idle:
            return value
        result: T = self._walk(value)
        return result

    def _cleaned(self, text: str) -> str:
        parts = []
        end = last = 0
        for match in self._pattern.finditer(text):
            start, stop = match.span(1)
            if start >= end:
                parts.append(text[last:start])
                last = stop
            end = last = max(last, stop)
        return MASK.join((*parts, text[last:])) if parts else text

    def _walk(self, value: _Value) -> _Value:
        if isinstance(value, Enum) or value is None:
            return value
        if type(value) is str:
            return self.clean(value)
        if isinstance(value, PurePosixPath):
            text = self.clean(str(value))
            return value if text == str(value) else type(value)(text)
        if isinstance(value, (tuple, list)):
            return self._sequence(value)
        if isinstance(value, Mapping):
            cleaned = {key: self._walk(item) for key, item in value.items()}
            return value if all(item is value[key] for key, item in cleaned.items()) else cleaned
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._record(value)
        return value

    def _sequence(self, value: _Value) -> _Value:
        cleaned = [self._walk(item) for item in value]
        if all(new is old for new, old in zip(cleaned, value, strict=True)):
            return value
        return value._make(cleaned) if hasattr(value, "_make") else type(value)(cleaned)

    def _record(self, value: _Value) -> _Value:
        found = {item.name: getattr(value, item.name) for item in dataclasses.fields(value) if item.init}
        cleaned = {name: self._walk(item) for name, item in found.items()}
        changed = {name: item for name, item in cleaned.items() if item is not found[name]}
        return dataclasses.replace(value, **changed) if changed else value


def _parts(value: str) -> Iterator[str]:
    """Yield a value, and its lines (also escaped ones) if it has several, if long enough."""
    lines = value.replace("\\n", "\n").splitlines()
    texts = [line.strip() for line in lines if len(lines) > 1 and not line.startswith("-----")]
    for part in {value.strip(), "\n".join(lines).strip(), *texts}:
        plain = part.replace("\\", "").replace("\u200b", "")
        if len(plain) >= SHORTEST and len(set(plain)) > 1:
            yield part.replace("\u200b", "")


def _spelling(value: str) -> tuple[str, ...]:
    """Return the pattern of each character of a value.

    A backslash in the value has none: it is one of those that may precede a character.
    """
    spelled = []
    glue = ""
    for character in value:
        if character == "\\":
            glue = _ESCAPES + _GLUE
        else:
            spelled.append(glue + _character(character))
            glue = _GLUE
    return tuple(spelled)


def _character(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    point = ord(character)
    octets = (f"%(?:25)*{octet:02X}" for octet in character.encode("utf-8", "surrogatepass"))
    units = character.encode("utf-16-be", "surrogatepass")
    spellings = [
        re.escape(character),
        "".join(_folded(octet) for octet in octets),
        r"\\+".join("u" + _folded(units[at : at + 2].hex()) for at in range(0, len(units), 2)),
        rf"&(?:amp;)*#(?:0*{point}|[xX]0*{_folded(f'{point:x}')});",
        *_short(character, point),
    ]
    return f"{_ESCAPES}(?:{'|'.join(spellings)})"


def _short(character: str, point: int) -> Iterator[str]:
    """Yield other spellings of some characters in JSON, HTML, Markdown, an address or a line of text."""
    if character in _NAMED:
        yield f"&(?:amp;)*{_NAMED[character]};"
    if character == " ":
        yield r"\+"
    if character == "|":
        yield "¦"
    if character in "\r\n\t":
        yield from (" ", {"\r": "r", "\n": "n", "\t": "t"}[character])
    if character == "\n":
        yield from ("\r\n", r"r\\+n", "%(?:25)*0[Dd]%(?:25)*0[Aa]")
    if not character.isprintable():
        yield f"x{point:02x}"
        yield rf"u\{{{point:04x}\}}"


def _folded(digits: str) -> str:
    """Return a pattern for hexadecimal digits in either case."""
    return re.sub("[a-fA-F]", lambda match: f"[{match[0].lower()}{match[0].upper()}]", digits)


def _in_base64(value: str) -> Iterator[tuple[str, ...]]:
    """Yield the base64 of a value for each of its three possible offsets in a group.

    Characters that also depend on the text around the value are left out.
    """
    data = value.encode("utf-8", "surrogatepass")
    for before in range(3):
        text = base64.b64encode(bytes(before) + data).decode("ascii")
        first = (8 * before + 5) // 6
        last = 8 * (before + len(data)) // 6
        yield tuple(
            {"+": "(?:[+-]|%(?:25)*2[Bb])", "/": r"(?:/|\\{0,8}_|%(?:25)*2[Ff])"}.get(c, c) for c in text[first:last]
        )


def _forest(spelled: Sequence[tuple[str, ...]]) -> str:
    """Join alternatives, so that at each place of a text only those of its kind of character are tried."""
    kinds = {kind: [item for item in spelled if re.match(kind, item[0])] for kind in ("[a-z]", "[A-Z]", "[0-9]")}
    kinds["[^0-9A-Za-z]"] = [
        item for item in spelled if not item[0].isalnum()
    ]  # an escape does not start with a letter
    return "|".join(f"(?={kind})(?:{_tree(items, 0)})" for kind, items in kinds.items() if items)


def _tree(spelled: Sequence[tuple[str, ...]], level: int) -> str:
    """Join alternatives, grouped by their first characters, longest first.

    Without groups each place of a text would be tried against each value.
    """
    if level == _LEVELS or len(spelled) == 1:
        longest_first = sorted(spelled, key=len, reverse=True)
        return "|".join("".join(item[level:]) for item in longest_first)
    groups: dict[str, list[tuple[str, ...]]] = {}
    for item in spelled:
        groups.setdefault(item[level], []).append(item)
    return "|".join(f"{first}(?:{_tree(rest, level + 1)})" for first, rest in groups.items())
