"""Benchmarks, the skills that can be run on them, and how skills are found and selected.

Annotations are evaluated when such a file is read or its schema is made. Keys are camelCase, as their documents have
them. Shapes are checked here; what a shape cannot say (a semantic version, a pattern of ids) is checked by
:mod:`skillgate.bench.documents`. Ratios lie in [0, 1], times are in milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, ClassVar

from skillgate.model.report import Tool
from skillgate.model.score import (
    NO_NUL,
    NOT_BLANK,
    SCHEMA_VERSION,
    Count,
    Form,
    Milliseconds,
    Range,
    Ratio,
    camel,
    whole,
)
from skillgate.named_tuple import NamedTuple


class AdapterType(Enum):
    """How a skill is run. An adapter of the user's own runs ``langchain`` and ``custom``."""

    HTTP = "http"
    SUBPROCESS = "subprocess"
    MCP = "mcp"
    STATIC = "static"
    SKILLMD = "skillmd"
    LANGCHAIN = "langchain"
    CUSTOM = "custom"


OWN_ADAPTER = (AdapterType.LANGCHAIN, AdapterType.CUSTOM)
"""The types that an adapter of the user's own runs."""
WITHOUT_ENTRYPOINT = (AdapterType.STATIC, AdapterType.SKILLMD)
SKILL_ID = r"[a-z0-9_-]+"
# Semantic Versioning 2.0.0, section 2, 9 and 10.
_NUMBER = r"(?:0|[1-9][0-9]*)"
_PART = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
VERSION = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PART}(?:\.{_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
WORK_DIRS = ("shared", "copy")
POST = "POST"
RESTARTS = ("per-task", "per-run", "per-call")
_Plain = Annotated[str, Form(pattern=NO_NUL)]


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
TOKEN_PLACES = ("header", "query")


class Absent(Enum):
    """Marks a missing key, since ``null`` is a value too."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class AuthType(Enum):
    """How a server expects its token: ``Authorization: Bearer`` or ``Basic``, an API key, or not at all."""

    NONE = "none"
    BEARER = "bearer"
    BASIC = "basic"  # the variable has ``user:password``
    API_KEY = "api-key"


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request to an HTTP API.

    In its texts, ``{{name}}`` is a value of the task's input, or one that an earlier step captured. A value of a query,
    header, form or JSON object that is ``{{name?}}`` is left out if there is none of that name.
    """

    CLOSED: ClassVar[bool] = True
    RULES: ClassVar[Mapping[str, Any]] = {
        "allOf": [{"not": {"required": list(both)}} for both in (("json", "form"), ("json", "text"), ("form", "text"))]
    }

    method: Annotated[str | None, Form(enum=(*METHODS, None))] = None  # None: POST with a body, else GET
    path: Annotated[str | None, Form(pattern="^/")] = None  # below the entrypoint; None: the entrypoint itself
    query: Mapping[str, Any] = field(default_factory=dict)  # a list is sent item by item, null not at all
    headers: Mapping[str, str | None] = field(default_factory=dict)  # null is not sent
    json: Any = ABSENT  # the body, at most one of these three
    form: Mapping[str, Any] | None = None
    text: str | None = None  # ``""`` is no body
    auth: bool | None = None  # false: without the skill's token


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterConfig:
    """The adapter's own settings: adapter.config.json next to skill.json, or the key ``adapter`` in it."""

    CLOSED: ClassVar[bool] = True
    RULES: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"args": {"minItems": 1}}, "required": ["args"]},
        "then": {"properties": {"command": {"type": "string", "minLength": 1}}, "required": ["command"]},
    }

    type: AdapterType | None = None  # the adapterType of skill.json again, as files of eval-skills have it
    method: Annotated[str | None, Form(enum=(POST, None))] = None  # as files of eval-skills have it, which sends a POST
    base_url: str | None = None  # what a relative entrypoint is joined to (RFC 3986); an absolute one wins
    auth_type: AuthType = AuthType.NONE
    auth_token_env_key: str | None = None
    auth_name: str | None = None  # of an api-key: its header or query parameter; None: ``X-API-Key``
    auth_in: Annotated[str, Form(enum=TOKEN_PLACES)] = "header"  # where an api-key is sent
    headers: Mapping[str, str] = field(default_factory=dict)  # to send to an http or MCP server beside
    request: HttpRequest | None = None  # to an HTTP API; None: a POST of skill, version and input
    command: _Plain | None = None
    args: tuple[_Plain, ...] = ()
    env: Mapping[_Plain, _Plain] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()  # names of the user's variables to hand on; each needs ``--allow-env``
    timeout_ms: Annotated[int, Range(100, 86_400_000)] | None = None
    retries: Annotated[int, Range(0, 100)] | None = None
    max_concurrency: Annotated[int, Range(1, 256)] | None = None  # maximum calls of this skill at once
    persistent: bool = False  # whether one process answers many requests, one line each
    # ``shared``: the skill's directory; None: ``copy`` for an MCP server with a session per task, else ``shared``
    work_dir: Annotated[str | None, Form(enum=(*WORK_DIRS, None))] = None
    tool_name: str | None = None  # the MCP tool of tasks without one; else that of the skill's id, or the only one
    restart: Annotated[str, Form(enum=RESTARTS)] = "per-task"  # ``per-call`` is an earlier name of it
    memory_mb: Annotated[int, Range(16, 1_048_576)] | None = None
    # The user's own adapter of a ``langchain`` or ``custom`` skill, by its entry point; None: that of the type's name.
    plugin: str | None = None
    serve: tuple[_Plain, ...] = ()  # the program that is this http skill's server on this machine, and its arguments


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Executable:
    """What skill.json says. Keys beyond these are passed over."""

    RULES: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"adapterType": {"enum": [kind.value for kind in WITHOUT_ENTRYPOINT]}}},
        "else": {"properties": {"entrypoint": {"pattern": NOT_BLANK}}},
    }

    id: Annotated[str, Form(pattern=whole(SKILL_ID))]  # ``[a-z0-9_-]+``; distinguishes skills
    name: Annotated[str, Form(pattern=NOT_BLANK)]
    version: Annotated[str, Form(pattern=whole(VERSION))]  # a semantic version (2.0.0 of that specification)
    adapter_type: AdapterType
    entrypoint: _Plain
    description: str = ""
    tags: tuple[str, ...] = ()
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    adapter: AdapterConfig | None = None  # the adapter's settings, where no adapter.config.json holds them


