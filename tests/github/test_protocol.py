"""What the runner reads is what was meant: outputs come back whole, and no text is obeyed."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.action.plan import OUTPUTS
from skillgate.action.protocol import command, outputs_text, quiet
from tests.github.runner_protocol import COMMANDS, Command, ProtocolError, Runner, outputs
from tests.report.reports import HOSTILE, hostile_text

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = "0c8e4dbe6d5c4f0fa1c7f6f3f2b9d7aa"
OTHER = "ghadelimiter_55ee3f07-61a7-4b1d-9a8b-2b1f0d2f6f8a"
NAMES = tuple(output.name for output in OUTPUTS)
PIECES = (
    *HOSTILE,
    TOKEN,
    TOKEN.upper(),
    OTHER,
    f"\n{TOKEN}\n",
    f"x<<{TOKEN}\n",
    f"::{TOKEN}::",
    f"##[{TOKEN}]",
    "name=value\n",
    "\r",
    "\n",
    "\r\n",
    "\v",
    "\f",
    "\x85",
    "\u2028",
    "\u2029",
    "\x1c",
    "\ufeff",
    "%0D%0A%25",
    "  ::error::x",
    "\x85::error::x",
    "::ERROR::x",
    ":::error::x",
    "##[##[error]x",
)


def source(*tokens: str) -> Callable[[], str]:
    """Give the tokens one after the other, then others that nothing holds."""
    rest = (f"spare-{number:020d}" for number in itertools.count())
    return itertools.chain(tokens, rest).__next__


def texts() -> st.SearchStrategy[str]:
    pieces = st.one_of(st.sampled_from(PIECES), hostile_text(), st.text(st.characters(codec=None), max_size=8))
    return st.lists(pieces, max_size=8).map("".join)


def kept(text: str) -> str:
    """Give what a file of UTF-8 and a variable can hold of a text."""
    return re.sub("[\0\ud800-\udfff]", "\ufffd", text)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), texts()))
def test_every_output_comes_back_as_it_was(values: dict[str, str]) -> None:
    written = outputs_text(values, source(TOKEN, OTHER))
    assert outputs(written.encode().decode()) == {name: kept(value) for name, value in values.items()}


@settings(deadline=None)
@given(texts(), st.sampled_from(NAMES))
def test_outputs_may_follow_others_in_the_same_file(value: str, name: str) -> None:
    before = outputs_text({"result": "pass"}, source(TOKEN))
    assert outputs(before + outputs_text({name: value}, source(TOKEN))) == {"result": "pass"} | {name: kept(value)}


@pytest.mark.parametrize(
    "value", ["", "\n", "x", "x\n", "\r\n", "x\r", "x\n\n", "a\u2028b\x85c\vd\fe", "a<<b", "=", "\ufeff"]
)
def test_line_ends_and_empty_values_survive(value: str) -> None:
    assert outputs(outputs_text({"reasons": value}, source())) == {"reasons": value}


def test_a_delimiter_that_stands_in_a_value_in_any_case_is_not_taken() -> None:
    written = outputs_text({"reasons": f"x{TOKEN}y", "score": OTHER.upper()}, source(TOKEN, OTHER))
    assert written.startswith("reasons<<spare-")
    assert outputs(written) == {"reasons": f"x{TOKEN}y", "score": OTHER.upper()}


def test_a_source_that_repeats_itself_is_an_error_and_no_endless_loop() -> None:
    with pytest.raises(ValueError, match="is already used"):
        outputs_text({"reasons": TOKEN}, lambda: TOKEN)


@pytest.mark.parametrize(
    "token", ["", "short", "a" * 257, "with space 0123456789", "line\nend0123456789", "a=b<<c0123456789"]
)
def test_a_token_that_could_be_guessed_or_misread_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="expected a delimiter of"):
        outputs_text({"result": "pass"}, lambda: token)
    with pytest.raises(ValueError, match="expected a delimiter of"):
        quiet("x", lambda: token)


@pytest.mark.parametrize("name", ["", "a=b", "a<<b", "a\nb", "1st", "a b"])
def test_a_name_that_no_output_can_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="invalid name of an output"):
        outputs_text({name: "x"}, source())


def test_the_reader_of_these_tests_fails_where_the_runner_does() -> None:
    for text in ("x", "x<<\n", "<<END\nEND\n", "x<<END\ny", "x<<END\ny\n"):
        with pytest.raises(ProtocolError):
            outputs(text)
    assert outputs("a=b<<c\n\nd<<E=F\ny\nE=F") == {"a": "b<<c", "d": "y"}


@settings(deadline=None)
@given(texts(), texts())
def test_a_command_says_what_was_meant(title: str, text: str) -> None:
    title = title.strip().strip("=").strip() or "t"  # the runner trims what stands around the last property
    line = command("error", (("file", "a,b:c%"), ("title", title)), text)
    assert not re.search(r"[\r\n]", line)
    (found,) = Runner().read(line).obeyed
    assert found == Command("error", {"file": "a,b:c%", "title": kept(title)}, kept(text))


@pytest.mark.parametrize("name", ["group", "endgroup", "notice"])
def test_a_command_without_properties_has_no_space_in_its_head(name: str) -> None:
    assert command(name, text="a :: b") == f"::{name}::a :: b"
    assert Runner().read(command(name, text="a :: b")).obeyed == [Command(name, {}, "a :: b")]


@pytest.mark.parametrize("name", ["", "err or", "error::x", "a\nb"])
def test_a_name_that_would_be_misread_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="invalid name of a command or property"):
        command(name)
    with pytest.raises(ValueError, match="invalid name of a command or property"):
        command("error", ((name, "x"),))


@settings(deadline=None)
@given(texts())
def test_nothing_in_a_quiet_text_is_obeyed_and_all_of_it_is_shown(text: str) -> None:
    runner = Runner().read(quiet(text, source(TOKEN, OTHER)).encode().decode())
    assert not runner.obeyed
    assert not runner.stopped
    lines = re.split(r"\r\n|\r|\n", kept(text))
    expected = lines if lines[-1] else lines[:-1]
    assert [line.replace("\u200b", "") for line in runner.shown] == [line.replace("\u200b", "") for line in expected]


@settings(deadline=None)
@given(texts())
def test_nothing_in_it_is_obeyed_by_a_runner_that_knows_no_stopping_either(text: str) -> None:
    lines = quiet(text, source(TOKEN, OTHER)).split("\n")[1:-2]
    assert not Runner().read("\n".join(lines)).obeyed


def test_commands_after_a_quiet_text_are_obeyed_again() -> None:
    runner = Runner().read(quiet("::error::no\n::stop-commands::x", source()) + command("error", text="yes") + "\n")
    assert runner.obeyed == [Command("error", {}, "yes")]


def test_a_text_that_has_the_token_does_not_end_the_quiet() -> None:
    text = f"::{TOKEN.upper()}::\n##[{TOKEN}]\n::error::no"
    assert not Runner().read(quiet(text, source(TOKEN))).obeyed


def test_no_text_is_no_lines() -> None:
    assert quiet("", source()) == ""
    assert quiet("\n", source()).count("\n") == 3


@pytest.mark.parametrize(
    "line", ["  ::error::x", "\u2028::error::x", "::ERROR file=a::x", "a ##[error]x", "##[set-env name=A;]x"]
)
def test_the_reader_of_these_tests_obeys_what_the_runner_obeys(line: str) -> None:
    assert len(Runner().read(line).obeyed) == 1


def test_the_reader_of_these_tests_stops_and_goes_on_as_the_runner_does() -> None:
    runner = Runner().read("::stop-commands::Abc\n::error::no\n##[aBC]\n::error::yes")
    assert [found.data for found in runner.obeyed] == ["yes"]
    assert runner.shown == ["::error::no"]
    with pytest.raises(ProtocolError):
        Runner().read("::stop-commands::error")
    assert "stop-commands" in COMMANDS
