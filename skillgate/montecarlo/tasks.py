"""The tasks of lift: those that a skill brings in its evals, else ten that the grader's model writes.

What of a skill's own tasks cannot be done here is told and never dropped silently: tasks with files of their own,
since no session is given them; prompts that the skill is not meant for; graders that look at more than an answer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.evals.wording import folded
from skillgate.judge.asking import ask
from skillgate.judge.fence import fenced
from skillgate.judge.requests import MAX_TOKENS
from skillgate.judge.schema import names
from skillgate.judge.sheet import reason_of
from skillgate.model.exchange import Request, Status
from skillgate.model.text import printable
from skillgate.montecarlo import lift_schema, lift_wording
from skillgate.montecarlo.prompt_requests import LONGEST_KNOWN, MOST_BODY, Ordered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.model.evals import Check, TaskCase
    from skillgate.model.exchange import Answer, Steps
    from skillgate.montecarlo.subject import Plan, Subject

TASK_PROMPTS = "task_prompts"
WRITTEN = 10
"""Tasks that are written where a skill brings none."""
MOST_TASKS = 50  # of a skill's own that are done
MOST_EXPECTATIONS = 60  # of one task
LONGEST = 4_000  # characters of an expectation, which a grader is shown whole
FEWEST, LARGEST = 2, 4  # expectations of a written task
ROUNDS = 2
GRADED = ("assertion", "llm")
"""Kinds of checks that are sentences to hold an answer to. A pattern is not: which text it looks at and whether it is
to be found there is not kept of it, and a stranger's pattern can keep a matcher busy for ever. Nor is a call of a
tool, as the arm without the skill has none."""
_TOKENS_OF_THINKING, _TOKENS_PER_TASK = 800, 180


class Task(NamedTuple):
    """A task.

    Attributes:
        id: as the skill calls it, or its number.
        prompt: what the user says.
        expectations: what answers are held to; empty: their quality is graded.
        sample: tells tasks with the same prompt apart.
    """

    id: str
    prompt: str
    expectations: tuple[str, ...] = ()
    sample: int = 0


class Tasks(NamedTuple):
    """The tasks of a skill.

    Attributes:
        tasks: empty where ``missing`` says why.
        source: ``evals`` or ``generated``.
        unsupported: what of the skill's own is not done, each as ``file: kind``.
        answers: of those who wrote them, for the usage.
        missing: why there are none, None where there are.
    """

    tasks: tuple[Task, ...]
    source: str
    unsupported: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    missing: str | None = None


def tasks(subject: Subject, plan: Plan) -> Steps[Tasks]:
    """Get a skill's tasks: its own that can be done, else written ones."""
    own, unsupported = own_tasks(subject)
    if own:
        return Tasks(own, "evals", unsupported)
    found, answers = yield from _written(subject, plan)
    if found:
        return Tasks(found, "generated", unsupported, answers)
    failed = next((answer for answer in reversed(answers) if answer.status is not Status.OK), None)
    why = "none of those that were written can be used" if failed is None else reason_of(failed)
    return Tasks((), "generated", unsupported, answers, f"there are no tasks: {why}")


def own_tasks(subject: Subject) -> tuple[tuple[Task, ...], tuple[str, ...]]:
    """Give the tasks that the skill brings and that can be done here, and what of them cannot, as ``file: kind``."""
    away = {folded(one.prompt) for one in subject.prompts if not one.should_trigger}
    found: list[Task] = []
    unsupported: list[str] = []
    times: dict[str, int] = {}
    for case in subject.tasks:
        hindrance = _hindrance(case, away, len(found))
        if hindrance is not None:
            unsupported.append(f"{case.file}: {hindrance}")
            continue
        unsupported += (f"{one.file}: {fault}" for one in case.checks if (fault := _fault(one)) is not None)
        expected = [one.text for one in case.checks if _fault(one) is None]
        if len(expected) > MOST_EXPECTATIONS:
            unsupported.append(f"{case.file}: expectations of task {case.id} beyond the first {MOST_EXPECTATIONS}")
        sample = times.get(case.prompt, 0)
        times[case.prompt] = sample + 1
        found.append(Task(printable(case.id), case.prompt, tuple(expected[:MOST_EXPECTATIONS]), sample))
    return tuple(found), tuple(dict.fromkeys(unsupported))


