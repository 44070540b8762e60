"""The rules on eval sets: what keeps a set from telling anything."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evals.read import LEAST, usable
from skillgate.evals.wording import folded, holds, quoted, telling
from skillgate.model.evals import Check, EvalSet, Recorded, TaskCase, TriggerCase
from skillgate.model.finding import HOMEPAGE, Finding, Severity
from skillgate.skill.similarity import terms

if TYPE_CHECKING:
    from pathlib import PurePosixPath

THRESHOLD = 0.8
"""The rate that a set should be able to show where none is asked for."""


class Subject(NamedTuple):
    """A skill and its eval sets.

    Attributes:
        evals: what was read.
        name: as its frontmatter has it.
        description: likewise, with ``when_to_use``; ``""`` for a plugin, or where it could not be read.
        text: all of its main file.
        threshold: the rate that the sets should be able to show; None where none was asked for.
    """

    evals: EvalSet
    name: str = ""
    description: str = ""
    text: str = ""
    threshold: float | None = None


class EvalHit(NamedTuple):
    """What a check yields. ``severity`` and ``fix`` are None where those of the declaration hold."""

    file: str
    line: int
    message: str
    severity: Severity | None = None
    fix: str | None = None


class EvalRule(NamedTuple):
    """The declaration of a check: an entry of ``RULES``; the docstring of ``find`` says why."""

    id: str
    severity: Severity
    summary: str
    fix: str
    find: Callable[[Subject], Iterator[EvalHit]]


_PAGE = f"{HOMEPAGE}/blob/main/docs/how-to/eval-sets.md"


def lint(subject: Subject, path: PurePosixPath, *, only: frozenset[str] = frozenset()) -> tuple[Finding, ...]:
    """Ask every rule, or some, about one skill's eval sets.

    ``path`` is the skill's directory as shown; ``only`` are ids of rules, all where empty.

    Returns:
        The findings by file and line.
    """
    selected = [rule for rule in RULES if not only or rule.id in only]
    return tuple(sorted(_findings(selected, subject, path), key=lambda one: (str(one.path), one.line, one.id)))


def _findings(selected: list[EvalRule], subject: Subject, path: PurePosixPath) -> Iterator[Finding]:
    for rule in selected:
        for hit in rule.find(subject):
            yield Finding(
                id=rule.id,
                severity=rule.severity if hit.severity is None else hit.severity,
                message=hit.message,
                path=path / hit.file,
                line=hit.line,
                column=1,
                fix=rule.fix if hit.fix is None else hit.fix,
                url=f"{_PAGE}#{rule.id.lower()}",
            )


def _contradictory_label(subject: Subject) -> Iterator[EvalHit]:
    """One prompt should trigger the skill and should not.

    No skill can pass both; score counts neither.
    """
    first: dict[str, TriggerCase] = {}
    for case in subject.evals.triggers:
        known = first.setdefault(folded(case.prompt), case)
        if known.should_trigger is not case.should_trigger:
            said, now = ("should", "should not") if known.should_trigger else ("should not", "should")
            message = f"{quoted(case.prompt)} {now} trigger here, and {said} in {known.file} on line {known.line}"
            yield EvalHit(case.file, case.line, message)


def _duplicate_prompt(subject: Subject) -> Iterator[EvalHit]:
    """The same prompt stands twice.

    It counts as two cases and tells as much as one: intervals come out narrower than they are.
    """
    yield from _repeats([((folded(case.prompt), case.should_trigger), case) for case in subject.evals.triggers])
    yield from _repeats([((folded(case.prompt), *sorted(case.attached)), case) for case in subject.evals.tasks])


def _repeats(keyed: list[tuple[Hashable, TriggerCase | TaskCase]]) -> Iterator[EvalHit]:
    first: dict[Hashable, TriggerCase | TaskCase] = {}
    for key, case in keyed:
        known = first.setdefault(key, case)
        if known is not case:
            yield EvalHit(
                case.file, case.line, f"{quoted(case.prompt)} stands in {known.file} on line {known.line} already"
            )


_LEAST_WORDS = 3  # words of an expectation that may stand in a prompt by chance, plus one
_TEXT = 200_000  # characters of a skill that prompts are looked for in
# Only what a name may be: what a stranger puts in its place must not become a pattern that takes for ever.
_NAME = re.compile(r"[^\W_]{1,64}(?:[-_]{1,3}[^\W_]{1,64}){0,15}")
_REWORD = "write what a user would say who does not know the skill"


def _leaked_answer(subject: Subject) -> Iterator[EvalHit]:
    """The prompt holds what is asked of the answer.

    A prompt that names the skill, or repeats a sentence of it, tests whether a model can read; one that holds what its
    answer is held to is passed by repeating it. Nobody's users talk like that.
    """
    named = _name_pattern(subject.name)
    description, text = folded(subject.description), folded(subject.text[:_TEXT])
    for case in subject.evals.triggers:
        if case.should_trigger and named is not None and named.search(case.prompt):
            message = f"{quoted(case.prompt)} names the skill: what is tested is whether it can be called"
            yield EvalHit(case.file, case.line, message, fix=_REWORD)
    cases: list[TriggerCase | TaskCase] = [*subject.evals.triggers, *subject.evals.tasks]
    for one in cases:
        words = folded(one.prompt)
        if telling(words) and (holds(description, words) or holds(text, words)):
            where = "the description" if holds(description, words) else "SKILL.md"
            message = f"{quoted(one.prompt)} stands in {where} word for word"
            yield EvalHit(one.file, one.line, message, fix=_REWORD)
    for task in subject.evals.tasks:
        yield from _expectations(task)


def _expectations(task: TaskCase) -> Iterator[EvalHit]:
    prompt = folded(task.prompt)
    expected = folded(task.expected)
    if telling(expected, least=_LEAST_WORDS) and holds(prompt, expected):
        yield EvalHit(task.file, task.line, f"the prompt of {task.id} holds its expected output word for word")
    for check in task.checks:
        words = folded(check.text)
        if check.kind == "assertion" and telling(words, least=_LEAST_WORDS) and holds(prompt, words):
            message = f"the prompt of {task.id} says word for word what is asserted: {quoted(check.text)}"
            yield EvalHit(check.file, check.line, message)


def _name_pattern(name: str) -> re.Pattern[str] | None:
    """Match a skill's name as a name: a word with a hyphen is nothing else, any other only as command or "… skill"."""
    if not _NAME.fullmatch(name):
        return None
    exact = re.escape(name)
    spaced = re.sub(r"[-_]+", r"[\\s_-]+", re.escape(name).replace(r"\-", "-"))
    forms = [rf"(?<![\w-])[/$@](?:[\w-]+:)?{exact}(?![\w-])", rf"(?<![\w-]){spaced}\s+skill\b"]
    forms.append(rf"\bskill\s+[`'\"]?{spaced}(?![\w-])")
    if "-" in name or "_" in name:
        forms.append(rf"(?<![\w./-]){exact}(?![\w-]|\.\w)")
    return re.compile("|".join(forms), re.IGNORECASE)


