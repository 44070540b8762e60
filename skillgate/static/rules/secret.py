"""A key, token or private key in a file of the skill.

Why:
    All users and readers of the skill have the key, and so has the history of its repository after the line is deleted.
    Known formats are recognised by their prefix, and what follows must look random. All text files are read: scripts,
    assets and references, and `.env`. No report shows more than the first four characters and the length. Silent:
    placeholders, sequences and documented dummies, lines and headings that call the key a dummy, patterns of scanners,
    tests and fixtures, a `.env` that `.gitignore` names, and the public API key of a Firebase page. On a line that
    speaks of an example, a key is a warning.

Bad:
    export GITHUB_TOKEN=(the token itself)

Good:
    export GITHUB_TOKEN="$(gh auth token)"

Source: the vendors' documentation of their key formats; GitHub documentation, supported secret scanning patterns.
"""

import re
from bisect import bisect_right

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Document, Skill, Span, TextFile
from skillgate.skill.parse import TESTS
from skillgate.static import Hits, rule
from skillgate.static.secrets import Secret, secrets

MAX_HITS = 20  # of one file
_AROUND = 300
_NOT_REAL = (
    r"\b(?:dumm(?:y|ies)|fake[ds]?|placeholders?|redacted|revoked|mock(?:ed)?|bogus|not (?:a )?(?:real|valid)"
    r"|sanitized|made.up|fictional|synthetic)\b"
)
_DETECTS = (
    r"\b(?:regex\w*|detect\w*|gitleaks|trufflehog|leak(?:s|ed)?|entropy|(?:secret|token|key)s?.(?:scan\w*|patterns?))\b"
    r"|\[\w-\w"  # the characters of a pattern
)
_EXAMPLE = r"\b(?:examples?|sample|e\.g\.|looks? like|format)\b"
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
        folders = skill.root.inside(file.file).lower().split("/")
        document = file if isinstance(file, Document) else None
        if not _MADE_UP.isdisjoint(folders) or folders[-1].startswith("test_") or (scans and document):
            continue
        seen: set[str] = set()
        for secret in secrets(file.text):
            if len(seen) == MAX_HITS:
                break
            value = file.text[secret.start : secret.end]
            severity = _severity(skill, file.file, file.text, document, secret) if value not in seen else None
            seen.add(value)
            if severity is not None:
                line = file.text.count("\n", 0, secret.start) + 1
                span = Span(line, secret.start - file.text.rfind("\n", 0, secret.start))
                message = f"this is {secret.kind}: {secret.shown}"
                yield Hit(span, message, severity=severity, file=None if file.file == main else file.file)


def _severity(skill: Skill, path: str, text: str, document: Document | None, secret: Secret) -> Severity | None:
    """Return how bad a secret is where it is; None if the text around it says that it is not one."""
    if path.rpartition("/")[2].startswith(".env") and _is_ignored(skill):
        return None
    around = text[max(0, secret.start - _AROUND) : secret.start] + text[secret.end : secret.end + _AROUND]
    if secret.kind == "a Google API key" and re.search(r"(?i)firebase|authDomain", around):
        return None
    line = _lines(text, secret) + "\n" + (_heading(document, text, secret) if document else "")
    if re.search(_NOT_REAL, line) or re.search(_DETECTS, line):
        return None
    return Severity.WARNING if re.search(_EXAMPLE, line) else Severity.ERROR


def _lines(text: str, secret: Secret) -> str:
    """Return the lines of a secret and the text line above them, without the secret, in lower case."""
    before = text[max(0, secret.start - _AROUND) : secret.start].rstrip("\n").split("\n")
    after = text[secret.end : secret.end + _AROUND].partition("\n")[0]
    above = next((one for one in reversed(before[:-1]) if one.strip() and not one.lstrip().startswith("```")), "")
    return f"{above}\n{before[-1]} {after}".lower()


def _heading(document: Document, text: str, secret: Secret) -> str:
    line = text.count("\n", 0, secret.start) + 1
    place = bisect_right(document.headings, line, key=lambda heading: heading.line)
    return document.headings[place - 1].text.lower() if place else ""


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
