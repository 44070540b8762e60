"""The Action's inputs and outputs: declared once, for action.yml, the README and the program."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.model.score import Dimension
from skillgate.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIMENSIONS = tuple(dimension.value for dimension in Dimension)
_MOST_TOLD = 3  # mistakes of one input
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")  # as the toolkit's getBooleanInput has them


class Form(Enum):
    """How an input's text is read."""

    TEXT = "text"
    LINES = "one per line"
    SCORES = "NAME=0.7, one per line"
    WORDS = "comma-separated"
    CHOICE = "one of"
    FLAG = "true or false"
    NUMBER = "a number"
    KEY = "letters, digits, ., _ and -"


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


INPUTS = (
    Input(
        "mode",
        "gate the skills, or comment on what an earlier run has found. auto: comment in workflow_run, else gate.",
        Form.CHOICE,
        "auto",
        ("auto", "gate", "comment"),
    ),
    Input(
        "paths",
        "Skills, or directories that hold some, relative to working-directory; one per line, !PATH excludes.",
        Form.LINES,
        ".",
    ),
    Input("working-directory", "The directory that paths and configuration are relative to.", Form.TEXT, "."),
    Input(
        "config",
        "The configuration file. Default: the nearest there is; for a pull request, as its base has it.",
    ),
    Input(
        "depth",
        "How deep to evaluate; one that cannot run is refused. Default: the configuration's, else quick.",
        Form.CHOICE,
        "",
        ("quick", "standard", "deep", "certify"),
    ),
    Input(
        "profile",
        "The client whose refusals are errors.",
        Form.CHOICE,
        "",
        ("any", "spec", "claude-code", "claude-upload", "codex"),
    ),
    Input(
        "baseline",
        "What to compare with: auto (a pull request's base), none, report:PATH, or a git revision.",
        Form.TEXT,
        "auto",
    ),
    Input(
        "fail-on",
        "What makes the step fail. Default: the configuration's, else error, unmeasured, regression where there is a"
        " base, and each bound that is set.",
        Form.WORDS,
        "",
        ("error", "warning", "threshold", "badge", "dimension", "regression", "unmeasured", "never"),
    ),
    Input("threshold", "The least score of a skill, 0 to 100.", Form.NUMBER, minimum=0, maximum=100),
    Input("min-badge", "The least badge of a skill.", Form.CHOICE, "", ("bronze", "silver", "gold", "platinum")),
    Input("min-dimension", "The least score of a dimension, 0 to 1, as NAME=0.7; one per line.", Form.SCORES),
    Input(
        "max-drop",
        "By how many points a score may fall below its base's; a lost badge is a regression however small the fall."
        " Default: the configuration's, else 2.",
        Form.NUMBER,
        minimum=0,
    ),
    Input(
        "on-unmeasured",
        "What a skill without a score does: fail the step (with 1 where fail-on lists unmeasured, else 3), or pass.",
        Form.CHOICE,
        "fail",
        ("fail", "pass"),
    ),
    Input(
        "changed-only",
        "Whether only skills that the change touches are gated. auto: in pull_request and merge_group.",
        Form.CHOICE,
        "auto",
        ("auto", "true", "false"),
    ),
    Input(
        "on-inconclusive",
        "What a bound does that lies inside a judged score's interval: the point estimate decides, or this.",
        Form.CHOICE,
        "",
        ("point", "pass", "warn", "fail"),
    ),
    Input(
        "provider",
        "Who judges from standard depth on. Keys come as environment variables, never as inputs.",
        Form.CHOICE,
        "anthropic",
        ("anthropic", "openai-compatible", "scripted"),
    ),
    Input("base-url", "Where requests to the provider are sent. Default: the provider's own address."),
    Input("key-variable", "The environment variable with the key of an openai-compatible server."),
    Input("judge-model", "The models that judge, in turn; one per line. Default: the configuration's.", Form.LINES),
    Input(
        "judges",
        "How many opinions to ask for. Default: the configuration's, else one of each model.",
        Form.NUMBER,
        "",
        (),
        1,
        9,
    ),
    Input("max-cost-usd", "The most that model calls of one run may cost, in US dollars.", Form.NUMBER, "5", (), 0),
    Input(
        "cache-dir",
        "Where a model's answers are kept, in the workspace and not in the repository: restore and save it with"
        " actions/cache. Default: nowhere beyond this job.",
    ),
    Input("merge-sarif", "SARIF files of other tools whose findings count too; one per line.", Form.LINES),
    Input(
        "comment",
        "When to comment on the pull request: always, when a skill has changed, when it fails, or never.",
        Form.CHOICE,
        "always",
        ("always", "changes", "failures", "never"),
    ),
    Input("comment-key", "Tells the comments of several jobs on one pull request apart.", Form.KEY, "default"),
    Input("pr-number", "The pull request to comment on. Default: the event's.", Form.NUMBER, minimum=1),
    Input("summary", "Whether to write the job summary.", Form.FLAG, "true"),
    Input(
        "annotations",
        "Which findings to annotate, at most ten of a level.",
        Form.CHOICE,
        "all",
        ("all", "errors", "none"),
    ),
    Input(
        "report-dir",
        "The directory of report.json, report.html and their companions, in the workspace.",
        Form.TEXT,
        "skillgate-report",
    ),
    Input("sarif", "Where to write SARIF, in the workspace; empty for none."),
    Input("github-token", "The token to comment with.", Form.TEXT, "${{ github.token }}"),
    Input("github-api-url", "The API's address.", Form.TEXT, "${{ github.api_url }}"),
)

