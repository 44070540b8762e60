"""The prompt holds what is asked of the answer.

A prompt that names the skill, or repeats a sentence of it, tests whether a model can read; one that holds what its
answer is held to is passed by repeating it. Nobody's users talk like that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.evals.rule import EvalHit, EvalRule, Subject
from skillgate.evals.wording import folded, holds, quoted, telling
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.evals import TaskCase, TriggerCase

_LEAST = 3  # words of an expectation that may stand in a prompt by chance, plus one
_TEXT = 200_000  # characters of a skill that prompts are looked for in
# Only what a name may be: what a stranger puts in its place must not become a pattern that takes for ever.
_NAME = re.compile(r"[^\W_]{1,64}(?:[-_]{1,3}[^\W_]{1,64}){0,15}")
_REWORD = "write what a user would say who does not know the skill"


def find(subject: Subject) -> Iterator[EvalHit]:
    """Look for the skill's name, its sentences, and expectations, in the prompts."""
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
        yield from _told(task)


def _told(task: TaskCase) -> Iterator[EvalHit]:
    prompt = folded(task.prompt)
    expected = folded(task.expected)
    if telling(expected, least=_LEAST) and holds(prompt, expected):
        yield EvalHit(task.file, task.line, f"the prompt of {task.id} holds its expected output word for word")
    for check in task.checks:
        words = folded(check.text)
        if check.kind == "assertion" and telling(words, least=_LEAST) and holds(prompt, words):
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


RULE = EvalRule(
    id="LEAKED_ANSWER",
    severity=Severity.WARNING,
    summary="the prompt holds what is asked of the answer",
    fix="leave what the answer is held to out of the prompt",
    find=find,
)
