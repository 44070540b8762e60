"""A skill that can be run: what its skill.json and adapter.config.json say.

Annotations are evaluated when such a file is read or its schema is made. Keys are camelCase, as their documents have
them. The shape is checked here; what a shape cannot say (a semantic version, a pattern of ids) is
:mod:`skillgate.bench.checking`'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, ClassVar

from skillgate.model.marks import NO_NUL, NOT_BLANK, Form, Range, camel, whole


class AdapterType(Enum):
    """How a skill is run. ``langchain`` and ``custom`` are valid in a skill.json, and nothing here runs them."""

    HTTP = "http"
    SUBPROCESS = "subprocess"
    MCP = "mcp"
    STATIC = "static"
    SKILLMD = "skillmd"
    LANGCHAIN = "langchain"
    CUSTOM = "custom"


UNSUPPORTED = frozenset({AdapterType.LANGCHAIN, AdapterType.CUSTOM})
WITHOUT_ENTRYPOINT = (AdapterType.STATIC, AdapterType.SKILLMD)
ID = r"[a-z0-9_-]+"
# Semantic Versioning 2.0.0, section 2, 9 and 10.
_NUMBER = r"(?:0|[1-9][0-9]*)"
_PART = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
VERSION = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PART}(?:\.{_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
WORK_DIRS = ("shared", "copy")
RESTARTS = ("per-run", "per-call")
_Plain = Annotated[str, Form(pattern=NO_NUL)]


class AuthType(Enum):
    """How an http skill wants its token: ``Authorization: Bearer``, ``X-API-Key``, or not at all."""

    NONE = "none"
    BEARER = "bearer"
    API_KEY = "api-key"


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterConfig:
    """The adapter's own settings: adapter.config.json beside skill.json, or the key ``adapter`` in it.

    Attributes:
        base_url: what a relative entrypoint is joined to (RFC 3986); an absolute one wins.
        auth_type: how an http skill wants its token.
        auth_token_env_key: the environment variable that holds it.
        headers: to send to an http or MCP server beside; no credentials, which would be in a file.
        command: the program, in the place of the entrypoint.
        args: its arguments, as they are.
        env: variables for the skill's process.
        pass_env: names of the user's variables to hand on; each needs ``--allow-env``.
        timeout_ms: for each attempt of each task, start-up included; a task's own comes before it.
        retries: tries after an infrastructure failure.
        max_concurrency: the most calls of this skill at once.
        persistent: whether one process answers many requests, one line each.
        work_dir: ``shared``: the skill's directory; ``copy``: a fresh copy of it for each call.
        tool_name: the MCP tool; without it that of the skill's id, or the only one there is.
        restart: of an MCP server over stdio: a new process for each call, or one for the run.
        memory_mb: of resident memory, for the skill's processes together.
        serve: the program that is this http skill's server on this machine, and its arguments; ``bench serve`` runs it.
    """

    CLOSED: ClassVar[bool] = True
    RULES: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"args": {"minItems": 1}}, "required": ["args"]},
        "then": {"properties": {"command": {"type": "string", "minLength": 1}}, "required": ["command"]},
    }

    base_url: str | None = None
    auth_type: AuthType = AuthType.NONE
    auth_token_env_key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    command: _Plain | None = None
    args: tuple[_Plain, ...] = ()
    env: Mapping[_Plain, _Plain] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()
    timeout_ms: Annotated[int, Range(100, 86_400_000)] | None = None
    retries: Annotated[int, Range(0, 100)] | None = None
    max_concurrency: Annotated[int, Range(1, 256)] | None = None
    persistent: bool = False
    work_dir: Annotated[str, Form(enum=WORK_DIRS)] = "shared"
    tool_name: str | None = None
    restart: Annotated[str, Form(enum=RESTARTS)] = "per-run"
    memory_mb: Annotated[int, Range(16, 1_048_576)] | None = None
    serve: tuple[_Plain, ...] = ()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Executable:
    """What skill.json says. Keys beyond these are passed over.

    Attributes:
        id: ``[a-z0-9_-]+``; tells skills apart.
        name: for people.
        version: a semantic version (2.0.0 of that specification).
        adapter_type: how it is run.
        entrypoint: a URL for http, a command or a URL for mcp, a command for subprocess.
        description: what it does.
        tags: to find and select it by.
        input_schema, output_schema: JSON Schemas.
        metadata: author, license, homepage, toolName, benchmarkResults and what its author likes.
        adapter: the adapter's settings, where no adapter.config.json holds them.
    """

    RULES: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"adapterType": {"enum": [kind.value for kind in WITHOUT_ENTRYPOINT]}}},
        "else": {"properties": {"entrypoint": {"pattern": NOT_BLANK}}},
    }

    id: Annotated[str, Form(pattern=whole(ID))]
    name: Annotated[str, Form(pattern=NOT_BLANK)]
    version: Annotated[str, Form(pattern=whole(VERSION))]
    adapter_type: AdapterType
    entrypoint: _Plain
    description: str = ""
    tags: tuple[str, ...] = ()
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    adapter: AdapterConfig | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Runnable:
    """A skill as it was read from disk, ready to be run.

    Attributes:
        spec: its skill.json; for a SKILL.md without one: id = its name, version = ``metadata.version`` or a digest.
        config: its adapter's settings; all defaults where it has none.
        root: the absolute directory that holds it.
        shown: the path to show, as the user named it, of the directory.
        digest: of the contents of all files below ``root``.
        key: what reports know it by: the id, or ``id@version`` where another of the same id stands beside it.
    """

    spec: Executable
    config: AdapterConfig
    root: str
    shown: str
    digest: str
    key: str
