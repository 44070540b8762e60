"""What a text can bring about beside ratings: judges without an answer, and parts that no judge is shown."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from skillgate.judge.layer import judge
from skillgate.judge.subject import Opinion, Page, Panel
from skillgate.model.exchange import Answer, Cause, Request, Status
from skillgate.model.score import Dimension
from tests.judge.doubles import MODEL, RATING_QUESTIONS, Judge, answered, drive, failed, judged, ratings, skill

OUTPUT = Dimension.OUTPUT_QUALITY
REFUSED = Answer(Status.REFUSED, reason="the model refused to answer", sent=1)
TOO_LONG = failed(Cause.TOO_LONG, "too long", sent=1)


def _second_says(answer: Callable[[Request], object], question: str = "output_quality") -> Judge:
    """Give two judges, of whom the first finds everything good and the second says something else of one question."""
    honest = Judge(rating=9)
    turns = iter([honest.honest, answer, answer])
    return Judge({question: lambda request: next(turns)(request)}, rating=9)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (REFUSED, "refused"),
        (Answer(Status.TRUNCATED, reason="cut off", sent=1), "cut off"),
        (Answer(Status.INVALID, reason="$.control: is missing", sent=1), "$.control"),
        (failed(Cause.REQUEST, "the content filter answers 400", sent=1), "content filter"),
        (TOO_LONG, "too long"),
    ],
)
def test_who_is_kept_from_judging_by_what_it_reads_is_named(answer: Answer, why: str) -> None:
    turns = iter([9])

    def says(request: Request) -> object:
        rating = next(turns, None)
        return answer if rating is None else ratings(request, rating)

    found = judged(skill(), Judge({"output_quality": says}), 2)
    assert found.layer.assessments[OUTPUT].ratings == (9,)
    assert str(found.silenced).startswith("no usable answer to output_quality (judge 2 of 2): ")
    assert why in str(found.silenced)


def test_a_judge_that_obeys_is_named() -> None:
    found = judged(skill(), _second_says(lambda request: ratings(request, 10, control=10)), 2)
    assert "output_quality (judge 2 of 2)" in str(found.silenced)


@pytest.mark.parametrize("question", ["trigger_prompts", "trigger_predictions"])
def test_who_refuses_to_write_or_predict_is_named(question: str) -> None:
    found = judged(skill(), Judge({question: lambda request: REFUSED}), 2)
    assert question in str(found.silenced)


@pytest.mark.parametrize(
    "cause", [one for one in Cause if one not in (Cause.TOO_LONG, Cause.REQUEST)], ids=lambda cause: str(cause.value)
)
def test_what_no_text_brings_about_silences_nobody(cause: Cause) -> None:
    found = judged(skill(), _second_says(lambda request: failed(cause, "no connection")), 2)
    assert "output_quality (judge 2 of 2)" in str(found.failure)
    assert found.silenced is None


def test_only_what_the_text_can_bring_about_is_in_the_sentence() -> None:
    says = {"output_quality": lambda request: REFUSED, "scope_calibration": lambda request: failed()}
    found = judged(skill(), Judge(says))
    assert "scope_calibration" in str(found.failure)
    assert "scope_calibration" not in str(found.silenced)


def test_a_text_that_is_too_long_is_mended_by_its_main_file() -> None:
    turns = iter([None, 8])

    def says(request: Request) -> object:
        rating = next(turns)
        return TOO_LONG if rating is None else ratings(request, rating)

    found = judged(skill(), Judge({"output_quality": says}))
    assert found.silenced is None
    assert "references/columns.md:1–3" in str(found.partial)


def test_where_all_judge_all_nothing_is_missed() -> None:
    found = judged(skill(), Judge(), 2)
    assert (found.silenced, found.partial, found.problems, found.notes) == (None, None, (), ())


def test_sections_that_are_cut_take_the_badge() -> None:
    pages = (Page("SKILL.md", "# One\n\n" + "Words. " * 40 + "\n\n# Two\n\n" + "Words. " * 200 + "\n"),)
    found = judged(skill(pages=pages), Judge(), most_characters=600)
    assert str(found.partial).startswith("the judge was shown only part of the skill, without SKILL.md:")


def test_files_that_no_judge_is_shown_are_told_and_take_the_badge() -> None:
    unread = (("references/a.txt", "it holds \x1b[2J"), ("references/b.txt", "too large"))
    found = judged(skill(unread=unread), Judge())
    (problem,) = found.problems
    assert (problem.rule, problem.file, problem.span.line) == ("partly_judged", "references/a.txt", 1)
    assert "references/b.txt (too large)" in problem.message
    assert problem.message.isprintable()
    assert "references/a.txt" in str(found.partial)
    assert str(found.partial).isprintable()
    assert found.notes == ()
    assert found.layer.unread == ("references/a.txt (it holds \x1b[2J)", "references/b.txt (too large)")


def test_files_that_no_page_leads_to_are_told_for_information_alone() -> None:
    found = judged(skill(unread=(("references/a.png", "no text"),), aside=frozenset({"references/a.png"})), Judge())
    assert (found.problems, found.partial) == ((), None)
    (note,) = found.notes
    assert (note.rule, note.file) == ("partly_judged", "references/a.png")


def _answering(model: str) -> Judge:
    return Judge({"output_quality": lambda request: answered(request, json.dumps(ratings(request, 5)), model)})


@pytest.mark.parametrize(
    ("asked", "answering", "named"),
    [
        (MODEL, "claude-haiku-5-5", ("claude-haiku-5-5",)),
        (MODEL, MODEL, ()),
        (MODEL, f"{MODEL}-20261101", ()),
        (MODEL, "house-model", ()),
        ("house-model", "claude-haiku-5-5", ()),
    ],
)
def test_a_known_model_that_was_not_asked_is_named(asked: str, answering: str, named: tuple[str, ...]) -> None:
    asker = _answering(answering)
    asker.model = asked
    assert drive(judge(skill(), Panel((Opinion(asked),)), lambda: 0), asker).layer.answered_by == named


def test_each_judge_is_held_to_its_own_model() -> None:
    def says(request: Request) -> object:
        return answered(request, json.dumps(ratings(request, 5)), str(request.body["model"]))

    asker = Judge(
        {
            **dict.fromkeys(RATING_QUESTIONS, says),
            "trigger_predictions": lambda request: answered(
                request, json.dumps(Judge().honest(request)), str(request.body["model"])
            ),
        }
    )
    panel = Panel((Opinion(MODEL), Opinion("claude-haiku-5-5")))
    assert drive(judge(skill(), panel, lambda: 0), asker).layer.answered_by == ()


def test_who_predicts_in_anothers_place_is_named() -> None:
    asker = Judge(
        {
            question: lambda request: answered(request, json.dumps(Judge().honest(request)), "claude-haiku-5-5")
            for question in ("trigger_prompts", "trigger_predictions")
        }
    )
    assert judged(skill(), asker).layer.answered_by == ("claude-haiku-5-5",)
