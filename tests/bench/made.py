"""Skills, benchmarks and results that the tests of benchmarks share, and the command line with a PATH."""

from __future__ import annotations

import io
import json
import os
from typing import TYPE_CHECKING, Any

from skillgate.cli.main import main
from skillgate.model.bench import ErrorKind, Status, TaskResult
from tests.cli.running import Done

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ANSWERING = """\
import json, sys
request = json.load(sys.stdin)
data = request["params"]
result = {result}
print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": result}}))
"""


def answering(result: str) -> str:
    """A program that answers what a Python expression over ``data`` gives."""
    return ANSWERING.format(result=result)


def skill(folder: Path, code: str = "", *, config: Mapping[str, Any] | None = None, **changes: Any) -> Path:
    """Write a skill that is a Python program; give its directory."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    spec = {
        "id": folder.name,
        "name": folder.name,
        "version": "1.0.0",
        "adapterType": "subprocess",
        "entrypoint": "python3 skill.py",
        **changes,
    }
    spec = {key: value for key, value in spec.items() if value is not None}
    (folder / "skill.json").write_text(json.dumps(spec), encoding="utf-8")
    (folder / "skill.py").write_text(code or answering("data"), encoding="utf-8")
    if config is not None:
        (folder / "adapter.config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def task(identifier: str = "t1", **changes: Any) -> dict[str, Any]:
    """A task that expects the value 1 for the input {"n": 1}."""
    whole = {"id": identifier, "inputData": {"n": 1}, "expectedOutput": {"type": "exact", "value": 1}, **changes}
    return {key: value for key, value in whole.items() if value is not None}


def benchmark(file: Path, *tasks: Mapping[str, Any], **changes: Any) -> Path:
    """Write a benchmark; give its file."""
    whole = {"id": "own", "name": "Own", "version": "1.0.0", "tasks": list(tasks), **changes}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(whole), encoding="utf-8")
    return file


def run(cwd: Path, *words: str, **environ: str) -> Done:
    """Run the command line in this process, with a PATH."""
    out, err = io.StringIO(), io.StringIO()
    surroundings = {"HOME": str(cwd / "home"), "PATH": os.environ.get("PATH", os.defpath), **environ}
    code = main(words, stdout=out, stderr=err, environ=surroundings, cwd=str(cwd))
    return Done(code, out.getvalue(), err.getvalue())


def result(identifier: str = "t1", status: Status = Status.PASS, *, number: int = 1, **changes: Any) -> TaskResult:
    """A result: a pass scores 1, what was not measured has no score."""
    values: dict[str, Any] = {
        "score": None if status is Status.SKIPPED else float(status is Status.PASS),
        "latency_ms": None if status is Status.SKIPPED else 10.0,
        "error_kind": {Status.TIMEOUT: ErrorKind.TIMEOUT, Status.ERROR: ErrorKind.CRASH}.get(status),
        **changes,
    }
    return TaskResult(task_id=identifier, skill_id="s", run=number, status=status, **values)
