"""Calibration: reading, making and refusing it, and whether corrected scores hold what people give."""

from __future__ import annotations

import json
from typing import Any

import pytest

np = pytest.importorskip("numpy")

from skillgate.errors import CodecError, UsageError  # noqa: E402
from skillgate.judge.calibration import build, calibrate, read, read_labels, trust  # noqa: E402
from skillgate.model.codec import encode  # noqa: E402
from skillgate.model.documents import Calibration, Label, Pair  # noqa: E402
from skillgate.model.layers import Assessment, Estimate, JudgeLayer  # noqa: E402
from skillgate.model.score import Dimension  # noqa: E402
from skillgate.stats.intervals import clopper_pearson  # noqa: E402
from tests.stats.oracles import sklearn_kappa  # noqa: E402

RATED = tuple(name for name in Dimension if name is not Dimension.TRIGGERING_ACCURACY)
OUTPUT, SCOPE, ROBUST = Dimension.OUTPUT_QUALITY, Dimension.SCOPE_CALIBRATION, Dimension.ROBUSTNESS


def a_layer(scores: dict[Dimension, float | None], **changes: Any) -> JudgeLayer:
    """Give the layer of one judge with these scores."""
    assessments = {
        name: Assessment(score, reason=None if score is not None else "refused") for name, score in scores.items()
    }
    layer = JudgeLayer(0, 1, None, models=("m-1",), assessments=assessments, prompt_version="p1", rubric_version="r1")
    return layer._replace(**changes)


def a_document(pairs: list[tuple[float, float]], *, dimension: Dimension = OUTPUT, **changes: Any) -> Calibration:
    """Give a calibration of (human, judge) marks, each of another skill."""
    items = tuple(Pair(f"skills/s{index}", dimension, *pair) for index, pair in enumerate(pairs))
    return Calibration("m-1", "p1", "r1", "2026-11-21", items)._replace(**changes)


def marks(
    count: int, seed: int, *, slope: float = 0.5, offset: float = 4.0, noise: float = 0.8
) -> list[tuple[float, float]]:
    """Make marks of people, and of a judge who is milder and bunches its marks."""
    rng = np.random.default_rng(seed)
    human = rng.uniform(1, 10, count)
    judge = np.clip(np.rint(offset + slope * human + rng.normal(0, noise, count)), 0, 10)
    return [(float(one), float(two)) for one, two in zip(np.rint(human), judge, strict=True)]


def corrected(document: Calibration, score: float, dimension: Dimension = OUTPUT) -> Estimate:
    found = calibrate(document, a_layer({dimension: score})).assessments[dimension].corrected
    assert found is not None
    return found


def test_a_document_comes_back_as_it_was_written() -> None:
    document = a_document(marks(5, 1))
    assert read(json.dumps(encode(document)), "cal.json") == document
    assert encode(document)["kind"] == "calibration"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "score"}, "kind"),
        ({"schema_version": 99}, "schema_version 99"),
        ({"items": []}, "no items"),
        ({"items": [{"skill": "a", "dimension": "output_quality", "human": 11, "judge": 4}]}, r"items\[0\]\.human"),
        ({"items": [{"skill": "a", "dimension": "beauty", "human": 1, "judge": 4}]}, r"items\[0\]\.dimension"),
        ({"items": [{"skill": "a", "dimension": "robustness", "human": 1}]}, r"items\[0\]\.judge"),
        (
            {"items": [{"skill": "a", "dimension": "robustness", "human": 1, "judge": 4}] * 2},
            "duplicate robustness for a",
        ),
    ],
)
def test_a_wrong_document_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    data = {**encode(a_document(marks(5, 1))), **change}
    with pytest.raises((UsageError, CodecError), match=message) as raised:
        read(json.dumps(data), "cal.json")
    assert "cal.json" in str(raised.value)
    assert raised.value.exit_code == 2


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"cal\.json: invalid calibration"):
        read(text, "cal.json")


