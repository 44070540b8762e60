"""The configuration that holds: that of the base branch's tip, with the inputs over it.

A pull request that lowers its own gate changes nothing for itself: what it does to the gate is reported, and holds
after the merge. Nor does one that began before a gate was set up: it must pass the gate that it is merged under.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate import config as configuration
from skillgate import settings
from skillgate.config_file import Layer
from skillgate.errors import UsageError
from skillgate.evaluation.findings import MAX_BYTES

if TYPE_CHECKING:
    from skillgate.action.checkout import Checkout, Versions
    from skillgate.action.request import ActionRequest
    from skillgate.config import Config
    from skillgate.config_file import Files
    from skillgate.evaluation.findings import Reading

ORIGIN = "the Action"
"""Where a value was set that neither a file nor an input sets."""


def load(checkout: Checkout, request: ActionRequest, files: Files) -> Config:
    """Read the configuration of a commit or of the disk, with the inputs over it.

    The user's own file is not read: on a runner it would be what an earlier step left there.

    Raises:
        UsageError: it, or an input, is not valid.
    """
    config = configuration.load(
        explicit=request.config, cwd=checkout.directory, environ={}, files=files, shown_from=checkout.workspace
    )
    return config.with_options(request.options)


def load_base_policy(checkout: Checkout, request: ActionRequest, files: Versions) -> tuple[Config, str]:
    """Read the configuration that a base branch has, or say why the defaults hold in its place.

    A file that the input ``config`` names may come with the change. One that is not valid keeps out every change, also
    the one that repairs it: then the defaults and the inputs hold, provided that the change leaves a valid one where it
    found none.

    Returns:
        The configuration, and what a reader should know of it, ``""`` for nothing.

    Raises:
        UsageError: an input is not valid, or the base's configuration is not and the change does not repair it.
    """
    defaults = configuration.Config(cwd=checkout.workspace).with_options(request.options)
    if request.config is not None:
        place = os.path.join(checkout.directory, request.config)  # noqa: PTH118
        if not files.tip.is_file(place):
            if not files.head.is_file(place):
                raise UsageError(f"input config: there is no {request.config}, neither in the base nor in the change")
            return defaults, f"the base has no {request.config}: the defaults and the inputs hold"
    try:
        return load(checkout, request, files.tip), ""
    except UsageError as error:
        problem = "; ".join(str(error).split("\n"))
    try:
        load(checkout, request, files.head)
    except UsageError:
        raise UsageError(
            f"the configuration of the base is not valid, and the change does not mend it: {problem}"
        ) from None
    if files.start is not files.tip and _is_valid(checkout, request, files.start):
        raise UsageError(
            f"the configuration at the tip of the base branch is not valid, which it was where this change began; mend"
            f" it there: {problem}"
        )
    return (
        defaults,
        f"the configuration of the base is not valid, and the defaults and the inputs held instead: {problem}",
    )


def _is_valid(checkout: Checkout, request: ActionRequest, files: Files) -> bool:
    try:
        load(checkout, request, files)
    except UsageError:
        return False
    return True


def with_action_defaults(
    config: Config, *, baseline: str | None, simulated: bool = False, benchmarked: bool = False
) -> Config:
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
    listed = tuple(dict.fromkeys(bound.gate for bound in bounds if bound.key in set_somewhere))
    gates = ("error", *listed, *(("benchmark",) if benchmarked else ()), "unmeasured")
    under = Layer(values={settings.FAIL_ON.key: gates}, origins={settings.FAIL_ON.key: ORIGIN})
    return config.between(under, over)


def reader(files: Files) -> Reading:
    """Return what reads a file that the configuration names out of a commit.

    It takes and gives what :func:`skillgate.evaluation.findings.read_whole` does on disk.
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
