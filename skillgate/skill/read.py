"""Reads a skill's main file: the bytes and nothing else; what is wrong with them is for ``parse`` to say."""

from __future__ import annotations

import errno

from skillgate.model.ports import EntryKind
from skillgate.model.skill import SkillRoot, SkillSource, Unreadable

MAX_BYTES = 5_000_000
"""Bytes from which on a skill's main file is too large to be evaluated (decision 0.2: 5 MB)."""

_REASONS = {
    errno.ENOENT: "has gone, or is a symbolic link that leads nowhere",
    errno.EISDIR: "is a directory, not a file",
    errno.EINVAL: "is not a regular file (a pipe, a socket, a device or a submodule)",
    errno.ENXIO: "is not a regular file (a pipe, a socket, a device or a submodule)",
    errno.ELOOP: "is a symbolic link that leads to itself",
    errno.EXDEV: "is a symbolic link that leads outside the skill's repository or folder; put the file itself there",
}


def read(root: SkillRoot) -> SkillSource | Unreadable:
    """Read the main file of a skill.

    Returns:
        The file's bytes. Of one above :data:`MAX_BYTES` only the first ``MAX_BYTES + 1``, with its true size. Or, when
        the operating system does not give them (permission, I/O, something else in place of the file), the reason.
    """
    path = f"{root.directory}/{root.file_name}" if root.directory else root.file_name
    try:
        data = root.tree.read(path, limit=MAX_BYTES + 1)
    except OSError as error:
        said = _REASONS.get(error.errno or 0, f"cannot be read: {error.strerror or error}")
        return Unreadable(root=root, reason=f"{root.file_name} {said}")
    entry = root.tree.entry(path) if len(data) > MAX_BYTES else None
    size = max(len(data), entry.size if entry else 0)
    return SkillSource(root=root, data=data, size=size, siblings=siblings(root))


def siblings(root: SkillRoot, *, most: int = 4) -> int:
    """Count the skills beside one, up to ``most``: enough to know what could be referred to."""
    folder, _, own = root.directory.rpartition("/")
    if not own:
        return 0
    found = 0
    for name in root.tree.names(folder):
        if name != own:
            entry = root.tree.entry(f"{folder}/{name}/SKILL.md" if folder else f"{name}/SKILL.md")
            found += entry is not None and entry.kind is EntryKind.FILE and entry.size > 0
        if found >= most:
            break
    return found
