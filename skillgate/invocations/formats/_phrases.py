"""Recognise, by tables of English phrases, what a user or an assistant says of a result.

A text is data: it is cut into sentences and compared with the tables word by word, in linear time. Code blocks,
quotations and all but the ends of a long text are ignored. What matches no table says nothing.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from skillgate.model.invocation import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_END = 1_000  # characters at either end of a text that are examined
_PROMPT = 500  # characters of a prompt that are examined
_SENTENCE = re.compile(r"[.!?;:\n]")
_WORD = re.compile(r"[a-z0-9/']+")
_QUOTED = re.compile(r'`[^`\n]*`|"[^"\n]*"')
_ITEM = re.compile(r"\s*(?:[-*]|\d{1,2}[.)])\s")
_BRIEF = 4  # maximum words of a prompt that only thanks


class Reaction(Enum):
    """What a prompt says of the last result."""

    APPROVES = "approves"
    REJECTS = "rejects"  # it failed
    UNDOES = "undoes"
    CORRECTS = "corrects"


def _table(*texts: str) -> tuple[str, ...]:
    return tuple(f" {' '.join(phrase.split())} " for text in texts for phrase in text.split(","))


def _pairs(first: str, second: str) -> tuple[str, ...]:
    return tuple(f"{one.rstrip()}{other}" for one in _table(first) for other in _table(second))


def _index(phrases: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return phrases by their last word, which is usually the rarest."""
    found: dict[str, tuple[str, ...]] = {}
    for phrase in phrases:
        last = phrase.split()[-1]
        found[last] = (*found.get(last, ()), phrase)
    return found


# Users

_FILLERS = frozenset(
    (
        *("ok", "okay", "yes", "yeah", "yep", "oh", "ah", "wow", "hey", "hm", "hmm", "and", "so", "very", "really"),
        *("please", "that's", "it's", "this", "is"),
    )
)
_ASKING = _table("can you, could you, would you, let's, let us, please, now, no, wait, and, ok, okay, just, i want to")
_APPROVING = _table(
    "thanks, thank you, thx, cheers, perfect, great, awesome, excellent, wonderful, brilliant, fantastic, amazing",
    "nice, lovely, beautiful, lgtm, looks good, looks great, looks right, well done, good job, good work",
    "exactly what i wanted, exactly what i needed, what i wanted, works now, works great, works well, works perfectly",
    "it works, that works, love it, i love it, ship it, approved, all good",
)
_APPROVING_ALONE = frozenset(_table("good, cool, works, super, very good, fine, sounds good, yes it works"))
_NOT_APPROVING = _index(_table("in advance, would, could, can you, thank you note"))
_REJECTING = _index(
    (
        *_pairs("it, that, this, still", "doesn't work, does not work, didn't work, did not work, isn't working"),
        *_pairs(
            "it, that, this, still", "fails, failed, crashes, is broken, is wrong, isn't right, is not right, broke"
        ),
        *_pairs(
            "it is, it's, that is, that's, this is", "wrong, still wrong, broken, still broken, incorrect, useless"
        ),
        *_pairs(
            "it is, it's, that is, that's, this is, is", "not working, not right, not correct, not what i, still not"
        ),
        *_table("everything is broken, nothing works"),
        *_table("doesn't work, does not work, didn't work, still failing, still broken, still wrong, you broke"),
        *_table("not what i asked, not what i wanted, not what i meant, made it worse, made things worse"),
    )
)
_OBJECTING = _index(_table("but, however, though, although, except, one thing, one problem, one issue"))
_REJECTING_OBJECTION = _index(
    _table("is wrong, are wrong, is broken, are broken, fails, fail, failed, is missing, are missing")
)
_UNDOING = ("undo", "revert", "roll back", "rollback", "back out")
_UNDONE = _table(
    "it, this, that, these, those, your, all, everything, the change, the changes, the last, the edit, the edits, both",
)
_CORRECTING = _table(
    "no, nope, actually, wrong, not like that, not like this, try again, redo, do it again, once more, i meant, i said",
    "i asked, you forgot, you missed, you didn't, you did not, you should have, you were supposed, why did you",
    "fix it, fix this, fix that, change it, change that, that's not, that is not, this is not, wait no, wait that",
    "wait you, stop that, stop it",
)
_CORRECTING_ANYWHERE = _index(_table("you forgot, you missed, i meant, not what i, should have been, nice try"))
_CORRECTING_LAST = _table("instead, differently")
_CORRECTING_ALONE = frozenset(_table("again, stop, wait"))
_NEUTRAL = _table("no thanks, no thank you, no problem, no worries")
_COMMITS = _index(_table("commit, push, merge, ship, pr, pull request, land"))


