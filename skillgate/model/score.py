"""The vocabulary of scores and records: dimensions, depths, grades, badges, and what a type says of its JSON form.

The latter (ranges, tags that distinguish a union's members, fields and their keys) is separate from the codec: a run
that writes no JSON needs the types and not the codec.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.model.skill import Skill


SCORING_VERSION = 3  # changes whenever the same skill may get another number; such numbers are not compared
SCHEMA_VERSION = 1


class Dimension(Enum):
    """The ten dimensions, by falling weight."""

    TRIGGERING_ACCURACY = "triggering_accuracy"
    ORCHESTRATION_FITNESS = "orchestration_fitness"
    OUTPUT_QUALITY = "output_quality"
    SCOPE_CALIBRATION = "scope_calibration"
    PROGRESSIVE_DISCLOSURE = "progressive_disclosure"
    TOKEN_EFFICIENCY = "token_efficiency"  # noqa: S105 - a dimension's name
    ROBUSTNESS = "robustness"
    STRUCTURAL_COMPLETENESS = "structural_completeness"
    CODE_TEMPLATE_QUALITY = "code_template_quality"
    ECOSYSTEM_COHERENCE = "ecosystem_coherence"

    __hash__ = object.__hash__  # by identity, in C: tables are looked up by dimension tens of thousands of times


class Depth(Enum):
    """How deep an evaluation goes; each depth adds a layer to the one before."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"
    CERTIFY = "certify"


class Outcome(Enum):
    """What a gate says: what was not measured is neither a pass nor a fail, and is shown so."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    UNMEASURED = "unmeasured"


class LayerName(Enum):
    """The layers that give scores to dimensions."""

    STATIC = "static"
    JUDGE = "judge"
    MONTECARLO = "montecarlo"

    __hash__ = object.__hash__


class Grade(Enum):
    """A letter for a score in [0, 1]: half-open ranges, from the method's table."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    F = "F"

    @property
    def at_least(self) -> float:
        """Return the lowest score that earns the letter."""
        return _GRADES[self.value][0]

    @property
    def meaning(self) -> str:
        """Return what the letter means."""
        return _GRADES[self.value][1]

    @classmethod
    def of(cls, score: float) -> Grade:
        """Grade a score in [0, 1]."""
        return next(grade for grade, least in _RANKED if score >= least)


_GRADES = {
    "A": (0.90, "excellent: no significant improvements left"),
    "B": (0.80, "good: small gaps"),
    "C": (0.70, "adequate: one or two clear improvements to make"),
    "D": (0.60, "marginal: needs substantial work"),
    "F": (0.00, "failing: needs a rewrite"),
}


_RANKED = tuple((grade, _GRADES[grade.value][0]) for grade in Grade)


class Badge(Enum):
    """The badges, best first, with the composite (0–100) and the Elo rating that each asks for."""

    PLATINUM = "Platinum"
    GOLD = "Gold"
    SILVER = "Silver"
    BRONZE = "Bronze"

    @property
    def composite(self) -> float:
        """Return the lowest composite that earns the badge."""
        return float(_BADGES[self.value][0])

    @property
    def elo(self) -> float:
        """Return the lowest Elo rating that earns the badge, where a rating was computed."""
        return float(_BADGES[self.value][1])

    @property
    def stars(self) -> str:
        """Draw the badge: five stars for Platinum, two for Bronze."""
        return "★" * _BADGES[self.value][2]

    @property
    def meaning(self) -> str:
        """Return what the badge means."""
        return _BADGES[self.value][3]

    @classmethod
    def from_scores(cls, composite: float | None, elo: float | None = None) -> Badge | None:
        """Return the best badge whose composite (0–100) is reached and, where a rating was computed, whose Elo too."""
        if composite is None:
            return None
        reached = (badge for badge in cls if composite >= badge.composite and (elo is None or elo >= badge.elo))
        return next(reached, None)


_BADGES = {
    "Platinum": (90, 1600, 5, "a reference for others"),
    "Gold": (80, 1500, 4, "ready for production"),
    "Silver": (70, 1400, 3, "works, and can be improved"),
    "Bronze": (60, 1300, 2, "minimum viable; not for users yet"),
}


class Evidence(NamedTuple):
    """One thing that a sub-check looked for."""

    text: str
    points: float  # what it earned, on the sub-check's scale of [0, 1]; negative for a deduction
    possible: float  # the most it could have earned (0 for a deduction)
    line: int | None = None  # where, None when it concerns no line
    advice: str | None = None  # the key of the advice that would earn the rest, None when there is none to give


class Measured(NamedTuple):
    """What a sub-check gives: a score in [0, 1] with its evidence, or None with the reason it measured nothing."""

    score: float | None
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None

    @classmethod
    def total(cls, evidence: tuple[Evidence, ...]) -> Measured:
        """Add the points up, cut to [0, 1]."""
        return cls(score=min(1.0, max(0.0, sum(item.points for item in evidence))), evidence=evidence)


