"""Show the effective configuration, and where each value was set.

`set` writes your own file. It applies to every project; the project's file and options take precedence. The setting
names of eval-skills work too: concurrency, timeoutMs, outputDir, defaultFormats, llm.model, llm.temperature,
llm.baseUrl, llm.keyEnv.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.cli.options import json_text
from skillgate.config import read_file, user_file
from skillgate.errors import UsageError
from skillgate.evaluation.request import require_known_words
from skillgate.format import did_you_mean, printable
from skillgate.model.setting import Kind
from skillgate.settings import BY_KEY, OTHER_NAMES, SETTINGS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from skillgate.config import Config
    from skillgate.console import Console
    from skillgate.model.setting import Setting, Value

GROUP = "reference"
_LIST = "list every setting and its value"
_GET = "print the value of one setting"
_SET = "set one value in your own configuration"
_TEXTS = (Kind.TEXT, Kind.CHOICE)
_LISTS = (Kind.CHOICES, Kind.TEXTS)
_VALIDATE = "check whether configuration files are valid; the hooks run this"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    words = parser.add_subparsers(dest="word", required=True, metavar="list|get|set|validate")
    listing = words.add_parser("list", help=_LIST, description=_LIST)
    listing.add_argument("--show-origin", action="store_true", help="show where each value was set")
    getting = words.add_parser("get", help=_GET, description=_GET)
    getting.add_argument("key", metavar="KEY", help=f"such as {settings.MAX_DROP.key}")
    setting = words.add_parser("set", help=_SET, description=_SET)
    setting.add_argument("key", metavar="KEY", help="such as concurrency")
    setting.add_argument(
        "value", metavar="VALUE", help="JSON or plain text; separate several with commas; null unsets it"
    )
    validating = words.add_parser("validate", help=_VALIDATE, description=_VALIDATE)
    validating.add_argument(
        "paths", nargs="*", metavar="FILE", help="configuration files (default: the configuration here)"
    )


def run(args: argparse.Namespace, session: Console) -> int:
    """Print one value or all of them; ``null`` means not set."""
    if args.word == "validate":
        _validate(args.paths, session)
    elif args.word == "set":
        _set(args.key, args.value, session)
    elif args.word == "get":
        _get(args.key, session)
    elif session.json:
        session.out(json.dumps(_document(session.config), indent=2))
    else:
        session.out("\n".join(_lines(session.config, show_origin=args.show_origin)))
    return 0


def _validate(paths: Sequence[str], session: Console) -> None:
    """Check each file; without files, the configuration of the working directory."""
    if not paths:
        require_known_words(session.config)
        session.note("the configuration is valid")
        return
    problems = []
    for path in paths:
        try:
            config = read_file(path, cwd=session.cwd)
            if config is not None:
                require_known_words(config)
        except UsageError as error:
            problems.append(str(error))
    if problems:
        raise UsageError("\n".join(problems))
    session.note(f"{len(paths)} file{'s' * (len(paths) != 1)} valid")


def _get(key: str, session: Console) -> None:
    config = session.config
    key = OTHER_NAMES.get(key, key)
    if key not in BY_KEY:
        raise UsageError(f"unknown key {key!r}{did_you_mean(key, BY_KEY)}")
    if session.json:
        session.out(json.dumps({"key": key, **_entry(config, key)}, indent=2))
    else:
        session.out(_value_text(config.get(BY_KEY[key])))


def _set(word: str, text: str, session: Console) -> None:
    """Set a value and print where; note if a stronger setting overrides it here."""
    from skillgate.config_writing import set_value, value_text  # no other word writes

    key = OTHER_NAMES.get(word, word)
    if key not in BY_KEY:
        raise UsageError(f"unknown key {word[:80]!r}{did_you_mean(word, (*BY_KEY, *OTHER_NAMES))}")
    setting = BY_KEY[key]
    try:
        value: Value = setting.accept(_value(text, setting))
    except ValueError as error:
        raise UsageError(f"{word}: {error}") from None
    path = user_file(session.environ)
    if not path:
        raise UsageError("cannot locate your own configuration: neither HOME nor XDG_CONFIG_HOME is set")
    set_value(path, key, value)
    if session.json:
        session.out(json_text({"key": key, "value": value, "file": path}))
    else:
        session.out(printable(f"{key} = {value_text(value)} in {path}"))
    with suppress(UsageError):  # a project's file that is not valid says so when it is used
        if session.config.get(setting) != value:
            session.note(f"{session.config.origin(setting)} sets {key} to something else and takes precedence here")


def _value(text: str, setting: Setting[Any]) -> object:
    """Read a value: strings as they are, lists also with commas, anything else as JSON."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if setting.kind in _TEXTS:
        return None if value is None else text
    if setting.kind in _LISTS and not isinstance(value, list) and value is not None:
        return [part.strip() for part in text.split(",")]
    return value


def _document(config: Config) -> dict[str, Any]:
    scoped = [layer for layer in config.layers if layer.patterns]
    return {
        "settings": {key: _entry(config, key) for key in BY_KEY},
        "overrides": [
            {
                "paths": list(layer.patterns),
                "settings": {key: {"value": layer.values[key], "origin": layer.origins[key]} for key in layer.values},
            }
            for layer in scoped
        ],
    }


def _entry(config: Config, key: str) -> dict[str, Any]:
    return {"value": config.get(BY_KEY[key]), "origin": config.origin(BY_KEY[key])}


def _lines(config: Config, *, show_origin: bool) -> list[str]:
    rows = [(one.key, config.get(one), config.origin(one)) for one in SETTINGS]
    lines = _table(rows, show_origin=show_origin)
    for layer in config.layers:
        if layer.patterns:
            lines += ["", f"for {printable(', '.join(layer.patterns))}"]
            rows = [(key, layer.values[key], layer.origins[key]) for key in layer.values]
            lines += _table(rows, show_origin=show_origin)
    return lines


def _table(rows: list[tuple[str, Any, str]], *, show_origin: bool) -> list[str]:
    cells = [(f"{key} = {_value_text(value)}", printable(origin)) for key, value, origin in rows]
    width = max((len(left) for left, _ in cells), default=0)
    return [f"{left:<{width}}  {right}" if show_origin else left for left, right in cells]


def _value_text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    text = value if isinstance(value, str) else json.dumps(value)
    return printable(text)
