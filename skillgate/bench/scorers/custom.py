"""Run a benchmark's own scorer, a Python function or a command, in a limited process."""
# ruff: noqa: PTH113, PTH118, PTH120, PTH123

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.answers import strict_json
from skillgate.bench.ports import NOT_STARTED, Limits, Scored, UnscoredError
from skillgate.bench.program import stderr_note
from skillgate.bench.scorers import PartScorer
from skillgate.errors import UsageError
from skillgate.files import open_to_all
from skillgate.format import printable
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import ABSENT

if TYPE_CHECKING:
    from skillgate.bench.ports import Ended, Rules, Surroundings
    from skillgate.model.benchmark import Task

POSITION = 7
NEEDS = ("evaluator.customScorerPath", "expectedOutput.customScorerPath", "evaluator.command")
STARTS_PROGRAM = True
LIMIT_S = 10.0  # default
THRESHOLD = 1.0
_PATH = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_][A-Za-z0-9_]*)")
_KEY = "evaluator.customScorerPath"
_KEYS = frozenset({"score", "passed", "reason"})
_MOST_REASON = 2_000
_MOST_OUT = 1024 * 1024


class Program(NamedTuple):
    """The command to run in ``root``; with ``name``, a driver that calls this function of ``file``."""

    argv: tuple[str, ...]
    root: str
    file: str = ""
    name: str = ""


class Custom(PartScorer):
    """Starts one process per answer."""

    def __init__(self, task: Task, rules: Rules, surroundings: Surroundings) -> None:
        super().__init__(rules)
        self._program = program = _program(rules)
        if surroundings.spawner is None:
            name = program.file or program.argv[0]
            raise UsageError(f"task {task.id} is scored by a program ({name}), and {NOT_STARTED}")
        self._spawner = surroundings.spawner
        expected = rules.expected.value
        self._data = {
            "input": dict(task.input_data),
            "expected": None if expected is ABSENT else expected,
            "task": {"id": task.id, "description": task.description, "tags": list(task.tags)},
        }
        self._threshold = rules.threshold(THRESHOLD)
        self._limits = Limits(timeout_s=rules.timeout_s(LIMIT_S), stdout_bytes=_MOST_OUT)

    def score_part(self, found: Any, output: Any) -> Scored:  # noqa: ANN401, ARG002 - JSON
        """Score one answer.

        Raises:
            UnscoredError: The program failed, or its result is not a score.
        """
        program, mark = self._program, f"{secrets.token_hex(16)} "
        request: dict[str, Any] = {**self._data, "output": found}
        if program.name:
            request = {"file": program.file, "name": program.name, "mark": mark, "argument": request}
        ended = self._spawner.run(
            program.argv,
            root=program.root,
            stdin=json.dumps(request).encode() + b"\n",
            env={},
            limits=self._limits,
            copy=False,
            sees_answers=True,
        )
        return self._read(_result(ended, mark if program.name else ""))

    def _read(self, value: Any) -> Scored:  # noqa: ANN401 - JSON
        if isinstance(value, bool):
            return Scored(float(value), passed=value, reason="")
        if not isinstance(value, dict):
            score = _score(value)
            return Scored(score, passed=score >= self._threshold, reason="")
        if "score" not in value or value.keys() - _KEYS:
            raise _bad(f"expected an object with score and optional passed and reason, found {_shown(value)}")
        score = _score(value["score"])
        passed, reason = value.get("passed", score >= self._threshold), value.get("reason", "")
        if not isinstance(passed, bool) or not isinstance(reason, str):
            raise _bad(f"expected a boolean passed and a string reason, found {_shown(value)}")
        return Scored(score, passed=passed, reason=printable(reason)[:_MOST_REASON])


def _program(rules: Rules) -> Program:
    """Return the program; raise ValueError if it is outside the benchmark's directory, or there are two."""
    command, path, other = (
        rules.evaluator.command,
        rules.evaluator.custom_scorer_path,
        rules.expected.custom_scorer_path,
    )
    if path is not None and other is not None and path != other:
        raise ValueError(f"{_KEY}: differs from expectedOutput.customScorerPath; remove one")
    path = path or other
    if path is not None and command:
        raise ValueError("evaluator.command: conflicts with customScorerPath; remove one")
    if path is None:
        if any("\0" in word for word in command) or not command[0].strip():
            raise ValueError(f"evaluator.command: expected a program and its arguments, found {command!r}")
        return Program(command, rules.folder)
    parts = _PATH.fullmatch(path)
    if parts is None or "\0" in path:
        hint = 'for a program in any language use evaluator.command, such as ["node", "scorer.js"]'
        raise ValueError(f"{_KEY}: expected file.py:function, found {path[:80]!r}; {hint}")
    folder = os.path.realpath(rules.folder)
    file = os.path.realpath(os.path.join(folder, parts["file"]))
    if os.path.commonpath([folder, file]) != folder:
        raise ValueError(f"{_KEY}: {path[:80]} is outside the benchmark's directory; move the file there")
    if not os.path.isfile(file):
        raise ValueError(f"{_KEY}: {parts['file'][:80]} is not a file in the benchmark's directory")
    with open(os.path.join(os.path.dirname(__file__), "_driver.py"), encoding="utf-8") as source:
        driver = source.read()
    root, name = os.path.split(file)
    return Program((_python(), "-I", "-c", driver), root, name, parts["name"])


def _python() -> str:
    """Return this interpreter, with its packages, if the scorer's user can access it; else python3."""
    real = os.path.realpath(sys.executable)
    switches = hasattr(os, "geteuid") and os.geteuid() == 0
    return sys.executable if not switches or (open_to_all(real) and open_to_all(sys.executable)) else "python3"


def _result(ended: Ended, mark: str) -> Any:  # noqa: ANN401 - JSON
    """Read a program's result; raise UnscoredError if it failed or wrote none."""
    if ended.kind is not None:
        is_start = ended.kind in (ErrorKind.SPAWN, ErrorKind.NOT_STARTED)
        raise _bad(ended.problem if is_start else f"it {ended.problem}")
    if ended.returncode:
        raise _bad(f"it exited with code {ended.returncode}{stderr_note(ended.stderr)}")
    text = ended.stdout.decode("utf-8", "replace")
    if mark:
        lines = [line.removeprefix(mark) for line in text.splitlines() if line.startswith(mark)]
        text = lines[0] if len(lines) == 1 else ""
    if not text.strip():
        raise _bad(f"it wrote no result{stderr_note(ended.stderr)}")
    try:
        return strict_json(text)
    except (ValueError, RecursionError):
        raise _bad(f"its output is not JSON: {_shown(text)}{stderr_note(ended.stderr)}") from None


def _score(value: Any) -> float:  # noqa: ANN401 - JSON
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # false for NaN
        raise _bad(f"expected a score from 0 to 1, found {_shown(value)}")
    return float(value)


def _bad(words: str) -> UnscoredError:
    return UnscoredError(ErrorKind.SCORER, f"the benchmark's own scorer: {words}")


def _shown(value: Any) -> str:  # noqa: ANN401 - JSON
    text = printable(value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 120 else f"{text[:120]}…"


custom = Custom  # the function that the registry looks up
