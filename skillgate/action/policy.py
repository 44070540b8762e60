"""Whose gate holds: configuration and known findings as the tip of the base branch has them, the inputs over them.

A pull request that lowers its own gate changes nothing for itself: what it does to the gate is told, and holds after
the merge. Nor does one that began before a gate was set up: it is held to the gate that it would be merged under.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate import config as configuration
from skillgate import settings
from skillgate.action.inputs import given_settings
from skillgate.config_file import Layer
from skillgate.errors import UsageError
from skillgate.evaluate.findings import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.action.inputs import Value as InputValue
    from skillgate.config import Config
    from skillgate.config_file import Files
    from skillgate.evaluate.findings import Reading

ORIGIN = "the Action"
"""Where a value was set that neither a file nor an input sets."""


class Place(NamedTuple):
    """Where a run stands: the workspace, and the directory in it that paths and configuration are relative to."""

    workspace: str
    directory: str


def load(place: Place, inputs: Mapping[str, InputValue], *, files: Files) -> Config:
    """Read the configuration of a commit or of the disk, with the inputs over it.

    The user's own file is not read: on a runner it would be what an earlier step left there.

    Raises:
        UsageError: it, or an input, is not valid.
    """
    asked = inputs.get("config")
    explicit = asked if isinstance(asked, str) else None
    config = configuration.load(
        explicit=explicit, cwd=place.directory, environ={}, files=files, shown_from=place.workspace
    )
    return config.with_options(given_settings(inputs))


def of_base(
    place: Place, inputs: Mapping[str, InputValue], *, files: Files, then: Files, head: Files
) -> tuple[Config, str]:
    """Read the configuration that a base branch has, or say why the defaults hold in its place.

    A file that the input ``config`` names may come with the change. One that is not valid keeps out every change, also
    the one that mends it: then the defaults and the inputs hold, provided that the change leaves a valid one where it
    found none.

    Args:
        place: where the run stands.
        inputs: the Action's.
        files: those of the base branch's tip.
        then: those of the commit where the change began.
        head: those of the working tree.

    Returns:
        The configuration, and what a reader should know of it, ``""`` for nothing.

    Raises:
        UsageError: an input is not valid, or the base's configuration is not and the change does not mend it.
    """
    none = configuration.Config(cwd=place.workspace).with_options(given_settings(inputs))
    asked = inputs.get("config")
    if isinstance(asked, str) and not files.is_file(os.path.join(place.directory, asked)):  # noqa: PTH118
        if not head.is_file(os.path.join(place.directory, asked)):  # noqa: PTH118
            raise UsageError(f"input config: there is no {asked}, neither in the base nor in the change")
        return none, f"the base has no {asked}: the defaults and the inputs hold"
    try:
        return load(place, inputs, files=files), ""
    except UsageError as error:
        told = "; ".join(str(error).split("\n"))
    try:
        load(place, inputs, files=head)
    except UsageError:
        raise UsageError(
            f"the configuration of the base is not valid, and the change does not mend it: {told}"
        ) from None
    if then is not files and is_valid(place, inputs, files=then):
        raise UsageError(
            f"the configuration at the tip of the base branch is not valid, which it was where this change began; mend"
            f" it there: {told}"
        )
    return none, f"the configuration of the base is not valid, and the defaults and the inputs held instead: {told}"


def is_valid(place: Place, inputs: Mapping[str, InputValue], *, files: Files) -> bool:
    """Tell whether the configuration of a commit or of the working tree can be used."""
    try:
        load(place, inputs, files=files)
    except UsageError:
        return False
    return True


def gated(config: Config, *, baseline: str | None, simulated: bool = False, benchmarked: bool = False) -> Config:
    """Lay the Action's own default under a configuration, and what it compares with over it.

    Where nobody says what fails the run, it is errors, what could not be measured, and each bound that is set; a
    baseline is one, since a regression may be asked about then; those of sessions are, where such are ``simulated``;
    and a benchmark, where one is run.
    """
    over = Layer(values={settings.BASELINE.key: baseline}, origins={settings.BASELINE.key: ORIGIN})
    set_somewhere = {
        key for layer in (*config.layers, over) for key, value in layer.values.items() if value is not None
    }
    of_sessions = settings.of_group(settings.SESSIONS)
    bounds = (one for one in settings.SETTINGS if one.gate and (simulated or one not in of_sessions))
    asked = tuple(dict.fromkeys(bound.gate for bound in bounds if bound.key in set_somewhere))
    asked = (*asked, *(("benchmark",) if benchmarked else ()))
    gates = ("error", *asked, "unmeasured")
    under = Layer(values={settings.FAIL_ON.key: gates}, origins={settings.FAIL_ON.key: ORIGIN})
    return config.between(under, over)


def reading(files: Files) -> Reading:
    """Give what reads a file that the configuration names out of a commit.

    It takes and gives what :func:`skillgate.evaluate.findings.read_whole` does on disk.
    """

    def read(place: str, shown: str, what: str) -> str:
        if not files.is_file(place):
            raise UsageError(f"{what} {shown} is not in the base of the change, whose configuration names it")
        data = files.read(place, MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"{what} {shown} is larger than {MAX_BYTES:,} bytes")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UsageError(f"{what} {shown} is not UTF-8") from None

    return read
