"""Addresses for a comment: each is built here from what GitHub says of the run; none is taken from a report."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from skillgate.model.tool import rule_url
from skillgate.report.markdown import code, inert

if TYPE_CHECKING:
    from skillgate.github.subject import Subject
    from skillgate.model.finding import Finding

_REPOSITORY = re.compile(r"https?://[A-Za-z0-9.-]{1,253}(?::\d{1,5})?(?:/[A-Za-z0-9._~-]{1,100}){2,6}")
_RUN = re.compile(_REPOSITORY.pattern + r"(?:/[A-Za-z0-9._~-]{1,100}){0,6}(?:[?#][A-Za-z0-9._~=&-]{1,100})?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_OURS = re.compile(r"[A-Z][A-Z0-9_]{1,63}")
_LONGEST = 1000  # characters of an address; a longer one is left out, and its text stands alone
_SHOWN = 120  # characters of a path that are shown, the last ones


class Links(NamedTuple):
    """What addresses are built from; each is ``""`` where there is none of a sane form.

    Attributes:
        repository: ``https://HOST/OWNER/NAME``.
        head: the commit that was evaluated, 40 hexadecimal digits.
        run: the workflow run, where the whole report lies.
    """

    repository: str
    head: str
    run: str

    def file(self, path: str, line: int | None = None) -> str:
        """Give a file's address at the head, ``""`` where there can be none."""
        address = self._at_head("blob", path)
        raw = "?plain=1" if path.lower().endswith(".md") else ""  # rendered Markdown has no lines to lead to
        return f"{address}{raw}#L{line}" if address and line and line > 0 else address

    def directory(self, path: str) -> str:
        """Give a directory's address at the head, ``""`` where there can be none."""
        return self._at_head("tree", path)

    def commit(self, sha: str) -> str:
        """Give a commit's first digits, linked where that can be; any other text stands as it is, made inert."""
        if not _COMMIT.fullmatch(sha):
            return inert(sha[:_SHOWN])
        return link(code(sha[:7]), f"{self.repository}/commit/{sha}" if self.repository else "")

    @property
    def report(self) -> str:
        """Name the full report, linked where the run is known."""
        return link("full report", self.run)

    def place(self, path: str, line: int | None = None) -> str:
        """Show a file and a line as code, linked where that can be."""
        at = f":{line}" if line else ""
        return link(code(shown_path(path) + at), self.file(path, line))

    def _at_head(self, kind: str, path: str) -> str:
        inside = _inside(path)
        if not self.repository or not self.head or inside is None:
            return ""
        address = f"{self.repository}/{kind}/{self.head}" + (f"/{quote(inside)}" if inside != "." else "")
        return address if len(address) <= _LONGEST else ""


def links_of(subject: Subject) -> Links:
    """Give what the addresses of a subject are built from."""
    return Links(
        repository=_whole(_REPOSITORY, subject.repository_url),
        head=_whole(_COMMIT, subject.run.head),
        run=_whole(_RUN, subject.run_url),
    )


def link(text: str, address: str) -> str:
    """Link a text that is Markdown already; without an address it stands alone."""
    return f"[{text}]({address})" if address else text


def rule(finding: Finding) -> str:
    """Show a finding's rule: linked to our page where it is ours by its form, else inert, with its tool's name."""
    if finding.tool == "skillgate" and _OURS.fullmatch(finding.id):
        return link(inert(finding.id), rule_url(finding.id))
    by = f" ({inert(finding.tool[:40])})" if finding.tool != "skillgate" else ""
    return inert(finding.id[:80]) + by


def shown_path(path: str) -> str:
    """Shorten a path to its end, which tells more than its beginning."""
    return path if len(path) <= _SHOWN else "…" + path[-_SHOWN:]


def _whole(form: re.Pattern[str], text: str) -> str:
    return text if form.fullmatch(text) and "/../" not in f"{text}/" and "/./" not in f"{text}/" else ""


def _inside(path: str) -> str | None:
    """Normalise a path that stays inside of the repository; None for any other."""
    if not path or len(path) > _LONGEST or path.startswith("/") or "\0" in path or ".." in path.split("/"):
        return None
    try:
        path.encode()
    except UnicodeEncodeError:  # a lone surrogate has no address
        return None
    return posixpath.normpath(path)