@dataclass(frozen=True, slots=True, kw_only=True)
class Runnable:
    """A skill as it was read from disk, ready to be run."""

    spec: Executable  # its skill.json
    config: AdapterConfig  # its adapter's settings; all defaults where it has none
    root: str  # the absolute directory that holds it
    shown: str
    digest: str  # of the contents of all files below ``root``
    key: str  # what reports know it by: the id, or ``id@version`` where another of the same id stands next to it


BENCHMARK_ID = r"[A-Za-z0-9_](?:[A-Za-z0-9_. -]*[A-Za-z0-9_.-])?"
MAX_ID = 200  # characters of a task's
MAX_TASKS = 100_000
MAX_STEPS = 100
CAPTURED = "[A-Za-z_][A-Za-z0-9_]*"
"""The name of a value that a step captures, as a pattern."""
SCOPES = ("output", "values", "json")
STATIC = "static"
"""The adapter of benchmarks that read skills and do not run them."""
ERROR = "error"
"""The scorer of tasks that the skill must refuse."""
CHECK_TYPE = "checkType"
"""The key of a task's input that names what a static benchmark checks."""
CHECKS = ("accessibility", "description_length", "directory_not_empty", "json_valid", "metadata")
"""What it can name."""
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
    """How one task is scored."""

    CLOSED: ClassVar[bool] = True
    FREE: ClassVar[str] = FREE

    type: str | None = None  # a scorer's name or alias
    case_sensitive: bool | None = None  # None: exact yes, contains no; of regex: yes
    path: str | None = None  # a JSON pointer into the output: what is scored; None: as the scorer's page says
    tolerance: Tolerance | None = None  # of numbers, in ``exact`` and ``numeric``
    # Of ``contains`` and ``regex``, what is searched; None: ``output`` for contains, ``values`` for regex.
    scope: Annotated[str | None, Form(enum=(*SCOPES, None))] = None
    normalize: bool = False  # whether texts are compared in Unicode's form NFC
    custom_scorer_path: str | None = None  # ``file.py:function``, relative to the benchmark's file
    command: tuple[str, ...] = ()
    pass_threshold: Annotated[float, Range(0, 1)] | None = None  # the minimum score in [0, 1] that passes
    model: str | None = None  # of a judge; None: the run's
    timeout_ms: Annotated[int, Range(100, 600_000)] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a task expects."""

    CLOSED: ClassVar[bool] = True
    FREE: ClassVar[str] = FREE

    type: str | None = None
    value: Any = ABSENT  # of ``exact`` and ``numeric``; of a judge and of custom scorers: a reference, if there is one
    keywords: tuple[str, ...] = ()  # of ``contains``: all of them, each at least one character
    patterns: tuple[str, ...] = ()  # of ``regex``: all of them, in Python's syntax
    schema: Mapping[str, Any] | bool | None = None  # of ``json_schema``
    judge_prompt: str | None = None  # of ``llm_judge``: what a good output is; ``criteria`` is another name of it
    criteria: str | None = None  # see ``judge_prompt``
    custom_scorer_path: str | None = None
    case_sensitive: bool | None = None
    tolerance: Tolerance | None = None
    code: int | None = None  # of ``error``: the HTTP status, exit code or JSON-RPC code; None: any
    contains: str | None = None  # of ``error``: what its text contains, whatever the case; None: anything


_PLAIN = Evaluator()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of a task that has several, all in one session.

    In its input, ``{{name}}`` is a value that an earlier step captured, or one of the task's input.
    """

    CLOSED: ClassVar[bool] = True
    FREE: ClassVar[str] = FREE

    tool: str | None = None  # as in a task
    request: HttpRequest | None = None  # as in a task
    input_data: Mapping[str, Any] = field(default_factory=dict)
    expected_output: Expected | None = None  # a check of this step, with its type; None for no check
    evaluator: Evaluator = _PLAIN
    # Values of the answer for later steps: a name, and a JSON pointer to the value.
    capture: Mapping[Annotated[str, Form(pattern=whole(CAPTURED))], Annotated[str, Form(pattern="^(?![^/])")]] = field(
        default_factory=dict
    )
    description: str = ""


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task: one call, or several in one session. Its expectation is of the last step's answer."""

    CLOSED: ClassVar[bool] = True
    FREE: ClassVar[str] = FREE

    id: Annotated[str, Form(pattern=NOT_BLANK, maxLength=MAX_ID)]
    expected_output: Expected
    input_data: Mapping[str, Any] = field(default_factory=dict)  # with ``steps``: values that they can use
    tool: str | None = None  # the MCP tool to call; None: that of the skill
    request: HttpRequest | None = None  # to an HTTP API; its keys override those of the skill
    steps: Annotated[tuple[Step, ...], Form(maxItems=MAX_STEPS)] = ()  # empty: one call with the input
    setup: Annotated[tuple[Step, ...], Form(maxItems=MAX_STEPS)] = ()  # before; neither in the latency nor shown
    teardown: Annotated[tuple[Step, ...], Form(maxItems=MAX_STEPS)] = ()  # after, whatever happened
    description: str = ""
    evaluator: Evaluator = _PLAIN
    timeout_ms: Annotated[int, Range(100, 86_400_000)] | None = None
    tags: tuple[str, ...] = ()
    weight: Annotated[float, Range(0, None), Form(exclusiveMinimum=0)] = 1.0  # in ``weighted_mean``, above 0
    golden: bool = False  # whether a skill that passed it before must pass it ever after: no diff allows its loss
    metadata: Mapping[str, Any] = field(default_factory=dict)
    prompt: str = ""  # as ``description``: files of eval-skills have it, and no skill is given it


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """Tasks that belong together."""

    CLOSED: ClassVar[bool] = True
    FREE: ClassVar[str] = rf"{FREE}|^\$schema$"  # which editors read

    RULES: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"status": {"const": State.PLACEHOLDER.value}}, "required": ["status"]},
        "else": {"properties": {"tasks": {"minItems": 1}}},
    }

    id: Annotated[str, Form(pattern=whole(BENCHMARK_ID))]  # ``my-benchmark``
    name: str
    version: Annotated[str, Form(pattern=whole(VERSION))]
    tasks: Annotated[tuple[Task, ...], Form(maxItems=MAX_TASKS)]  # in the order in which they are run
    description: str = ""
    domain: str = "general"  # ``general``, ``coding``, ``web``, ``reasoning``, ``tool-use`` or another word
    scoring_method: Method = Method.MEAN
    k: Annotated[int, Range(1, 1000)] | None = None  # of pass@k and pass^k; None: the number of runs
    max_latency_ms: Annotated[int, Range(1, None)] | None = None  # the latency that gets no point; None: 30,000
    metadata: Mapping[str, Any] = field(default_factory=dict)
    status: State = State.ACTIVE  # whether it has tasks
    adapter: Annotated[str | None, Form(enum=(STATIC, None))] = None  # ``static``: skills are read and not run
    server: str | None = None  # what is served on loopback while it runs, by its name among the packaged servers


