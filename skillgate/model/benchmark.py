"""A benchmark: tasks, what is expected of each, and how it is scored.

Annotations are evaluated when a file is read or its schema is made. Keys are camelCase, as their documents have them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, ClassVar

from skillgate.model.executable import VERSION
from skillgate.model.marks import NOT_BLANK, Form, Range, camel, whole


class Absent(Enum):
    """Stands where a key is missing, since ``null`` is a value too."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
ID = r"[a-z0-9][a-z0-9_.-]*"
MAX_ID = 200  # characters of a task's
MAX_TASKS = 100_000
SCOPES = ("values", "json")
STATIC = "static"
"""The adapter of benchmarks whose skills are read and not run."""
CHECK_TYPE = "checkType"
"""The key of a task's input that names what a static benchmark checks."""
FREE = "^x-"
"""The keys that are free for their author's own use in benchmarks and tasks, as a pattern."""


class Method(Enum):
    """How the scores of tasks become a benchmark's partial score."""

    MEAN = "mean"
    WEIGHTED_MEAN = "weighted_mean"
    PASS_AT_K = "pass_at_k"  # noqa: S105 - the name of a method


class State(Enum):
    """Whether a benchmark has tasks; a placeholder's are the user's to import."""

    ACTIVE = "active"
    PLACEHOLDER = "placeholder"


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far a number may lie from the one expected: |a − b| ≤ max(absolute, relative · |b|)."""

    CLOSED: ClassVar[bool] = True

    absolute: Annotated[float, Range(0, None)] = 0.0
    relative: Annotated[float, Range(0, None)] = 0.0


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """How one task is scored.

    Attributes:
        type: a scorer's name or alias; None: as ``expectedOutput.type`` says, else as ``--evaluator`` does.
        case_sensitive: None: exact yes, contains no; of regex: yes.
        path: a JSON pointer into the output: what is scored; None: as the scorer's page says.
        tolerance: of numbers, in ``exact`` and ``numeric``.
        scope: of ``contains`` and ``regex``: ``values`` (the text of the output's strings and scalars, keys left out)
            or ``json`` (the output written as JSON).
        normalize: whether texts are compared in Unicode's form NFC.
        custom_scorer_path: ``file.py:function``, relative to the benchmark's file.
        command: a scorer of one's own: a program and its arguments.
        pass_threshold: the least score in [0, 1] that passes; None: 1 for custom scorers, 0.5 for a judge.
        model: of a judge; None: the run's.
        timeout_ms: of a custom scorer, and of patterns.
    """

    CLOSED: ClassVar[bool] = True
    FREE: ClassVar[str] = FREE

    type: str | None = None
    case_sensitive: bool | None = None
    path: str | None = None
    tolerance: Tolerance | None = None
    scope: Annotated[str, Form(enum=SCOPES)] = "values"
    normalize: bool = False
    custom_scorer_path: str | None = None
    command: tuple[str, ...] = ()
    pass_threshold: Annotated[float, Range(0, 1)] | None = None
    model: str | None = None
    timeout_ms: Annotated[int, Range(100, 600_000)] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a task expects.

    Attributes:
        type: a scorer's name or alias.
        value: of ``exact`` and ``numeric``; of a judge and of custom scorers: a reference, if there is one.
        keywords: of ``contains``: all of them, each at least one character.
        patterns: of ``regex``: all of them, in Python's syntax.
        schema: of ``json_schema``: JSON Schema 2020-12, or the draft that its ``$schema`` names.
        judge_prompt: of ``llm_judge``: what a good output is; ``criteria`` is another name of it.
        criteria: see ``judge_prompt``.
        custom_scorer_path: as the evaluator's.
        case_sensitive: as the evaluator's.
        tolerance: as the evaluator's.
    """

    CLOSED: ClassVar[bool] = True
    FREE: ClassVar[str] = FREE

    type: str | None = None
    value: Any = ABSENT
    keywords: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    schema: Mapping[str, Any] | bool | None = None
    judge_prompt: str | None = None
    criteria: str | None = None
    custom_scorer_path: str | None = None
    case_sensitive: bool | None = None
    tolerance: Tolerance | None = None


_PLAIN = Evaluator()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task.

    Attributes:
        id: unique in its benchmark.
        input_data: what the skill gets.
        expected_output: what it should answer.
        description: for people.
        evaluator: how it is scored.
        timeout_ms: for each attempt; comes before the adapter's and the run's.
        tags: for tables and filters.
        weight: in ``weighted_mean``, above 0.
        golden: whether a skill that passed it before must pass it ever after: no diff allows its loss.
        metadata: what its author likes; nothing reads it.
        prompt: as ``description``: files of eval-skills have it, and no skill is given it.
    """

    CLOSED: ClassVar[bool] = True
    FREE: ClassVar[str] = FREE

    id: Annotated[str, Form(pattern=NOT_BLANK, maxLength=MAX_ID)]
    input_data: Mapping[str, Any]
    expected_output: Expected
    description: str = ""
    evaluator: Evaluator = _PLAIN
    timeout_ms: Annotated[int, Range(100, 86_400_000)] | None = None
    tags: tuple[str, ...] = ()
    weight: Annotated[float, Range(0, None), Form(exclusiveMinimum=0)] = 1.0
    golden: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    prompt: str = ""


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """Tasks that belong together.

    Attributes:
        id: ``[a-z0-9_.-]+``.
        name: for people.
        version: a semantic version.
        tasks: in the order in which they are run.
        description: what it measures, and what not.
        domain: ``general``, ``coding``, ``web``, ``reasoning``, ``tool-use`` or another word.
        scoring_method: how partial scores are put together.
        k: of pass@k and pass^k; None: the number of runs.
        max_latency_ms: the latency that gets no point; None: 30,000.
        metadata: source, paper, lastUpdated and the like.
        status: whether it has tasks.
        adapter: ``static``: skills are read and not run.
        server: what is served on loopback while it runs, by its name among the packaged servers.
    """

    CLOSED: ClassVar[bool] = True
    FREE: ClassVar[str] = rf"{FREE}|^\$schema$"  # which editors read

    RULES: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"status": {"const": State.PLACEHOLDER.value}}, "required": ["status"]},
        "else": {"properties": {"tasks": {"minItems": 1}}},
    }

    id: Annotated[str, Form(pattern=whole(ID))]
    name: str
    version: Annotated[str, Form(pattern=whole(VERSION))]
    tasks: Annotated[tuple[Task, ...], Form(maxItems=MAX_TASKS)]
    description: str = ""
    domain: str = "general"
    scoring_method: Method = Method.MEAN
    k: Annotated[int, Range(1, 1000)] | None = None
    max_latency_ms: Annotated[int, Range(1, None)] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    status: State = State.ACTIVE
    adapter: Annotated[str | None, Form(enum=(STATIC, None))] = None
    server: str | None = None


MAX_LATENCY_MS = 30_000
"""The latency that gets no point where a benchmark names none (the seed's schema default)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A benchmark as it was read.

    Attributes:
        benchmark: what it says, filtered by the options of tasks and tags.
        origin: ``packaged``, or the path of its file as shown.
        folder: the absolute directory of its file, which paths in it are relative to.
        digest: of what it says, whole: equal digests are comparable.
    """

    benchmark: Benchmark
    origin: str
    folder: str
    digest: str
