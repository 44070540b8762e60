"""A key, token or private key in a file of the skill.

Why:
    All users and readers of the skill have the key, and so has the history of its repository after the line is deleted.
    Known formats are recognised by their prefix, and what follows must look random. All text files are read: scripts,
    assets and references, `.env`, logs and `.tfvars`, also in UTF-16. A report shows the first four characters, the
    length and a short fingerprint. Silent: placeholders, sequences and documented dummies, lines and headings that call
    the key a dummy, tests and fixtures, a `.env` that `.gitignore` names, and the public API key of a Firebase page. On
    a line that speaks of an example or of a scanner, and in the documents of a skill that scans for secrets, a key is a
    warning.

Bad:
    export GITHUB_TOKEN=(the token itself)

Good:
    export GITHUB_TOKEN="$(gh auth token)"

Source: the vendors' documentation of their key formats; GitHub documentation, supported secret scanning patterns.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Document, Heading, Skill, Span, TextFile
from skillgate.skill.parse import TESTS
from skillgate.static import Hits, rule
from skillgate.static.secrets import Secret, secrets

_AROUND = 300
_NOT_REAL = (
    r"\b(?:dumm(?:y|ies)|fake[ds]?|placeholders?|redacted|revoked|mock(?:ed)?|bogus|not (?:a )?(?:real|valid)"
    r"|sanitized|made.up|fictional|synthetic)\b"
)
_SHOWS = (  # the words around a key that is there to show what keys look like, or what a scanner finds
    r"\b(?:examples?|sample|e\.g\.|looks? like|format|regex\w*|detect\w*|gitleaks|trufflehog|leak(?:s|ed)?|entropy"
    r"|(?:secret|token|key)s?.(?:scan\w*|patterns?))\b|\[\w-\w"  # the characters of a pattern
)
_MADE_UP = TESTS | {"fixtures", "fixture", "testdata", "mocks", "__tests__", "spec"}
_SCANNING = (
    r"secret.?scan|scan\w* for secrets|(?:detect\w*|find\w*|leak\w*) (?:\w+ ){0,3}(?:secrets|credentials|api keys)"
)


def find(skill: Skill) -> Hits:
    """Yield one hit for each secret of a file, at its first place."""
    about = f"{skill.frontmatter.text('name')} {skill.frontmatter.text('description')}".lower()
    scans = re.search(_SCANNING, about) is not None
    main = skill.documents[0].file if skill.documents else ""
    files: tuple[Document | TextFile, ...] = (*skill.documents, *skill.scripts)
    for file in files:
        *folders, name = skill.root.inside(file.file).lower().split("/")
        if not _MADE_UP.isdisjoint((*folders, name)) or name.startswith("test_"):
            continue
        if name.startswith(".env") and _is_ignored(skill):
            continue
        document = file if isinstance(file, Document) else None
        for line, secret, severity in _worst(file.text, () if document is None else document.headings):
            severity = Severity.WARNING if scans and document else severity
            span = Span(line, secret.start - file.text.rfind("\n", 0, secret.start))
            message = f"this is {secret.kind}: {secret.shown}, fingerprint {secret.fingerprint}"
            yield Hit(span, message, severity=severity, file=None if file.file == main else file.file)


def _worst(text: str, headings: Sequence[Heading]) -> Iterator[tuple[int, Secret, Severity]]:
    """Yield each secret of a text where it is worst, with line and severity, unless its first place says dummy."""
    ends = [match.start() for match in re.finditer("\n", text)]
    found: dict[str, tuple[int, Secret, Severity] | None] = {}
    for secret in sorted(secrets(text), key=lambda one: one.start):
        value, line = text[secret.start : secret.end], bisect_left(ends, secret.start) + 1
        place = bisect_right(headings, line, key=lambda heading: heading.line)
        severity = _severity(text, headings[place - 1].text.lower() if place else "", secret)
        before = found.setdefault(value, severity and (line, secret, severity))
        if before is not None and severity is not None and severity.rank < before[2].rank:
            found[value] = line, secret, severity
    yield from filter(None, found.values())


def _severity(text: str, heading: str, secret: Secret) -> Severity | None:
    """Return how bad a secret is where it is; None if the text around it says that it is not one."""
    around = text[max(0, secret.start - _AROUND) : secret.start] + text[secret.end : secret.end + _AROUND]
    if secret.kind == "a Google API key" and re.search(r"(?i)firebase|authDomain", around):
        return None
    words = f"{_lines(text, secret)}\n{heading}"
    if re.search(_NOT_REAL, words):
        return None
    return Severity.WARNING if re.search(_SHOWS, words) else Severity.ERROR


def _lines(text: str, secret: Secret) -> str:
    """Return the lines of a secret and the text line above them, without the secret, in lower case."""
    before = text[max(0, secret.start - _AROUND) : secret.start].rstrip("\n").split("\n")
    after = text[secret.end : secret.end + _AROUND].partition("\n")[0]
    above = next((one for one in reversed(before[:-1]) if one.strip() and not one.lstrip().startswith("```")), "")
    return f"{above}\n{before[-1]} {after}".lower()


def _is_ignored(skill: Skill) -> bool:
    """Whether Git leaves `.env` files alone: then the file is the reader's own."""
    for path in dict.fromkeys((skill.root.tree_path(".gitignore"), ".gitignore")):
        try:
            lines = skill.root.tree.read(path, limit=1 << 16).decode("utf-8", "replace").split("\n")
        except OSError:
            continue
        if any(line.strip().lstrip("*/") in (".env", ".env*", ".env.*", "env") and ".env" in line for line in lines):
            return True
    return False


RULE = rule(
    find, Severity.ERROR, "security", fix="revoke it at once, and read it from the environment or a secret store"
)
