"""Read a case of Claude Code's plugin evals: a folder with ``prompt.md``, ``case.yaml`` or both, and graders.

Source: code.claude.com/docs/en/plugin-evals. A grader is a file in ``graders/`` (settings in the frontmatter, pattern
or rubric below) or an entry of ``graders`` in ``case.yaml``. A grader that checks for a call of the Skill tool says
whether the skill is meant for the prompt. The case is then a trigger prompt too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.evals.loading import kind_of, load_yaml, read_text, sort_out, why_no_prompt
from skillgate.format import did_you_mean
from skillgate.model.evals import Check, TaskCase, TriggerCase, Unread
from skillgate.model.finding import Severity
from skillgate.skill.frontmatter import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.model.skill import Tree

POSITION = 5
UNIT = "case"
FOLDER = True
PROMPT, CASE, GRADERS = "prompt.md", "case.yaml", "graders"
MAX_GRADERS = 100  # of one case
READ = ("regex", "tool_used", "file_exists", "llm")
"""Graders with an equivalent here."""
_NAMED = ("tool_order", "baseline")
"""Graders without one: counted and reported, never applied."""
_TEXTS = {
    "regex": ("pattern",),
    "tool_used": ("input_match",),
    "file_exists": ("path", "glob", "pattern"),
    "llm": ("rubric", "criteria", "prompt"),
}
_ANYTHING = frozenset(
    ("", ".", ".*", ".+", ".?", r"\S", r"\S+", r"\s*", r"[\s\S]", r"[\s\S]*", r"[\s\S]+", "^", "$", "^.*$")
)
"""Patterns that match every answer, or every non-empty one."""


class _Grader(NamedTuple):
    """A grader as written: settings, the text below them, and the place."""

    settings: Mapping[str, Any]
    body: str
    file: str
    line: int


class _Head(NamedTuple):
    """The contents of ``case.yaml``: the prompt (None if absent), its line, and the listed graders."""

    prompt: str | None = None
    line: int = 1
    graders: tuple[_Grader, ...] = ()


def is_it(names: Sequence[str]) -> bool:
    """Whether a folder with files of these names is a case."""
    return PROMPT in names or CASE in names


def read(
    tree: Tree, directory: str, folder: str, *, skills: Sequence[str]
) -> Iterator[TaskCase | TriggerCase | Unread]:
    """Read one case.

    Calls of the skills named in ``skills`` make it a trigger prompt; if ``skills`` is empty, calls of any skill.
    """
    names = tree.names(f"{directory}/{folder}" if directory else folder)
    heads = [_Head()]
    if CASE in names:
        yield from sort_out(_head(tree, directory, f"{folder}/{CASE}"), heads)
    head = heads[-1]
    file, line, prompt = f"{folder}/{CASE}", head.line, head.prompt
    if PROMPT in names:
        file = f"{folder}/{PROMPT}"
        text = read_text(tree, directory, file)
        if isinstance(text, Unread):
            yield text
            return
        cut = split(text)
        prompt = cut.body.strip()
        line = cut.body_line + cut.body[: len(cut.body) - len(cut.body.lstrip())].count("\n")
        line = line if prompt else cut.body_line
    wrong = why_no_prompt(prompt, "the prompt")
    if prompt is None or wrong is not None:
        yield Unread(file, line, f"case skipped: {wrong}")
        return
    graders = list(head.graders)
    if GRADERS in names:
        yield from sort_out(_grader_files(tree, directory, f"{folder}/{GRADERS}"), graders)
    yield from _case(TaskCase(folder.rpartition("/")[2][:80], prompt, file, line), graders, skills)


def _case(
    bare: TaskCase, graders: Sequence[_Grader], skills: Sequence[str]
) -> Iterator[TaskCase | TriggerCase | Unread]:
    checks: list[Check] = []
    for grader in graders:
        yield from sort_out(_check(grader), checks)
    yield bare._replace(checks=tuple(checks))
    labels = {label for grader in graders if (label := _label(grader, skills)) is not None}
    if len(labels) == 1:
        yield TriggerCase(bare.prompt, labels.pop(), bare.file, bare.line)
    elif labels:
        message = "graders require both a call of the skill and no call; not used as a trigger prompt"
        yield Unread(bare.file, bare.line, message)


def _label(grader: _Grader, skills: Sequence[str]) -> bool | None:
    """Return whether a grader requires a call of the skill (True) or no call (False); None for neither."""
    if grader.settings.get("type") != "tool_used" or grader.settings.get("tool") != "Skill":
        return None
    pattern = grader.settings.get("input_match")  # never applied: an untrusted pattern can keep a matcher busy for ever
    if isinstance(pattern, str) and skills and not any(_names(pattern, skill) for skill in skills):
        return None
    if _most(grader) == 0:
        return False
    return True if _least(grader) > 0 else None


def _names(pattern: str, skill: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(skill)}(?![\w-])", pattern))


def _head(tree: Tree, directory: str, file: str) -> Iterator[_Head | Unread]:
    text = read_text(tree, directory, file)
    loaded = text if isinstance(text, Unread) else load_yaml(text, file)
    if isinstance(loaded, Unread):
        yield loaded
        return
    if not isinstance(loaded.value, dict):
        yield Unread(file, 1, f"expected a mapping with the prompt and the graders, found {kind_of(loaded.value)}")
        return
    execution = loaded.value.get("execution")
    within = isinstance(execution, dict) and "prompt" in execution
    prompt = execution["prompt"] if within and isinstance(execution, dict) else loaded.value.get("prompt")
    line = loaded.line("execution.prompt" if within else "prompt")
    if prompt is not None and not isinstance(prompt, str):
        yield Unread(file, line, f"prompt must be a string, not {kind_of(prompt)}")
    listed = loaded.value.get("graders")
    if isinstance(listed, list) and len(listed) > MAX_GRADERS:
        yield Unread(file, loaded.line("graders"), f"graders after the first {MAX_GRADERS} were not read")
    if listed is not None and not isinstance(listed, list):
        yield Unread(file, loaded.line("graders"), f"graders must be a list, not {kind_of(listed)}")
    graders = []
    for index, item in enumerate(listed[:MAX_GRADERS] if isinstance(listed, list) else ()):
        where = loaded.line(f"graders[{index}]")
        if isinstance(item, dict):
            graders.append(_Grader(item, "", file, where))
        else:
            yield Unread(file, where, f"expected a grader with a type, found {kind_of(item)}")
    yield _Head(prompt if isinstance(prompt, str) else None, line, tuple(graders))


def _grader_files(tree: Tree, directory: str, folder: str) -> Iterator[_Grader | Unread]:
    names = tree.names(f"{directory}/{folder}" if directory else folder)
    if len(names) > MAX_GRADERS:
        yield Unread(folder, 1, f"{len(names):,} graders; those after the first {MAX_GRADERS} were not read")
    for name in names[:MAX_GRADERS]:
        file = f"{folder}/{name}"
        if not name.endswith(".md"):
            yield Unread(file, 1, "not a grader; graders are .md files", Severity.INFO)
            continue
        text = read_text(tree, directory, file)
        cut = None if isinstance(text, Unread) else split(text)
        if isinstance(text, Unread) or cut is None:
            yield text if isinstance(text, Unread) else Unread(file, 1, "the file was not read")
        elif cut.yaml is None:
            yield Unread(file, 1, "no frontmatter; set the grader's type there")
        else:
            loaded = load_yaml(cut.yaml, file)
            if isinstance(loaded, Unread):
                yield loaded._replace(line=loaded.line + 1)
            elif isinstance(loaded.value, dict):
                yield _Grader(loaded.value, cut.body.strip(), file, 1)
            else:
                yield Unread(file, 2, f"expected a mapping with a type, found {kind_of(loaded.value)}")


def _check(grader: _Grader) -> Iterator[Check | Unread]:
    kind = grader.settings.get("type")
    if kind not in (*READ, *_NAMED):
        near = did_you_mean(kind, (*READ, *_NAMED)) if isinstance(kind, str) else ""
        message = f"unknown grader type {kind_of(kind)}{near}; grader skipped"
        yield Unread(grader.file, grader.line, message, Severity.WARNING)
        return
    if kind in _NAMED:
        message = f"grader type {kind} has no equivalent here: counted, but not applied"
        yield Unread(grader.file, grader.line, message, Severity.INFO)
        yield Check(kind, "", grader.file, grader.line)
        return
    texts = (grader.settings.get(key) for key in _TEXTS[kind])
    text = next((text for text in texts if isinstance(text, str)), grader.body if kind in ("regex", "llm") else "")
    can_fail = True
    if kind == "tool_used":
        text = f"{grader.settings.get('tool', '')} {text}".strip()
        can_fail = _least(grader) > 0 or _most(grader) is not None
    elif kind == "regex":
        negative = str(grader.settings.get("match", "")).startswith("not")
        can_fail = negative or text.strip() not in _ANYTHING
    yield Check(kind, text, grader.file, grader.line, can_fail)


def _least(grader: _Grader) -> int:
    least = grader.settings.get("min")
    # Without min the tool must be called once, unless max forbids it.
    default = 0 if _most(grader) == 0 else 1
    return least if isinstance(least, int) else default


def _most(grader: _Grader) -> int | None:
    most = grader.settings.get("max")
    return most if isinstance(most, int) else None
