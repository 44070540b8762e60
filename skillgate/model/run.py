"""The record of one run of the Action: what was compared with what, under whose policy, and what came of it.

It is written beside the report, so that a second workflow can say in a comment what a first one, without any right to
write, has found. What it says of a pull request from a fork is the fork's word: data, never an instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from skillgate.model.marks import Range
from skillgate.model.report import Tool
from skillgate.model.score import SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRun:
    """One run.

    Attributes:
        result: ``pass``, ``fail`` (a gate) or ``error`` (something could not be evaluated).
        exit_code: what the program ended with.
        reasons: why it did not pass, the first one first in log and comment; of ``pass`` what deserves a word.
        event: GitHub's name of it, ``""`` outside of GitHub.
        head, base: commits; ``base`` is None where there is nothing to compare with.
        change: the pull request's own head, where what is checked out is GitHub's merge of it; else ``""``.
        compared: how the base was found, in words that can follow "compared with".
        policy: whose gates, rules and suppressions held, in words that can follow "policy from".
        policy_commit: the commit that they were read from; ``""`` where that is ``head`` itself.
        policy_changes: what the change does to its own gate, in sentences; it takes effect after the merge.
        notices: what else a reader should know.
        changed_only: whether only skills that the change touches can fail it.
        touched: how many skills it touches, those of a benchmark included; None where all are asked about.
        benchmarked: how many skills a benchmark was run on; None without a benchmark.
        beside: the shown paths of skills that the change does not touch, and that the report names only for what they
            share with one of those that it does.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "action")

    result: str
    exit_code: Annotated[int, Range(0, 255)]
    tool: Tool
    reasons: tuple[str, ...] = ()
    event: str = ""
    head: str = ""
    base: str | None = None
    change: str = ""
    compared: str = ""
    policy: str = ""
    policy_commit: str = ""
    policy_changes: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    changed_only: bool = False
    touched: Annotated[int, Range(0, None)] | None = None
    benchmarked: Annotated[int, Range(0, None)] | None = None
    beside: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION
