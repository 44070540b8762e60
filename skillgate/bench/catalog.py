"""Find benchmarks: the packaged ones, those of a directory, a named file, a file of tasks."""
# ruff: noqa: PTH112, PTH113, PTH118, PTH120, PTH208

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.checking import check_benchmark
from skillgate.bench.documents import decoded, read_json, refuse
from skillgate.errors import UsageError
from skillgate.format import did_you_mean
from skillgate.model.benchmark import Benchmark, Loaded, State
from skillgate.model.digest import digest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

PACKAGED_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "builtin")  # noqa: PTH100
BENCHMARK_JSON = "benchmark.json"
PACKAGED = "packaged"


class Listed(NamedTuple):
    """The benchmarks there are, by id, and what was left out of a directory and why."""

    found: dict[str, Loaded]
    notices: tuple[str, ...]


def packaged_ids() -> tuple[str, ...]:
    """List the ids of the packaged benchmarks, sorted; no file is read."""
    return tuple(sorted(name.removesuffix(".json") for name in os.listdir(PACKAGED_FOLDER) if name.endswith(".json")))


def packaged(identifier: str) -> Loaded:
    """Read one packaged benchmark.

    Raises:
        UsageError: there is none of that id.
    """
    if identifier not in packaged_ids():
        raise UsageError(f"there is no packaged benchmark {identifier!r}{did_you_mean(identifier, packaged_ids())}")
    file = os.path.join(PACKAGED_FOLDER, f"{identifier}.json")
    return read_benchmark(file, f"{identifier} ({PACKAGED})", origin=PACKAGED)


def listed(folder: str | None, *, cwd: str) -> Listed:
    """List every benchmark: the packaged ones, and those of a directory, which come before them.

    A file that is no benchmark stops no other one from being found.

    Args:
        folder: the directory as the user wrote it; one that does not exist holds none.
        cwd: the working directory, absolute.
    """
    found = {identifier: packaged(identifier) for identifier in packaged_ids()}
    notices: list[str] = []
    own: dict[str, str] = {}
    for file in files_of(os.path.join(cwd, folder)) if folder else ():
        shown = os.path.relpath(file, cwd) if file.startswith(os.path.join(cwd, "")) else file
        try:
            loaded = read_benchmark(file, shown)
        except UsageError as error:
            notices += [f"left out: {line}" for line in str(error).splitlines()[:3]]
            continue
        identifier = loaded.benchmark.id
        if identifier in own:
            notices.append(f"left out: {shown} has the id {identifier!r} of {own[identifier]}")
            continue
        if identifier in found:
            notices.append(f"{shown} takes the place of the packaged benchmark {identifier!r}")
        own[identifier] = shown
        found[identifier] = loaded
    return Listed(found, tuple(notices))


def find_benchmark(word: str, folder: str | None, *, cwd: str) -> tuple[Loaded, tuple[str, ...]]:
    """Return the benchmark that an id or a path means, and what a reader should know.

    Raises:
        UsageError: there is none, or its file is not valid.
    """
    place = os.path.normpath(os.path.join(cwd, word))
    inside = os.path.join(place, BENCHMARK_JSON)
    is_path = word.endswith(".json") or "/" in word or os.sep in word
    if os.path.isdir(place) and os.path.isfile(inside):
        return read_benchmark(inside, f"{word.rstrip('/')}/{BENCHMARK_JSON}"), ()
    if is_path and os.path.isdir(place):
        raise UsageError(f"{word} is a directory without a {BENCHMARK_JSON}; name a benchmark's file or id")
    if is_path:
        return read_benchmark(place, word), ()
    if folder is None and word in packaged_ids():
        return packaged(word), ()
    known = listed(folder, cwd=cwd)
    if word not in known.found:
        notices = "".join(f"\n{notice}" for notice in known.notices)
        raise UsageError(
            f"there is no benchmark {word!r}{did_you_mean(word, known.found)}; known:"
            f" {', '.join(sorted(known.found))}; a file is named by its path, as in ./{word}.json{notices}"
        )
    loaded = known.found[word]
    return loaded, tuple(notice for notice in known.notices if loaded.origin != PACKAGED or "left out" in notice)


