"""What a skill is called in recorded invocations: by its own name, or by its plugin's with it."""
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from skillgate.scoring.pairing import names_of
from skillgate.skill.plugins import FOLDER, MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.action.context import RunContext
    from skillgate.config_file import Files
    from skillgate.model.report import SkillResult

_PLUGIN, _MARKETPLACE = f"{FOLDER}/plugin.json", f"{FOLDER}/marketplace.json"


def names_in_records(result: SkillResult, was: SkillResult | None, context: RunContext) -> tuple[str, ...]:
    """Return the names that invocations of a skill are recorded under.

    A skill of a change goes by what it was called in the base: else a new name would be a new record. One that is new
    goes by its own.

    Args:
        result: the skill that is checked out.
        was: what it was in the base; None where it is new, or there is no base.
        context: of the run.
    """
    skill = result if was is None else was
    files = context.files.head if was is None else _base(skill.plugin, context)
    own = names_of(skill.skill.name, skill.skill.path)
    plugins = () if skill.plugin is None else _plugins(skill.plugin, context, files)
    return (*own, *(f"{plugin}:{name}" for plugin in plugins for name in own))


def _base(plugin: str | None, context: RunContext) -> Files:
    """Return the files of the base branch's tip; where they have no such plugin, those of where the change began."""
    folder = os.path.normpath(os.path.join(context.checkout.workspace, plugin or "."))
    return context.files.tip if context.files.tip.is_there(folder) else context.files.start


def shared_names(names: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    """Return the names that several skills go by, each with their paths: a record of such a name is one of all."""
    found: dict[str, list[str]] = {}
    for path, called in names.items():
        for name in called:
            found.setdefault(name, []).append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def _plugins(shown: str, context: RunContext, files: Files) -> tuple[str, ...]:
    """Return the names of a plugin: its manifest's and its marketplace's, else its directory's."""
    workspace = context.checkout.workspace
    folder = os.path.normpath(os.path.join(workspace, shown))
    named = [_name(_read(files, os.path.join(folder, _PLUGIN)))]
    above = folder
    while f"{above}{os.sep}".startswith(f"{workspace}{os.sep}"):
        named += _listed(_read(files, os.path.join(above, _MARKETPLACE)), above, folder)
        above = os.path.dirname(above)
    known = tuple(dict.fromkeys(filter(None, named)))
    return known or tuple(filter(None, (context.checkout.name if folder == workspace else os.path.basename(folder),)))


def _listed(manifest: object, place: str, folder: str) -> Iterator[str]:
    """Return the names by which a marketplace lists the plugin in a directory."""
    plugins = manifest.get("plugins") if isinstance(manifest, dict) else None
    for plugin in plugins if isinstance(plugins, list) else []:
        source = plugin.get("source") if isinstance(plugin, dict) else None
        if isinstance(source, str) and os.path.normpath(os.path.join(place, source)) == folder:
            yield _name(plugin)


def _name(manifest: object) -> str:
    name = manifest.get("name") if isinstance(manifest, dict) else None
    return name if isinstance(name, str) else ""


def _read(files: Files, place: str) -> Any:  # noqa: ANN401 - JSON
    """Read a manifest; None where there is none, or it is broken: a finding says so."""
    try:
        return json.loads(files.read(place, MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
