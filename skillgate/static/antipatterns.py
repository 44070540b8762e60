"""Anti-patterns: each finding of theirs costs five per cent of the composite."""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.format import plural
from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import BLOAT_LINES, Language, Link, LinkKind, Skill, Span
from skillgate.skill.links import first_links
from skillgate.static import documented
from skillgate.static.text import directives, needs_no_trigger

MIN_DESCRIPTION = 20  # characters
MAX_DIRECTIVES = 15


@documented("""More than 800 lines, or 10,000 estimated tokens, and nothing in references/.

Why:
    The whole file is loaded each time the skill is used, also for the one case that needs a tenth of it. What is needed
    now and then belongs in references/, where a model reads it on demand. Runs of blank lines count once; an empty
    references/ directory, or an empty file in it, changes nothing. If other documents of the skill are in other
    folders, the finding is an info.

Bad:
    A SKILL.md of 1,100 lines with every table of the vendor's manual.

Good:
    A SKILL.md of 250 lines with the steps, and `references/error-codes.md`, linked where a step needs it.

Source: PluginEval method, anti-pattern BLOATED_SKILL.
""")
def _bloated_skill(skill: Skill) -> Iterator[Hit]:
    if skill.effective_lines > BLOAT_LINES and not skill.references and skill.has_body:
        size = f"{skill.lines:,} lines, about {skill.tokens:,} tokens at 2.6 characters each"
        severity = Severity.INFO if len(skill.documents) > 1 else None
        yield Hit(Span(), f"{size}, and nothing in references/", severity=severity)


@documented("""A relative link to another skill, agent or command that is not there.

Why:
    Skills that build on each other break silently when one is renamed. The link is looked for from the skill itself,
    its plugin and the skills folder. Words such as "skills/agents" in running text, URLs and paths in code are no
    links.

Bad:
    Then hand over to [the reviewer](../code-reviewer/SKILL.md).     (renamed to ../review-code)

Good:
    Then hand over to [the reviewer](../review-code/SKILL.md).

Source: PluginEval method, anti-pattern DEAD_CROSS_REF.
""")
def _dead_cross_ref(skill: Skill) -> Iterator[Hit]:
    for link in _dead_links(skill, LinkKind.SKILL):
        path = link.target.partition("#")[0]
        yield Hit(link.span, f"{path.rstrip('/')} leads to no skill, agent or command")


@documented("""The description has fewer than 20 characters.

Why:
    Name and description are all that a model sees when it decides whether to load a skill. Without a description every
    client drops the skill (an error); with a few characters it looks like its neighbours (a warning).

Bad:
    description: PDF tools

Good:
    description: Fill, merge and split PDF files. Use when the user has a PDF form, or wants several PDFs as one.

Source: PluginEval method, anti-pattern EMPTY_DESCRIPTION; the Agent Skills specification requires 1 to 1,024
characters.
""")
def _empty_description(skill: Skill) -> Iterator[Hit]:
    head = skill.frontmatter
    if not head.valid or not isinstance(head.values.get("description") or "", str):
        return
    description = head.text("description")
    span = Span(head.line("description"))
    if not description:
        message = "the description is empty" if "description" in head.values else "there is no description"
        yield Hit(span, message, severity=Severity.ERROR)
    elif len(description) < MIN_DESCRIPTION:
        yield Hit(span, f"description is {plural(len(description), 'character')} long (minimum {MIN_DESCRIPTION})")


@documented("""The description never says when to use the skill.

Why:
    A model that reads "Tools for PDF files" knows what the skill is and not when it is wanted. A trigger phrase such as
    "Use when …" names the situations. `when_to_use` counts too. A phrase that is negated ("do not use when") or about
    something else ("used before 2019", "events trigger on save") does not count. Skills that only the user can start
    (`disable-model-invocation`) and skills bound to `paths` need none; a description in another language is not judged.

Bad:
    description: A collection of helpers for spreadsheets, charts and pivot tables.

Good:
    description: Build spreadsheets with charts. Use when the user asks for an .xlsx file, a pivot table or a chart.

Source: PluginEval method, anti-pattern MISSING_TRIGGER, with the phrases that people really write.
""")
def _missing_trigger(skill: Skill) -> Iterator[Hit]:
    head = skill.frontmatter
    if not head.valid or needs_no_trigger(skill):
        return
    if skill.routing.language is Language.ENGLISH and not skill.routing.triggers:
        yield Hit(Span(head.line("description")), "the description never says when to use the skill")