LABELS = """\
- skill: skills/a  # read by two of us
  dimension: output_quality
  human: 7
- {skill: b, dimension: robustness, human: 3.5}
"""


@pytest.mark.parametrize(
    "text",
    [
        LABELS,
        "labels:\n" + LABELS,
        "---\n" + LABELS,
        "# ours\n" + LABELS,
        json.dumps(
            [
                {"skill": "skills/a", "dimension": "output_quality", "human": 7},
                {"skill": "b", "dimension": "robustness", "human": 3.5},
            ]
        ),
    ],
)
def test_labels_are_a_list_bare_or_under_their_key(text: str) -> None:
    assert read_labels(text, "labels.yaml") == (Label("skills/a", OUTPUT, 7.0), Label("b", ROBUST, 3.5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- skill: a\n  dimension: output_quality\n", r"\[0\]\.human"),
        ("- skill: a\n  dimension: looks\n  human: 3\n", r"\[0\]\.dimension"),
        ("- skill: a\n  dimension: robustness\n  human: 3\n  notes: x\n", "notes"),
        ("- skill: a\n  dimension: robustness\n  human: [\n", "labels.yaml:"),
        ("- &a [*a]\n", "labels.yaml:1:"),
        ("", "labels"),
        ("labels: []\n", "no labels"),
        (LABELS + LABELS, "duplicate output_quality"),
        ("[" * 3000, "nested deeper"),
    ],
)
def test_wrong_labels_are_refused_with_their_place(text: str, message: str) -> None:
    with pytest.raises((UsageError, CodecError), match=message) as raised:
        read_labels(text, "labels.yaml")
    assert raised.value.exit_code == 2


def test_a_calibration_is_made_of_labels_and_judged_skills() -> None:
    layers = {"skills/a": a_layer({OUTPUT: 0.85, ROBUST: None}), "skills/b": a_layer({OUTPUT: 0.4})}
    labels = (Label("skills/a", OUTPUT, 6), Label("b", OUTPUT, 5), Label("a", ROBUST, 5), Label("a", SCOPE, 5))
    document, left_out = build(labels, layers, date="2026-11-21")
    assert document.items == (Pair("skills/a", OUTPUT, 6, 8.5), Pair("skills/b", OUTPUT, 5, 4.0))
    assert (document.model, document.prompt_version, document.judges, document.live) == ("m-1", "p1", 1, True)
    assert left_out == ("a: robustness was not judged: refused", "a: scope_calibration was not judged: not asked")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ((Label("skill/a", OUTPUT, 6),), "did you mean 'skills/a'"),
        ((Label("c", OUTPUT, 6),), "2 skills are named c"),
        ((Label("skills/a", SCOPE, 6),), "no label has a judged score"),
        ((Label("skills/a", OUTPUT, 6), Label("a", OUTPUT, 6)), "duplicate output_quality for skills/a"),
        ((Label("skills/a", OUTPUT, 6), Label("x/c", OUTPUT, 6)), "judged with different models"),
    ],
)
def test_labels_that_fit_no_judgement_are_refused(labels: tuple[Label, ...], message: str) -> None:
    layers = {
        "skills/a": a_layer({OUTPUT: 0.8}),
        "x/c": a_layer({OUTPUT: 0.8}, models=("m-2",)),
        "y/c": a_layer({OUTPUT: 0.8}),
    }
    with pytest.raises(UsageError, match=message):
        build(labels, layers, date="2026-11-21")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": ("m-2",)}, "model was m-1, is m-2"),
        ({"models": ("m-1", "m-2"), "judges": 2}, r"model was m-1, is m-1 \+ m-2"),
        ({"prompt_version": "p2"}, "prompt version was p1, is p2"),
        ({"rubric_version": "r2"}, "rubric version was r1, is r2"),
        ({"live": False}, "is scripted or replayed"),
    ],
)
def test_a_stale_calibration_is_refused_and_says_how_to_renew(changes: dict[str, Any], message: str) -> None:
    layer = a_layer({OUTPUT: 0.8}, **changes)
    for use in (lambda: calibrate(a_document(marks(30, 1)), layer), lambda: trust(a_document(marks(30, 1)), [layer])):
        with pytest.raises(UsageError, match=message) as raised:
            use()
        assert "skillgate evals calibrate" in str(raised.value)


