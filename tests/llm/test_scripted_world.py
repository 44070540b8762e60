"""A scripted world: what it declares is what comes out, whoever asks, in whatever order and process."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from skillgate.errors import UsageError
from skillgate.judge.asking import fenced
from skillgate.judge.requests import STYLES
from skillgate.judge.siblings import COMMON
from skillgate.judge.subject import Opinion
from skillgate.llm.providers.scripted import Engine, Failure, Message
from skillgate.llm.scripted.rules import (
    Activation,
    AnswerTokens,
    Chance,
    Failures,
    Outages,
    Quality,
    World,
    parse,
    ticket,
    truths,
)
from skillgate.model.layers import COMPLETED, FAILED, NOT_MEASURED, TriggerPrompt
from skillgate.montecarlo.prompts import prompts
from skillgate.montecarlo.session import session
from skillgate.ranking.corpus import Entrant, Text
from skillgate.ranking.layer import Arena, match
from tests.llm.scripted_sessions import GRADER, PLAN, SUBJECT, Run, played, run, runs, world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.montecarlo.prompts import Prompts
    from skillgate.montecarlo.session import Session
    from skillgate.ranking.layer import Verdict

ROOT = Path(__file__).parents[2]
MANY = 200
ARENA = Arena(judge=GRADER)


def within(found: int, of: int, probability: float) -> bool:
    """Tell whether a count is one that 9,999 of 10,000 worlds give: the draws are fixed, so that it is so or never."""
    return abs(found - of * probability) <= 3.9 * math.sqrt(of * probability * (1 - probability)) + 1


def completed(given: Sequence[Run]) -> list[Run]:
    """Leave out what failed."""
    return [one for one in given if one.session.outcome == COMPLETED]


def kinds(given: Sequence[Run], outcome: str) -> dict[str, int]:
    """Count how sessions ended."""
    found = [str(one.session.kind) for one in given if one.session.outcome == outcome]
    return {kind: found.count(kind) for kind in found}


def skill(number: int, name: str) -> Entrant:
    """Give a skill to be matched."""
    text = f"---\nname: {name}\ndescription: Winds clock {number}.\n---\n\nTurn the key {number} times and wait.\n"
    return Entrant(name, str(number), "", 6, (Text("SKILL.md", text),))


def test_the_skill_is_loaded_as_often_as_the_world_says() -> None:
    model = world("{seed: 7, activation: {should: 0.8, near_miss: 0.15}}")
    for should_trigger, probability in ((True, 0.8), (False, 0.15)):
        loaded = sum(bool(one.session.activated) for one in runs(model, MANY, should_trigger=should_trigger))
        assert within(loaded, MANY, probability)
        assert loaded not in (0, MANY)


def test_failures_do_not_change_how_often_the_skill_is_loaded() -> None:
    found = runs(world("{activation: {should: 0.8}, failures: {refusal: 0.3, empty: 0.3}}"), MANY)
    assert within(sum(bool(one.session.activated) for one in found), MANY, 0.8)


def test_sessions_fail_as_often_and_in_the_ways_that_the_world_says() -> None:
    text = "{failures: {refusal: 0.1, truncated: 0.08, empty: 0.06, max_turns: 0.04}}"
    found = kinds(runs(world(text), MANY), FAILED)
    shares = {"refusal": 0.1, "truncated": 0.08, "empty answer": 0.06, "max turns": 0.04}
    assert set(found) == set(shares)
    assert all(within(found[kind], MANY, share) for kind, share in shares.items())


def test_outages_hold_however_often_the_same_request_is_sent() -> None:
    found = runs(world("{activation: {should: 0.0}, reads: 0, outages: {overloaded: 0.2, cut: 0.1}}"), MANY)
    lost = kinds(found, NOT_MEASURED)
    assert within(lost["server"], MANY, 0.2)
    assert within(lost["network"], MANY, 0.1)
    again = world("{outages: {overloaded: 1.0, retry_after_s: 0}}")
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
    said = [again.answer(body) for _ in range(5)]
    assert all(isinstance(one, Failure) and (one.status, one.retry_after_s) == (529, 0) for one in said)


def test_an_outage_may_come_at_any_request_of_a_session() -> None:
    found = runs(world("{activation: {should: 1.0}, reads: 1, outages: {overloaded: 0.3}}"), 100)
    assert {one.session.turns for one in found if one.session.outcome == NOT_MEASURED} == {0, 1, 2}


def test_the_grader_reads_the_truth_back_rounded_to_its_scale() -> None:
    found = completed(
        runs(world("{quality: {mean: 0.6, sd: 0.15}, delivers: 0.7, covers: 0.6}"), MANY, with_grade=True)
    )
    for one in found:
        (truth,) = truths(one.session.answer)
        assert one.grade is not None
        assert one.grade.quality == pytest.approx(truth.quality, abs=0.0501)
        assert (one.grade.delivers, one.grade.covers) == (truth.delivers, truth.covers)
    qualities = [one.grade.quality for one in found if one.grade is not None and one.grade.quality is not None]
    assert len(qualities) == MANY
    assert sum(qualities) / MANY == pytest.approx(0.6, abs=4 * 0.15 / math.sqrt(MANY))
    spread = math.sqrt(sum((one - 0.6) ** 2 for one in qualities) / MANY)
    assert spread == pytest.approx(0.153, abs=0.025)  # with the rounding to tenths
    assert within(sum(bool(one.grade and one.grade.delivers) for one in found), MANY, 0.7)
    assert within(sum(bool(one.grade and one.grade.covers) for one in found), MANY, 0.6)


def test_answers_without_the_skill_can_be_worse() -> None:
    model = world("{activation: {should: 0.5}, quality: {mean: 0.8, sd: 0.02, without: 0.4}}")
    for one in completed(runs(model, 60)):
        assert truths(one.session.answer)[0].quality == pytest.approx(0.8 if one.session.activated else 0.4, abs=0.1)


def test_answers_are_as_long_as_the_world_says() -> None:
    found = runs(world("{tokens: {answer: 250, sd: 30}}"), 200)
    last = [one.session.answers[-1].reply for one in found]
    lengths = [reply.tokens.output for reply in last if reply is not None and reply.tokens is not None]
    assert len(lengths) == 200
    assert sum(lengths) / 200 == pytest.approx(250, abs=4 * 30 / math.sqrt(200) + 1)
    assert max(lengths) - min(lengths) > 60


def test_a_loaded_text_that_names_a_reference_has_it_read_as_often_as_the_world_says() -> None:
    found = runs(world("{activation: {should: 1.0}, reads: 0.4}"), MANY)
    assert {one.session.turns for one in found} == {2, 3}
    assert within(sum(one.session.turns == 3 for one in found), MANY, 0.4)


def test_seeds_give_independent_worlds_and_the_same_seed_the_same_one() -> None:
    one, same, other = (
        [run_.session.activated for run_ in runs(world(f"{{seed: {seed}, activation: {{should: 0.5}}}}"), 100)]
        for seed in (1, 1, 2)
    )
    assert one == same
    assert within(sum(a is b for a, b in zip(one, other, strict=True)), 100, 0.5)


def test_the_order_and_the_number_of_those_who_ask_change_nothing() -> None:
    model = world("{activation: {should: 0.6}, failures: {refusal: 0.1}, outages: {overloaded: 0.05}}")
    forward = runs(model, 40, with_grade=True)
    with ThreadPoolExecutor(8) as crew:
        backward = list(crew.map(lambda number: run(model, number, with_grade=True), reversed(range(40))))
    assert backward[::-1] == list(forward)


def test_another_process_gets_the_same_answers() -> None:
    text = "{seed: 3, activation: {should: 0.6}, failures: {truncated: 0.2}}"
    code = (
        "import json; from tests.llm.scripted_sessions import runs, world\n"
        f"print(json.dumps([[one.session.outcome, one.session.activated, one.session.answer] for one in "
        f"runs(world({text!r}), 20)]))"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    here = [[one.session.outcome, one.session.activated, one.session.answer] for one in runs(world(text), 20)]
    assert json.loads(told.stdout) == here


def test_another_model_under_test_is_drawn_anew() -> None:
    model = world("{activation: {should: 0.5}}")
    one, other = (
        [found.session.activated for found in runs(model, 100, plan=PLAN._replace(model=Opinion(name)))]
        for name in ("claude-haiku-5-5", "claude-opus-5-5")
    )
    assert one != other


def test_it_writes_distinct_prompts_that_sessions_know_again() -> None:
    plan = PLAN._replace(simulations=60, near_misses=20)
    model = world("{activation: {should: 1.0, near_miss: 0.0}}")
    found: Prompts = played(prompts(SUBJECT, plan), model)
    assert (found.missing, found.short, len(found.answers)) == (None, None, 4)  # two kinds, 25 prompts in a request
    assert len({case.prompt for case in found.cases}) == 80
    styles = [(case.should_trigger, case.style) for case in found.cases]
    assert [styles.count((should, style)) for should in (True, False) for style in STYLES] == [30, 30, 10, 10]
    for case in found.cases:
        session_: Session = played(session(SUBJECT, plan, case, 0, 0), model)
        assert session_.activated is case.should_trigger


def test_it_leaves_out_prompts_that_are_there_already() -> None:
    model, plan = world(), PLAN._replace(simulations=20, near_misses=0)
    first: Prompts = played(prompts(SUBJECT, plan), model)
    more: Prompts = played(prompts(SUBJECT._replace(prompts=first.cases[:11]), plan), model)
    assert more.source == "evals and generated"
    assert (more.short, len({case.prompt for case in more.cases})) == (None, 20)


def test_without_a_world_words_in_common_decide() -> None:
    plan = PLAN._replace(simulations=10, near_misses=10)
    found: Prompts = played(prompts(SUBJECT, plan), Engine())
    for case in found.cases:
        session_: Session = played(session(SUBJECT, plan, case, 0, 0), Engine())
        assert ("invoice-reader" in session_.loaded) is case.should_trigger
        assert session_.outcome == COMPLETED


def body_of(question: str, *fenced_: str, **schema: object) -> dict[str, object]:
    """Ask a question of texts that are fenced, as graders are asked."""
    form = {"type": "object", "properties": schema, "required": list(schema), "additionalProperties": False}
    blocks = [{"type": "text", "text": text} for text in (*fenced_, f"Question: {question}\n\nTell.")]
    return {
        "model": "m",
        "max_tokens": 60_000,
        "messages": [{"role": "user", "content": blocks}],
        "output_config": {"format": {"type": "json_schema", "schema": form}},
    }


def value(outcome: Message | Failure) -> dict[str, Any]:
    """Decode a reply."""
    assert isinstance(outcome, Message)
    return dict(json.loads(outcome.content[0]["text"]))


def answer_of(quality: str) -> str:
    """Write the end of an answer."""
    return f"Done.\n\nDraft quality {quality}. This is the work itself. All of the request is covered."


@pytest.mark.parametrize(
    "verdicts", [["yes", "no", "cannot tell"], ["met", "not met"], [True, False]], ids=["words", "met", "booleans"]
)
def test_expectations_are_met_as_often_as_the_answer_is_good(verdicts: list[object]) -> None:
    row = {
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "reasoning": {"type": "string"},
            "passed": {"enum": verdicts} if verdicts[0] is not True else {"type": "boolean"},
        },
        "required": ["number", "reasoning", "passed"],
        "additionalProperties": False,
    }
    rows = "\n".join(json.dumps({"number": number, "expectation": f"It says {number}."}) for number in range(1, 301))
    shown = (fenced("answer", answer_of("0.80")), fenced("expectations", rows))
    asked_ = body_of("expectation_grade", *shown, expectations={"type": "array", "items": row})
    found = value(world().answer(asked_))["expectations"]
    assert [entry["number"] for entry in found] == list(range(1, 301))
    assert {entry["passed"] for entry in found} == set(verdicts[:2])
    assert within(sum(entry["passed"] == verdicts[0] for entry in found), 300, 0.8)


def test_the_better_answer_is_preferred_wherever_it_stands() -> None:
    better = {"type": "string", "enum": ["first", "second", "equal"]}
    good, bad = answer_of("0.80"), answer_of("0.60")
    for first, second, expected in ((good, bad, "first"), (bad, good, "second"), (bad, bad, "equal")):
        shown = (fenced("first answer", first), fenced("second answer", second))
        assert value(world().answer(body_of("preference", *shown, better=better))) == {"better": expected}


def test_what_says_nothing_of_itself_is_graded_all_the_same() -> None:
    score = {"type": "integer", "enum": list(range(11))}
    shown = fenced("answer", "An answer by somebody else.")
    assert value(world().answer(body_of("grade", shown, quality=score)))["quality"] in range(11)


def test_a_session_without_tools_is_answered_and_a_loaded_skill_makes_it_better() -> None:
    model = world("{quality: {mean: 0.9, sd: 0.01, without: 0.3}, failures: {max_turns: 1.0}}")
    user = [{"type": "text", "text": "Put the invoices into the ledger."}]
    loaded = [{"type": "text", "text": "Base directory for this skill: /skills/a\n\nBegin at the top."}, *user]
    for content, mean in ((user, 0.3), (loaded, 0.9)):
        outcome = model.answer({"model": "m", "max_tokens": 999, "messages": [{"role": "user", "content": content}]})
        assert isinstance(outcome, Message)
        assert truths(outcome.content[0]["text"])[0].quality == pytest.approx(mean, abs=0.05)


def test_the_target_can_be_named() -> None:
    found = runs(world("{target: git-commit-messages, activation: {should: 1.0}}"), 3)
    assert {one.session.loaded for one in found} <= {("git-commit-messages",), ()}
    assert not any(one.session.activated for one in found)


def test_a_prompt_that_bears_the_mark_of_a_listed_skill_is_about_that_one_whatever_the_target() -> None:
    model = world("{target: git-commit-messages, activation: {should: 1.0}}")
    for name in (SUBJECT.name, COMMON[0].name):
        case = TriggerPrompt(f"Do what is due ({ticket(name)}-1).", True, "direct")
        found: Session = played(session(SUBJECT, PLAN, case, 0, 0), model)
        assert found.loaded == (name,)


def test_each_of_several_phrases_makes_a_near_miss_whatever_its_letter_case() -> None:
    model = world("{activation: {should: 1.0, near_miss: 0.0}, near_miss_contains: [by the way, Oldest]}")
    asked = (
        ("Put amounts and currencies of the supplier invoices in the ledger.", True),
        ("By The Way, which amounts and currencies of the supplier invoices were late?", False),
        ("Which of the supplier invoices with amounts and currencies is the oldest?", False),
    )
    for text, loads in asked:
        case = TriggerPrompt(text, loads, "direct")
        found: Session = played(session(SUBJECT, PLAN, case, 0, 0), model)
        assert found.outcome == COMPLETED
        assert bool(found.activated) is loads


def test_written_near_misses_hold_the_first_of_several_phrases() -> None:
    plan = PLAN._replace(simulations=10, near_misses=10)
    given: Prompts = played(prompts(SUBJECT, plan), world("{near_miss_contains: [by the way, oldest]}"))
    assert all(("by the way" in case.prompt.lower()) is not case.should_trigger for case in given.cases)


def test_the_better_skill_wins_as_often_as_the_strengths_say() -> None:
    model = world("{strengths: {strong: 1650, weak: 1450}}")
    found: list[tuple[Verdict, Verdict]] = [
        played(match(skill(number, "strong"), skill(number, "weak"), ARENA, "a"), model) for number in range(200)
    ]
    assert {(one.better, two.better) for one, two in found} == {("first", "second"), ("second", "first")}
    expected = 1 / (1 + 10 ** ((1450 - 1650) / 400))
    assert within(sum(one.better == "first" for one, _ in found), 200, expected)


def test_draws_and_bias_come_as_often_as_the_world_says() -> None:
    model = world("{position_bias: 0.2, draws: 0.3}")
    found: list[tuple[Verdict, Verdict]] = [
        played(match(skill(number, "one"), skill(number, "two"), ARENA, "a"), model) for number in range(200)
    ]
    ends = [(one.better, two.better) for one, two in found]
    assert within(ends.count(("first", "first")), 200, 0.2)
    assert within(ends.count(("equal", "equal")), 200, 0.3)
    assert within(ends.count(("first", "second")), 200, 0.25)
    assert within(ends.count(("second", "first")), 200, 0.25)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("world: 3", "w:1: world: expected an object"),
        ("world:\n  activation: {should: 1.2}", "w:2: world.activation.should: expected a number of at least 0 and at"),
        ("world:\n  strenghts: {}", 'w:2: world.strenghts: expected a known key (did you mean "strengths"?)'),
        ("world:\n  quality:\n    mean: x", "w:3: world.quality.mean: expected a number of at least 0 and at most 1"),
        ("world:\n  tokens: {answer: 3}", "w:2: world.tokens.answer: expected a number of at least 60"),
        ("world:\n  strengths: {a: -3}", "w:2: world.strengths.a: expected a number of at least 0 and at most 4000"),
        ("world:\n  failures: {refusal: 0.7, empty: 0.4}", "w:2: world.failures: refusal, truncated, empty, max_turns"),
        ("world:\n  outages: {overloaded: 1, cut: 1}", "w:2: world.outages: overloaded, cut exclude one another"),
        ("world:\n  draws: 0.6\n  position_bias: 0.6", "w:3: world.position_bias: position_bias, draws exclude"),
        ("world: {near_miss_contains: ' '}", "w:1: world.near_miss_contains: expected a word"),
        ("world: {near_miss_contains: []}", "w:1: world.near_miss_contains: expected a word"),
        ("world: {near_miss_contains: [chart, '']}", "w:1: world.near_miss_contains: expected a word"),
        ("world: {near_miss_contains: 3}", "w:1: world.near_miss_contains: expected a string or a list"),
        ("{}", "w: neither rules nor a world"),
    ],
)
def test_a_wrong_world_is_refused_with_the_place_and_the_range(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text.encode(), "w")
    assert str(caught.value).startswith(said)


def test_the_example_is_a_world() -> None:
    example = ROOT / "examples" / "world.yaml"
    given = parse(example.read_bytes(), example.name)
    assert given.world is not None
    assert given.world.activation == Activation(0.9, 0.1)
    found = runs(Engine(given), 60)
    assert {one.session.outcome for one in found} == {COMPLETED, FAILED, NOT_MEASURED}


def test_the_example_tells_every_near_miss_of_the_example_skills_from_the_prompts_for_them() -> None:
    example = ROOT / "examples" / "world.yaml"
    given = parse(example.read_bytes(), example.name).world
    assert given is not None
    files = sorted((ROOT / "examples" / "skills").glob("*/evals/triggers.yaml"))
    assert [file.parts[-3] for file in files] == [given.target]
    cases = [case for file in files for case in yaml.safe_load(file.read_text(encoding="utf-8"))]
    assert {case["should_trigger"] for case in cases} == {True, False}
    wrong = [case["prompt"] for case in cases if given.is_near_miss(case["prompt"]) == case["should_trigger"]]
    assert wrong == []


def test_the_page_names_every_key_of_a_world() -> None:
    page = (ROOT / "docs" / "how-to" / "without-a-key.md").read_text(encoding="utf-8")
    for part in (World, Activation, Quality, Failures, Outages, AnswerTokens):
        assert not [name for name in part._fields if f"`{name}`" not in page]


def test_draws_are_even_and_normal() -> None:
    shares = [Chance(1, str(number)).share("a") for number in range(2_000)]
    assert sum(shares) / 2_000 == pytest.approx(0.5, abs=0.03)
    normal = [Chance(1, str(number)).normal("a", 10, 2) for number in range(2_000)]
    assert sum(normal) / 2_000 == pytest.approx(10, abs=0.2)
    assert math.sqrt(sum((one - 10) ** 2 for one in normal) / 2_000) == pytest.approx(2, abs=0.15)
