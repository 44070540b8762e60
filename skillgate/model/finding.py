"""A finding: one claim about one place of one skill, with what to do about it.

Annotations are evaluated: as text each would be compiled once more at start-up.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import PurePosixPath
from typing import NamedTuple

from skillgate.model.skill import Skill, Span


class Severity(Enum):
    """How bad a finding is. It orders findings and gates them; it never enters a score."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Order severities: errors 0, warnings 1, infos 2."""
        return ("error", "warning", "info").index(self.value)


class Client(Enum):
    """A reader of skills whose limits are known; also the name of the profile that holds a skill to them."""

    SPEC = "spec"  # the Agent Skills specification and its reference validator
    CLAUDE_CODE = "claude-code"
    CLAUDE_UPLOAD = "claude-upload"  # claude.ai and the API, which take a skill as an upload
    CODEX = "codex"


class Hit(NamedTuple):
    """What a check yields: a place and a message. Its id, severity, fix and page come from the declaration.

    ``severity``, ``fix``, ``refused_by`` and ``about`` are set only by a check whose declaration allows more than one
    of them, such as a description that is short (warning) or empty (error). ``file`` is the tree path of another file
    of the skill, None for its main file.
    """

    span: Span
    message: str
    severity: Severity | None = None
    fix: str | None = None
    file: str | None = None
    refused_by: tuple[Client, ...] | None = None
    about: tuple[Client, ...] | None = None


class Rule(NamedTuple):
    """The declaration of a check: one per file of ``static/antipatterns``, ``static/rules`` and ``static/defects``.

    Attributes:
        id: never changes once published.
        severity: under the profile ``any``: an error is what every client refuses or drops, or what is broken for all.
        summary: the defect in a few words.
        fix: what to do, as an instruction.
        find: the check itself.
        advice: the key of the piece of advice that mends it, where there is one (see ``scoring/advice``).
        blocks_badge: a hit that is an error under any profile withholds the badge, whatever the score and whatever is
            selected, ignored or suppressed.
        group: a word that ``--select`` and ``--ignore`` know it by, beside its id.
        optional: reported only where it, its group or ``all`` is selected.
        refused_by: the clients that refuse or drop a skill for it: under the profile of one it is an error.
        about: the only clients it concerns; under the profile of another it is not reported. Empty: every client.
    """

    id: str
    severity: Severity
    summary: str
    fix: str
    find: Callable[[Skill], Iterator[Hit]]
    advice: str | None = None
    blocks_badge: bool = False
    group: str = ""
    optional: bool = False
    refused_by: tuple[Client, ...] = ()
    about: tuple[Client, ...] = ()


class Claim(NamedTuple):
    """A hit with all that its declaration says, before profile, selection and suppressions decide what becomes of it.

    ``file`` is relative to the skill's directory, with ``/``. ``other`` is the shown path of the other skill that a
    claim across skills is about, ``skills`` is that of :class:`Finding`.
    """

    id: str
    severity: Severity
    message: str
    file: str
    line: int
    column: int
    fix: str
    group: str = ""
    optional: bool = False
    refused_by: tuple[Client, ...] = ()
    about: tuple[Client, ...] = ()
    other: str | None = None
    skills: tuple[str, ...] = ()


class Finding(NamedTuple):
    """A claim that stands.

    ``path`` is the file as shown: the skill's directory as it was given, then the file in it, with ``/``. ``clients``
    are those that refuse or drop the skill for it (empty: it is about no client in particular, or about all). ``tool``
    is who found it: skillgate, or the tool whose SARIF was merged. ``skills`` is what a finding across skills is
    recognised by beside its rule: the shown paths of all skills that it is about, sorted, or of the one plugin or
    folder whose list it is about. It is empty for a finding about one skill, and about more than 20.
    """

    id: str
    severity: Severity
    message: str
    path: PurePosixPath
    line: int
    column: int
    fix: str
    url: str
    clients: tuple[Client, ...] = ()
    tool: str = "skillgate"
    skills: tuple[str, ...] = ()


class Suppressed(NamedTuple):
    """A finding that was set aside: it gates nothing, and is counted and shown as such. It changes no score.

    ``by`` is ``comment`` (in the file), ``configuration`` (``ignore``) or ``known`` (the file of known findings);
    ``until`` is an ISO date, None where it never ends.
    """

    finding: Finding
    by: str
    reason: str | None = None
    until: str | None = None
