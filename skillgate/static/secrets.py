"""Keys and passwords in text: the known formats, what makes one look real, and how to show one without giving it away.

A format is known by its prefix. What follows must look random: placeholders (``xxxx``, ``EXAMPLE``), sequences
(``abcdef``, ``1a2b3c``), words and little variety are dummies.
"""

from __future__ import annotations

import re
from math import log2
from typing import TYPE_CHECKING

from skillgate.model.skill import digest
from skillgate.named_tuple import NamedTuple
from skillgate.static.rules import SECRETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skillgate.model.finding import Claim
    from skillgate.model.skill import Skill

    Hidden = Mapping[str, Mapping[str, str]]  # by the beginning in lower case: values, and how each may be shown

_WHOLE = r"(?![\w-])"
_FORMATS = {  # by the words of a message; each names its random part
    "an AWS access key": rf"A[KS]IA(?P<aws>[A-Z2-7]{{16}}){_WHOLE}",
    "an AWS secret key": (
        r"(?i:aws_secret_access_key|secretaccesskey)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
        r"(?P<awssecret>[A-Za-z0-9/+]{40})(?![\w/+=-])"
    ),
    "a GitHub token": rf"gh[pos]_(?P<github>[A-Za-z0-9]{{36,255}}){_WHOLE}",
    "a fine-grained GitHub token": rf"github_pat_(?P<pat>[A-Za-z0-9]{{22}}_[A-Za-z0-9]{{59}}){_WHOLE}",
    "an Anthropic key": r"sk-ant-[a-z]{3,5}\d\d-(?P<anthropic>[\w-]{32,200})",
    "an OpenAI key": (
        r"sk-(?:(?:proj|svcacct|admin)-(?P<openai>[\w-]{40,200})"
        r"|(?P<openaiold>[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})(?!\w))"
    ),
    "a Slack token": r"xox[abprse]-(?:\d-)?(?P<slack>[A-Z0-9]{9,14}-\d{9,14}-(?:\d{9,14}-)?[A-Za-z0-9]{24,64})(?!\w)",
    "a Slack webhook": r"https://hooks\.slack\.com/services/"
    r"(?P<webhook>T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24})(?!\w)",
    "a Google API key": rf"AIza(?P<google>[\w-]{{35}}){_WHOLE}",
    "a Stripe live key": r"[sr]k_live_(?P<stripe>[A-Za-z0-9]{24,99})(?!\w)",
    "an npm token": r"npm_(?P<npm>[A-Za-z0-9]{36})(?!\w)",
    "a PyPI token": r"pypi-AgEIcHlwaS5vcmc(?P<pypi>[\w-]{50,250})",
    "a GitLab token": rf"glpat-(?P<gitlab>[\w-]{{20}}){_WHOLE}",
}
_KINDS = {re.search(r"\(\?P<(\w+)>", pattern)[1]: kind for kind, pattern in _FORMATS.items()}  # type: ignore[index]
_KINDS["openaiold"] = _KINDS["openai"]
_ANY = rf"(?<![\w-])(?:{'|'.join(_FORMATS.values())})"
_KEY = r"-----BEGIN (?P<label>(?:[A-Z]{1,9} ){0,2})PRIVATE KEY(?: BLOCK)?-----"
_BODY = (
    r"(?:[A-Za-z0-9+/=]|\\[nrt]|[\s\"',+>*#])*+"  # also in JSON, in quotation marks and behind the marks of comments
)
_KEY_LENGTH = 40_000  # characters of a private key that are looked at: three times one of 16,384 bits
_LEAST_KEY = 64
_DUMMY = (
    *(
        "example",
        "xxxx",
        "your",
        "test",
        "dummy",
        "fake",
        "sample",
        "placehold",
        "replace",
        "change",
        "redact",
        "insert",
    ),
    *("goes", "todo", "real", "token", "secret", "mykey", "demo", "qwert", "asdf", "zxcv", "dead", "beef", "cafe"),
    *("foobar", "notar", "never", "value", "aaaa", "0000", "...", "***"),
)
_SHORT = ("key", "foo", "abc", "123")  # of a short part, where chance does not spell them
_DOCUMENTED = frozenset(("SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",))  # random in form, and printed in a vendor's manual
_SEQUENCE = 6
_SHOWN = 4
_LEAST_PIECE = 12  # characters by which the beginning of a secret is found again
_FINGERPRINT = 4  # hexadecimal digits
_QUOTED = 160  # characters of a text in a message


class Secret(NamedTuple):
    """A secret in a text: its kind with an article, where it begins and ends, and how a report may show it.

    ``fingerprint`` distinguishes it from others of its kind.
    """

    kind: str
    start: int
    end: int
    shown: str
    fingerprint: str


def secrets(text: str) -> Iterator[Secret]:
    """Find what has the form of a secret and looks real, in no order."""
    if not any(word in text for word in SECRETS):
        return
    for match in re.finditer(_ANY, text):
        name = match.lastgroup or ""
        if _is_secret(name, match[name]):
            begin = match.start(name) if name == "awssecret" else match.start()
            value = text[begin : match.end()]
            yield Secret(_KINDS[name], begin, match.end(), _brief(value), fingerprint(value))
    for match in re.finditer(_KEY, text):
        body = re.compile(_BODY).match(text, match.end(), match.end() + _KEY_LENGTH)
        end = body.end() if body else match.end()
        letters = re.sub(r"\\[nrt]|[^A-Za-z0-9]", "", text[match.end() : end])
        if match["label"] != "ENCRYPTED " and len(letters) >= _LEAST_KEY and _looks_random(letters[: 4 * _LEAST_KEY]):
            yield Secret("a private key", match.start(), end, match[0], fingerprint(letters))