# Words of descriptions as such, which say nothing of what a skill is about.
_ANYWHERE = frozenset(terms("use using used user users skill skills ask asks asked help helps need needs want wants"))
_ALIKE = 0.5  # share of the prompts that should trigger which must share a word, for sharing to mean anything


def _no_near_misses(subject: Subject) -> Iterator[EvalHit]:
    """No prompt comes close to the skill without being meant for it.

    A skill that is loaded whatever a user says passes every prompt that should trigger. Only prompts that should not
    can show that, and only where they are near: what has not a word in common with the description misleads nobody.
    """
    triggers = subject.evals.triggers
    should = [case for case in triggers if case.should_trigger]
    should_not = [case for case in triggers if not case.should_trigger]
    if should and not should_not:
        first = should[0]
        message = f"all {len(should)} prompts should trigger: a skill that is always loaded passes every one of them"
        yield EvalHit(first.file, first.line, message)
        return
    topic = frozenset(terms(f"{subject.name} {subject.description}")) - _ANYWHERE
    near = sum(1 for case in should_not if not topic.isdisjoint(terms(case.prompt)))
    alike = sum(1 for case in should if not topic.isdisjoint(terms(case.prompt)))
    # Where the prompts that should trigger share no words either (another language, say), words cannot tell.
    if should_not and not near and subject.description and should and alike >= _ALIKE * len(should):
        first = should_not[0]
        message = (
            f"none of the {len(should_not)} prompts that should not trigger shares a word with the description, and"
            f" {alike} of the {len(should)} that should do: they are too easy to tell apart"
        )
        yield EvalHit(first.file, first.line, message, Severity.WARNING)


_SHOWN = 5
SATURATED_LEAST = 3
"""Cases from which on that all of them pass is no chance: our choice."""


def _saturated(subject: Subject) -> Iterator[EvalHit]:
    """Every recorded run passes, so that the set cannot show a difference.

    Where a case passes with the skill and without it, it says nothing of the skill; where all cases pass always, a
    better skill looks like this one. What passes never is no better.
    """
    for file in dict.fromkeys(one.file for one in subject.evals.recorded):
        yield from _file([one for one in subject.evals.recorded if one.file == file])