def test_more_judges_than_were_calibrated_are_taken_and_fewer_are_not() -> None:
    document = a_document(marks(30, 1), judges=3)
    assert calibrate(document, a_layer({OUTPUT: 0.8}, models=("m-1",) * 5, judges=5)).assessments[OUTPUT].corrected
    with pytest.raises(UsageError, match="number of judges was 3, is 1"):
        calibrate(document, a_layer({OUTPUT: 0.8}))


def test_a_layer_without_a_score_is_left_as_it_is() -> None:
    layer = a_layer({OUTPUT: None}, models=())
    assert calibrate(a_document(marks(30, 1)), layer) is layer


def test_correcting_changes_nothing_else() -> None:
    layer = a_layer({OUTPUT: 0.8, SCOPE: None})
    found = calibrate(a_document(marks(30, 1)), layer)
    bare = {name: item._replace(corrected=None) for name, item in found.assessments.items()}
    assert found._replace(assessments=bare) == layer
    assert found.assessments[SCOPE].corrected is None


def test_a_mild_judge_is_corrected_downwards_with_a_wide_interval() -> None:
    found = corrected(a_document(marks(200, 2)), 0.65)
    assert found.value == pytest.approx(0.5, abs=0.04)  # people give 5 where the judge gives 6.5
    assert None not in (found.ci_low, found.ci_high)
    assert 0.0 <= (found.ci_low or 0) < (found.value or 0) < (found.ci_high or 0) <= 1.0
    assert (found.ci_high or 0) - (found.ci_low or 0) > 0.3
    assert found.n == 200


def test_the_line_is_that_of_scipy() -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    document = a_document(marks(40, 3))
    human, judge = zip(*((item.human, item.judge) for item in document.items), strict=True)
    line = stats.linregress(judge, human)
    assert (corrected(document, 0.7).value or 0) * 10 == pytest.approx(line.intercept + 7 * line.slope, abs=1e-3)


def test_a_judge_who_always_gives_the_same_is_shifted_by_the_mean() -> None:
    document = a_document([(human, 8.0) for human in (4.0, 5.0, 6.0, 7.0) * 10])
    assert corrected(document, 0.8).value == 0.55
    assert corrected(document, 0.9).value == 0.65


def test_a_dimension_with_few_labels_takes_those_of_all() -> None:
    many = a_document(marks(30, 4))
    one = Pair("skills/s0", SCOPE, 5.0, 9.0)
    document = many._replace(items=(*many.items, one))
    assert corrected(document, 0.6, SCOPE).n == 31
    assert corrected(document, 0.6, OUTPUT).n == 30


def test_the_trigger_score_is_corrected_by_its_own_labels_alone() -> None:
    trigger = Dimension.TRIGGERING_ACCURACY
    other = a_document(marks(30, 4))
    few = other._replace(items=(*other.items, Pair("skills/s0", trigger, 2.0, 9.0)))
    assert corrected(few, 0.6, trigger).reason == "1 of 20 labels"
    assert corrected(few, 0.6, SCOPE) == corrected(other, 0.6, SCOPE)
    assert corrected(a_document(marks(30, 4), dimension=trigger), 0.6, trigger) == corrected(other, 0.6)
    run = [a_layer({OUTPUT: 0.8, trigger: 0.9})]
    assert trust(few, run) == trust(other, [a_layer({OUTPUT: 0.8})])


