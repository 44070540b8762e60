"""Which findings a run reports: profile and selection by path; and reading what options name beside."""
# ruff: noqa: PTH123

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.model.finding import Client
from skillgate.registry import Room
from skillgate.scoring.selection import Selection, unknown_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import PurePosixPath

    from skillgate.config import Config
    from skillgate.config_file import Layer
    from skillgate.model.setting import Value

    Reading = Callable[[str, str, str], str]

_ROOMS = ("antipatterns", "rules", "across", "defects", "judged")
MAX_BYTES = 50_000_000  # of a file that is read whole


def rule_ids() -> frozenset[str]:
    """List the id of every rule: the names of their files, none of which is loaded for it."""
    return frozenset(name.upper() for room in _ROOMS for name in Room(f"skillgate.static.{room}").names())


def selections(config: Config) -> Callable[[PurePosixPath], Selection]:
    """Give what is asked of each skill's findings, by its shown path.

    Raises:
        UsageError: a rule is named that does not exist.
    """
    require_known_words(config)
    day = _today()

    def selection(path: PurePosixPath | None) -> Selection:
        profile, ignore = config.get(settings.PROFILE, path), config.get(settings.IGNORE, path)
        return Selection(
            profile=None if profile == "any" else Client(profile),
            select=frozenset(config.get(settings.SELECT, path)),
            ignore=frozenset(ignore or ()),
            today=day,
        )

    if config.scoped:
        return cache(selection)
    everywhere = selection(None)
    return lambda _: everywhere


def wants_optional(config: Config) -> bool:
    """Tell whether an opt-in rule may be selected anywhere: by its id, its group or ``all``."""
    words = {word for layer in config.layers for word in _words(layer.values.get("select"))}
    if not words - {"default"}:
        return False
    from skillgate.static.optional import OPTIONAL  # only where a selection is made

    return not words.isdisjoint({"all", "portability", *(name.upper() for name in OPTIONAL)})


def _words(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def read_whole(place: str, shown: str, what: str) -> str:
    """Read a file of text that an option names.

    Args:
        place: its path.
        shown: the path as it was given, for messages.
        what: what the file is for, for messages.

    Raises:
        UsageError: there is no such file, it is no UTF-8, or it is too large.
    """
    try:
        with open(place, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) <= MAX_BYTES:
            return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{what} {shown} does not exist") from None
    except UnicodeDecodeError:
        raise UsageError(f"{what} {shown} is not UTF-8") from None
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise UsageError(f"{what} {shown} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    raise UsageError(f"{what} {shown} is larger than {MAX_BYTES:,} bytes")


def require_known_words(config: Config) -> None:
    """Refuse a selection that names what is neither a rule nor a group, or that selects nothing at all.

    Raises:
        UsageError: with every problem.
    """
    problems = [problem for layer in config.layers for problem in _problems(layer)]
    if problems:
        raise UsageError("\n".join(problems))


def _problems(layer: Layer) -> Iterator[str]:
    """Say what is wrong with the words of a layer of the configuration."""
    for key in ("select", "ignore"):
        words = layer.values.get(key)
        if not isinstance(words, tuple):
            continue
        wrong = unknown_words(words, rule_ids())
        if key == "select" and not words:
            wrong = "it names no rule, and nothing would be reported"
        if wrong:
            origin = layer.origins[key]
            yield f"--{key}: {wrong}" if origin == "option" else f"{origin}: {key}: {wrong}"


def _today() -> str:
    from time import localtime, strftime

    return strftime("%Y-%m-%d", localtime())
