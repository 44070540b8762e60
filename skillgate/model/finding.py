"""Findings, the declarations of checks, and what is known of one skill alone, also as text to be cached."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import PurePosixPath
from typing import Any, TypeVar

from skillgate.model.score import Count, Dimension, Evidence, Measured, QualityEstimate, SubCheck
from skillgate.model.skill import Skill, Span, Waiver, digest
from skillgate.named_tuple import NamedTuple


def rule_url(identifier: str) -> str:
    """Return the documentation page of a rule or anti-pattern; ``""`` if its address is not known, or for no id."""
    from skillgate.homepage import page  # most checks find nothing

    rules = page("rules.md")
    is_id = identifier.isascii() and identifier.replace("_", "").isalnum()
    return f"{rules}#{identifier.lower()}" if rules and is_id else ""


class Severity(Enum):
    """How bad a finding is. It orders findings and gates them; it never enters a score."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Order severities: errors 0, warnings 1, infos 2."""
        return ("error", "warning", "info").index(self.value)


class Client(Enum):
    """A reader of skills with known limits; also the name of the profile that checks a skill against them."""

    SPEC = "spec"  # the Agent Skills specification and its reference validator
    CLAUDE_CODE = "claude-code"
    CLAUDE_UPLOAD = "claude-upload"  # claude.ai and the API, which take a skill as an upload
    CODEX = "codex"


class Hit(NamedTuple):
    """What a check yields: a place and a message. Its id, severity, fix and page come from the declaration.

    ``severity``, ``fix``, ``refused_by`` and ``about`` are set only by a check whose declaration allows more than one
    of them, such as a description that is short (warning) or empty (error). ``file`` is the tree path of another file
    of the skill, None for its main file.
    """

    span: Span
    message: str
    severity: Severity | None = None
    fix: str | None = None
    file: str | None = None
    refused_by: tuple[Client, ...] | None = None
    about: tuple[Client, ...] | None = None


class Rule(NamedTuple):
    """The declaration of a check: one per file of ``static/antipatterns``, ``static/rules`` and ``static/defects``."""

    id: str  # never changes once published
    severity: Severity  # under the profile ``any``
    summary: str
    fix: str
    find: Callable[[Skill], Iterator[Hit]]
    advice: str | None = None  # the key of the piece of advice that fixes it, where there is one
    blocks_badge: bool = False
    group: str = ""  # a word that ``--select`` and ``--ignore`` know it by, beside its id
    optional: bool = False  # reported only where it, its group or ``all`` is selected
    refused_by: tuple[Client, ...] = ()
    about: tuple[Client, ...] = ()  # the only clients it concerns


class Claim(NamedTuple):
    """A hit with all that its declaration says, before profile, selection and suppressions decide what becomes of it.

    ``file`` is relative to the skill's directory, with ``/``. ``other`` is the shown path of the other skill that a
    claim across skills is about, ``skills`` is that of :class:`Finding`.
    """

    id: str
    severity: Severity
    message: str
    file: str
    line: int
    column: int
    fix: str
    group: str = ""
    optional: bool = False
    refused_by: tuple[Client, ...] = ()
    about: tuple[Client, ...] = ()
    other: str | None = None
    skills: tuple[str, ...] = ()


class Finding(NamedTuple):
    """A claim that applies.

    ``path`` is the file as shown: the skill's directory as it was given, then the file in it, with ``/``. ``clients``
    are those that refuse or drop the skill for it (empty: it is about no client in particular, or about all). ``tool``
    found it: skillgate, or the tool that wrote the merged SARIF file. ``skills`` identifies a finding across skills,
    together with its rule: the shown paths of all skills that it is about, sorted, or of the one plugin or
    folder with the list that it is about. It is empty for a finding about one skill, and about more than 20.
    """

    id: str
    severity: Severity
    message: str
    path: PurePosixPath
    line: int
    column: int
    fix: str
    url: str
    clients: tuple[Client, ...] = ()
    tool: str = "skillgate"
    skills: tuple[str, ...] = ()


class Suppressed(NamedTuple):
    """A finding that was suppressed: it gates nothing, and is counted and shown as such. It changes no score.

    ``by`` is ``comment`` (in the file), ``configuration`` (``ignore``) or ``known`` (the file of known findings);
    ``until`` is an ISO date, None if it never ends.
    """

    finding: Finding
    by: str
    reason: str | None = None
    until: str | None = None


class ListingUse(NamedTuple):
    """What the listing of one plugin or folder of skills takes of a client's budget."""

    client: Client  # whose budget
    place: str
    skills: Count
    characters: Count
    budget: Count
    cut: tuple[str, ...] = ()  # the skills whose description alone is over the client's limit for one, by path
    before: Count | None = None  # ``characters`` of the baseline, None without one


