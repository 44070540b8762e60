"""Options of settings: the table makes them, and ``--help`` shows those that are needed every day."""

from __future__ import annotations

import io

import pytest

from skillgate import settings
from skillgate.cli.main import main
from skillgate.cli.options import Parser, add_settings, option_values, shared_defaults
from skillgate.errors import UsageError
from skillgate.model.setting import Kind, Option, Setting

LINE = "--help-all shows all options."
COMMANDS = sorted({command for entry in settings.SETTINGS for command in entry.commands})


def shown(*words: str) -> str:
    """Run the command line, and return what it prints."""
    out = io.StringIO()
    assert main(words, stdout=out, stderr=io.StringIO(), environ={}, cwd=".") == 0
    return out.getvalue()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_the_table_is_one_of_its_commands(command: str) -> None:
    every, everyday = (shown(*command.split(), word) for word in ("--help-all", "--help"))
    for entry in settings.SETTINGS:
        if command in entry.commands and entry.option is not None:
            option = f"  --{entry.option.name or entry.key} "
            assert option in every
            assert option in everyday or not entry.option.everyday


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_how_to_see_the_other_options_where_there_are_some(command: str) -> None:
    every, everyday = (shown(*command.split(), word) for word in ("--help-all", "--help"))
    assert everyday.endswith(f"\n\n{LINE}\n")
    assert LINE not in every
    assert len(everyday) < len(every)


@pytest.mark.parametrize("word", ["--help", "-h", "--help-all"])
def test_help_may_stand_before_the_command(word: str) -> None:
    assert shown(word, "score") == shown("score", word)


def test_help_of_a_command_without_rare_options_is_all_there_is() -> None:
    assert shown("schema", "--help") == shown("schema", "--help-all")
    assert shown("--help") == shown("--help-all")


def test_the_options_of_every_command_stand_last() -> None:
    for word in ("--help", "--help-all"):
        assert shown("score", word).index("options of every command") > shown("score", word).index("output:")


def test_an_entry_is_all_that_an_option_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    option = Option(settings.GATE, "N", commands=(settings.CHECK,))
    entry: Setting[int] = Setting("most-words", Kind.INTEGER, "The most words.", default=9, minimum=1, option=option)
    monkeypatch.setattr(settings, "SETTINGS", (*settings.SETTINGS, entry))
    parsers = {command: Parser(prog=command) for command in (settings.CHECK, settings.SCORE)}
    for command, parser in parsers.items():
        add_settings(parser, command)
    args = parsers[settings.CHECK].parse(["--most-words", "7"], shared_defaults())
    assert option_values(args) == {"most-words": 7}
    with pytest.raises(UsageError, match="--most-words: expected a whole number of at least 1, found 0"):
        parsers[settings.CHECK].parse(["--most-words", "0"], shared_defaults())
    with pytest.raises(UsageError, match="unknown option --most-words"):
        parsers[settings.SCORE].parse(["--most-words", "7"], shared_defaults())


def test_an_option_that_the_command_declares_itself_stays_as_it_is() -> None:
    parser = Parser(prog="eval")
    parser.add_argument("--timeout", dest="timeout_ms", type=lambda text: int(text) * 1000)
    add_settings(parser, settings.EVAL)
    assert option_values(parser.parse(["--timeout", "2"], shared_defaults())) == {"timeout-ms": 2000}
