"""Which comment is ours, and what becomes of it: decided from plain values."""

from __future__ import annotations

import pytest

from skillgate.action.comment import sticky
from skillgate.action.comment.sticky import ACTIONS_LOGIN, Comment, Decision, decide, marked

MARK = sticky.marker("default")
BODY = f"{MARK}\n### passed\n"


def _bot(number: int, body: str = BODY, login: str = ACTIONS_LOGIN, app: str = "") -> Comment:
    return Comment(number, body, f"https://github.com/o/r/pull/1#issuecomment-{number}", login, bot=True, app=app)


def _person(number: int, body: str = BODY, login: str = "mona") -> Comment:
    return Comment(number, body, login=login)


def test_the_marker_names_the_key() -> None:
    assert sticky.marker("docs.v2") == "<!-- skillgate:v1 key=docs.v2 -->"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (BODY, True),
        (BODY.replace("\n", "\r\n"), True),
        (MARK, True),
        (f"{MARK}  \ntext", True),
        (f"> {BODY}", False),
        (f"\n{BODY}", False),
        (f" {BODY}", False),
        (f"{MARK} text", False),
        (f"text\n{MARK}", False),
        (sticky.marker("other") + "\n", False),
        (MARK.upper(), False),
        ("", False),
    ],
)
def test_only_a_first_line_that_is_the_marker_marks(body: str, expected: bool) -> None:
    assert sticky.bears(body, MARK) is expected


def test_the_oldest_comes_first_in_whatever_order_they_are_listed() -> None:
    assert [item.id for item in marked([_bot(3), _bot(1), _bot(2, "nothing"), _person(4)], MARK)] == [1, 3, 4]


CASES = {
    "nothing there": ((), ACTIONS_LOGIN, None, ()),
    "ours": ((_bot(1),), ACTIONS_LOGIN, 1, ()),
    "ours, letters of another case": ((_bot(1, login="GitHub-Actions[bot]"),), ACTIONS_LOGIN, 1, ()),
    "two later ones": ((_bot(1), _bot(2), _bot(3)), ACTIONS_LOGIN, 1, (2, 3)),
    "a person's copy": ((_person(1),), ACTIONS_LOGIN, None, ()),
    "another bot's copy": ((_bot(1, login="echo[bot]"),), ACTIONS_LOGIN, None, ()),
    "a person and a bot before ours": ((_person(1), _bot(2, login="echo[bot]"), _bot(3)), ACTIONS_LOGIN, 3, ()),
    "a person's own token": ((_person(1), _person(2, login="hubot")), "hubot", 2, ()),
    "an author who left": ((_person(1, login=""),), "", None, ()),
    "not known: a person's copy": ((_person(1),), None, None, ()),
    "not known: an App's bot": ((_bot(1, login="gate[bot]"),), None, 1, ()),
    "not known: written by the bot's own App": ((_bot(1, login="gate[bot]", app="gate"),), None, 1, ()),
    "not known: the App is not the bot's": ((_bot(1, login="gate[bot]", app="echo"),), None, None, ()),
    "not known: Actions before an older bot": ((_bot(1, login="echo[bot]"), _bot(2), _bot(3)), None, 2, (3,)),
    "not known: of two bots the older": ((_bot(1, login="a[bot]"), _bot(2, login="b[bot]")), None, 1, ()),
    "not known: an author who left": ((Comment(1, BODY, bot=True),), None, None, ()),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_kept_and_what_becomes_a_pointer(case: str) -> None:
    candidates, login, kept, duplicates = CASES[case]
    decision = decide(candidates, BODY, login)
    assert (decision.current.id if decision.current else None) == kept
    assert tuple(item.id for item in decision.duplicates) == duplicates


@pytest.mark.parametrize(
    ("there", "outdated"),
    [
        (BODY, False),
        (BODY.replace("\n", "\r\n"), False),
        (BODY.rstrip(), False),
        (BODY + "\n \n", False),
        (BODY.replace("passed", "failed"), True),
        (BODY.replace("### ", "###  "), True),
    ],
)
def test_only_another_text_is_written_anew(there: str, outdated: bool) -> None:
    assert decide((_bot(1, there),), BODY, ACTIONS_LOGIN) == Decision(_bot(1, there), outdated=outdated)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (MARK + "\n" + "x" * (65_535 - len(MARK)), ""),
        (MARK + "\n" + "x" * (65_536 - len(MARK)), "65,537 characters"),
        (MARK + "\n" + "🎯" * 33_000, "more than the 65,536"),
        (MARK + "\n" + "\ud800", ""),
        ("### passed", "does not begin with its marker"),
        ("", "does not begin with its marker"),
    ],
)
def test_what_could_not_stand_there_is_refused_before_it_is_sent(body: str, words: str) -> None:
    refusal = sticky.refusal(body, MARK)
    assert words in refusal
    assert bool(refusal) is bool(words)


def test_a_pointer_is_no_duplicate_again() -> None:
    kept = _bot(1)
    assert kept.url in sticky.pointer(kept)
    assert not sticky.bears(sticky.pointer(kept), MARK)
    assert sticky.pointer(kept._replace(url="")).count("\n") == 0