class AcrossChange(NamedTuple):
    """What a change does to findings across skills, next to a baseline: those that came and those that went."""

    new: tuple[Finding, ...]
    fixed: tuple[Finding, ...]


class Listing(NamedTuple):
    """What clients list of a skill so that a model can choose it."""

    name: str
    description: str  # stripped, ``""`` without one
    when_to_use: str = ""  # the field of that name, which one client joins to the description
    listed: bool = True  # whether a model sees it at all (not where only the user, or a path, starts it)
    name_line: int = 1  # name_line, description_line: where they are in the main file
    description_line: int = 1


class SkillTexts(NamedTuple):
    """What a skill says, for comparing it with others."""

    lines: tuple[tuple[int, str], ...] = ()
    uses: tuple[tuple[int, str], ...] = ()


class Repair(NamedTuple):
    """What repairs a frontmatter of which something could not be read."""

    rule: str
    action: str
    line: int  # where in the main file
    scores: tuple[tuple[Dimension, float | None], ...]
    anti_patterns: int


class Detail(NamedTuple):
    """The sub-checks with their evidence, heaviest first: name, dimension, what was measured.

    ``layer_score`` is that of the report's static layer, ``penalised`` each anti-pattern claim's key of advice and its
    line, ``repair`` what has to be done before advice on name and description makes sense.
    """

    scores: tuple[tuple[str, Dimension, Measured], ...] = ()
    layer_score: float | None = None
    penalised: tuple[tuple[str | None, int], ...] = ()
    repair: Repair | None = None


class Assessment(NamedTuple):
    """One skill, judged alone."""

    name: str  # the frontmatter's name, ``""`` without one
    unscored: str | None  # why there is nothing to score, else None
    claims: tuple[Claim, ...]  # errors first, then by line; suppressions, profile and selection are still to come
    waivers: tuple[Waiver, ...]
    anti_patterns: tuple[str, ...]
    no_badge: str | None  # why there can be no badge whatever the score, else None
    measured: Mapping[Dimension, tuple[float | None, str | None]]  # each statically measured dimension
    short: bool  # whether it has so few lines that it may belong to another skill
    recoverable: float
    listing: Listing
    duration_ms: int
    texts: Callable[[], SkillTexts]  # gives what is compared with other skills; read only where that is done
    detail: Callable[[], Detail]  # gives the evidence; read only where it is shown
    estimate: QualityEstimate = QualityEstimate()
    outside: tuple[str, ...] = ()  # tree paths outside the skill's directory that judging it asked for
    mark: str = ""  # a digest of ``texts`` and ``listing``, ``""`` if nobody made one


class Member(NamedTuple):
    """A skill among others.

    ``path`` is its directory as shown, ``plugin`` that of its plugin (None without one), ``file`` its main file's name,
    ``mark`` the assessment's.
    """

    path: str
    listing: Listing
    texts: Callable[[], SkillTexts]
    plugin: str | None = None
    file: str = "SKILL.md"
    mark: str = ""


class Clash(NamedTuple):
    """A hit that concerns several skills, in the main file of the skill ``path``."""

    path: str
    hit: Hit  # where, and what
    skills: tuple[str, ...]  # the paths of all skills that it is about
    other: str | None = None  # the other skill, where there is one other


class CatalogueRule(NamedTuple):
    """The declaration of a check across skills: one per file of ``static/across``; fields as of ``Rule``."""

    id: str
    severity: Severity
    summary: str
    fix: str
    find: Callable[[Sequence[Member]], Iterable[Clash]]
    group: str = "across"
    optional: bool = False
    about: tuple[Client, ...] = ()


class Page(NamedTuple):
    """One rule with its kind and the sections of its file's docstring (``Why``, ``Bad``, ``Good``, ``Source``)."""

    rule: Rule | CatalogueRule
    kind: str
    title: str
    sections: dict[str, str]


class CheckPage(NamedTuple):
    """One sub-check with what its file says of it."""

    name: str
    check: SubCheck
    text: str


T = TypeVar("T")
_SEVERITIES = {severity.value: severity for severity in Severity}
_DIMENSIONS = {dimension.value: dimension for dimension in Dimension}
_CLIENTS = {client.value: client for client in Client}

UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""What reading text that :func:`assessment_text` did not make may raise."""


def assessment_text(facts: Assessment) -> str:
    """Write an assessment as three lines of JSON: what every run needs, what is compared across skills, the evidence.

    Arrays without names: a catalogue of hundreds is read back in milliseconds.
    """
    detail, repair = facts.detail(), facts.detail().repair
    texts = _line(facts.texts())
    mark = digest(_bytes(texts), _bytes(_line(facts.listing)))
    claims = [_plain(claim) for claim in facts.claims]
    measured = [(dimension.value, *scored) for dimension, scored in facts.measured.items()]
    light = (facts.name, facts.unscored, claims, facts.waivers, facts.anti_patterns, facts.no_badge, measured)
    scores = [
        (name, dimension.value, found.score, found.reason, found.evidence) for name, dimension, found in detail.scores
    ]
    repaired = repair and (*repair[:3], [(key.value, score) for key, score in repair.scores], repair.anti_patterns)
    rest = (facts.listing, facts.estimate, facts.outside, mark)
    evidence = _line([scores, detail.layer_score, detail.penalised, repaired])
    return "\n".join((_line([*light, facts.short, facts.recoverable, rest]), texts, evidence))


def read_assessment(lines: Sequence[str], assess: Callable[[], Assessment]) -> Assessment:
    """Read the three lines of :func:`assessment_text`; ``assess`` judges again where one that is read later is broken.

    Raises:
        ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError: the text is something else.
    """
    light, texts, detail = lines
    shown, unscored, claims, waivers, patterns, no_badge, measured, short, recoverable, rest = json.loads(light)
    listing, estimate, outside, mark = rest
    return Assessment(
        name=shown,
        unscored=unscored,
        claims=tuple(_claim(item) for item in claims),
        waivers=tuple(Waiver(file, line, tuple(rules), *rest) for file, line, rules, *rest in waivers),
        anti_patterns=tuple(patterns),
        no_badge=no_badge,
        measured={_DIMENSIONS[key]: (score, reason) for key, score, reason in measured},
        short=short,
        recoverable=recoverable,
        listing=Listing(*listing),
        duration_ms=0,
        texts=lambda: _read_texts(texts, assess),
        detail=_once(lambda: _detail(detail), lambda: assess().detail()),
        estimate=QualityEstimate(*estimate),
        outside=tuple(outside),
        mark=mark,
    )


def claims_text(claims: Sequence[tuple[str, Claim]]) -> str:
    """Write claims across skills, each with the path of the skill it is about."""
    return _line([(path, *_plain(claim)) for path, claim in claims])


def read_claims(text: str) -> tuple[tuple[str, Claim], ...]:
    """Read what :func:`claims_text` wrote.

    Raises:
        ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError: the text is something else.
    """
    return tuple((path, _claim(rest)) for path, *rest in json.loads(text))


def _line(value: object) -> str:
    # Not as ASCII: two halves of a surrogate pair, written as escapes, would come back as one character.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _bytes(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")


def _plain(claim: Claim) -> list[object]:
    refused, about = ([client.value for client in clients] for clients in (claim.refused_by, claim.about))
    return [*claim._replace(severity=claim.severity.value, refused_by=refused, about=about)]  # type: ignore[arg-type]


def _claim(item: list[Any]) -> Claim:
    identifier, severity, message, file, line, column, fix, group, optional, refused, about, other, skills = item
    refused, about = (tuple(_CLIENTS[word] for word in words) for words in (refused, about))
    severity, skills = _SEVERITIES[severity], tuple(skills)
    return Claim(identifier, severity, message, file, line, column, fix, group, optional, refused, about, other, skills)


def _read_texts(line: str, assess: Callable[[], Assessment]) -> SkillTexts:
    """Read the texts at each call: they are large, and only needed while skills are compared."""
    try:
        return _texts(line)
    except UNREADABLE:
        return assess().texts()


def _texts(line: str) -> SkillTexts:
    lines, uses = json.loads(line)
    return SkillTexts(tuple((row, text) for row, text in lines), tuple((row, text) for row, text in uses))


def _detail(line: str) -> Detail:
    scores, layer_score, penalised, repair = json.loads(line)
    return Detail(
        scores=tuple(
            (name, _DIMENSIONS[dimension], Measured(score, tuple(Evidence(*item) for item in evidence), reason))
            for name, dimension, score, reason, evidence in scores
        ),
        layer_score=layer_score,
        penalised=tuple((key, row) for key, row in penalised),
        repair=None if repair is None else _repair(*repair),
    )


def _repair(rule: str, action: str, line: int, scores: list[tuple[str, float | None]], anti_patterns: int) -> Repair:
    return Repair(rule, action, line, tuple((_DIMENSIONS[key], score) for key, score in scores), anti_patterns)


def _once(make: Callable[[], T], otherwise: Callable[[], T]) -> Callable[[], T]:
    """Make a value when it is first asked for; the other way where the first meets something else."""
    made: list[T] = []

    def get() -> T:
        if not made:
            try:
                made.append(make())
            except UNREADABLE:
                made.append(otherwise())
        return made[0]

    return get
