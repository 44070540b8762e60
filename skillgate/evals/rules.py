"""The rules on eval sets: they find what keeps a set from showing anything."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evals.read import LEAST, usable
from skillgate.evals.wording import folded, holds, quoted, telling
from skillgate.homepage import page
from skillgate.model.evals import Check, EvalSet, Recorded, TaskCase, TriggerCase
from skillgate.model.finding import Finding, Severity
from skillgate.skill.similarity import terms

if TYPE_CHECKING:
    from pathlib import PurePosixPath

THRESHOLD = 0.8
"""The rate that a set should be able to show, unless another one is set."""


class Subject(NamedTuple):
    """A skill and its eval sets.

    Attributes:
        evals: what was read.
        name: from the frontmatter.
        description: from the frontmatter, with ``when_to_use``; ``""`` for a plugin, or if unreadable.
        text: the whole main file.
        threshold: the rate in (0, 1) that the sets should be able to show; None for the default.
    """

    evals: EvalSet
    name: str = ""
    description: str = ""
    text: str = ""
    threshold: float | None = None


class EvalHit(NamedTuple):
    """A finding of a check; ``severity`` and ``fix`` default to those of the rule."""

    file: str
    line: int
    message: str
    severity: Severity | None = None
    fix: str | None = None


class EvalRule(NamedTuple):
    """The declaration of a check: an entry of ``RULES``. The docstring of ``find`` says why."""

    id: str
    severity: Severity
    fix: str
    find: Callable[[Subject], Iterator[EvalHit]]


def lint(subject: Subject, path: PurePosixPath, *, only: frozenset[str] = frozenset()) -> tuple[Finding, ...]:
    """Apply the rules with the ids ``only`` (all if empty) to one skill's eval sets; findings by file and line.

    ``path`` is the skill's directory as shown.
    """
    described = page("how-to/eval-sets.md")
    findings = [
        Finding(
            id=rule.id,
            severity=rule.severity if hit.severity is None else hit.severity,
            message=hit.message,
            path=path / hit.file,
            line=hit.line,
            column=1,
            fix=rule.fix if hit.fix is None else hit.fix,
            url=f"{described}#{rule.id.lower()}" if described else "",
        )
        for rule in RULES
        if not only or rule.id in only
        for hit in rule.find(subject)
    ]
    return tuple(sorted(findings, key=lambda one: (str(one.path), one.line, one.id)))


def _contradictory_label(subject: Subject) -> Iterator[EvalHit]:
    """Find prompts labelled both ways. No skill can pass both, so score ignores them."""
    first: dict[str, TriggerCase] = {}
    for case in subject.evals.triggers:
        known = first.setdefault(folded(case.prompt), case)
        if known.should_trigger is not case.should_trigger:
            said, now = ("should", "should not") if known.should_trigger else ("should not", "should")
            message = f"{quoted(case.prompt)} {now} trigger here, but {said} in {known.file} on line {known.line}"
            yield EvalHit(case.file, case.line, message)


def _duplicate_prompt(subject: Subject) -> Iterator[EvalHit]:
    """Find repeated prompts. A repeat adds no evidence, but makes intervals too narrow."""
    yield from _repeats([((folded(case.prompt), case.should_trigger), case) for case in subject.evals.triggers])
    yield from _repeats([((folded(case.prompt), *sorted(case.attached)), case) for case in subject.evals.tasks])


def _repeats(keyed: list[tuple[Hashable, TriggerCase | TaskCase]]) -> Iterator[EvalHit]:
    first: dict[Hashable, TriggerCase | TaskCase] = {}
    for key, case in keyed:
        known = first.setdefault(key, case)
        if known is not case:
            message = f"{quoted(case.prompt)} already appears in {known.file} on line {known.line}"
            yield EvalHit(case.file, case.line, message)


_LEAST_WORDS = 3  # fewer words of an expectation may appear in a prompt by chance
_TEXT = 200_000  # characters of a skill in which prompts are searched
# Only valid names: a hostile name must not become a pattern that takes for ever.
_NAME = re.compile(r"[^\W_]{1,64}(?:[-_]{1,3}[^\W_]{1,64}){0,15}")
_REWORD = "rephrase it as a user who does not know the skill"


def _leaked_answer(subject: Subject) -> Iterator[EvalHit]:
    """Find prompts that give the answer away.

    Users do not name the skill or quote it. A prompt that contains its expected answer is passed by repeating it.
    """
    named = _name_pattern(subject.name)
    description, text = folded(subject.description), folded(subject.text[:_TEXT])
    for case in subject.evals.triggers:
        if case.should_trigger and named is not None and named.search(case.prompt):
            message = f"{quoted(case.prompt)} names the skill, so it only tests whether the skill can be called"
            yield EvalHit(case.file, case.line, message, fix=_REWORD)
    cases: list[TriggerCase | TaskCase] = [*subject.evals.triggers, *subject.evals.tasks]
    for one in cases:
        words = folded(one.prompt)
        if telling(words) and (holds(description, words) or holds(text, words)):
            where = "the description" if holds(description, words) else "SKILL.md"
            message = f"{quoted(one.prompt)} appears in {where} word for word"
            yield EvalHit(one.file, one.line, message, fix=_REWORD)
    for task in subject.evals.tasks:
        yield from _expectations(task)


def _expectations(task: TaskCase) -> Iterator[EvalHit]:
    prompt = folded(task.prompt)
    expected = folded(task.expected)
    if telling(expected, least=_LEAST_WORDS) and holds(prompt, expected):
        yield EvalHit(task.file, task.line, f"the prompt of {task.id} contains its expected output word for word")
    for check in task.checks:
        words = folded(check.text)
        if check.kind == "assertion" and telling(words, least=_LEAST_WORDS) and holds(prompt, words):
            message = f"the prompt of {task.id} contains this assertion word for word: {quoted(check.text)}"
            yield EvalHit(check.file, check.line, message)


def _name_pattern(name: str) -> re.Pattern[str] | None:
    """Match a skill's name: with a hyphen as a word, any other only as a command or as "… skill"."""
    if not _NAME.fullmatch(name):
        return None
    exact = re.escape(name)
    spaced = re.sub(r"[-_]+", r"[\\s_-]+", re.escape(name).replace(r"\-", "-"))
    forms = [rf"(?<![\w-])[/$@](?:[\w-]+:)?{exact}(?![\w-])", rf"(?<![\w-]){spaced}\s+skill\b"]
    forms.append(rf"\bskill\s+[`'\"]?{spaced}(?![\w-])")
    if "-" in name or "_" in name:
        forms.append(rf"(?<![\w./-]){exact}(?![\w-]|\.\w)")
    return re.compile("|".join(forms), re.IGNORECASE)


