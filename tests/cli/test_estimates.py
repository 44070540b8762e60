"""A dry run with ``--json``: one document on stdout, whatever the command, and nothing asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("anthropic")
pytest.importorskip("numpy")

from tests.cli.test_corpus_command import built, skills
from tests.standard.asking import model, run, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

FIELDS = [
    *("kind", "calls", "cached", "by_question", "by_model", "input_tokens", "output_tokens", "cost_usd", "unpriced"),
]
COMMANDS = {
    "score": ("score", "invoices", "--depth", "deep", "--simulations", "10"),
    "certify": ("certify", "invoices", "--depth", "deep", "--simulations", "10"),
    "compare": ("compare", "invoices", "tickets", "--depth", "standard"),
    "corpus rate": ("corpus", "rate", "--corpus-dir", "c"),
}


def _told(folder: Path, command: str, *words: str) -> Done:
    """Say what a command would ask about two skills, or about a corpus of three."""
    if command == "corpus rate":
        skills(folder, "ant", "bee", "cat")
        built(folder)
    for name in ("invoices", "tickets"):
        write_skill(folder, name)
    with model() as demo:
        done = run(folder, *COMMANDS[command], "--dry-run", *words, at=demo)
        assert demo.take() == []
    assert done.code == 0, done.err
    return done


@pytest.mark.parametrize("command", COMMANDS)
def test_an_estimate_as_json_is_one_document_with_the_numbers_of_the_lines(tmp_path: Path, command: str) -> None:
    found: dict[str, Any] = _told(tmp_path / "work", command, "--json").json
    assert list(found) == FIELDS
    assert found["kind"] == "estimate"
    assert sum(found["by_question"].values()) == sum(found["by_model"].values()) == found["calls"] > 0
    for part in ("input_tokens", "output_tokens", "cost_usd"):
        assert 0 < found[part]["low"] < found[part]["high"], part
    assert found["unpriced"] == []
    lines = _told(tmp_path / "work", command).out
    assert re.findall(r"([\d,]+) calls to make", lines) == [f"{found['calls']:,}"]


def test_an_estimate_without_a_price_has_no_cost(tmp_path: Path) -> None:
    found = _told(tmp_path / "work", "score", "--json", "--model", "nobody-priced-it").json
    assert found["cost_usd"] is None
    assert found["unpriced"] == ["nobody-priced-it"]
    assert found["by_model"]["nobody-priced-it"] > 0


def test_an_estimate_follows_the_output_option_too(tmp_path: Path) -> None:
    assert _told(tmp_path / "work", "compare", "--output", "json").json["kind"] == "estimate"
    assert _told(tmp_path / "work", "compare", "--output", "text").out.startswith("Dry run, nothing was sent")
