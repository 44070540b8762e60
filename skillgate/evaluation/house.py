"""House rules of a configuration: load them, and run them over skills. Only used where the configuration has any.

Code is loaded from the file that the configuration names, through the reader of the run: in a pull request, both come
from the base branch. A rule that fails on a skill is reported and stops nothing else.
"""
# ruff: noqa: PTH118

from __future__ import annotations

import json
import os
import sys
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.request import read_whole
from skillgate.model import finding
from skillgate.model.finding import Hit, Page, Rule, Severity
from skillgate.model.house import CODE, kind_of
from skillgate.model.skill import SkillRoot, digest
from skillgate.skill.walk import WatchedTree, holds
from skillgate.static.house import GROUP, template_page, template_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from skillgate.cache import Cache
    from skillgate.config import Config, Layer
    from skillgate.evaluation.request import Reading
    from skillgate.model.finding import Claim
    from skillgate.model.setting import Table
    from skillgate.model.skill import Skill, SkillSource

ENTRY_POINTS = "skillgate.rules"
_MODULES = "skillgate_house_rules"
_MOST = 10_000  # findings of one rule in one skill: with more, the rule fails, since none may go unseen
_MOST_WORDS = 300  # characters of an error
_MOST_LINES = 10_000_000
_WHAT = "the house rule"


class _Declared(NamedTuple):
    """A loaded rule: its page, and where it is declared."""

    page: Page
    rule: Rule
    origin: str


class HouseRules:
    """The house rules of one run.

    Attributes:
        failures: a sentence for each rule that failed on a skill, with the first such skill.
    """

    def __init__(self, declared: tuple[_Declared, ...], mark: str) -> None:
        """Store the rules; ``mark`` is a digest of all that they are made of, ``""`` if it is not known."""
        self._declared, self._mark = declared, mark
        self._failed: dict[str, dict[str, str]] = {}  # what failed where, by rule and shown path

    @property
    def pages(self) -> tuple[Page, ...]:
        """The documentation of each rule."""
        return tuple(one.page for one in self._declared)

    @property
    def failures(self) -> tuple[str, ...]:
        """The rules that failed, each with its file, the first error and the number of skills."""
        return tuple(
            f"{first}{f' (and on {len(more)} more)' if more else ''}"
            for first, *more in (where.values() for where in self._failed.values())
        )

    def claims(self, source: SkillSource, cache: Cache | None, key: Callable[[str], str]) -> tuple[Claim, ...]:
        """Return what the rules find in a skill, from the cache if possible.

        ``key`` makes the key of an entry about this skill from a text that says what the entry is.
        """
        place = key(f"{GROUP} {self._mark}") if cache is not None and self._mark else ""
        cached = _cached(cache.get(place), source.root) if cache is not None and place else None
        if cached is not None:
            return cached
        tree = WatchedTree(source.root.tree)
        found, is_complete = self._found(source._replace(root=source.root._replace(tree=tree)))
        if cache is not None and place and is_complete:
            cache.put(place, f"{json.dumps(tree.questions())}\n{finding.claims_text([('', one) for one in found])}")
        return found

    def _found(self, source: SkillSource) -> tuple[tuple[Claim, ...], bool]:
        from skillgate.skill.parse import parse  # imports the parsers: only for what was not cached
        from skillgate.static.secrets import hidden_in, without, without_secrets

        skill = parse(source)
        claims: list[Claim] = []
        is_complete = True
        for one in self._declared if skill.unscored is None else ():
            try:
                claims += _claims(one, skill)
            # Others' code: what it raises is reported, and the next rule runs.
            except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001
                is_complete = False
                where = _line_in(error, one.origin)
                said = without(_said(error), hidden_in(skill))[:_MOST_WORDS]
                text = f"house rule {one.rule.id} ({where}) failed on {skill.root.path}: {said}"
                self._failed.setdefault(one.rule.id, {})[str(skill.root.path)] = text
        return (without_secrets(claims, hidden_in(skill)) if claims else ()), is_complete