# Words of any description, which say nothing about a skill's subject.
_ANYWHERE = frozenset(terms("use using used user users skill skills ask asks asked help helps need needs want wants"))
_ALIKE = 0.5  # share of should-trigger prompts with a common word below which common words mean nothing


def _no_near_misses(subject: Subject) -> Iterator[EvalHit]:
    """Find sets without near misses.

    A skill that is always loaded passes every should-trigger prompt. Only near misses expose it: a prompt without any
    word of the description is too easy.
    """
    triggers = subject.evals.triggers
    should = [case for case in triggers if case.should_trigger]
    should_not = [case for case in triggers if not case.should_trigger]
    if should and not should_not:
        first = should[0]
        message = f"all {len(should)} prompts should trigger; a skill that is always loaded passes them all"
        yield EvalHit(first.file, first.line, message)
        return
    topic = frozenset(terms(f"{subject.name} {subject.description}")) - _ANYWHERE
    near = sum(1 for case in should_not if not topic.isdisjoint(terms(case.prompt)))
    alike = sum(1 for case in should if not topic.isdisjoint(terms(case.prompt)))
    # If the should-trigger prompts share no words either (as in another language), words show nothing.
    if should_not and not near and subject.description and should and alike >= _ALIKE * len(should):
        first = should_not[0]
        message = (
            f"none of the {len(should_not)} prompts that should not trigger shares a word with the description;"
            f" {alike} of the {len(should)} that should trigger do. They are too easy to distinguish"
        )
        yield EvalHit(first.file, first.line, message, Severity.WARNING)