def _hindrance(case: TaskCase, away: set[str], done: int) -> str | None:
    """Say why a task is not done, None where it is."""
    if case.attached:
        return f"files of task {case.id}"
    if folded(case.prompt) in away:
        return f"near miss {case.id}"
    return f"tasks beyond the first {MOST_TASKS}" if done >= MOST_TASKS else None


def _fault(check: Check) -> str | None:
    """Say why an answer is not held to a check, None where it is."""
    if check.kind not in GRADED:
        return check.kind
    if not check.text.strip():
        return f"{check.kind} without a text"
    return f"{check.kind} of more than {LONGEST:,} characters" if len(check.text) > LONGEST else None


def _written(subject: Subject, plan: Plan) -> Steps[tuple[tuple[Task, ...], tuple[Answer, ...]]]:
    """Have tasks written, and those that are doubled or of no use once more."""
    found: list[Task] = []
    seen: set[frozenset[str]] = set()
    answers: list[Answer] = []
    while len(found) < WRITTEN and len(answers) < ROUNDS:
        answer = yield from ask(request(subject, plan, WRITTEN - len(found), [task.prompt for task in found]))
        answers.append(answer)
        if answer.status is not Status.OK:
            break
        for task in _usable(answer.value):
            words = frozenset((folded(task.prompt) or task.prompt).split())
            if words not in seen and len(found) < WRITTEN and not names(task.prompt, subject.name):
                seen.add(words)
                found.append(task._replace(id=str(len(found) + 1)))
    return tuple(found), tuple(answers)


def _usable(value: Any) -> Iterator[Task]:  # noqa: ANN401 - decoded JSON
    for entry in value["tasks"]:
        prompt = Ordered.usable(entry["prompt"])
        stated = {folded(text): " ".join(text.split()) for text in entry["expectations"]}
        expected = [text for key, text in stated.items() if key][:LARGEST]
        if prompt is not None and len(expected) >= FEWEST:
            yield Task("", prompt, tuple(expected))


def request(subject: Subject, plan: Plan, many: int, known: Sequence[str]) -> Request:
    """Ask for tasks. The same subject, plan and known prompts give the same request."""
    output: dict[str, Any] = {"format": {"type": "json_schema", "schema": lift_schema.TASKS}}
    if plan.grader.effort is not None:
        output["effort"] = plan.grader.effort
    parts = [f"Question: {TASK_PROMPTS}", lift_wording.WRITE.format(many=many), lift_wording.TASK.strip()]
    if known:
        rows = (json.dumps({"prompt": text[:LONGEST_KNOWN]}, ensure_ascii=False) for text in known)
        parts += [lift_wording.KNOWN, fenced("prompts", "\n".join(rows))]
    content = [_skill(subject, min(MOST_BODY, plan.most_characters)), "\n\n".join(parts)]
    return Request(
        question=TASK_PROMPTS,
        subject=subject.path,
        body={
            "model": plan.grader.model,
            "max_tokens": MAX_TOKENS,
            "system": [{"type": "text", "text": lift_wording.WRITER}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": text} for text in content]}],
            "output_config": output,
        },
        prompt_version=lift_wording.PROMPT_VERSION,
        check=_enough(many),
        typical_output=_TOKENS_OF_THINKING + _TOKENS_PER_TASK * many,
        typical=({"type": "text", "text": _made_up(many)},),
    )


def _enough(many: int) -> Callable[[Any], str | None]:
    """Make a check that at least half of the tasks asked for can be used."""

    def check(value: Any) -> str | None:  # noqa: ANN401 - decoded JSON
        found = sum(1 for _ in _usable(value))
        if 2 * found >= many:
            return None
        return f"tasks holds {found} that can be used, with a prompt and {FEWEST} to {LARGEST} expectations, of {many}"

    return check


def _skill(subject: Subject, most: int) -> str:
    listing = f"name: {_line(subject.name)}\ndescription: {_line(subject.description)}"
    body = subject.library.body(subject.name).text or ""
    parts = [fenced("listing", listing), fenced("instructions", body[:most])]
    return "\n\n".join(parts if len(body) <= most else [*parts, lift_wording.CUT])


def _line(text: str) -> str:
    return " ".join(text.split())


def _made_up(many: int) -> str:
    """Make an answer up for estimates."""
    prompt = "task number{number}, made up for an estimate, about as long as what a person says who wants work done"
    expected = [f"It holds part {part} of what was asked for." for part in ("one", "two", "three")]
    entries = [{"prompt": prompt.format(number=number), "expectations": expected} for number in range(1, many + 1)]
    return json.dumps({"tasks": entries})