def _cached(text: str | None, root: SkillRoot) -> tuple[Claim, ...] | None:
    if text is None:
        return None
    try:
        questions, claims = text.split("\n")
        if not holds(root.tree, json.loads(questions)):
            return None
        return tuple(claim for _, claim in finding.read_claims(claims))
    except finding.UNREADABLE:
        return None  # of another version


def _claims(declared: _Declared, skill: Skill) -> Iterator[Claim]:
    from skillgate.static.layer import claim  # imports every check

    root, rule = skill.root, declared.rule
    for count, hit in enumerate(rule.find(skill)):
        if count == _MOST:
            raise ValueError(f"more than {_MOST:,} findings in one skill")
        _require_hit(hit, skill)
        file = root.file_name if hit.file is None else root.inside(hit.file)
        yield claim(rule, hit._replace(severity=hit.severity or rule.severity), file, GROUP)


def _require_hit(hit: Any, skill: Skill) -> None:  # noqa: ANN401 - what code of others yields
    """Raise TypeError or ValueError for what is no place in the skill with a message."""
    if not isinstance(hit, Hit):
        raise TypeError(f"expected a Hit, found {hit!r:.80}")
    message: Any = hit.message
    if not isinstance(message, str):
        raise TypeError(f"expected a text as the message of a Hit, found {message!r:.80}")
    places: tuple[Any, ...] = tuple(hit.span)
    if not all(type(number) is int and 1 <= number <= _MOST_LINES for number in places):
        raise ValueError(f"line and column count from 1, found {places}")
    if not isinstance(hit.severity, Severity | None):
        raise TypeError(f"expected a Severity, found {hit.severity!r:.80}")
    if not isinstance(hit.fix, str | None):
        raise TypeError(f"expected a text as the fix of a Hit, found {hit.fix!r:.80}")
    if hit.about or hit.refused_by:
        raise ValueError("a house rule names no clients: leave about and refused_by out")
    if hit.file is not None and hit.file not in skill.files:
        raise ValueError(f"{hit.file!r:.80} is no file of the skill; use the path of one of skill.files")


def load(config: Config, reading: Reading = read_whole, *, outside: str = "") -> HouseRules | None:
    """Load the house rules of a configuration; None if it has none.

    Args:
        config: the configuration.
        reading: reads the files of rules, as ``read_whole`` does.
        outside: the directory that is evaluated: no entry point is loaded from it, and no import of a rule finds it.

    Raises:
        UsageError: rules cannot be loaded; the message has every problem, each with its file and rule.
    """
    layer, tables = config.layer(settings.RULES), config.get(settings.RULES)
    if layer is None or not tables:
        return None
    problems: list[str] = []
    declared: list[_Declared] = []
    parts: list[str] = [layer.base, json.dumps(dict(tables), sort_keys=True)]
    is_known = True
    for identifier, table in tables.items():
        origin = layer.origins[settings.RULES.key]
        try:
            _require_trusted(layer, table)
            page, where, text = _page(identifier, table, layer.folder, origin, reading, outside)
        except UsageError as error:
            problems.append(f"{origin}: {settings.RULES.key}.{identifier}: {error}")
            continue
        is_known = is_known and text is not None
        parts.append(text or "")
        declared.append(_Declared(page, cast("Rule", page.rule), where))
    if problems:
        raise UsageError("\n".join(problems))
    mark = digest(*(part.encode("utf-8", "surrogatepass") for part in parts)) if is_known else ""
    return HouseRules(tuple(declared), mark)


def _require_trusted(layer: Layer, table: Table) -> None:
    """Raise UsageError for code that a skill's own configuration names."""
    if kind_of(table) in CODE and not layer.may_run_code:
        raise UsageError(
            "a skill must not run code on those who check it; move the configuration out of the skill's directory, or"
            " name it with --config"
        )