class SubCheck(NamedTuple):
    """The declaration of a sub-check: one per file of ``static/subchecks``.

    ``weight`` is its share of the displayed layer-1 score; 0 for those that only feed their dimension.
    """

    dimension: Dimension
    weight: float
    summary: str
    measure: Callable[[Skill], Measured]


T = TypeVar("T")


class Range:
    """The closed interval of a number, as in ``Annotated[float, Range(0, 1)]``; None leaves an end open."""

    __slots__ = ("maximum", "minimum")

    def __init__(self, minimum: float | None = None, maximum: float | None = None) -> None:
        self.minimum = minimum
        self.maximum = maximum

    def __contains__(self, number: float) -> bool:
        low, high = self.minimum, self.maximum
        return (low is None or number >= low) and (high is None or number <= high)

    def __str__(self) -> str:
        ends = (("at least", self.minimum), ("at most", self.maximum))
        return " and ".join(f"{words} {end}" for words, end in ends if end is not None)


class Form:
    """What the schema says of a value beyond its type, as in ``Annotated[str, Form(pattern=NO_NUL)]``.

    The codec does not check it: the reader of such documents does, by the same constants, and says in words what is
    wrong.
    """

    __slots__ = ("keywords",)

    def __init__(self, **keywords: object) -> None:
        self.keywords = {key: list(value) if isinstance(value, tuple) else value for key, value in keywords.items()}


NOT_BLANK = r"\S"
NO_NUL = r"^[^\0]*$"


def whole(pattern: str) -> str:
    """Return a pattern of JSON Schema for a whole text; to Python ``$`` is also the place before a last line end."""
    return rf"^(?:{pattern})$(?!\n)"


Rating = Annotated[float, Range(0, 10)]
Ratio = Annotated[float, Range(0, 1)]
Points = Annotated[float, Range(0, 100)]
Count = Annotated[int, Range(0, None)]
Milliseconds = Annotated[float, Range(0, None)]


class QualityEstimate(NamedTuple):
    """What a reader would probably say of a skill, 0–10: an estimate from its text alone, apart from the composite.

    Four readers in five would rate it between ``low`` and ``high``. Where it is None, ``reason`` says why.
    """

    value: Rating | None = None
    low: Rating | None = None
    high: Rating | None = None
    reason: str | None = None


def tagged(key: str, value: str) -> Callable[[type[T]], type[T]]:
    """Return a named tuple the tag that a dataclass declares as ``TAG``: a class decorator."""

    def tag(cls: type[T]) -> type[T]:
        _TAGS[cls] = (key, value)
        return cls

    return tag


def tag_of(cls: type) -> tuple[str, str] | None:
    """Return the key and value that distinguish a record from the others of its union."""
    declared: tuple[str, str] | None = getattr(cls, "TAG", None)
    return _TAGS.get(cls, declared)


def camel(cls: type[T]) -> type[T]:
    """Write a record's keys in camelCase, as the benchmarks' documents have them: a class decorator."""
    _CAMEL.add(cls)
    return cls


def key_of(cls: type, name: str) -> str:
    """Return the JSON key of a field that names none itself."""
    if cls not in _CAMEL:
        return name
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_TAGS: dict[type, tuple[str, str]] = {}
_CAMEL: set[type] = set()


Json: TypeAlias = Any  # None, bool, int, float, str, and lists and str-keyed dicts of them
MAX_PROBLEMS = 20  # a document of the wrong kind has thousands, and they help no reader


class Field(NamedTuple):
    """One field of a record: its name, its JSON key, and how it is written and read."""

    name: str
    key: str
    required: bool
    omit_none: bool = False
    init: bool = True
    doc: str = ""


def is_record(cls: object) -> bool:
    """Return whether a type is written as an object: a dataclass or a named tuple."""
    return isinstance(cls, type) and (_is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields")))


def json_keys(cls: type) -> tuple[Field, ...]:
    """List the fields of a record with their JSON keys.

    Raises:
        TypeError: when two keys, that of the tag among them, are the same.
    """
    fields = tuple(_dataclass_fields(cls)) if _is_dataclass(cls) else _tuple_fields(cls)
    tag = tag_of(cls)
    keys = [field.key for field in fields] + ([tag[0]] if tag else [])
    if len(set(keys)) < len(keys):
        raise TypeError(f"{cls.__qualname__}: two of its JSON keys are the same: {', '.join(keys)}")
    return fields


def _is_dataclass(cls: type) -> bool:
    return hasattr(cls, "__dataclass_fields__")


def _dataclass_fields(cls: Any) -> Iterator[Field]:  # noqa: ANN401 - any dataclass
    import dataclasses  # already loaded by whoever made such a class; most runs have none

    for field in dataclasses.fields(cls):
        meta = field.metadata
        required = field.default is field.default_factory is dataclasses.MISSING
        key = meta.get("json") or key_of(cls, field.name)
        yield Field(field.name, key, required, bool(meta.get("omit_none")), field.init, meta.get("doc", ""))


def _tuple_fields(cls: Any) -> tuple[Field, ...]:  # noqa: ANN401 - any named tuple
    return tuple(Field(name, key_of(cls, name), name not in cls._field_defaults) for name in cls._fields)