_SHOWN = 5
SATURATED_LEAST = 3
"""Minimum cases before passing all of them is reported: our choice."""


def _saturated(subject: Subject) -> Iterator[EvalHit]:
    """Find recorded results that cannot show a difference.

    A case that always passes, or always fails, with and without the skill says nothing about it. If all cases always
    pass, a better skill looks the same.
    """
    for file in dict.fromkeys(one.file for one in subject.evals.recorded):
        yield from _file([one for one in subject.evals.recorded if one.file == file])


def _file(records: Sequence[Recorded]) -> Iterator[EvalHit]:
    cases: dict[str, list[Recorded]] = {}
    for one in records:
        cases.setdefault(one.case, []).append(one)
    both = {case: several for case, several in cases.items() if len(several) > 1}
    for met, verb in ((True, "pass"), (False, "fail")):
        same = [case for case, several in both.items() if all(_always(one, met=met) for one in several)]
        if same:
            first = both[same[0]][0]
            which = f"all {len(both)} cases" if len(same) == len(both) else f"{len(same)} of {len(both)} cases"
            names = ", ".join(quoted(case) for case in same[:_SHOWN]) + ("…" if len(same) > _SHOWN else "")
            message = f"{which} {verb} in every run of both arms and say nothing about the skill: {names}"
            severity = Severity.WARNING if len(same) == len(both) else Severity.INFO
            yield EvalHit(first.file, first.line, message, severity)
    if not both and len(cases) >= SATURATED_LEAST and all(_always(one, met=True) for one in records):
        first = records[0]
        message = f"all {len(cases)} cases pass in every run; a better skill would look the same"
        yield EvalHit(first.file, first.line, message, Severity.INFO)


def _always(one: Recorded, *, met: bool) -> bool:
    return one.passed == (one.runs if met else 0)


_TAIL = 0.025  # of a 95 % interval, on each side


def lower_bound(passed: int) -> float:
    """Return the lower end in [0, 1] of the exact 95 % interval if all of ``passed`` cases passed."""
    return float(_TAIL ** (1 / passed)) if passed else 0.0


def needed(threshold: float) -> int:
    """Return the minimum number of cases whose lower bound reaches a threshold in (0, 1) if all pass."""
    count = max(1, math.floor(math.log(_TAIL) / math.log(threshold)) - 1)
    while lower_bound(count) < threshold:
        count += 1
    return count


def _too_small(subject: Subject) -> Iterator[EvalHit]:
    """Find sets that cannot show the required rate even if every case passes.

    The lower end of the exact 95 % interval of n passes out of n is 0.025 to the power of 1/n (C. J. Clopper and
    E. S. Pearson, Biometrika 26 (4), 1934; the beta quantile in closed form). A case is a prompt: repeated runs show
    the model's randomness, not other prompts.
    """
    triggers = subject.evals.triggers
    by_label = {label: [case for case in triggers if case.should_trigger is label] for label in (True, False)}
    unused = f"; with fewer than {LEAST} of either label, score generates its own prompts"
    unused = unused if triggers and usable(triggers) is None else ""
    yield from _group(by_label[True], "prompts that should trigger", subject.threshold, unused)
    yield from _group(by_label[False], "prompts that should not trigger", subject.threshold, unused)
    yield from _group(subject.evals.tasks, "tasks", subject.threshold, "")


def _group(cases: Sequence[TriggerCase | TaskCase], what: str, rate: float | None, unused: str) -> Iterator[EvalHit]:
    threshold = THRESHOLD if rate is None else rate
    count, least = len({folded(case.prompt) for case in cases}), needed(threshold)
    if not cases or count >= least:
        return
    message = (
        f"{count} {what if count != 1 else what.replace('s ', ' ', 1).removesuffix('s')}: even if all pass, the 95 %"
        f" interval starts at {lower_bound(count):.2f}; {least} are needed to show {threshold:g}{unused}"
    )
    severity = Severity.WARNING if rate is None else Severity.ERROR
    yield EvalHit(cases[0].file, cases[0].line, message, severity, f"write {least - count} more {what}")


