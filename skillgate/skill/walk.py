"""The walk that finds skills, one for directories and commits alike, and the plugin that each belongs to.

It never recurses, follows a link only inside its tree, and enters each real directory once, so that loops and mirrors
cost nothing. A watched tree records what judging a skill asked of the files around it. A stored result holds as long as
every question has its old answer. So no list of what a check may look at is needed.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from skillgate.model.skill import SKILL_FILE, Entry, EntryKind, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Protocol

    from skillgate.model.skill import SkillRoot, Tree

    class Forest(Tree, Protocol):
        """What the walk asks of a directory on disk and of a commit; their classes say what each means."""

        origin: str

        def listing(self, real: str) -> Mapping[str, EntryKind | None]: ...  # noqa: D102
        def real(self, path: str) -> str | None: ...  # noqa: D102
        def leads_outside(self, path: str) -> bool: ...  # noqa: D102


VERSION_CONTROL = frozenset((".git", ".hg", ".svn", ".jj"))
"""Directories of version control itself: nothing in them belongs to what is versioned."""

SKIPPED = VERSION_CONTROL | frozenset(
    (
        *("node_modules", "bower_components", ".yarn", ".pnpm-store", ".next", ".turbo"),
        *("__pycache__", "site-packages", ".venv", ".tox", ".nox", ".eggs", ".ipynb_checkpoints"),
        *(".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".gradle", ".terraform"),
    )
)
"""Directories that version control, package managers and tools fill; a PATH that is given may still be one.