@documented("""A link into references/ to a file that does not exist.

Why:
    A model that follows the link gets an error instead of the detail the instructions rely on, and spends tokens on
    finding that out. Targets are compared letter case included, as Linux does; anchors, titles, `./` and
    percent-encoding are understood; links in code and comments are not links. One finding for each target.

Bad:
    See [the dialects](references/dialects.md).     (and no such file)

Good:
    See [the dialects](references/dialects.md).     (and references/dialects.md next to SKILL.md)

Source: PluginEval method, anti-pattern ORPHAN_REFERENCE.
""")
def _orphan_reference(skill: Skill) -> Iterator[Hit]:
    for link in _dead_links(skill, LinkKind.REFERENCE):
        path = link.target.partition("#")[0]
        yield Hit(link.span, f"{path.removeprefix('./')} does not exist")


def _dead_links(skill: Skill, kind: LinkKind) -> Iterator[Link]:
    return first_links(link for link in skill.links if link.kind is kind and link.dead)


@documented("""More than 15 MUST, ALWAYS or NEVER in capitals.

Why:
    A page of commands leaves a model no room to judge, costs tokens on every load, and makes the few rules that matter
    look like all the others. The words are counted in the text alone, not in code, comments or headings.

Bad:
    You MUST read the file first. You MUST ALWAYS use two spaces. NEVER leave a trailing comma. …

Good:
    Read the file first: the header decides which parser fits. Two spaces keep the diff readable.

Source: PluginEval method, anti-pattern OVER_CONSTRAINED.
""")
def _over_constrained(skill: Skill) -> Iterator[Hit]:
    found = directives(skill)
    if len(found) > MAX_DIRECTIVES:
        message = f"{len(found)} MUST, ALWAYS or NEVER; more than {MAX_DIRECTIVES} stop carrying weight"
        yield Hit(Span(found[MAX_DIRECTIVES].line), message)


RULES = (
    Rule(
        id="BLOATED_SKILL",
        severity=Severity.WARNING,
        summary="more than 800 lines and nothing in references/",
        fix="move what is only sometimes needed to references/ and link it where it is",
        find=_bloated_skill,
        advice="shorter",
    ),
    Rule(
        id="DEAD_CROSS_REF",
        severity=Severity.ERROR,
        summary="a relative link to another skill or agent that is not there",
        fix="correct the path, or remove the link",
        find=_dead_cross_ref,
        advice="dead-refs",
    ),
    Rule(
        id="EMPTY_DESCRIPTION",
        severity=Severity.WARNING,
        summary="the description has fewer than 20 characters",
        fix="say in 60 to 120 characters or more what the skill does and when to use it",
        find=_empty_description,
        advice="describe",
        blocks_badge=True,
    ),
    Rule(
        id="MISSING_TRIGGER",
        severity=Severity.WARNING,
        summary="the description never says when to use the skill",
        fix="add “Use when …” with two or more concrete situations",
        find=_missing_trigger,
        advice="trigger",
    ),
    Rule(
        id="ORPHAN_REFERENCE",
        severity=Severity.ERROR,
        summary="a link into references/ to a file that does not exist",
        fix="create the file, or remove the link",
        find=_orphan_reference,
        advice="orphans",
    ),
    Rule(
        id="OVER_CONSTRAINED",
        severity=Severity.WARNING,
        summary="more than 15 MUST, ALWAYS or NEVER",
        fix="keep capitals for what safety or correctness needs, and give the reason for the rest",
        find=_over_constrained,
        advice="directives",
    ),
)
