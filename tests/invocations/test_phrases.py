"""What texts say by the tables of phrases, beyond the transcripts in ``uses.txt``."""

from __future__ import annotations

import pytest

from skillgate.invocations.formats._phrases import Reaction, asks, reaction, report
from skillgate.model.invocation import Evidence

SUCCESS, FAILURE = Evidence.REPORTED_SUCCESS, Evidence.REPORTED_FAILURE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Thanks!", Reaction.APPROVES),
        ("ok, that\u2019s perfect", Reaction.APPROVES),
        ("thanks in advance for a summary", None),
        ("write a thank you note", None),
        ("no thanks", None),
        ("great, but it is still broken", Reaction.REJECTS),
        ("can you revert this?", Reaction.UNDOES),
        ("undo", Reaction.UNDOES),
        ("revert commit 12 of Bob", None),
        ("explain `it doesn't work` in the log", None),
        ('translate "that\'s wrong" into French', None),
        ("use tabs instead", Reaction.CORRECTS),
        ("now count the lines", None),
        ("great but the chart is empty", Reaction.CORRECTS),
        ("nice try, but no", Reaction.CORRECTS),
        ("thank you, however the total is off", Reaction.CORRECTS),
        ("Perfect! One thing: the date is missing", Reaction.CORRECTS),
        ("Perfect! The date is missing.", None),
        ("great, now everything is broken", Reaction.REJECTS),
        ("no problem, but the totals are wrong", Reaction.REJECTS),
        ("no thanks, please do it differently", Reaction.CORRECTS),
        ("no problem, thanks", None),
        ("thanks! next, sort by date", Reaction.APPROVES),
        ("", None),
    ],
)
def test_a_prompt_says_what_its_phrases_say(text: str, said: Reaction | None) -> None:
    assert reaction(text) is said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Done.", SUCCESS),
        ("I've added the option and updated the docs.", SUCCESS),
        ("I could not find any problems.", None),
        ("Once the token is fixed, the release is ready.", None),
        ("Fixed the parser. Which name do you want?", None),
        ("FAILED: no token", FAILURE),
        ("The migration failed.", FAILURE),
        ("The first upload failed. I fixed the token.", None),
        ("I fixed the token, but I couldn't complete the release.", FAILURE),
        ("I converted 3 of 5 files. The other two could not be converted.", None),
        ("I converted 3 of 5 files.", None),
        ("I converted 5 of 5 files.", SUCCESS),
        ("I've updated the file, but the tests are failing.", None),
        ("Updated the config. The tests could not be run because pytest is missing.", None),
        ("Unfortunately the API returned 403, so nothing was uploaded. I created a stub instead.", None),
        ("The API returned 403. I created a stub instead.", None),
        ("Completed with 3 failures.", None),
        ("Finished with errors.", None),
        ("I added a check: a name cannot be empty.", SUCCESS),
        ("I updated the notes of 11/24.", SUCCESS),
        ("14/14 tests pass.", SUCCESS),
        ("Completed with 0 failures.", SUCCESS),
        ("Fixed 3 failing tests.", SUCCESS),
        ("Done: 118 passed, 2 failed.", None),
        ("Tests pass except for two.", None),
        ("12/14 tests pass. I added the option.", None),
        ("I completed the first step. Remaining: steps 2 and 3.", None),
        ("The first chapter is written. The second is not finished.", None),
        ("> I could not complete it\n\nThat is what the log says.", None),
        ("", None),
    ],
)
def test_a_last_text_reports_success_failure_or_neither(text: str, said: Evidence | None) -> None:
    assert report(text) is said


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("Which one?", True),
        ("Which one?\n\n1. PostgreSQL\n2. SQLite\n", True),
        ("Which one? I took the first.", False),
        ("All done. Anything else?", False),
        ("Done.", False),
    ],
)
def test_a_text_that_ends_with_a_question_asks(text: str, *, is_question: bool) -> None:
    assert asks(text) is is_question


def test_only_the_ends_of_a_long_text_are_examined() -> None:
    hidden = "a " * 2_000_000 + "Done. " + "`" * 1_000 + '"' * 1_000 + " a" * 2_000_000
    assert (report(hidden), reaction(hidden), asks(hidden)) == (None, None, False)