In a repository a skill below one of them counts where git tracks it: what is committed is no tool's.
Only names that no skill has: a marker file (``pyvenv.cfg``, ``CACHEDIR.TAG``) that stopped the walk would let a
pull request hide its skills from the gate. ``site-packages`` is where a virtual environment of any name keeps files.
"""

_DIRECTORY, _OTHER = EntryKind.DIRECTORY, EntryKind.OTHER


class Folder:
    """A directory to walk: at the path ``real`` of a tree, without links, and ``shown`` to people (``""``: current).

    ``key`` is its absolute path without links, with ``/``; ``repo`` that of its repository, ``""`` without one.
    ``asks`` are the links and nested repositories on the path to it, each after the repository that may ignore it.
    """

    __slots__ = ("asks", "key", "real", "repo", "shown", "tree")

    def __init__(self, tree: Forest, real: str, shown: str, repo: str, asks: tuple[tuple[str, str], ...] = ()) -> None:
        self.tree, self.real, self.shown, self.repo, self.asks = tree, real, shown, repo, asks
        self.key = _key(tree, real)

    def child(self, name: str) -> Folder:
        """Return the directory of this name below."""
        return Folder(self.tree, join(self.real, name), join(self.shown, name), self.repo, self.asks)


class Found:
    """A skill's folder and main file.

    ``identity`` is the file's real path, by which a mirror is known: a folder that holds nothing but a link to another
    skill's main file. With files of its own it is a separate skill, whatever its main file leads to.
    """

    __slots__ = ("file_name", "folder", "identity", "linked")

    def __init__(self, folder: Folder, file_name: str) -> None:
        path = join(folder.real, file_name)
        real = folder.tree.real(path)
        self.folder, self.file_name, self.linked = folder, file_name, real not in (None, path)
        own = real is None or (self.linked and len(folder.tree.listing(folder.real)) > 1)
        self.identity = _key(folder.tree, path if real is None or own else real)


class Walk:
    """One search and what it met: the skills ``found``, and what :meth:`notices` says was left out."""

    def __init__(
        self,
        *,
        skipped: frozenset[str] = SKIPPED,
        excluded: Callable[[str], bool] | None = None,
        linked: bool = False,
        tracked: Callable[[str], frozenset[str]] = lambda _: frozenset(),
    ) -> None:
        """Set what is passed over.

        Args:
            skipped: names of directories that are not entered.
            excluded: whether a directory is left out by the path that it is shown at; None leaves none out. What a link
                shows elsewhere too is found there.
            linked: whether a skill that another one links to is found too, which widens what was requested.
            tracked: the skills' main files that a repository (by its ``key``) tracks, relative to its top; called once
                for each repository with such a directory that could hold a skill.
        """
        self.found: list[Found] = []
        self._entered: set[str] = set()
        self._skipped, self._excluded, self._tracked = skipped, excluded, tracked
        self._widen = linked
        self._passed: list[Folder] = []
        self._links: list[tuple[Folder, str]] = []
        self._outside: list[str] = []
        self._unreadable: list[str] = []

    def run(self, folders: Iterable[Folder]) -> None:
        """Walk all that lies below without links first: what is mirrored is then shown by its own path."""
        for folder in folders:
            self._descend(folder)
        self._recover()
        while self._links:
            links, self._links = sorted(self._links, key=lambda link: (link[0].shown, link[1])), []
            for folder, name in links:
                self._follow(folder, name)
            self._recover()

    @property
    def complete(self) -> bool:
        """Return whether every directory could be searched."""
        return not self._unreadable

    def notices(self) -> list[str]:
        """Return what was left out, in sentences."""
        said = sorted(self._unreadable)
        if count := len(self._outside):
            links, were = ("symbolic link points", "was") if count == 1 else ("symbolic links point", "were")
            said.append(
                f"{count} {links} outside the searched tree and {were} not followed (first: {min(self._outside)!r});"
                " to include the target, pass its real path"
            )
        return said

    def _descend(self, top: Folder) -> None:
        pending = [top]
        while pending:
            folder = pending.pop()
            if self._excluded is not None and self._excluded(folder.shown):
                continue
            if folder.key not in self._entered:
                self._entered.add(folder.key)
                pending += self._enter(folder)

    def _enter(self, folder: Folder) -> list[Folder]:
        try:
            listing = folder.tree.listing(folder.real)
        except OSError as error:
            self._unreadable.append(f"{folder.shown or '.'!r} cannot be searched: {error.strerror or error}")
            return []
        if ".git" in listing and folder.repo != folder.key:
            folder.asks += ((folder.repo, folder.key),) if folder.repo else ()
            folder.repo = folder.key
        if file_name := main_file(listing):
            self.found.append(Found(folder, file_name))
        skipped = self._skipped
        self._links += [(folder, name) for name, kind in listing.items() if kind is None and name not in skipped]
        below = [name for name, kind in listing.items() if kind is _DIRECTORY]
        if folder.repo:
            self._passed += [folder.child(name) for name in below if name in skipped and name not in VERSION_CONTROL]
        return [folder.child(name) for name in below if name not in skipped]

    def _recover(self) -> None:
        """Take in the tracked skills below directories that were passed over; nothing else of these is looked at."""
        passed, self._passed = [folder for folder in self._passed if _may_hold_skills(folder)], []
        tracked = {repo: self._tracked(repo) for repo in sorted({folder.repo for folder in passed})}
        for top in passed:
            for folder in _holders(top, tracked[top.repo]) if top.key not in self._entered else ():
                self._take(folder)

    def _take(self, folder: Folder) -> None:
        if folder.key in self._entered or folder.tree.real(folder.real) != folder.real:
            return
        if self._excluded is not None and self._excluded(folder.shown):
            return
        try:
            file_name = main_file(folder.tree.listing(folder.real))
        except OSError:  # tracked, and gone from the disk
            return
        if file_name:
            self._entered.add(folder.key)
            self.found.append(Found(folder, file_name))

    def _follow(self, folder: Folder, name: str) -> None:
        tree, link = folder.tree, folder.child(name)
        target = tree.real(link.real)
        if target is None:
            if tree.leads_outside(link.real):
                self._outside.append(link.shown)
            return
        entry = tree.entry(target)
        inside = self._skill_around(folder)
        out = inside is not None and not (_key(tree, target) + "/").startswith(inside + "/")
        if out and not (self._widen and _is_skill(tree, target)):
            return  # what a skill links to next to it is its neighbours', who are found by themselves or not asked for
        if entry is not None and entry.kind is _DIRECTORY:
            asks = (*folder.asks, (folder.repo, link.key)) if folder.repo else folder.asks
            self._descend(Folder(tree, target, link.shown, _repo_of(tree, target) or folder.repo, asks))

    def _skill_around(self, folder: Folder) -> str | None:
        """Return the key of the skill that a directory is, or lies in; None outside any."""
        skills = {found.folder.key for found in self.found}
        key = folder.key
        while key and key not in skills:
            key = key.rpartition("/")[0]
        return key or None


def each_once(found: Iterable[Found]) -> list[Found]:
    """Keep of each skill the place that it is shown at first: by its own path before any link."""
    once: dict[str, Found] = {}
    for one in sorted(found, key=lambda one: (one.linked, one.folder.shown)):
        once.setdefault(one.identity, one)
    return list(once.values())


def main_file(listing: Mapping[str, EntryKind | None]) -> str | None:
    """Name the main file in a directory's listing; None if there is no skill.

    ``SKILL.md`` counts whatever it is (a pipe in its place is a skill that cannot be read), other spellings only as
    files or links.
    """
    if SKILL_FILE in listing:
        return SKILL_FILE
    others = [name for name in listing if len(name) == len(SKILL_FILE) and name.upper() == "SKILL.MD"]
    return min((name for name in others if listing[name] not in (_DIRECTORY, _OTHER)), default=None)


def _is_skill(tree: Forest, path: str) -> bool:
    try:
        return main_file(tree.listing(path)) is not None
    except OSError:
        return False


def _may_hold_skills(folder: Folder) -> bool:
    """Return whether a directory has any below it, or is a skill: a ``__pycache__`` needs no question to git."""
    try:
        listing = folder.tree.listing(folder.real)
    except OSError:
        return False
    return main_file(listing) is not None or any(kind is _DIRECTORY for kind in listing.values())


def _holders(top: Folder, tracked: Iterable[str]) -> Iterator[Folder]:
    """Return the directories at or below one that hold tracked main files, of paths relative to its repository."""
    above = join(top.key.removeprefix(join(top.repo, "")), "")
    for path in sorted(tracked):
        if path.startswith(above):
            folder = top
            for name in path[len(above) :].split("/")[:-1]:
                folder = folder.child(name)
            yield folder


def left_out(excluded: Collection[str] | Callable[[str], bool] | None) -> Callable[[str], bool] | None:
    """Make the test of whether a directory is one of some, or lies below one, by the path that it is shown at."""
    if not excluded:
        return None
    if callable(excluded):
        return excluded
    folders = tuple(posixpath.normpath(path) for path in excluded)
    return lambda shown: f"{posixpath.normpath(shown)}/".startswith(tuple(f"{folder}/" for folder in folders))


def join(directory: str, name: str) -> str:
    """Put a name below a path with ``/``, of which ``""`` is the start."""
    return f"{directory.rstrip('/')}/{name}" if directory else name


def _key(tree: Forest, real: str) -> str:
    return tree.origin + real if real else tree.origin.rstrip("/") or "/"


def _repo_of(tree: Forest, real: str) -> str:
    """Find the repository a directory lies in, as far as it begins inside the tree; ``""`` when it does not."""
    while real:
        try:
            if ".git" in tree.listing(real):
                return _key(tree, real)
        except OSError:
            pass
        real = real.rpartition("/")[0]
    return ""


PLUGIN_FOLDER = ".claude-plugin"
MAX_MANIFEST_BYTES = 1 << 20  # of a marketplace's manifest; published ones stay below 100 kB


class Plugins:
    """Answers for the directories of one tree; each manifest is read once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._sources: dict[str, frozenset[str]] = {}
        self._manifests: dict[str, bool] = {}

    def of(self, directory: str) -> str | None:
        """Return the tree path of the plugin that a skill's directory lies in, None if it lies in none.

        A plugin is a directory with ``.claude-plugin/plugin.json``, or one below a marketplace that is named there as
        the source of a plugin. That alone does not make the marketplace's own directory a plugin: what it lists is
        installed separately.
        """
        above = list(_upward(directory))
        for place in above:
            if self._is_file(join(place, f"{PLUGIN_FOLDER}/plugin.json")):
                return place
        for place in above:
            sources = self._listed(place)
            found = next((one for one in above if one in sources), None)
            if found is not None:
                return found
        return None

    def _listed(self, place: str) -> frozenset[str]:
        if place not in self._sources:
            path = join(place, f"{PLUGIN_FOLDER}/marketplace.json")
            self._sources[place] = frozenset(self._read(path, place)) if self._is_file(path) else frozenset()
        return self._sources[place]

    def _read(self, path: str, place: str) -> Iterator[str]:
        """Return the directories below a marketplace that it names as sources; of a broken manifest none."""
        import json  # only where there is a marketplace

        try:
            manifest: Any = json.loads(self._tree.read(path, limit=MAX_MANIFEST_BYTES))
        except (OSError, ValueError, RecursionError):
            return
        plugins = manifest.get("plugins") if isinstance(manifest, dict) else None
        for plugin in plugins if isinstance(plugins, list) else []:
            source = plugin.get("source") if isinstance(plugin, dict) else None
            parts = [part for part in source.split("/") if part not in ("", ".")] if isinstance(source, str) else []
            if parts and ".." not in parts and ":" not in parts[0]:
                yield join(place, "/".join(parts))

    def _is_file(self, path: str) -> bool:
        if path not in self._manifests:
            entry = self._tree.entry(path)
            self._manifests[path] = entry is not None and entry.kind is EntryKind.FILE
        return self._manifests[path]