def reaction(text: str) -> Reaction | None:
    """Return what a prompt says of the result before it; the strongest counts."""
    sentences = tuple(_sentences(text[:_PROMPT]))
    found = {one for sentence in sentences if (one := _reaction(sentence)) is not None}
    if Reaction.APPROVES in found and any(_has(sentence, _OBJECTING) for sentence in sentences):
        found.add(Reaction.CORRECTS)
    if any(_has(sentence, _REJECTING_OBJECTION) for sentence in sentences):
        found.discard(Reaction.APPROVES)
    order = (Reaction.UNDOES, Reaction.REJECTS, Reaction.CORRECTS, Reaction.APPROVES)
    return next((one for one in order if one in found), None)


def is_brief(text: str) -> bool:
    """Whether a text has a few words only."""
    return len(_WORD.findall(text[:_PROMPT].lower())) <= _BRIEF


def asks_to_commit(text: str) -> bool:
    """Whether a prompt asks to commit, merge or publish."""
    return any(_has(sentence, _COMMITS) for sentence in _sentences(text[:_PROMPT]))


def _reaction(sentence: str) -> Reaction | None:
    neutral = next((one for one in _NEUTRAL if sentence.startswith(one)), None)
    if neutral is not None:
        rest = _reaction(sentence[len(neutral) - 1 :])
        return None if rest is Reaction.APPROVES else rest
    if _undoes(sentence):
        return Reaction.UNDOES
    objection = " but " in sentence or sentence.startswith(_table("no, nope, hm, hmm, wait"))
    if _has(sentence, _REJECTING) or (objection and _has(sentence, _REJECTING_OBJECTION)):
        return Reaction.REJECTS
    corrects = sentence.startswith(_CORRECTING) or sentence.endswith(_CORRECTING_LAST) or sentence in _CORRECTING_ALONE
    if corrects or _has(sentence, _CORRECTING_ANYWHERE):
        return Reaction.CORRECTS
    plain = _without_fillers(sentence)
    approves = plain.startswith(_APPROVING) or sentence in _APPROVING_ALONE
    return Reaction.APPROVES if approves and not _has(sentence, _NOT_APPROVING) else None


def _undoes(sentence: str) -> bool:
    rest = sentence
    while (start := next((one for one in _ASKING if rest.startswith(one)), None)) is not None:
        rest = rest[len(start) - 1 :]
    verb = next((verb for verb in _UNDOING if rest.startswith(f" {verb} ")), None)
    return verb is not None and (rest == f" {verb} " or rest[len(verb) + 1 :].startswith(_UNDONE))


def _without_fillers(sentence: str) -> str:
    words = sentence.split()
    start = next((place for place, word in enumerate(words) if word not in _FILLERS), len(words))
    return f" {' '.join(words[start:])} "


# Assistants

_UNABLE = "could not, couldn't, cannot, can't, unable to, not able to, wasn't able to, failed to, did not, didn't"
_GIVEN_UP = _index(
    (
        *_pairs(_UNABLE, "complete, finish, proceed, continue, succeed"),
        *_table(
            "giving up, gave up, not completed, not been completed, is incomplete, was not successful, unsuccessful"
        ),
    )
)
_FAILED = _index(
    (
        *_pairs(
            "could not, couldn't, cannot, can't, unable to, not able to, wasn't able to, failed to",
            "run, publish, release, deploy, push, build, install, access, connect, fix, resolve, create, write, open,"
            "reach, load, make, get, do, update, merge, upload, verify, test, start, download, authenticate, generate,"
            "execute, apply, commit",
        ),
        *_pairs(
            "release, publish, publishing, publication, deployment, deploy, upload, migration, build,"
            "task, push, merge,"
            "installation, update, job, run",
            "failed, fails, has failed, is failing, was aborted, is aborted",
        ),
        *_pairs("still, again", "fails, failing, failed, broken, fail"),
        *_table("did not work, didn't work, does not work, doesn't work, remains broken"),
    )
)
_FAILED_FIRST = _table("failed, failure, aborted")
_MADE = (
    "added, created, updated, written, wrote, fixed, implemented, released, published, deployed, merged, committed,"
    "pushed, renamed, removed, refactored, generated, installed, converted, migrated, built, finished, completed,"
    "moved, done, set up, ready, complete, replaced, upgraded, tested"
)
_SUCCEEDED = _index(
    (
        *_pairs("is, are, was, were, has been, have been, i, i have, i've, we, is now, are now", _MADE),
        *_table("tests pass, tests passed, tests are green, tests now pass, checks pass, checks passed, successfully"),
        *_table("is up and running, now passes, now pass"),
    )
)
_SUCCEEDED_FIRST = _table(f"{_MADE}, all done, all finished, all set, everything works, everything passes, success")
_LEFT = _index(  # something is not done, whatever else is
    (
        *_pairs("is, are, keep, keeps", "failing, broken"),
        *_pairs("test, tests, check, checks", "fail"),
        *_pairs(
            "is not, are not, isn't, aren't, was not, were not, wasn't, weren't",
            "finished, done, complete, ready, working, fixed, passing, published, deployed, uploaded, merged",
        ),
        *_pairs("with, with some, with several", "errors, failures"),
        *_table("could not be, couldn't be, unfortunately, all but, apart from"),
        *_table("except for, except that, except the, except one, except two"),
    )
)
_LEFT_FIRST = _table("remaining")
_LEFT_COUNT = re.compile(
    r" with [1-9]\d* (?:errors?|failures?) | [1-9]\d* (?:\w+ )?(?:failed|fail|fails) "
    r"| (\d+) (?:out )?of (?:the )?(?!\1 )\d+ | (\d+)/(?!\2 )\d+ (?:tests|checks|files|cases|tasks|steps|pass|passed) "
)
_DOUBTS = _index(
    _table(
        "not, never, cannot, no longer, once, if, unless, until, will, would, should, when, must,"
        "nothing, failed, fails,"
        "partly, partially, almost, before, need, needs, some of, most of, half of, the first step, the first part"
    )
)
_COURTESIES = _index(_table("anything else, something else, help with, any questions, further questions, what's next"))


def report(text: str) -> Evidence | None:
    """Return whether an assistant's last text reports success or failure; None for neither, and for some of both."""
    given_up = failed = succeeded = is_left = False
    for sentence in _sentences(text):
        given_up = given_up or _has(sentence, _GIVEN_UP)
        failed = failed or _has(sentence, _FAILED) or sentence.startswith(_FAILED_FIRST)
        is_left = is_left or _is_left(sentence)
        doubtful = "n't " in sentence or sentence.endswith(" instead ") or _has(sentence, _DOUBTS)
        succeeds = sentence.startswith(_SUCCEEDED_FIRST) or _has(sentence, _SUCCEEDED)
        succeeded = succeeded or (succeeds and not doubtful)
    if given_up or (failed and not succeeded):
        return Evidence.REPORTED_FAILURE
    return Evidence.REPORTED_SUCCESS if succeeded and not (failed or is_left or asks(text)) else None


def _is_left(sentence: str) -> bool:
    """Whether a sentence says that something is not done, or does not work."""
    counted = _LEFT_COUNT.search(sentence) is not None
    return counted or sentence.startswith(_LEFT_FIRST) or _has(sentence, _LEFT)


def asks(text: str) -> bool:
    """Whether a text ends with a question, perhaps with a list of answers; an offer of more help is not one."""
    before, mark, after = text[-_END:].rpartition("?")
    if not mark or any(line.strip(" *_`)\"'") and not _ITEM.match(line) for line in after.split("\n")):
        return False
    return not any(_has(sentence, _COURTESIES) for sentence in _sentences(_SENTENCE.split(before)[-1]))


# Texts


def _has(sentence: str, phrases: Mapping[str, tuple[str, ...]]) -> bool:
    return any(phrase in sentence for word in sentence.split() if word in phrases for phrase in phrases[word])


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences as lower-case words, with a space at both ends of each."""
    ends = text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"
    for sentence in _SENTENCE.split(_QUOTED.sub(" ", "\n".join(_own_lines(ends))).replace("\u2019", "'").lower()):
        words = _WORD.findall(sentence)
        if words:
            yield f" {' '.join(words)} "


def _own_lines(text: str) -> Iterator[str]:
    """Yield the lines outside of code blocks and quotations."""
    in_code = False
    for line in text.split("\n"):
        start = line.lstrip()
        if start.startswith("```"):
            in_code = not in_code
        elif not in_code and not start.startswith(">"):
            yield line
