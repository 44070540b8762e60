"""What is asked again and what is not: nothing where nothing changed, and no more than what a change touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")

from tests.standard.asking import judged, model, run, write_skill

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("invoices", "tickets", "contracts")
WHOLE = {"orchestration_fitness", "output_quality", "scope_calibration", "other_dimensions", "trigger_prompts"}


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    for name in NAMES:
        write_skill(place / "skills", name)
    return place


def test_a_second_run_asks_nothing_and_gives_the_same(skills: Path) -> None:
    with model() as demo:
        first = run(skills, "score", "skills", "--depth", "standard", "--json", at=demo)
        assert len(demo.take()) == 3 * 6
        second = run(skills, "score", "skills", "--depth", "standard", "--json", at=demo)
        assert demo.take() == []
    assert first.code == second.code == 0, first.err
    assert second.json["usage"]["calls"] == 0
    assert second.json["usage"]["cached"] == 18
    assert second.json["usage"]["cost_usd"] == 0.0
    assert [one["composite"] for one in first.json["results"]] == [one["composite"] for one in second.json["results"]]


def test_one_byte_of_a_body_judges_that_skill_alone_again(skills: Path) -> None:
    with model() as demo:
        run(skills, "score", "skills", "--depth", "standard", at=demo)
        demo.take()
        file = skills / "skills/tickets/SKILL.md"
        file.write_text(file.read_text().replace("because it decides", "because it decided"))
        done = run(skills, "score", "skills", "--depth", "standard", "--json", at=demo)
        asked = demo.take()
    layers = judged(done)
    assert {name: layer["usage"]["calls"] > 0 for name, layer in layers.items()} == {
        "tickets": True,
        "invoices": False,
        "contracts": False,
    }
    # The prompts are made anew from the body, and the predictions with them where they differ.
    assert set(asked) - {"trigger_predictions"} == WHOLE


def test_a_changed_description_asks_for_the_predictions_of_those_that_list_it_and_no_more(skills: Path) -> None:
    write_skill(skills / "others", "letters")
    with model() as demo:
        run(skills, "score", "skills", "others", "--depth", "standard", at=demo)
        demo.take()
        file = skills / "skills/tickets/SKILL.md"
        file.write_text(file.read_text().replace("Use when tickets arrive late", "Use when tickets come too late"))
        done = run(skills, "score", "skills", "others", "--depth", "standard", "--json", at=demo)
        demo.take()
    calls = {name: layer["usage"]["calls"] for name, layer in judged(done).items()}
    assert calls == {"tickets": 6, "invoices": 1, "contracts": 1, "letters": 0}


def test_more_judges_pay_for_the_new_ones_alone(skills: Path) -> None:
    with model() as demo:
        run(skills, "score", "skills", "--depth", "standard", at=demo)
        demo.take()
        done = run(skills, "score", "skills", "--depth", "standard", "--judges", "3", "--json", at=demo)
        assert sorted(set(demo.take())) == sorted((WHOLE | {"trigger_predictions"}) - {"trigger_prompts"})
    assert done.json["usage"]["calls"] == 3 * 5 * 2
    assert done.json["usage"]["cached"] == 3 * 6


def test_refresh_asks_anew_and_no_cache_keeps_nothing(skills: Path) -> None:
    with model() as demo:
        run(skills, "score", "skills/tickets", "--depth", "standard", "--no-cache", at=demo)
        run(skills, "score", "skills/tickets", "--depth", "standard", at=demo)
        assert len(demo.take()) == 12
        run(skills, "score", "skills/tickets", "--depth", "standard", "--refresh", at=demo)
        assert len(demo.take()) == 6


def test_without_a_key_what_is_kept_is_enough(skills: Path) -> None:
    with model() as demo:
        run(skills, "score", "skills", "--depth", "standard", at=demo)
        demo.take()
        done = run(skills, "score", "skills", "--depth", "standard", "--json", at=demo, key="")
    assert done.code == 0
    assert all(one["composite"]["score"] is not None for one in done.json["results"])


@pytest.mark.parametrize("rule", ["{text: not JSON at all}", "{truncate: true}"])
def test_an_answer_that_had_to_be_asked_for_twice_is_kept_all_the_same(skills: Path, rule: str) -> None:
    rules = f"rules: [{{match: {{question: output_quality, times: 1}}, reply: {rule}}}]"
    with model(rules) as demo:
        assert run(skills, "score", "skills/tickets", "--depth", "standard", at=demo).code == 0
        assert len(demo.take()) == 7
        done = run(skills, "score", "skills/tickets", "--depth", "standard", "--json", at=demo)
        assert demo.take() == []
    assert done.json["usage"]["calls"] == 0


def test_line_ends_are_no_other_question(skills: Path) -> None:
    with model() as demo:
        run(skills, "score", "skills/tickets", "--depth", "standard", at=demo)
        demo.take()
        file = skills / "skills/tickets/SKILL.md"
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
        done = run(skills, "score", "skills/tickets", "--depth", "standard", at=demo)
        assert demo.take() == []
    assert done.code == 0