def _page(
    identifier: str, table: Table, folder: str, origin: str, reading: Reading, outside: str
) -> tuple[Page, str, str | None]:
    """Return a rule's page, where it is declared, and its code; None for code that is not known as a text."""
    kind = kind_of(table)
    if kind == "python":
        shown = str(table[kind])
        text = reading(os.path.join(folder, shown), shown, _WHAT)
        with _without(outside):
            return _of_module(_executed(identifier, text, shown), identifier, table, shown), shown, text
    if kind == "entry-point":
        name = str(table[kind])
        with _without(outside):
            return _of_module(_entry_point(name), identifier, table, name), f"entry point {name}", None
    rule = template_rule(identifier, table)
    return template_page(rule, origin), origin, ""


def _executed(identifier: str, text: str, shown: str) -> ModuleType:
    """Run the code of a rule's file as a module that only this program knows."""
    from types import ModuleType

    name = f"{_MODULES}.{identifier.lower()}"
    module = ModuleType(name)
    module.__file__ = shown
    sys.modules[name] = module  # as an import does: ``rule`` looks its module up
    try:
        exec(compile(text, shown, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - the user's own rule
    except (Exception, SystemExit) as error:
        raise UsageError(f"{_line_in(error, shown)}: {_said(error)[:_MOST_WORDS]}") from error
    return module


def _entry_point(name: str) -> ModuleType:
    """Load the module of an entry point of an installed package."""
    from importlib.metadata import entry_points

    found = next(iter(entry_points(group=ENTRY_POINTS, name=name)), None)
    if found is None:
        raise UsageError(f"no installed package has the entry point {name!r} in the group {ENTRY_POINTS}")
    try:
        module: ModuleType = found.load()
    except (Exception, SystemExit) as error:
        raise UsageError(f"entry point {name}: {_said(error)[:_MOST_WORDS]}") from error
    return module


def _of_module(module: ModuleType, identifier: str, table: Mapping[str, object], shown: str) -> Page:
    """Return the page of a module with ``RULE``, under the id and severity that the configuration says."""
    from skillgate.static import summary_of
    from skillgate.static.catalogue import read_docstring

    rule = getattr(module, "RULE", None)
    if not isinstance(rule, Rule):
        raise UsageError(f"{shown} declares no rule; add RULE = rule(find, Severity.WARNING, fix=…)")
    title, sections = read_docstring(module.__doc__ or "")
    if not title.strip():
        raise UsageError(f"{shown} has no docstring, whose first line says what the rule finds")
    severity = Severity(str(table["severity"])) if "severity" in table else rule.severity
    rule = rule._replace(
        id=identifier,
        severity=severity,
        fix=str(table.get("fix", rule.fix)),
        summary=summary_of(module.__doc__),
        group=GROUP,
        blocks_badge=False,
        advice=None,
        refused_by=(),
        about=(),
        optional=False,
    )
    return Page(rule=rule, kind=GROUP, title=title, sections=sections)


@contextmanager
def _without(folder: str) -> Iterator[None]:
    """Find no module in a directory that is evaluated: what a rule imports must be installed."""
    before = sys.path[:]
    if folder:
        real = os.path.join(os.path.realpath(folder), "")
        environment = os.path.realpath(sys.prefix)
        sys.path[:] = [
            one
            for one in before
            if not os.path.join(os.path.realpath(one or "."), "").startswith(real)
            or os.path.join(os.path.realpath(one), "").startswith(os.path.join(environment, ""))
        ]
    try:
        yield
    finally:
        sys.path[:] = before


def _line_in(error: BaseException, origin: str) -> str:
    """Return the rule's file with the innermost line of it in an error."""
    if isinstance(error, SyntaxError) and error.filename == origin:
        return f"{origin}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == origin]
    return f"{origin}:{lines[-1]}" if lines else origin


def _said(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    return traceback.format_exception_only(error)[-1].strip()  # also of an exception that fails to say what it is
