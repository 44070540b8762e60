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


class Input(NamedTuple):
    """One input. An empty text is the same as none given: the default holds, or, without one, the configuration."""

    name: str
    help: str
    form: Form = Form.TEXT
    default: str = ""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


class Output(NamedTuple):
    """One output: always written, also when the step fails; empty where there is no value."""

    name: str
    help: str


Value = str | float | bool | tuple[str, ...] | None
