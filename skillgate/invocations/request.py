"""The requests of the commands of ``log``; ``store`` is what ``--store`` names, None for that of the configuration."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class ImportRequest(NamedTuple):
    """Take files of recorded invocations into a store.

    Attributes:
        form: the files' format; ``auto`` recognises it.
        category: of invocations that name none.
        keep_text: whether texts under unknown keys are stored.
        update: whether what is there under the same id is replaced.
        strict: whether nothing is taken of a file with a bad line.
        project: what is stored as the origin, None for a digest of the files' folder.
    """

    store: str | None
    files: tuple[str, ...]
    form: str
    rubric: str
    category: str | None
    keep_text: bool
    update: bool
    strict: bool
    project: str | None


class ScoreRequest(NamedTuple):
    """Score the invocations of files, and store nothing; the attributes are those of an import."""

    files: tuple[str, ...]
    form: str
    rubric: str
    category: str | None


class AddRequest(NamedTuple):
    """Record one invocation, or more signals of one that is there.

    Attributes:
        invocation: a JSON object, ``-`` for the standard input, None for none.
        fields: each ``KEY=VALUE``.
        skill, id: the skill's name and the invocation's id; None where they are among the fields.
        update: whether it is there already.
    """

    store: str | None
    invocation: str | None
    fields: tuple[str, ...]
    skill: str | None
    id: str | None
    rubric: str
    category: str | None
    keep_text: bool
    update: bool


class Selection(NamedTuple):
    """Which invocations of a store are looked at, and by which rubric.

    Attributes:
        skills: by name; empty for all.
        days: how far to look back, None for all.
        until: what began later is left out; None for nothing, since a recorder's clock may be ahead.
    """

    store: str | None
    skills: tuple[str, ...]
    rubric: str
    days: int | None
    until: datetime | None


class ShowRequest(NamedTuple):
    """Show one invocation; ``id`` may be how its id begins."""

    store: str | None
    id: str
    rubric: str


class RescoreRequest(NamedTuple):
    """Score what is there by another rubric; ``skill`` and ``since`` are None for everything."""

    store: str | None
    rubric: str
    skill: str | None
    since: datetime | None


class PurgeRequest(NamedTuple):
    """Delete what is of a skill, and what began before a time; one of both is None at most.

    Attributes:
        dry_run: whether they are only counted.
        agreed: whether no question is needed.
    """

    store: str | None
    before: datetime | None
    skill: str | None
    dry_run: bool
    agreed: bool