RATIO = 3
"""Maximum ratio between the numbers of prompts of the two labels: our choice."""


def _unbalanced(subject: Subject) -> Iterator[EvalHit]:
    """Find sets in which one label has far more prompts than the other.

    The trigger score is class-balanced: both labels have the same weight, so a prompt of the rarer label moves the
    score more.
    """
    should, should_not = (
        [case for case in subject.evals.triggers if case.should_trigger is label] for label in (True, False)
    )
    if should_not and not should:
        first = should_not[0]
        message = f"none of the {len(should_not)} prompts should trigger; a skill that is never loaded passes them all"
        yield EvalHit(first.file, first.line, message, Severity.ERROR)
    elif should and should_not:
        few, many = sorted((should, should_not), key=len)
        if len(many) > RATIO * len(few):
            message = (
                f"{len(should)} prompts should trigger, {len(should_not)} should not; each of the rarer label moves the"
                f" score as much as {len(many) / len(few):.1f} of the other"
            )
            yield EvalHit(few[0].file, few[0].line, message)


def _unread(subject: Subject) -> Iterator[EvalHit]:
    """Find files and entries that nothing reads: they look like tests and test nothing."""
    return (EvalHit(one.file, one.line, one.message, one.severity) for one in subject.evals.unread)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words for what an assertion is about; words that judge without a criterion; and words for length.
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
    """Find checks that cannot fail for a reason that can be fixed.

    These are graders that always pass, and assertions about length alone or that the answer "is good".
    """
    for task in subject.evals.tasks:
        if not task.checks and not task.expected.strip():
            message = f"{quoted(task.prompt)} has neither expectations nor an expected output, so no answer can fail"
            yield EvalHit(task.file, task.line, message, fix="add expectations or an expected output")
        for check in task.checks:
            why = _why_weak(check)
            if why:
                yield EvalHit(check.file, check.line, why)


def _why_weak(check: Check) -> str:
    if not check.can_fail:
        return f"this grader ({check.kind}{' ' + quoted(check.text) if check.text else ''}) always passes"
    if check.kind not in ("assertion", "llm"):
        return ""
    if not check.text.strip():
        return "the assertion is empty"
    words = [word for word in folded(check.text).split() if word not in _SUBJECTS]
    if all(word in _VAGUE for word in words):
        return f"{quoted(check.text)} states nothing that can be checked"
    if all(word in _VAGUE or word in _LENGTH or word.isdecimal() for word in words):
        return f"{quoted(check.text)} checks length only"
    return ""


RULES = (  # by id
    EvalRule(
        "CONTRADICTORY_LABEL",
        Severity.ERROR,
        "keep the correct label and remove the other prompt",
        _contradictory_label,
    ),
    EvalRule("DUPLICATE_PROMPT", Severity.WARNING, "remove it, or describe another situation", _duplicate_prompt),
    EvalRule("LEAKED_ANSWER", Severity.WARNING, "remove the expected answer from the prompt", _leaked_answer),
    EvalRule(
        "NO_NEAR_MISSES",
        Severity.ERROR,
        "add prompts that use the skill's vocabulary but that another skill, or none, should answer",
        _no_near_misses,
    ),
    EvalRule(
        "SATURATED",
        Severity.WARNING,
        "add cases that fail without the skill, and harder ones that the skill sometimes fails",
        _saturated,
    ),
    EvalRule("TOO_SMALL", Severity.WARNING, "add more cases, each with a different situation", _too_small),
    EvalRule(
        "UNBALANCED",
        Severity.WARNING,
        "add prompts of the rarer label until both have about the same number",
        _unbalanced,
    ),
    EvalRule(
        "UNREAD",
        Severity.ERROR,
        "use one of the formats in docs/how-to/eval-sets.md, or move it out of evals/",
        _unread,
    ),
    EvalRule(
        "WEAK_ASSERTION",
        Severity.WARNING,
        "say what the answer must contain, so precisely that two people would agree on the result",
        _weak_assertion,
    ),
)