OUTPUTS = (
    Output("result", "pass, fail or error."),
    Output("reasons", "Why it is not pass; one per line."),
    Output("skills", "How many skills were asked about."),
    Output("errors", "How many errors they have."),
    Output("warnings", "How many warnings they have."),
    Output("score", "The lowest score among them."),
    Output("scores", "Every score as JSON, by path; null where there is none."),
    Output("coverage", "The share of the weight that was measured, 0 to 1."),
    Output("model-calls", "How many requests a model answered."),
    Output("cached-answers", "How many answers were kept from an earlier run."),
    Output("cost-usd", "What the calls cost; empty where a price is unknown."),
    Output("new-findings", "How many findings came; empty without a base."),
    Output("fixed-findings", "How many findings went; empty without a base."),
    Output("baseline-rev", "The commit that was compared with; empty without one."),
    Output("report-json", "The path of report.json in the workspace."),
    Output("report-html", "The path of report.html in the workspace."),
    Output("report-md", "The path of report.md in the workspace."),
    Output("sarif-file", "The path of the SARIF file; empty for none."),
    Output("comment-status", "created, updated, unchanged, skipped, forbidden or failed."),
    Output("comment-url", "The comment's address; empty without one."),
)


Value = str | float | bool | tuple[str, ...] | None


def variable(name: str) -> str:
    """Give the environment variable of an input: the runner keeps hyphens and makes letters upper-case."""
    return "INPUT_" + name.replace(" ", "_").upper()


def read_inputs(environ: Mapping[str, str]) -> dict[str, Value]:
    """Read every input, by name.

    Returns:
        Text as str, numbers as float, flags as bool, lists as tuples of str; None for an input that is not given and
        has no default. A default that GitHub fills in is empty here.

    Raises:
        UsageError: with every input that is not valid.
    """
    values: dict[str, Value] = {}
    problems = []
    for declared in INPUTS:
        default = "" if declared.default.startswith("${{") else declared.default
        text = environ.get(variable(declared.name), "").strip() or default
        try:
            values[declared.name] = _value(declared, text)
        except ValueError as error:
            problems.append(f"input {declared.name}: {error}")
    if problems:
        raise UsageError("\n".join(problems))
    return values


def unknown_inputs(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Say what was given and is no input, a sentence each, for warnings: GitHub itself only warns."""
    known = {variable(declared.name): declared.name for declared in INPUTS}
    given = sorted(name for name in environ if name.startswith("INPUT_") and name not in known)
    names = (name.removeprefix("INPUT_").lower() for name in given)
    return tuple(
        f"there is no input {name[:80]!r}{did_you_mean(name, known.values())}: it does nothing" for name in names
    )


def _value(declared: Input, text: str) -> Value:
    match declared.form:
        case Form.LINES:
            return _lines(text)
        case Form.SCORES:
            return _scores(text)
        case Form.WORDS:
            words = tuple(dict.fromkeys(word.strip() for word in re.split(r"[,\n]", text) if word.strip()))
            return tuple(_chosen(declared, word) for word in words) or None
        case _ if not text:
            return None
        case Form.CHOICE:
            return _chosen(declared, text)
        case Form.FLAG:
            if text not in _TRUE + _FALSE:
                raise ValueError(f"expected true or false, found {text[:80]!r}")
            return text in _TRUE
        case Form.NUMBER:
            return _number(declared, text)
        case Form.KEY:
            if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", text):
                raise ValueError(f"expected 1 to 64 {declared.form.value}, found {text[:80]!r}")
            return text
        case Form.TEXT:
            return text


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.split("\n") if line.strip())


def _scores(text: str) -> tuple[str, ...]:
    """Check lines of the form NAME=SCORE, and give them as they are.

    Raises:
        ValueError: with the first few mistakes.
    """
    lines = _lines(text)
    problems = [problem for problem in map(_score_problem, lines) if problem]
    if problems:
        more = len(problems) - _MOST_TOLD
        raise ValueError("; ".join(problems[:_MOST_TOLD]) + (f"; and {more} more" if more > 0 else ""))
    return lines


def _chosen(declared: Input, word: str) -> str:
    if word in declared.choices:
        return word
    known = ", ".join(declared.choices)
    raise ValueError(f"expected {known}; found {word[:80]!r}{did_you_mean(word, declared.choices)}")


def _score_problem(line: str) -> str:
    """Say what is wrong with a line of scores, ``""`` for nothing."""
    name, _, number = (part.strip() for part in line.partition("="))
    if not re.fullmatch(r"0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?", number):
        return f"expected NAME=SCORE with a score from 0 to 1, found {line[:80]!r}"
    return "" if name in _DIMENSIONS else f"no dimension {name[:80]!r}{did_you_mean(name, _DIMENSIONS)}"


def _number(declared: Input, text: str) -> float:
    low, high = declared.minimum, declared.maximum
    bounds = f" of at least {low:g}" if low is not None else ""
    bounds = f" from {low:g} to {high:g}" if low is not None and high is not None else bounds
    if re.fullmatch(r"[0-9]{1,12}(?:\.[0-9]{1,6})?", text):
        number = float(text)
        if (low is None or number >= low) and (high is None or number <= high):
            return number
    raise ValueError(f"expected a number{bounds}, found {text[:80]!r}")