def _file(records: Sequence[Recorded]) -> Iterator[EvalHit]:
    cases: dict[str, list[Recorded]] = {}
    for one in records:
        cases.setdefault(one.case, []).append(one)
    both = {case: several for case, several in cases.items() if len(several) > 1}
    for met, words in ((True, "passes"), (False, "fails")):
        same = [case for case, several in both.items() if all(_always(one, met=met) for one in several)]
        if same:
            first = both[same[0]][0]
            which = f"all {len(both)} cases" if len(same) == len(both) else f"{len(same)} of {len(both)} cases"
            names = ", ".join(quoted(case) for case in same[:_SHOWN]) + ("…" if len(same) > _SHOWN else "")
            verb = words.removesuffix("es") if words == "passes" else "fail"
            message = f"{which} {verb} in every run of both arms, and tell nothing of the skill: {names}"
            severity = Severity.WARNING if len(same) == len(both) else Severity.INFO
            yield EvalHit(first.file, first.line, message, severity)
    if not both and len(cases) >= SATURATED_LEAST and all(_always(one, met=True) for one in records):
        first = records[0]
        message = f"all {len(cases)} cases pass in every run: a better skill would look the same"
        yield EvalHit(first.file, first.line, message, Severity.INFO)


def _always(one: Recorded, *, met: bool) -> bool:
    return one.passed == (one.runs if met else 0)


_TAIL = 0.025  # of a 95 % interval, on each side


def lower_bound(passed: int) -> float:
    """Return the lower end of the exact 95 % interval where all of so many cases passed; 0 for none."""
    return float(_TAIL ** (1 / passed)) if passed else 0.0


def needed(threshold: float) -> int:
    """Return the least number of cases whose lower bound reaches a threshold, above 0 and below 1, if all pass."""
    count = max(1, math.floor(math.log(_TAIL) / math.log(threshold)) - 1)
    while lower_bound(count) < threshold:
        count += 1
    return count


def _too_small(subject: Subject) -> Iterator[EvalHit]:
    """Even if every case passed, the set could not show the rate that is asked for.

    The lower end of the exact 95 % interval of n passes out of n is 0.025 to the power of 1/n (C. J. Clopper and
    E. S. Pearson, Biometrika 26 (4), 1934; with all passed the beta quantile has this closed form). A case is a prompt:
    running it again tells of chance in the model, not of other prompts.
    """
    triggers = subject.evals.triggers
    by_label = {label: [case for case in triggers if case.should_trigger is label] for label in (True, False)}
    unused = f"; below {LEAST} of each label score generates prompts of its own instead"
    unused = unused if triggers and usable(triggers) is None else ""
    yield from _group(by_label[True], "prompts that should trigger", subject.threshold, unused)
    yield from _group(by_label[False], "prompts that should not trigger", subject.threshold, unused)
    yield from _group(subject.evals.tasks, "tasks", subject.threshold, "")


def _group(cases: Sequence[TriggerCase | TaskCase], what: str, rate: float | None, unused: str) -> Iterator[EvalHit]:
    threshold = THRESHOLD if rate is None else rate
    count, least = _distinct(cases), needed(threshold)
    if not cases or count >= least:
        return
    message = (
        f"{count} {what if count != 1 else what.replace('s ', ' ', 1).removesuffix('s')}: if all pass, the 95 %"
        f" interval still reaches down to {lower_bound(count):.2f}; to show {threshold:g} it takes {least}{unused}"
    )
    severity = Severity.WARNING if rate is None else Severity.ERROR
    yield EvalHit(cases[0].file, cases[0].line, message, severity, f"write {least - count} more {what}")


def _distinct(cases: Sequence[TriggerCase | TaskCase]) -> int:
    return len({folded(case.prompt) for case in cases})


RATIO = 3
"""How many times as many prompts one label may have: our choice."""


def _unbalanced(subject: Subject) -> Iterator[EvalHit]:
    """One label has far more prompts than the other.

    The trigger score is class-balanced: the label with few prompts weighs as much as the one with many, and each of its
    prompts moves the score by a multiple.
    """
    should, should_not = (
        [case for case in subject.evals.triggers if case.should_trigger is label] for label in (True, False)
    )
    if should_not and not should:
        first = should_not[0]
        message = f"none of the {len(should_not)} prompts should trigger: a skill that is never loaded passes them all"
        yield EvalHit(first.file, first.line, message, Severity.ERROR)
    elif should and should_not:
        few, many = sorted((should, should_not), key=len)
        if len(many) > RATIO * len(few):
            message = (
                f"{len(should)} prompts that should trigger stand beside {len(should_not)} that should not: one of the"
                f" fewer moves the score as much as {len(many) / len(few):.1f} of the others"
            )
            yield EvalHit(few[0].file, few[0].line, message)


