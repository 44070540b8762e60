"""What an input and an output of the Action is."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Form(Enum):
    """How an input's text is read."""

    TEXT = "text"
    LINES = "one per line"
    SCORES = "NAME=0.7, one per line"
    WORDS = "comma-separated"
    NAMES = "names, comma-separated"
    CHOICE = "one of"
    FLAG = "true or false"
    NUMBER = "a number"
    KEY = "letters, digits, ., _ and -"
    SHARD = "I/N"


class Origin(Enum):
    """Where the file or directory that an input names comes from in a pull request or merge group, in words."""

    CHANGE = "what is checked out, since it is what is judged"
    BASE = "the tip of the base branch; what only the change has counts after the merge, and the run says so"
    BASE_ALONE = (
        "the tip of the base branch; a file that only the change has, or that an earlier step wrote over a tracked one,"
        " ends the step with 2"
    )
    UNTRACKED = "the workspace; what git tracks ends the step with 2"
    OUTPUT = "written to the workspace; a file that git tracks ends the step with 2"
    NEVER = "refused: the step ends with 2"


class Input(NamedTuple):
    """One input. An empty text is the same as none given: the default holds, or, without one, the configuration.

    Attributes:
        origin: of an input that names files or directories, where they come from in a change; else None.
    """

    name: str
    help: str
    form: Form = Form.TEXT
    default: str = ""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    origin: Origin | None = None


class Output(NamedTuple):
    """One output: always written, also when the step fails; empty where there is no value."""

    name: str
    help: str


Value = str | float | bool | tuple[str, ...] | None