def fingerprint(value: str) -> str:
    """Return four hexadecimal digits that distinguish one value from others in a report.

    16 bits: another secret in the place of the first goes unnoticed once in 65,536 times. Every known format has at
    least 80 random bits, so 64 or more remain for who guesses. A value that only looks random has fewer to lose, which
    is why there are no more digits.
    """
    return digest(b"skillgate", value.encode("utf-8", "surrogatepass"))[:_FINGERPRINT]


def quoted(text: str) -> str:
    """Return a text for a message: on one line, without secrets; of a long one the beginning and a fingerprint."""
    line = " ".join(masked(text).split())
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}… ({len(line)} characters, {fingerprint(line)})"


def masked(text: str) -> str:
    """Return a text with the same lines in which no secret can be read."""
    parts, done = [], 0
    for found in sorted(secrets(text), key=lambda secret: secret.start):
        if found.end <= done:
            continue
        whole = text[max(found.start, done) : found.end]
        hidden = re.sub(r"\S+", "…", whole.replace(found.shown, "")) if "\n" in whole or found.start < done else ""
        parts += [text[done : found.start], found.shown if found.start >= done else "", hidden]
        done = found.end
    return "".join([*parts, text[done:]])


def hidden_in(skill: Skill) -> Hidden:
    """Return the secrets of all texts of a skill."""
    return hidden_of((*(file.text for file in skill.documents), *(file.text for file in skill.scripts)))


def hidden_of(texts: Iterable[str]) -> Hidden:
    """Return the secrets of texts, a private key line by line, each with how a report may show it."""
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        for secret in secrets(text):
            value = text[secret.start : secret.end]
            for line in value.split():
                if len(line) >= _LEAST_PIECE:
                    shown = secret.shown if line == value else "…"
                    found.setdefault(line[:_LEAST_PIECE].lower(), {})[line] = shown
    return found


def without_secrets(claims: Iterable[Claim], hidden: Hidden) -> tuple[Claim, ...]:
    """Return claims whose words show no secret."""
    return tuple(one._replace(message=without(one.message, hidden), fix=without(one.fix, hidden)) for one in claims)


def without(quoted: str, hidden: Hidden) -> str:
    """Return a quotation without secrets, of which it may hold the beginning alone, or in another letter case."""
    parts, at, done = list[str](), 0, 0
    while hidden and at + _LEAST_PIECE <= len(quoted):
        values = hidden.get(quoted[at : at + _LEAST_PIECE].lower())
        if values is None:
            at += 1
            continue
        end, shown = max((_end(quoted, at, value), shown) for value, shown in values.items())
        parts += [quoted[done:at], shown]
        at = done = end
    return "".join((*parts, quoted[done:]))


def _end(quoted: str, at: int, value: str) -> int:
    """Return where what a quotation has of a value ends."""
    pairs = zip(quoted[at : at + len(value)].lower(), value.lower(), strict=False)
    return at + next(
        (count for count, (one, other) in enumerate(pairs) if one != other), min(len(quoted) - at, len(value))
    )


def _brief(secret: str) -> str:
    return f"{secret[:_SHOWN]}… ({len(secret)} characters)"


def _is_secret(name: str, part: str) -> bool:
    letters = part.rpartition("/")[2] if name == "webhook" else part.rpartition("-")[2] if name == "slack" else part
    return part not in _DOCUMENTED and _looks_random(letters)


def _looks_random(part: str) -> bool:
    lower = part.lower()
    if any(word in lower for word in _DUMMY) or (len(part) <= 20 and any(word in lower for word in _SHORT)):
        return False
    if _longest_sequence(lower, 1) >= _SEQUENCE or _longest_sequence(lower, 2) >= _SEQUENCE - 1:
        return False
    if len(part) >= 30 and not (any(map(str.isdigit, part)) or part.isalpha()):
        return False
    mixed = part.lower() != part and part.upper() != part
    if len(part) >= 30 and not mixed and re.search(r"[g-zG-Z]", part):
        return False  # letters of one case only: words
    least = 2.8 if len(part) < 30 else 3.8 if mixed else 3.3
    return _entropy(part) >= least


def _longest_sequence(text: str, step: int) -> int:
    """Return the length of the longest run of characters that rise, fall or repeat, ``step`` places apart."""
    longest = run = 1
    for place in range(step, len(text)):
        apart = ord(text[place]) - ord(text[place - step])
        follows = place >= 2 * step and apart == ord(text[place - step]) - ord(text[place - 2 * step])
        run = run + 1 if follows and -1 <= apart <= 1 else 2 if -1 <= apart <= 1 else 1
        longest = max(longest, run)
    return longest


def _entropy(text: str) -> float:
    """Return the entropy of a text's characters in bits."""
    size = len(text)
    return -sum(count / size * log2(count / size) for count in (text.count(one) for one in set(text)))
