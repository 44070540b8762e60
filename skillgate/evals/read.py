"""Read a skill's ``evals/`` in every known format, and report what was skipped."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from skillgate.evals.formats.results import COMPANIONS
from skillgate.evals.loading import Metered, load
from skillgate.evals.wording import folded
from skillgate.model.evals import EvalFile, EvalSet, Recorded, TaskCase, TriggerCase, Unread
from skillgate.model.finding import Severity
from skillgate.model.layers import TriggerPrompt
from skillgate.model.skill import EntryKind
from skillgate.registry import EVAL_FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from skillgate.model.skill import Tree

FOLDER = "evals"
LEAST = 5
"""Minimum prompts per label for a set to replace generated ones: as many as are generated."""
MOST = 50
"""Maximum prompts used per label: each costs a line in every question to the judge."""
MAX_FILES = 500
MAX_CASES = 2_000
"""Cases of one skill; every rule looks at each of them."""
MAX_DEPTH = 6
MAX_UNREAD = 200
"""Maximum places of one skill that are reported one by one."""
_FIXTURES = frozenset(("files", "fixtures", "inputs", "assets", "outputs", "workspace", "node_modules", "__pycache__"))


def read_evals(tree: Tree, directory: str, *, skills: Sequence[str] | None = None) -> EvalSet:
    """Read all eval sets of one skill or plugin.

    ``skills`` are the names under which graders look for its calls; None for the name of its directory.
    """
    names = skills if skills is not None else tuple(name for name in (posixpath.basename(directory),) if name)
    reader = _Reader(Metered(tree), directory, names)
    reader.walk()
    return reader.result()


def trigger_prompts(
    tree: Tree, directory: str, *, skills: Sequence[str] | None = None
) -> tuple[TriggerPrompt, ...] | None:
    """Return a skill's own trigger prompts for the judge, in file order.

    A repeated prompt counts once. Prompts with both labels, and prompts that name the skill, are left out: no user
    writes the name, and any model would find it. At most 50 of each label are returned.

    Returns:
        None if there are fewer than 5 of either label.
    """
    names = (*(skills or ()), posixpath.basename(directory))
    return usable(read_evals(tree, directory, skills=skills).triggers, names)


def usable(triggers: Iterable[TriggerCase], names: Sequence[str] = ()) -> tuple[TriggerPrompt, ...] | None:
    """Select trigger cases as :func:`trigger_prompts` does; ``names`` are the skill's names."""
    clear = distinct(triggers, names)
    chosen = {label: [case for case in clear if case.should_trigger is label][:MOST] for label in (True, False)}
    if min(len(several) for several in chosen.values()) < LEAST:
        return None
    return tuple(
        TriggerPrompt(case.prompt, case.should_trigger, case.style)
        for case in clear
        if any(case is one for one in chosen[case.should_trigger])
    )


def distinct(triggers: Iterable[TriggerCase], names: Sequence[str] = ()) -> tuple[TriggerCase, ...]:
    """Return the cases without repeats (the first stays), contradictory labels and prompts with one of ``names``."""
    found: dict[str, list[TriggerCase]] = {}
    for case in triggers:
        if any(_names(case.prompt, name) for name in names):
            continue
        found.setdefault(folded(case.prompt) or case.prompt, []).append(case)
    return tuple(same[0] for same in found.values() if len({case.should_trigger for case in same}) == 1)


def _names(prompt: str, name: str) -> bool:
    """Whether a prompt holds a skill's name as a word; a name of one word may also name the task."""
    if "-" not in name:
        return False
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", prompt, re.IGNORECASE) is not None