def plugin_names(above: Sequence[str], manifest: Callable[[str], Any], own: str) -> tuple[str, ...]:
    """Return the names of a plugin: from its manifest and from marketplaces that list it, else that of its directory.

    Args:
        above: its directory, and those it lies in, the innermost first.
        manifest: gives the JSON of a path, None where there is none.
        own: the name of its directory.
    """
    named = [_name(manifest(posixpath.join(above[0], PLUGIN_FOLDER, "plugin.json")))]
    for place in above:
        listed = manifest(posixpath.join(place, PLUGIN_FOLDER, "marketplace.json"))
        plugins = listed.get("plugins") if isinstance(listed, dict) else None
        for plugin in plugins if isinstance(plugins, list) else []:
            source = plugin.get("source") if isinstance(plugin, dict) else None
            if isinstance(source, str) and _normal(posixpath.join(place, source)) == _normal(above[0]):
                named.append(_name(plugin))
    return tuple(dict.fromkeys(filter(None, named))) or tuple(filter(None, (own,)))


def names_in_records(root: SkillRoot, name: str) -> tuple[str, ...]:
    """Return what recorded invocations call a skill: its name and that of its directory, also with its plugin's."""
    import json

    own = tuple(dict.fromkeys(filter(None, (name, root.name))))
    if root.plugin is None:
        return own

    def manifest(path: str) -> Any:  # noqa: ANN401 - JSON
        try:
            return json.loads(root.tree.read(path, limit=MAX_MANIFEST_BYTES))
        except (OSError, ValueError, RecursionError):
            return None

    plugins = plugin_names(list(_upward(root.plugin)), manifest, root.plugin.rpartition("/")[2])
    return (*own, *(f"{plugin}:{one}" for plugin in plugins for one in own))


