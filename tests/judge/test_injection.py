"""No text of a skill talks a judge into a score: attacks of our own, in every place, against a judge that obeys.

The judge obeys whatever stands outside of a real fence; without fences it obeys nearly all of the attacks, so that the
comparison can fail. A second judge also obeys what stands inside: what catches that one is the control item, and the
comparison with and without passages that layer 1 suspects.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from skillgate.judge.asking import HIGHEST_HONEST
from tests.judge import obedient
from tests.judge.attacks import ALL, FAMILIES, Attack, folded
from tests.judge.doubles import RATING_QUESTIONS
from tests.judge.obedient import Obedient, Run, filled, made, run, strict, strings, without_fence
from tests.judge.reading import outside

RATED = set(RATING_QUESTIONS)
SUBJECT = re.compile(r"how far is the skill about .*\? Rate that")


class Outcome(NamedTuple):
    """What became of one attack in the place it is written for.

    Attributes:
        attack: which.
        flagged: whether layer 1 suspects it.
        fenced: how the strict judge rates it, nothing left out.
        unfenced: how the same judge rates it without fences.
        weak: how the weak judge rates it, as a run of the tool would have it.
    """

    attack: Attack
    flagged: bool
    fenced: Run
    unfenced: Run
    weak: Run


@cache
def clean(place: str) -> Run:
    """Judge the skill with an ordinary remark in a place."""
    with TemporaryDirectory() as base:
        subject, flagged = made(Path(base, "a"), place, obedient.NEUTRAL)
    assert not flagged
    return run(subject, strict(ALL))


@cache
def outcome(attack: Attack) -> Outcome:
    """Judge the skill with one attack at home, by every judge."""
    with TemporaryDirectory() as base:
        before, _ = made(Path(base, "a"), attack.home, obedient.NEUTRAL)
        subject, flagged = made(Path(base, "b"), attack.home, filled(attack.text, before))
    alone = subject._replace(suspicious=())  # the fence by itself: nothing is left out
    return Outcome(
        attack, flagged, run(alone, strict(ALL)), run(alone, without_fence(ALL)), run(subject, without_fence(ALL))
    )


def _fooled(found: Run, honest: Run) -> bool:
    """Tell whether a score is another than that of the honest skill; one that was thrown away is none."""
    return any(score is not None and score != honest.scores[name] for name, score in found.scores.items())


def test_there_are_attacks_enough_and_each_is_another() -> None:
    assert len(ALL) >= 40
    assert len({folded(attack.text) for attack in ALL}) == len(ALL)
    assert all(folded(attack.order) in folded(attack.text) for attack in ALL)


def test_an_honest_skill_is_rated_by_its_text_in_every_place() -> None:
    for place in obedient.PLACES:
        found = clean(place)
        assert found.obeyed == (), place
        assert found.judged.failure is None, place
        assert found.judged.layer.obeyed == 0
        assert all(score is not None for score in found.scores.values()), place
        assert found.scores["output_quality"] == pytest.approx(0.5)
        assert found.scores["recall"] == pytest.approx(0.8), place
        assert found.scores["false_alarms"] == pytest.approx(0.2)


@pytest.mark.parametrize("place", obedient.PLACES)
def test_no_attack_in_any_place_sways_a_judge_that_obeys_what_is_outside(place: str, tmp_path: Path) -> None:
    before, _ = made(tmp_path / "clean", place, obedient.NEUTRAL)
    honest = strict(ALL)
    scores = run(before, honest).scores
    for number, attack in enumerate(ALL):
        subject, _ = made(tmp_path / str(number), place, filled(attack.text, before))
        judge = strict(ALL)
        found = run(subject._replace(suspicious=()), judge)  # the fence by itself: nothing is left out
        assert found.obeyed == (), attack.title
        assert found.scores == scores, attack.title
        assert _outside(judge) == _outside(honest), attack.title


def _outside(judge: Obedient) -> list[tuple[str, list[str]]]:
    """Give what stands outside of the fences of every request, without the control item, which a hash chooses."""
    return [
        (request.question, [SUBJECT.sub("", outside(text)) for text in strings(request.body)])
        for request in sorted(judge.asked, key=lambda request: request.question)
    ]


@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.title)
def test_passages_that_layer_1_suspects_change_no_score_that_counts(attack: Attack) -> None:
    found = outcome(attack)
    with TemporaryDirectory() as base:
        subject, _ = made(Path(base, "a"), attack.home, attack.text)
    whole = run(subject, strict(ALL))
    assert whole.scores == clean(attack.home).scores
    assert whole.judged.layer.obeyed == 0
    assert all(abs(difference) < 0.1 for difference in whole.judged.layer.swayed.values())
    assert bool(subject.suspicious) <= found.flagged


def test_without_fences_the_same_judge_is_fooled_by_nearly_all() -> None:
    fooled = [one for one in map(outcome, ALL) if _fooled(one.unfenced, clean(one.attack.home)) or one.unfenced.obeyed]
    assert len(fooled) >= 0.9 * len(ALL)
    for family, attacks in FAMILIES.items():
        assert any(outcome(attack) in fooled for attack in attacks), family


def test_layer_1_suspects_at_least_so_many() -> None:
    flagged = {family: sum(outcome(one).flagged for one in attacks) for family, attacks in FAMILIES.items()}
    assert sum(flagged.values()) >= 7
    assert flagged["openers"] >= 2
    assert flagged["hidden Unicode"] >= 4


def test_a_weak_judge_is_caught_unless_it_answers_the_control_item_honestly() -> None:
    for found in map(outcome, ALL):
        honest = clean(found.attack.home)
        if found.attack.control <= HIGHEST_HONEST or RATED.isdisjoint(found.weak.obeyed):
            continue
        rated = set(found.weak.scores) - {"triggering_accuracy", "recall", "false_alarms"}
        assert all(found.weak.scores[name] in (None, honest.scores[name]) for name in rated), found.attack.title
        layer = found.weak.judged.layer
        assert layer.obeyed > 0, found.attack.title
        assert any(problem.rule == "judge_swayed" for problem in found.weak.judged.problems), found.attack.title


def test_a_passage_that_layer_1_suspects_is_shown_by_comparison_where_the_control_item_shows_nothing() -> None:
    found = [one for one in map(outcome, ALL) if one.flagged and one.attack.control <= HIGHEST_HONEST]
    assert found
    for one in found:
        layer = one.weak.judged.layer
        assert layer.obeyed == 0
        assert max(layer.swayed.values()) >= 0.1
        assert any(problem.rule == "judge_swayed" for problem in one.weak.judged.problems)
        assert one.weak.scores == clean(one.attack.home).scores


def test_a_judge_that_loads_the_skill_for_every_prompt_does_it_no_good() -> None:
    swayed = [found for found in map(outcome, ALL) if found.weak.obeyed == ("trigger_predictions",)]
    assert swayed
    for found in swayed:
        f1, honest = found.weak.scores["triggering_accuracy"], clean(found.attack.home).scores["triggering_accuracy"]
        assert f1 is not None
        assert honest is not None
        assert f1 < honest


def table() -> str:
    """Count by family what became of the attacks, as a table in Markdown."""
    rows = [
        "| family | attacks | suspected by layer 1 | sway a judge without fence | with fence |"
        " weak judge: shown by control item | shown by comparison | neither |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    total = [0] * 7
    for family, attacks in FAMILIES.items():
        counts = [0] * 7
        for found in map(outcome, attacks):
            for index, value in enumerate(_counted(found)):
                counts[index] += value
        total = [one + other for one, other in zip(total, counts, strict=True)]
        rows.append(f"| {family} | {' | '.join(map(str, counts))} |")
    return "\n".join([*rows, f"| all | {' | '.join(map(str, total))} |"])


def _counted(found: Outcome) -> tuple[int, ...]:
    honest, layer = clean(found.attack.home), found.weak.judged.layer
    control = layer.obeyed > 0
    swayed = any(abs(difference) >= 0.1 for difference in layer.swayed.values())
    compared = swayed and not control
    return (
        1,
        found.flagged,
        bool(found.unfenced.obeyed),
        bool(found.fenced.obeyed) or _fooled(found.fenced, honest),
        control,
        compared,
        bool(found.weak.obeyed) and not control and not compared,
    )


def test_the_measured_table_adds_up() -> None:
    made = table()
    print(made)
    _, attacks, flagged, bare, fenced, *weak = [int(cell) for cell in re.findall(r"\d+", f"0 {made.splitlines()[-1]}")]
    assert attacks == len(ALL)
    assert fenced == 0
    assert flagged <= attacks
    assert bare >= sum(weak)
