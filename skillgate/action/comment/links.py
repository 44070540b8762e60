"""Addresses for a comment: each is built here from what GitHub says of the run; none is taken from a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.finding import rule_url
from skillgate.report import addresses
from skillgate.report.escape import code, inert

if TYPE_CHECKING:
    from skillgate.action.comment.subject import Subject
    from skillgate.model.finding import Finding

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
        """Return a file's address at the head, ``""`` where there can be none."""
        return addresses.at_commit("blob", self.repository, self.head, path, line)

    def directory(self, path: str) -> str:
        """Return a directory's address at the head, ``""`` where there can be none."""
        return addresses.at_commit("tree", self.repository, self.head, path)

    def commit(self, sha: str) -> str:
        """Return a commit's first digits, linked where that can be; any other text stands as it is, made inert."""
        if not addresses.commit(sha):
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


def links_of(subject: Subject) -> Links:
    """Return what the addresses of a subject are built from."""
    return Links(
        repository=addresses.repository(subject.repository_url),
        head=addresses.commit(subject.run.head),
        run=addresses.workflow_run(subject.run_url),
    )


def link(text: str, address: str) -> str:
    """Link a text that is Markdown already; without an address it stands alone."""
    return f"[{text}]({address})" if address else text


def rule(finding: Finding) -> str:
    """Show a finding's rule: linked to our page where it is ours by its form, else inert, with its tool's name."""
    if finding.tool == "skillgate" and addresses.is_rule(finding.id):
        return link(inert(finding.id), rule_url(finding.id))
    by = f" ({inert(finding.tool[:40])})" if finding.tool != "skillgate" else ""
    return inert(finding.id[:80]) + by


def shown_path(path: str) -> str:
    """Shorten a path to its end, which tells more than its beginning."""
    return path if len(path) <= _SHOWN else "…" + path[-_SHOWN:]
