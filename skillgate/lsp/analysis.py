"""What an editor shows of one skill: its files as they are in the buffers, evaluated like a check of the skill.

No program of the skill's repository runs: its house rules are left out if they are code, unless the user wants them.
"""
# ruff: noqa: PTH113, PTH118, PTH119, PTH120

from __future__ import annotations

import io
import os
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.config import Layer
from skillgate.console import Console
from skillgate.errors import UsageError
from skillgate.evaluation.changed import owning_skills
from skillgate.evaluation.fix import planned
from skillgate.evaluation.request import EvaluateRequest, Scope
from skillgate.evaluation.run import evaluate, house_rules
from skillgate.evaluation.standard_input import StandardInput, discovery_of
from skillgate.files import toplevel
from skillgate.fixes.repairs import FIXES, QUOTES
from skillgate.lsp.text import Edit, Text, edits
from skillgate.model.house import CODE, kind_of
from skillgate.model.skill import SKILL_FILE, SkillSource
from skillgate.report.steps import Step, steps
from skillgate.skill.find import read
from skillgate.skill.frontmatter import split
from skillgate.skill.parse import parse
from skillgate.skill.tree import DiskTree
from skillgate.skill.walk import main_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skillgate.config import Config
    from skillgate.fixes import Change, Place
    from skillgate.model.finding import Finding, Page
    from skillgate.model.report import SkillResult

_NAME = "language server"  # where the settings come from that only an editor has
_FIXED = {settings.BASELINE.key: None, settings.DEPTH.key: "quick", settings.LAYERS.key: None}
_REASON = "replace this with the reason"
_MOST_ABOVE = 200  # lines above a finding that are searched for the beginning of its block
_MOST_TRIED = 4  # places for a comment: the skill is parsed with each


class Options(NamedTuple):
    """How the server was started."""

    environ: Mapping[str, str]
    config_file: str | None = None
    no_house_rules: bool = False
    run_house_rules: bool = False  # whether house rules that are code may run


class Action(NamedTuple):
    """A change that the editor offers: edits by absolute path, and the finding that they fix; None for all of them."""

    title: str
    edits: Mapping[str, tuple[Edit, ...]]
    finding: Finding | None = None
    preferred: bool = False


class Home(NamedTuple):
    """Where a skill lies: its directory, and the one whose configuration applies. Both are absolute, without links."""

    folder: str
    base: str


def home_of(path: str, folders: Iterable[str]) -> Home | None:
    """Return the skill of a file, given by an absolute path; None if it belongs to none.

    The base is the repository; without one, the innermost of the editor's ``folders`` around it.
    """
    real = os.path.realpath(os.path.dirname(path))
    around = [one for one in map(os.path.realpath, folders) if f"{real}{os.sep}".startswith(os.path.join(one, ""))]
    base = toplevel(real) or max(around, key=len, default=os.path.dirname(real))
    if os.path.basename(path).upper() == SKILL_FILE.upper():
        return Home(real, base)  # it may not be saved yet
    found = owning_skills([os.path.join(real, os.path.basename(path))], base)
    return Home(os.path.normpath(os.path.join(base, found[0])), base) if found else None


def _config(options: Options, session: Console) -> Config:
    """Return the configuration for an editor: nothing but the static layer, and no code of others.

    Raises:
        UsageError: the file of known findings is no file of the repository; reading another may never end.
    """
    config = session.config
    known = config.get(settings.KNOWN_FINDINGS)
    if known is not None:
        place = os.path.realpath(os.path.join(config.base(settings.KNOWN_FINDINGS), known))
        if not os.path.isfile(place) or not place.startswith(os.path.join(os.path.realpath(session.cwd), "")):
            raise UsageError(f"known-findings: {known} is not a file of this repository; an editor reads no other")
    layer, tables = config.layer(settings.RULES), config.get(settings.RULES)
    over = Layer(values=_FIXED, origins=dict.fromkeys(_FIXED, _NAME))
    if layer is None or not tables or options.run_house_rules:
        return config.between(Layer({}, {}), over)
    left = {name: table for name, table in tables.items() if kind_of(table) not in CODE}
    if len(left) < len(tables):
        names = ", ".join(name for name in tables if name not in left)
        session.note(f"house rules that are code do not run in an editor: {names}; see skillgate lsp --help")
    values = {**_FIXED, settings.RULES.key: left}
    origins = {**over.origins, settings.RULES.key: layer.origins[settings.RULES.key]}
    return config.between(Layer({}, {}), layer._replace(values=values, origins=origins))


def _as_files(home: Home, texts: Mapping[str, str]) -> StandardInput:
    """Return buffers as files of the skill, in bytes."""
    names = {path: os.path.relpath(path, home.folder).replace(os.sep, "/") for path in texts}
    data = {names[path]: text.encode("utf-8", "surrogatepass") for path, text in texts.items()}
    main = next((name for name in data if name.upper() == SKILL_FILE.upper()), None)
    if main is None:
        main = main_file(DiskTree(home.folder).listing("")) or SKILL_FILE
    others = tuple((name, text) for name, text in data.items() if name != main)
    return StandardInput(data.get(main), os.path.join(home.folder, main), others)


