"""Where a page may lead: pages of our own rules, and files of the repository. Never where a document says."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from skillgate.format import printable
from skillgate.model.finding import rule_url
from skillgate.named_tuple import NamedTuple
from skillgate.report import addresses

if TYPE_CHECKING:
    from skillgate.model.finding import Finding


class Links(NamedTuple):
    """What may be linked.

    Attributes:
        repository_url: ``https://HOST/OWNER/NAME``, ``""`` where it is not known.
        run_url: the workflow run, ``""`` where it is not known.
        commit: what the paths are of, 40 hexadecimal digits; ``""`` where it is not known.
        directory: what the paths are relative to, in the repository.
        trusted: False where the document is somebody else's word: then it leads nowhere.
    """

    repository_url: str = ""
    run_url: str = ""
    commit: str = ""
    directory: str = ""
    trusted: bool = True

    @property
    def nowhere(self) -> Links:
        """Links for what is gone: it has no place at the commit."""
        return self._replace(commit="")

    def rule(self, finding: Finding) -> str:
        """Give the page of a rule of ours, from its id; ``""`` for another tool's and a house rule."""
        ours = self.trusted and finding.tool == "skillgate" and finding.url and addresses.is_rule(finding.id)
        return rule_url(finding.id) if ours else ""

    def file(self, path: str, line: int | None = None) -> str:
        """Give a file or directory at the commit; ``""`` where that is not known, or outside of the repository."""
        place = posixpath.normpath(posixpath.join(self.directory, path))
        # What would be shown otherwise than it is written is not led to.
        if not self._knows(self.commit) or printable(place) != place:
            return ""
        return addresses.at_commit("blob", self.repository_url, self.commit, place, line)

    def change(self, commit: str | None) -> str:
        """Give the address of a commit; ``""`` if the repository is not known or it is no commit."""
        return f"{self.repository_url}/commit/{commit}" if commit and self._knows(commit) else ""

    def _knows(self, commit: str) -> bool:
        return bool(self.trusted and addresses.commit(commit) and addresses.repository(self.repository_url))

    def run(self) -> str:
        """Give the address of the workflow run, which the front knows and no document says."""
        return addresses.workflow_run(self.run_url)
