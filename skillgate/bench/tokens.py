"""Which of the user's variables a skill's configuration may name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

_OWN = "SKILL_"
_REFUSED = ("GITHUB_", "ACTIONS_", "INPUT_", "ANTHROPIC_", "OPENAI_", "SKILLGATE_", "AWS_", "GOOGLE_", "LD_", "DYLD_")


def require_passable(name: str, allow_env: Set[str], *, where: str) -> None:
    """Refuse a variable that a skill must not have.

    Args:
        name: the variable.
        allow_env: names that the user allowed.
        where: what names it, as in ``skills/a: authTokenEnvKey``.

    Raises:
        UsageError: saying why.
    """
    if name.upper().startswith(_REFUSED):
        raise UsageError(f"{where}: {name[:80]} is never given to a skill; use a variable of the skill's own, {_OWN}…")
    if not name.startswith(_OWN) and name not in allow_env:
        raise UsageError(
            f"{where}: {name[:80]} is not given to a skill unless you say --{settings.ALLOW_ENV.key} {name[:80]}"
        )


def passed(name: str, environ: Mapping[str, str], allow_env: Set[str], *, where: str) -> str:
    """Give the value of a variable that a skill's configuration names.

    Raises:
        UsageError: it must not be given, or is not set; its value is in no message.
    """
    require_passable(name, allow_env, where=where)
    value = environ.get(name)
    if not value:
        raise UsageError(f"{where}: the environment variable {name[:80]} is not set")
    return value