def _comments(text: str, finding: Finding) -> Iterator[Edit]:
    """Yield where a comment that suppresses a finding may be inserted, the nearest place first."""
    lines, newline = Text(text), "\r\n" if "\r\n" in text else "\n"
    body = split(text.replace("\r\n", "\n")).body_line - 1
    row = finding.line - 1
    words = f"skillgate: ignore {finding.id}: {_REASON}"
    if 0 < row < body - 1:
        yield Edit(lines.start(row), lines.start(row), f"# {words}{newline}")
    for above in range(row, max(body, row - _MOST_ABOVE) - 1, -1):
        line = lines.line(above)
        if line.strip() and not lines.line(above - 1).strip(" \t-"):
            indent = line[: len(line) - len(line.lstrip())]
            yield Edit(lines.start(above), lines.start(above), f"{indent}<!-- {words} -->{newline}")


def _suppresses(home: Home, texts: Mapping[str, str], path: str, finding: Finding) -> bool:
    """Whether a comment that was inserted above a finding covers it: parse the skill with it."""
    root = discovery_of(_as_files(home, texts), home.base).roots[0]
    source = read(root)
    name = os.path.relpath(path, home.folder).replace(os.sep, "/")
    waivers = parse(source).waivers if isinstance(source, SkillSource) else ()
    covering = (one for one in waivers if root.inside(one.file) == name and finding.id in one.rules)
    return any(one.first <= finding.line + 1 <= one.last and one.line <= finding.line for one in covering)


class Analysis:
    """One skill, evaluated with the texts of some buffers.

    Attributes:
        home: where it lies.
        texts: the text of each buffer, by absolute path.
        result: its scores and findings; None if it is excluded.
        notes: what a check would say on stderr.
    """

    def __init__(self, home: Home, texts: Mapping[str, str], options: Options) -> None:
        """Evaluate the skill.

        Raises:
            SkillgateError: the configuration is not valid.
        """
        self.home, self.texts = home, texts
        self._out = io.StringIO()
        self._session = Console(
            stdout=self._out,
            stderr=self._out,
            environ=options.environ,
            cwd=home.base,
            config_file=options.config_file,
            no_house_rules=options.no_house_rules,
        )
        config = _config(options, self._session)
        self.result: SkillResult | None = None
        self._request = EvaluateRequest(config, Scope(given=_as_files(home, texts)), use_cache=False, digest=False)
        shown = PurePosixPath(os.path.relpath(home.folder, home.base).replace(os.sep, "/"))
        excluded = config.excluded(())
        if excluded is None or not any(excluded(str(one)) for one in (shown, *shown.parents)):
            self.result = evaluate(self._request, self._session).report.results[0]
        self.notes = tuple(self._out.getvalue().splitlines())
        self._files: dict[str, str] = {}
        self._plans: dict[tuple[str, Place | None, bool], tuple[Change, ...]] = {}

    def path(self, shown: str) -> str:
        """Return the absolute path of a file of the skill as findings name it."""
        return os.path.normpath(os.path.join(self.home.base, shown))

    def text(self, path: str) -> str:
        """Return the text of a buffer, or that of a file that was to be changed."""
        return self.texts.get(path) or self._files.get(path, "")

    def findings(self, path: str) -> tuple[Finding, ...]:
        """List the findings in one file."""
        found = () if self.result is None else self.result.findings
        return tuple(one for one in found if self.path(str(one.path)) == path)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What to do about the skill, as ``score`` says it."""
        return () if self.result is None else steps(self.result, None)

    def step(self, finding: Finding) -> Step | None:
        """Return the step that fixes a finding."""
        return next((step for step in self.steps if finding in step.findings), None)

    @cached_property
    def house_pages(self) -> Mapping[str, Page]:
        """The documentation of the house rules that apply, by id."""
        house = house_rules(self._request.config)
        return {} if house is None else {page.rule.id: page for page in house.pages}

    def fixes(self, finding: Finding) -> Action | None:
        """Return the fix of a finding; one that may change what is meant says so in its title."""
        if finding.id not in FIXES and finding.id != QUOTES:
            return None
        place = (str(finding.path), finding.line)
        for unsafe in (False, True):
            made = self._edits(self._planned(finding.id, place, unsafe=unsafe))
            if made:
                warning = " (unsafe: it may change the meaning)" if unsafe else ""
                return Action(f"Fix {finding.id}{warning}: {finding.fix}", made, finding, preferred=not unsafe)
        return None

    def fix_all(self, path: str) -> Action | None:
        """Return all safe fixes of a file."""
        made = self._edits(self._planned("", None, unsafe=False))
        return Action("Fix all that is safe to fix (skillgate)", {path: made[path]}) if path in made else None

    def suppression(self, finding: Finding) -> Action | None:
        """Return the comment that suppresses a finding; None if no place for it is certain to be right."""
        path = self.path(str(finding.path))
        text = self.texts.get(path, "")
        for made in islice(_comments(text, finding), _MOST_TRIED):
            after = text[: made.start] + made.text + text[made.start :]
            if _suppresses(self.home, {**self.texts, path: after}, path, finding):
                return Action(f"Suppress {finding.id} with a comment", {path: (made,)}, finding)
        return None

    def _planned(self, rule: str, place: Place | None, *, unsafe: bool) -> tuple[Change, ...]:
        key = (rule, place, unsafe)
        if key not in self._plans:
            request = self._request
            if rule:
                request = request._replace(config=request.config.with_options({"select": (rule,)}))
            self._plans[key] = planned(request, self._session, unsafe=unsafe, place=place).changes
        return self._plans[key]

    def _edits(self, changes: Iterable[Change]) -> dict[str, tuple[Edit, ...]]:
        made = {}
        for change in changes:
            before, after = (data.decode("utf-8", "surrogatepass") for data in (change.before, change.after))
            path = self.path(change.path)
            if before != after:
                self._files[path] = before
                made[path] = edits(before, after)
        return made