def read_benchmark(file: str, shown: str, *, origin: str | None = None) -> Loaded:
    """Read a benchmark by its absolute path; ``shown`` names it, and is its origin unless that is ``packaged``.

    Raises:
        UsageError: it is not valid; every problem, a line each.
    """
    return _loaded(read_json(file, shown), file, shown, origin or shown)


def read_tasks(file: str, shown: str) -> Loaded:
    """Read a file of tasks: a list of them, an object with ``tasks``, or, if it has an ``id``, a whole benchmark.

    Raises:
        UsageError: it is not valid.
    """
    data = read_json(file, shown)
    whole = data if isinstance(data, dict) else {"tasks": data}
    if not isinstance(whole.get("tasks"), list):
        raise UsageError(f"{shown}: expected a list of tasks, an object with tasks, or a benchmark")
    unnamed = {"id": "custom", "name": "Custom tasks", "version": "0.0.0"}
    return _loaded(whole if "id" in whole else {**unnamed, **whole}, file, shown, shown)


def _loaded(data: Any, file: str, shown: str, origin: str) -> Loaded:  # noqa: ANN401 - JSON
    benchmark = decoded(Benchmark, data, shown)
    refuse(f"{shown}: {line}" for line in check_benchmark(benchmark))
    return Loaded(benchmark=benchmark, origin=origin, folder=os.path.dirname(file), digest=digest_of(data))


def narrowed(loaded: Loaded, ids: Collection[str], tags: Collection[str]) -> Loaded:
    """Select the tasks of some ids or with all of some tags; the digest stays that of the whole.

    Raises:
        UsageError: an id or a tag is of no task, or nothing is left.
    """
    benchmark = loaded.benchmark
    known_ids = {task.id for task in benchmark.tasks}
    known_tags = {tag for task in benchmark.tasks for tag in task.tags}
    refuse(
        f"benchmark {benchmark.id} has no {what} {word!r}{did_you_mean(word, known)}"
        for what, words, known in (("task", ids, known_ids), ("tag", tags, known_tags))
        for word in words
        if word not in known
    )
    tasks = tuple(task for task in benchmark.tasks if (not ids or task.id in ids) and set(tags) <= {*task.tags})
    if not tasks:
        raise UsageError(f"no task of benchmark {benchmark.id} has all of the tags {', '.join(tags)}")
    return replace(loaded, benchmark=replace(benchmark, tasks=tasks))


def require_tasks(loaded: Loaded) -> None:
    """Refuse a benchmark without tasks, and say where they come from.

    Raises:
        UsageError: it has none.
    """
    benchmark = loaded.benchmark
    if benchmark.status is State.PLACEHOLDER or not benchmark.tasks:
        source = benchmark.metadata.get("source", "its publisher")
        raise UsageError(
            f"benchmark {benchmark.id} is a placeholder without tasks ({source}); import your copy of its data:"
            f" skillgate bench import FILE.jsonl --like {benchmark.id} --output my-benchmark.json"
        )


def digest_of(data: Any) -> str:  # noqa: ANN401 - JSON
    """Digest JSON, whatever the order of its keys."""
    return digest(json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode())


def files_of(folder: str) -> Iterator[str]:
    """Yield the files of a directory that may be benchmarks."""
    if not os.path.isdir(folder):
        return
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".json") and os.path.isfile(path):
            yield path
        elif os.path.isfile(os.path.join(path, BENCHMARK_JSON)):
            yield os.path.join(path, BENCHMARK_JSON)
        elif name == "definitions" and os.path.isdir(path):
            yield from (os.path.join(path, one) for one in sorted(os.listdir(path)) if one.endswith(".json"))
