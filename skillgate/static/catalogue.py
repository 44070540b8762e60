"""The documentation of every check: for ``rules``, ``explain`` and the generated pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from skillgate.model.finding import CatalogueRule, CheckPage, Page, Rule
from skillgate.static import across, antipatterns, layer
from skillgate.static.defects import DEFECTS, JUDGED
from skillgate.static.subchecks import SUBCHECKS

_KINDS = ("anti-pattern", "rule", "across", "reading", "judge")
_TABLES = {"anti-pattern": antipatterns.RULES, "reading": DEFECTS, "judge": JUDGED}


def rule_ids() -> frozenset[str]:
    """List the id of every rule, without loading the files of ``static/rules``."""
    ids = {rule.id for rules in _TABLES.values() for rule in rules} | {rule.id for rule in across.RULES}
    return frozenset(ids | {name.upper() for name in layer.RULES.names()})


def find_rule(identifier: str) -> tuple[Rule, str]:
    """Return the rule over one skill that has this id, and its kind: its group, unless it names one.

    Raises:
        LookupError: there is no such rule.
    """
    name = identifier.lower()
    if name in layer.RULES.names():
        return layer.rule(name), "rule"
    for kind, rules in _TABLES.items():
        for rule in rules:
            if rule.id == identifier:
                return rule, kind
    raise LookupError(identifier)


def pages() -> tuple[Page, ...]:
    """Load every rule, sorted by kind and id."""
    return tuple(sorted(_pages(), key=lambda page: (_KINDS.index(page.kind), page.rule.id)))


@cache
def reasons() -> Mapping[str, str]:
    """Return why each rule is there, by its id."""
    return {page.rule.id: page.sections["Why"] for page in pages() if "Why" in page.sections}


def _pages() -> Iterator[Page]:
    for name in layer.RULES.names():
        module = layer.RULES.load(name)
        yield _page(module.RULE, "rule", module.__doc__)
    for kind, rules in _TABLES.items():
        yield from (_page(rule, kind, rule.find.__doc__) for rule in rules)
    yield from (_page(rule, "across", rule.find.__doc__) for rule in across.RULES)


def _page(rule: Rule | CatalogueRule, kind: str, text: str | None) -> Page:
    title, sections = read_docstring(text or "")
    return Page(rule=rule, kind=kind, title=title, sections=sections)


def check_pages() -> tuple[CheckPage, ...]:
    """Load every sub-check, heaviest first."""
    return tuple(CheckPage(name, check, (check.measure.__doc__ or "").strip()) for name, check in SUBCHECKS.items())


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into its first line and its sections: a line ``Why:`` with the text indented below it."""
    from inspect import cleandoc  # only for pages

    lines = cleandoc(text).split("\n")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines[1:]:
        name, colon, rest = line.partition(":")
        if colon and name in ("Why", "Bad", "Good", "Source"):
            current = sections.setdefault(name, [rest.strip()] if rest.strip() else [])
        elif line.strip():
            current.append(line.removeprefix("    ").rstrip())
        elif current:
            current.append("")
    return lines[0], {name: "\n".join(found).strip() for name, found in sections.items()}