def _name(manifest: object) -> str:
    name = manifest.get("name") if isinstance(manifest, dict) else None
    return name if isinstance(name, str) else ""


def _normal(path: str) -> str:
    return posixpath.normpath(path) if path else "."


def _upward(directory: str) -> Iterator[str]:
    """Return a directory and those it lies in, the innermost first, the tree's root last."""
    while directory:
        yield directory
        directory = directory.rpartition("/")[0]
    yield ""


def shown_plugin(root: SkillRoot) -> str | None:
    """Show the plugin of a skill as the skill itself is shown: its path less what lies below the plugin."""
    if root.plugin is None:
        return None
    below = [part for part in root.directory[len(root.plugin) :].split("/") if part]
    parts = [part for part in str(root.path).split("/") if part != "."]
    if parts[len(parts) - len(below) :] == below or not parts:
        above = parts[: len(parts) - len(below)] if parts else [".."] * len(below)
        return ("/" if str(root.path).startswith("/") else "") + "/".join(part for part in above if part) or "."
    return root.plugin or "."


_CHANGED = "\0"  # no tree answers that: files that change while a skill is judged leave nothing to use again
_EMPTY = digest(b"")


class WatchedTree:
    """A tree that writes down what it is asked and what it answers.

    A size is answered as 0 or 1: nothing that is cached may depend on more.
    """

    def __init__(self, tree: Tree) -> None:
        """Take the tree that answers."""
        self._tree = tree
        self._answers: dict[tuple[Any, ...], str | None] = {}

    def questions(self) -> list[list[Any]]:
        """Return every question once with its answer, as :func:`holds` reads them; plain values, ready for JSON."""
        groups: list[list[Any]] = [[], [], [], [], [], []]
        missing, kinds, plain, links, listings, contents = groups
        read = {key[1] for key, answer in self._answers.items() if key[0] == "b" and answer not in (None, _EMPTY)}
        for (kind, path, *limit), answer in sorted(self._answers.items()):
            if kind == "b":
                contents.append([path, *limit, answer])
            elif kind == "n":
                listings.append([path, answer])
            elif kind == "r":
                plain.append(path) if answer == path else links.append([path, answer])
            elif answer is None:
                missing.append(path)
            elif answer != "f+" or path not in read:  # what is read and not empty is a file that is not empty
                kinds.append([path, answer])
        return groups

    def outside(self, directory: str) -> tuple[str, ...]:
        """Return the paths that were asked for outside a directory, whether something is there or not."""
        inside = f"{directory}/" if directory else ""
        paths = {key[1] for key in self._answers if key[0] in "eb"}
        return tuple(sorted(path for path in paths if not path.startswith(inside)))

    def entry(self, path: str) -> Entry | None:
        """Describe a path, as the tree does."""
        found = self._tree.entry(path)
        self._note(("e", path), _described(found))
        return None if found is None else Entry(found.kind, min(found.size, 1))

    def real(self, path: str) -> str | None:
        """Return the path without symbolic links, as the tree does."""
        found = self._tree.real(path)
        self._note(("r", path), found)
        return found

    def names(self, path: str) -> tuple[str, ...]:
        """List a directory, as the tree does."""
        found = self._tree.names(path)
        self._note(("n", path), _listed(found))
        return found

    def read(self, path: str, *, limit: int) -> bytes:
        """Read a file, as the tree does. Raises OSError: as the tree does."""
        try:
            found = self._tree.read(path, limit=limit)
        except OSError:
            self._note(("b", path, limit), None)
            raise
        self._note(("b", path, limit), digest(found))
        return found

    def _note(self, question: tuple[Any, ...], answer: str | None) -> None:
        if self._answers.setdefault(question, answer) != answer:
            self._answers[question] = _CHANGED


def holds(tree: Tree, questions: Sequence[Sequence[Any]]) -> bool:
    """Return whether a tree gives every question its old answer.

    Raises:
        ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError: these are no questions.
    """
    missing, kinds, plain, links, listings, contents = questions
    entry, real, names = tree.entry, tree.real, tree.names
    return (
        not any(entry(path) for path in missing)
        and all(real(path) == path for path in plain)
        and all(_described(entry(path)) == answer for path, answer in kinds)
        and all(real(path) == answer for path, answer in links)
        and all(_listed(names(path)) == answer for path, answer in listings)
        and all(_content(tree, path, limit) == answer for path, limit, answer in contents)
    )


def _content(tree: Tree, path: str, limit: int) -> str | None:
    try:
        return digest(tree.read(path, limit=limit))
    except OSError:
        return None


_KINDS = {EntryKind.FILE: "f", EntryKind.DIRECTORY: "d", EntryKind.OTHER: "o", EntryKind.UNREADABLE: "u"}


def _described(entry: Entry | None) -> str | None:
    return None if entry is None else _KINDS[entry.kind] + ("+" if entry.size else "")


def _listed(names: Sequence[str]) -> str:
    return digest("/".join(names).encode("utf-8", "surrogatepass"))
