"""Run a skill by an adapter of the user's own: a command, or a function that an installed package names.

It gets JSON-RPC requests like the program of a skill. Their ``params`` have the skill's id, version and entrypoint, and
the task's input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.adapters import subprocess

if TYPE_CHECKING:
    from skillgate.bench.adapters.subprocess import PersistentAdapter, SubprocessAdapter
    from skillgate.bench.ports import Call, Reply, Surroundings
    from skillgate.model.benchmark import Executable, Runnable


def open_adapter(skill: Runnable, surroundings: Surroundings) -> CustomAdapter:
    """Prepare to run the adapter.

    Raises:
        UsageError: There is no such adapter, a variable is not valid, or programs may not be started.
    """
    return CustomAdapter(skill.spec, subprocess.open_adapter(skill, surroundings))


class CustomAdapter:
    """Describes the skill in each request."""

    def __init__(self, spec: Executable, program: SubprocessAdapter | PersistentAdapter) -> None:
        self._about = {"skillId": spec.id, "version": spec.version, "entrypoint": spec.entrypoint}
        self._program = program

    def unstartable(self) -> str | None:
        """Return why it cannot be started; see :class:`skillgate.bench.ports.Starting`."""
        return self._program.unstartable()

    def invoke(self, call: Call) -> Reply:
        """Call once; see :class:`skillgate.bench.ports.Adapter`."""
        return self._program.invoke(call._replace(data={**self._about, "input": dict(call.data)}))

    def close(self) -> None:
        """Stop all processes."""
        self._program.close()
