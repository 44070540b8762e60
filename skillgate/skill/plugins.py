"""Which plugin a skill belongs to: by the plugin's own manifest, or by the marketplace that names its directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.model.ports import EntryKind
from skillgate.skill.walk import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.ports import Tree
    from skillgate.model.skill import SkillRoot

FOLDER = ".claude-plugin"
MAX_BYTES = 1 << 20  # of a marketplace's manifest; published ones stay below 100 kB


class Plugins:
    """Answers for the directories of one tree; each manifest is read once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._sources: dict[str, frozenset[str]] = {}
        self._manifests: dict[str, bool] = {}

    def of(self, directory: str) -> str | None:
        """Give the tree path of the plugin that a skill's directory lies in, None where it lies in none.

        A plugin is a directory with ``.claude-plugin/plugin.json``, or one below a marketplace that is named there as
        the source of a plugin. The marketplace's own directory is none by that alone: what it lists is installed apart.
        """
        above = list(_upward(directory))
        for place in above:
            if self._is_file(join(place, f"{FOLDER}/plugin.json")):
                return place
        for place in above:
            sources = self._listed(place)
            found = next((one for one in above if one in sources), None)
            if found is not None:
                return found
        return None

    def _listed(self, place: str) -> frozenset[str]:
        if place not in self._sources:
            path = join(place, f"{FOLDER}/marketplace.json")
            self._sources[place] = frozenset(self._read(path, place)) if self._is_file(path) else frozenset()
        return self._sources[place]

    def _read(self, path: str, place: str) -> Iterator[str]:
        """Give the directories below a marketplace that it names as sources; of a broken manifest none."""
        import json  # only where there is a marketplace

        try:
            manifest: Any = json.loads(self._tree.read(path, limit=MAX_BYTES))
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


def _upward(directory: str) -> Iterator[str]:
    """Give a directory and those it lies in, the innermost first, the tree's root last."""
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
        kept = parts[: len(parts) - len(below)] if parts else [".."] * len(below)
        return ("/" if str(root.path).startswith("/") else "") + "/".join(part for part in kept if part) or "."
    return root.plugin or "."
