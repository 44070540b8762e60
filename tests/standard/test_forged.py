"""Kept answers that somebody without the key wrote: never used where there is a key, and said to be there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")

from skillgate.llm.answers import MIN_CHARACTERS, VARIABLE
from tests.standard.asking import KEY, model, run, write_skill
from tests.standard.forging import best, entries, forge, unsigned

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCORE = ("score", "skills", "--depth", "standard", "--json", "--cache-dir", "kept")
POOR = "rules: [{reply: {rating: 3}}]"
CACHE_KEY = "0123456789abcdef" * 4


@pytest.fixture
def work(tmp_path: Path) -> Path:
    write_skill(tmp_path / "work" / "skills", "invoices")
    return tmp_path / "work"


@pytest.mark.parametrize("change", [best, unsigned], ids=["changed", "mark left out"])
def test_a_forged_answer_is_asked_anew_and_counted(work: Path, change: Callable[[str], str]) -> None:
    with model(POOR) as demo:
        honest = run(work, *SCORE, at=demo)
        assert len(demo.take()) == 6
        assert forge(work / "kept", change) >= 4
        done = run(work, *SCORE, at=demo)
        asked = demo.take()
    assert len(asked) >= 4
    assert done.json["results"][0]["composite"] == honest.json["results"][0]["composite"]
    assert f"{len(asked)} cached answers were ignored: they are not signed with this run's key" in done.err


def test_the_answer_to_another_request_is_not_used(work: Path) -> None:
    write_skill(work / "skills", "letters")
    with model(POOR) as demo:
        run(work, *SCORE, at=demo)
        demo.take()
        texts = [text for _, text in entries(work / "kept")]
        following = iter(texts[1:] + texts[:1])
        forge(work / "kept", lambda _: next(following))
        run(work, *SCORE, at=demo)
        assert len(demo.take()) == len(texts) == 12


def test_without_a_key_the_command_line_uses_what_is_there(work: Path) -> None:
    with model(POOR) as demo:
        run(work, *SCORE, at=demo)
        demo.take()
        done = run(work, *SCORE, at=demo, key="")
        assert demo.take() == []
    assert (done.code, "ignored" in done.err) == (0, False)


def test_a_key_of_its_own_keeps_answers_when_the_api_key_is_another_one(work: Path) -> None:
    with model(POOR) as demo:
        run(work, *SCORE, at=demo, cache_key=CACHE_KEY)
        demo.take()
        for key in ("sk-ant-another-key-that-is-as-long", ""):
            assert run(work, *SCORE, at=demo, key=key, cache_key=CACHE_KEY).code == 0
        assert demo.take() == []
        run(work, *SCORE, at=demo, cache_key=CACHE_KEY.replace("0", "1"))
        assert len(demo.take()) == 6


def test_another_api_key_begins_anew(work: Path) -> None:
    with model(POOR) as demo:
        run(work, *SCORE, at=demo)
        demo.take()
        run(work, *SCORE, at=demo, key=f"{KEY}x")
        assert len(demo.take()) == 6


def test_the_key_of_another_server_signs_what_it_answered(work: Path) -> None:
    with model(POOR) as demo:
        chats = ("--provider", "openai-compatible", "--base-url", f"{demo.server.base_url}/v1")
        words = (*SCORE, *chats, "--key-variable", "ANTHROPIC_API_KEY")
        run(work, *words)
        demo.take()
        run(work, *words)
        assert demo.take() == []
        assert all("\n" in text for _, text in entries(work / "kept"))
        forge(work / "kept", best)
        run(work, *words)
        assert len(demo.take()) >= 4


@pytest.mark.parametrize("short", ["x", "a" * (MIN_CHARACTERS - 1)])
def test_a_cache_key_that_could_be_guessed_is_refused_and_not_repeated(work: Path, short: str) -> None:
    with model(POOR) as demo:
        done = run(work, *SCORE, at=demo, cache_key=short)
        assert demo.asked == []
    assert (done.code, done.out) == (2, "")
    assert VARIABLE in done.err
    assert "aaaa" not in done.err


def test_no_key_is_in_what_is_kept_or_reported(work: Path) -> None:
    with model(POOR) as demo:
        done = run(work, *SCORE, at=demo, cache_key=CACHE_KEY)
    texts = [text for _, text in entries(work / "kept")]
    assert texts
    for secret in (KEY, CACHE_KEY):
        assert secret not in json.dumps(texts) + done.out + done.err