MAX_LATENCY_MS = 30_000
"""The latency that gets no point where a benchmark names none (the seed's schema default)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A benchmark as it was read."""

    benchmark: Benchmark  # what it says, filtered by the options of tasks and tags
    origin: str  # ``packaged``, or the path of its file as shown
    folder: str  # the absolute directory of its file, which paths in it are relative to
    digest: str  # of what it says, whole: equal digests are comparable


class SortKey(Enum):
    """What skills are ranked by: ``latency`` is the 95th percentile, ``tokenCost`` the tokens of all results."""

    COMPLETION_RATE = "completionRate"
    COMPOSITE_SCORE = "compositeScore"
    LATENCY = "latency"
    TOKEN_COST = "tokenCost"  # noqa: S105 - the name of a figure


class Order(Enum):
    """In which order they are ranked."""

    ASCENDING = "asc"
    DESCENDING = "desc"


BETTER_LOW = frozenset({SortKey.LATENCY, SortKey.TOKEN_COST})
"""Keys of which less is better: they rank in ascending order by default."""


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a skill must have to be selected; None and nothing ask for nothing."""

    CLOSED: ClassVar[bool] = True

    min_completion_rate: Ratio | None = None  # the minimum share of tasks that passed
    max_error_rate: Ratio | None = None  # the largest share of tasks that ended in an error or a timeout
    max_latency_p95_ms: Milliseconds | None = None  # the largest 95th percentile of latencies
    adapter_types: tuple[AdapterType, ...] = ()
    required_tags: tuple[str, ...] = ()


_NO_FILTERS = Filters()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How skills are selected: filter, rank, keep the first."""

    CLOSED: ClassVar[bool] = True

    filters: Filters = _NO_FILTERS
    sort_by: SortKey = SortKey.COMPOSITE_SCORE
    order: Order | None = None  # None: the best first
    top_k: Annotated[int, Range(1, None)] | None = None  # how many are selected at most; None: all that pass

    @property
    def descending(self) -> bool:
        """Whether the largest comes first."""
        if self.order is not None:
            return self.order is Order.DESCENDING
        return self.sort_by not in BETTER_LOW


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """Whether one skill of a run was selected: its rank among those that passed every filter, and the reasons."""

    skill_id: str
    selected: bool
    rank: Annotated[int, Range(1, None)] | None
    reasons: tuple[str, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What ``run`` selected, and by what."""

    strategy: Strategy
    skills: tuple[Pick, ...]


class Choice(NamedTuple):
    """What became of one entrant."""

    entrant: int  # which one it is, by its place among them
    selected: bool  # whether it is among the first that passed all filters
    rank: int | None  # among those that passed them; None for others
    reasons: tuple[str, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a skill's evaluation says of it; None if it was not measured."""

    completion_rate: Ratio | None = None
    partial_score: Ratio | None = None
    error_rate: Ratio | None = None
    composite_score: Ratio | None = None
    latency_p95_ms: Milliseconds | None = None
    tokens: Count | None = None
    cost_usd: float | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a skill completed when it was last evaluated."""

    completion_rate: Ratio  # the share of tasks that passed
    source: str  # ``store`` for what was measured here, ``skill.json`` for what the skill says of itself
    benchmark_id: str | None = None  # on what; None if unknown
    measured_at: datetime | None = None  # None if unknown


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSkill:
    """One skill that was found."""

    id: str
    adapter_type: AdapterType
    version: str | None = None  # None for a SKILL.md that names none: its content is its version
    name: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    path: str = ""
    completion: Past | None = None  # what it completed when it was last evaluated; None if unknown
    relevance: Count | None = None  # how well it matches the query, None without one


class NotLoaded(NamedTuple):
    """A skill that was found and could not be evaluated, and why: no other one is kept from its turn."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSkills:
    """The document of ``find``: kind ``find``."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "find")

    tool: Tool
    skills: tuple[FoundSkill, ...]  # the best first
    matched: Count  # how many match, ``skills`` being cut to the limit
    not_evaluated: Count = 0  # how many match all but the least completion, since they were never evaluated
    not_loaded: tuple[NotLoaded, ...] = ()  # skills that could not be read, and why
    schema_version: int = SCHEMA_VERSION


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedSkill:
    """One skill that was selected, with the figures that it was selected by and why."""

    id: str
    rank: Annotated[int, Range(1, None)]
    adapter_type: AdapterType
    version: str | None
    name: str
    description: str
    tags: tuple[str, ...]
    benchmark_id: str
    benchmark_version: str
    measured_at: datetime
    figures: Figures
    reasons: tuple[str, ...]