def _unread(subject: Subject) -> Iterator[EvalHit]:
    """A file or an entry that nothing reads.

    It looks like a test and tests nothing.
    """
    for one in subject.evals.unread:
        yield EvalHit(one.file, one.line, one.message, one.severity)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What an assertion may be about, joined by; what it may say of that without saying anything; and what measures length.
_SUBJECTS = _words(
    "the a an it its is are was were be been being this that there has have having must should shall will can and or of"
    " in to for with as at by on very quite so all any some every each output outputs result results response responses"
    " answer answers reply text content file files document report summary skill model claude assistant agent task"
    " user users overall general work works worked working"
)
_VAGUE = _words(
    "good great nice fine ok okay well correct correctly right properly proper appropriate appropriately reasonable"
    " reasonably useful helpful high quality professional clear clean accurate sensible satisfactory acceptable"
    " complete completed done successful successfully success looks look looking sounds seems expected valid best"
    " better ideal relevant meaningful satisfied happy written formatted structured made"
)
_LENGTH = _words(
    "long longer longest short shorter length empty nonempty non not more less than least most fewer at between about"
    " word words character characters char chars line lines page pages token tokens sentence sentences paragraph"
    " paragraphs minimum maximum min max over under exceeds contains enough exactly up"
)


def _weak_assertion(subject: Subject) -> Iterator[EvalHit]:
    """What an answer is held to says nothing that could be found wrong.

    Of a grader that passes whatever happens, an answer's length, or that it "is good", no case can fail for a reason
    that someone could mend.
    """
    for task in subject.evals.tasks:
        if not task.checks and not task.expected.strip():
            message = f"nothing says what a good answer to {quoted(task.prompt)} is: no answer can fail"
            yield EvalHit(task.file, task.line, message, fix="add expectations, or an expected output")
        for check in task.checks:
            why = _why_weak(check)
            if why:
                yield EvalHit(check.file, check.line, why)


def _why_weak(check: Check) -> str:
    if not check.can_fail:
        return f"this grader ({check.kind}{' ' + quoted(check.text) if check.text else ''}) passes whatever happens"
    if check.kind not in ("assertion", "llm"):
        return ""
    if not check.text.strip():
        return "it is empty"
    words = [word for word in folded(check.text).split() if word not in _SUBJECTS]
    if all(word in _VAGUE for word in words):
        return f"{quoted(check.text)} says nothing that could be found wrong"
    if all(word in _VAGUE or word in _LENGTH or word.isdecimal() for word in words):
        return f"{quoted(check.text)} looks at length alone"
    return ""


RULES = (  # by id
    EvalRule(
        id="CONTRADICTORY_LABEL",
        severity=Severity.ERROR,
        summary="one prompt should trigger the skill and should not",
        fix="decide which it is, and remove the other",
        find=_contradictory_label,
    ),
    EvalRule(
        id="DUPLICATE_PROMPT",
        severity=Severity.WARNING,
        summary="the same prompt stands twice",
        fix="remove it, or change the situation that it is about",
        find=_duplicate_prompt,
    ),
    EvalRule(
        id="LEAKED_ANSWER",
        severity=Severity.WARNING,
        summary="the prompt holds what is asked of the answer",
        fix="leave what the answer is held to out of the prompt",
        find=_leaked_answer,
    ),
    EvalRule(
        id="NO_NEAR_MISSES",
        severity=Severity.ERROR,
        summary="no prompt comes close to the skill without being meant for it",
        fix="add prompts in the skill's own words that another skill, or none, should answer",
        find=_no_near_misses,
    ),
    EvalRule(
        id="SATURATED",
        severity=Severity.WARNING,
        summary="every recorded run passes, so that the set cannot show a difference",
        fix="add cases that a model without the skill fails, and harder ones that the skill does not always pass",
        find=_saturated,
    ),
    EvalRule(
        id="TOO_SMALL",
        severity=Severity.WARNING,
        summary="even if every case passed, the set could not show the rate that is asked for",
        fix="write more cases, each another situation",
        find=_too_small,
    ),
    EvalRule(
        id="UNBALANCED",
        severity=Severity.WARNING,
        summary="one label has far more prompts than the other",
        fix="write about as many prompts that should trigger as prompts that should not",
        find=_unbalanced,
    ),
    EvalRule(
        id="UNREAD",
        severity=Severity.ERROR,
        summary="a file or an entry that nothing reads",
        fix="give it one of the forms of docs/how-to/eval-sets.md, or keep it outside evals/",
        find=_unread,
    ),
    EvalRule(
        id="WEAK_ASSERTION",
        severity=Severity.WARNING,
        summary="what an answer is held to says nothing that could be found wrong",
        fix="say what must be in the answer, or what must be true of it, so that two people would agree",
        find=_weak_assertion,
    ),
)
