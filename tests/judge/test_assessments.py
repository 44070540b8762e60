"""The questions: each of the ten dimensions has five anchors, and the wording changes with its version."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from skillgate.judge import asking, requests
from skillgate.judge.layer import PROMPT_VERSION, RUBRIC_VERSION
from skillgate.judge.questions import BANDS, HIGHEST, Question, anchors, questions
from skillgate.model.score import Dimension, LayerName
from skillgate.scoring.composite import BLEND

# Whoever changes the wording changes the version with it, since answers to other words are not compared.
PROMPT_DIGESTS = {"1": "65afc37c2aaf1737"}
RUBRIC_DIGESTS = {"1": "b691ae1f46b043f5"}
OTHER_TEXTS = {
    *("CLOSE", "CUT", "GENERATION", "OPEN", "PREDICTION", "PROMPT_VERSION", "RUBRIC_VERSION", "SCRIPTED_PREFIX")
}  # of other wordings, or names

NAMES = ("trigger_predictions", "orchestration_fitness", "output_quality", "scope_calibration", "other_dimensions")


def _digest(*parts: object) -> str:
    return sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]


def test_the_wording_of_prompts_has_its_version() -> None:
    texts = {
        name: value
        for name, value in {**vars(asking), **vars(requests)}.items()
        if name.isupper() and isinstance(value, str) and name not in OTHER_TEXTS and not name.startswith("_")
    }
    forms = (requests.ASSESSMENTS, requests.PROMPTS, requests.PREDICTIONS)
    assert _digest(sorted(texts.items()), forms) == PROMPT_DIGESTS[PROMPT_VERSION]


def test_the_wording_of_rubrics_has_its_version() -> None:
    rubrics = [(asked.name, rubric.task, rubric.anchors) for asked in questions() for rubric in asked.rubrics]
    assert _digest(rubrics, BANDS) == RUBRIC_DIGESTS[RUBRIC_VERSION]


def test_the_questions_are_put_in_their_order() -> None:
    assert tuple(asked.name for asked in questions()) == NAMES


def test_the_questions_cover_each_dimension_that_the_judge_has_a_share_of_once() -> None:
    asked = [rubric.dimension for question in questions() for rubric in question.rubrics]
    assert sorted(asked, key=lambda dimension: dimension.value) == sorted(
        (dimension for dimension in Dimension if BLEND[dimension][LayerName.JUDGE]),
        key=lambda dimension: dimension.value,
    )


@pytest.mark.parametrize("dimension", list(Dimension))
def test_a_dimension_has_five_anchors_that_differ_and_leave_no_gap(dimension: Dimension) -> None:
    found = anchors(dimension)
    assert [(low, high) for low, high, _ in found] == [(0.0, 0.19), (0.2, 0.39), (0.4, 0.59), (0.6, 0.79), (0.8, 1.0)]
    texts = [text for *_, text in found]
    assert len(set(texts)) == 5
    assert all(text.endswith(".") and text[0].isupper() for text in texts)


def test_every_rating_falls_in_one_band_with_its_score() -> None:
    for rating in range(HIGHEST + 1):
        (band,) = [band for band in BANDS if band[0] <= rating <= band[1]]
        assert band[2] <= rating / HIGHEST <= band[3]


@pytest.mark.parametrize("question", [asked for asked in questions() if len(asked.rubrics) == 1])
def test_the_question_of_one_dimension_has_its_name(question: Question) -> None:
    if question.rated:
        assert question.name == question.rubrics[0].dimension.value


def test_one_dimension_waits_for_code() -> None:
    waiting = [rubric.dimension for asked in questions() for rubric in asked.rubrics if rubric.needs_code]
    assert waiting == [Dimension.CODE_TEMPLATE_QUALITY]


@pytest.mark.parametrize("form", [requests.ASSESSMENTS, requests.PROMPTS, requests.PREDICTIONS])
def test_a_schema_holds_only_what_the_api_enforces(form: object) -> None:
    allowed = {"type", "properties", "required", "additionalProperties", "items", "enum"}

    def walk(node: object) -> None:
        assert isinstance(node, dict)
        assert set(node) <= allowed
        if node["type"] == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
            for below in node["properties"].values():
                walk(below)
        if node["type"] == "array":
            walk(node["items"])

    walk(form)


def test_evidence_and_reasoning_come_before_the_score_and_a_score_is_one_of_eleven() -> None:
    entry = requests.ASSESSMENTS["properties"]["assessments"]["items"]
    assert list(entry["properties"]) == ["dimension", "evidence", "reasoning", "score"]
    assert entry["properties"]["score"] == {"type": "integer", "enum": list(range(11))}
    assert list(requests.ASSESSMENTS["properties"]) == ["assessments", "control"]