def of_few_skills(skills: int) -> Calibration:
    """Give a calibration of all ten dimensions of each skill."""
    items = tuple(Pair(f"s{index}", name, 5, 5 + index % 3) for index in range(skills) for name in Dimension)
    return a_document([], items=items)


def test_too_few_labels_correct_nothing_and_say_so() -> None:
    for document, reason in ((a_document(marks(19, 1)), "19 of 20 labels"), (of_few_skills(9), "labels of 9 of 10")):
        found = corrected(document, 0.6)
        assert (found.value, found.ci_low, found.ci_high) == (None, None, None)
        assert reason in (found.reason or "")
    assert corrected(of_few_skills(10), 0.6).value is not None


@pytest.mark.parametrize(("skills", "each", "noise"), [(20, 1, 0.8), (60, 1, 1.5), (10, 3, 0.8)])
def test_the_corrected_interval_holds_what_a_person_gives(skills: int, each: int, noise: float) -> None:
    held = total = 0
    for seed in range(200):
        seen = marks((skills + 4) * each, seed, noise=noise)
        items = tuple(Pair(f"s{index // each}", RATED[index % each], *pair) for index, pair in enumerate(seen))
        document = a_document([], items=items[: skills * each])
        for item in items[skills * each :]:
            found = corrected(document, item.judge / 10, item.dimension)
            assert found.ci_low is not None
            assert found.ci_high is not None
            held += found.ci_low - 1e-9 <= item.human / 10 <= found.ci_high + 1e-9
            total += 1
    assert 0.93 <= held / total <= 0.995


def test_trust_says_how_far_people_bear_the_judge_out() -> None:
    document = a_document(marks(80, 5))
    human = [int(item.human) for item in document.items]
    judge = [int(item.judge) for item in document.items]
    found = trust(document, [])
    hits = [two >= 7 for one, two in zip(human, judge, strict=True) if one >= 7]
    rejections = [two < 7 for one, two in zip(human, judge, strict=True) if one < 7]
    assert (found.items, found.skills) == (80, 80)
    assert found.kappa.value == pytest.approx(sklearn_kappa(human, judge, "quadratic"), abs=1e-4)
    assert (found.kappa.ci_low or 0) < (found.kappa.value or 0) < (found.kappa.ci_high or 0)
    assert found.sensitivity.value == pytest.approx(sum(hits) / len(hits), abs=1e-4)
    ends = clopper_pearson(sum(rejections), len(rejections))
    assert (found.specificity.ci_low, found.specificity.ci_high) == pytest.approx(ends, abs=1e-4)
    assert found.acceptable == Estimate(None, reason="no judged score")


def test_few_or_one_sided_labels_leave_null_with_a_reason() -> None:
    found = trust(a_document([(9.0, 8.0)] * 12), [a_layer({OUTPUT: 0.8})])
    assert (found.kappa.value, found.kappa.reason) == (None, "12 of 40 labels")
    assert found.sensitivity.value == 1.0
    assert (found.specificity.value, found.specificity.reason) == (None, "every label is a pass")
    assert found.acceptable.value is None
    assert "both sides" in (found.acceptable.reason or "")


def test_a_judge_that_tells_nothing_corrects_nothing() -> None:
    found = trust(a_document([(9.0, 8.0), (2.0, 8.0)] * 20), [a_layer({OUTPUT: 0.8})])
    assert found.acceptable.value is None
    assert "no more" in (found.acceptable.reason or "")


def test_the_corrected_share_holds_that_of_people() -> None:
    held = 0
    for seed in range(40):
        seen = marks(180, seed)
        document, run = a_document(seen[:100]), seen[100:]
        found = trust(document, [a_layer({OUTPUT: judge / 10}) for _, judge in run]).acceptable
        true = sum(human >= 7 for human, _ in run) / len(run)
        assert found.ci_low is not None
        assert found.ci_high is not None
        held += found.ci_low <= true <= found.ci_high
    assert held >= 0.92 * 40