class _Reader:
    """One pass over one ``evals/``."""

    def __init__(self, tree: Tree, directory: str, skills: Sequence[str]) -> None:
        self._tree, self._directory, self._skills = tree, directory, skills
        self._formats = {kind: EVAL_FORMATS.load(kind) for kind in EVAL_FORMATS.listed()}
        self._files: list[EvalFile] = []
        self._triggers: list[TriggerCase] = []
        self._tasks: list[TaskCase] = []
        self._unread: list[Unread] = []
        self._recorded: list[Recorded] = []
        self._left: dict[str, list[str]] = {}
        self._seen = 0
        self._entered: set[str] = set()

    def result(self) -> EvalSet:
        """Return everything read; a task's input files are not eval sets themselves."""
        attached = {posixpath.normpath(name) for task in self._tasks for name in task.attached}
        attached |= {f"{FOLDER}/{name}" for name in attached}
        unread = [one for one in self._unread if one.file not in attached]
        for folder, names in self._left.items():
            loose = [name for name in names if f"{folder}/{name}" not in attached]
            if loose:
                unread.append(_left_over(folder, loose))
        if len(unread) > MAX_UNREAD:
            last = unread[MAX_UNREAD]
            more = f"{len(unread) - MAX_UNREAD:,} more places were not read"
            refused = any(one.unreadable for one in unread)
            unread = [*unread[:MAX_UNREAD], Unread(last.file, last.line, more, unreadable=refused)]
        return EvalSet(
            tuple(self._files), tuple(self._triggers), tuple(self._tasks), tuple(unread), tuple(self._recorded)
        )

    def walk(self) -> None:
        """Go through the folders without recursion, each real one once."""
        kind = self._kind(FOLDER)
        if kind is EntryKind.OTHER:
            message = "not read: the folder is a symbolic link that is broken or leads outside the skill"
            self._unread.append(Unread(FOLDER, 1, message, unreadable=True))
        pending = [(FOLDER, 0)] if kind is EntryKind.DIRECTORY else []
        while pending:
            folder, depth = pending.pop()
            real = self._tree.real(self._at(folder)) or folder
            if real in self._entered:
                continue
            self._entered.add(real)
            below = self._folder(folder)
            if depth < MAX_DEPTH:
                pending += [(name, depth + 1) for name in reversed(below)]
            elif below:
                self._unread.append(Unread(below[0], 1, f"not read: nested more than {MAX_DEPTH} folders deep"))

    def _folder(self, folder: str) -> list[str]:
        """Read the files of a folder; return its subfolders that may hold more."""
        names = self._tree.names(self._at(folder))
        if "SKILL.md" in names:  # a skill that a task works on
            self._files.append(EvalFile(folder, "fixtures", 0))
            return []
        for kind, form in self._formats.items():
            if hasattr(form, "FOLDER") and form.is_it(names):
                self._case(folder, kind, form)
                return []
        below = []
        for name in names:
            path = f"{folder}/{name}"
            entry = self._kind(path)
            if entry is EntryKind.DIRECTORY and name in _FIXTURES:
                self._files.append(EvalFile(path, "fixtures", len(self._tree.names(self._at(path)))))
            elif entry is EntryKind.DIRECTORY:
                below.append(path)
            elif self._within(path):
                self._file(folder, name)
        return below

    def _within(self, path: str) -> bool:
        self._seen += 1
        if self._seen == MAX_FILES + 1:
            self._unread.append(Unread(path, 1, f"more than {MAX_FILES} files; this one and later ones were not read"))
        return self._seen <= MAX_FILES

    def _case(self, folder: str, kind: str, form: ModuleType) -> None:
        if not self._within(folder):
            return
        before = len(self._tasks)
        self._keep(form.read(self._tree, self._directory, folder, skills=self._skills))
        self._files.append(EvalFile(folder, kind, len(self._tasks) - before))

    def _file(self, folder: str, name: str) -> None:
        path, suffix = f"{folder}/{name}", posixpath.splitext(name)[1].lower()
        if suffix not in (".json", ".yaml", ".yml") or name in COMPANIONS:
            if name not in COMPANIONS:
                self._left.setdefault(folder, []).append(name)
            return
        loaded = load(self._tree, self._directory, path)
        if isinstance(loaded, Unread):
            self._unread.append(loaded)
            return
        documents = {kind: form for kind, form in self._formats.items() if not hasattr(form, "FOLDER")}
        kind = next((kind for kind, form in documents.items() if form.is_it(loaded, path)), None)
        if kind is None:
            missing = [form.MISSING for form in documents.values() if name in getattr(form, "FILES", ())]
            if missing:
                self._unread.append(Unread(path, 1, missing[0]))
            else:
                self._left.setdefault(folder, []).append(name)
            return
        count = self._keep(documents[kind].read(loaded, path))
        self._files.append(EvalFile(path, kind, count))
        self._unread += [Unread(path, line, f"duplicate key {key[:60]}") for key, line in loaded.repeated[:20]]

    def _keep(self, found: Iterable[TriggerCase | TaskCase | Recorded | Unread]) -> int:
        """Store what was found; return the number of cases or results."""
        count = 0
        for one in found:
            if isinstance(one, Unread):
                self._unread.append(one)
                continue
            count += 1
            if isinstance(one, Recorded):
                self._recorded.append(one)
                continue
            if len(self._triggers) + len(self._tasks) == MAX_CASES:
                message = f"more than {MAX_CASES:,} cases; this one and later ones were not read"
                self._unread.append(Unread(one.file, one.line, message))
                break
            if isinstance(one, TaskCase):
                self._tasks.append(one)
            else:
                self._triggers.append(one)
        return count

    def _at(self, path: str) -> str:
        return f"{self._directory}/{path}" if self._directory else path

    def _kind(self, path: str) -> EntryKind | None:
        entry = self._tree.entry(self._at(path))
        return entry.kind if entry is not None else None


def _left_over(folder: str, names: Sequence[str]) -> Unread:
    """Report in one line what no format of a folder reads."""
    shown = ", ".join(name if len(name) <= 60 else name[:59] + "…" for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    data = [name for name in names if name.lower().endswith((".json", ".yaml", ".yml", ".jsonl", ".csv"))]
    severity = Severity.WARNING if data else Severity.INFO
    message = f"not read, since no eval format matches: {shown}{more}"
    return Unread(f"{folder}/{(data or names)[0]}", 1, message, severity)
