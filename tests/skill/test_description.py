"""What counts as a trigger phrase, as a use case, and as insistence, in descriptions as people write them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.model.skill import Language
from skillgate.skill.frontmatter import analyse

ACCEPTED = [
    # the twelve phrasings that the reference missed
    "Use this when editing PDF files.",
    "Use it when editing PDF files.",
    "Use for editing PDF files.",
    "Activate when the user opens a PDF.",
    "Invoke when a PDF is attached.",
    "Apply when reviewing a form.",
    "Load this skill when writing SQL.",
    "If the user mentions invoices, use this skill.",
    "Use this skill any time a deck is involved.",
    "TRIGGERS: pdf, docx, xlsx",
    "Activate for anything about PDF files.",
    "Use this to fill in forms.",
    # what it knew
    "Use when facing two tasks.",
    "This skill should be used when the user asks to rotate a page.",
    "Use immediately after tests fail.",
    "Use PROACTIVELY after changes.",
    "Use proactively.",
    "Formats tables. Triggers on spreadsheets.",
    "auto-loads when a Dockerfile is open.",
    "Auto-load on Terraform files.",
    # other ways to say it
    "Use whenever you touch a style sheet.",
    "You MUST use this before any creative work.",
    "Claude should use this skill whenever asked to write.",
    "MUST BE USED before merging.",
    "To be used when reviewing.",
    "Used when a person uploads a table.",
    "Activates when a PDF is attached.",
    "A skill that auto-loads when a Dockerfile is open.",
    "TRIGGER — read BEFORE opening the file; whenever: the prompt names the library.",
    "Trigger phrases: make a deck, build slides",
    "Use the pdf-tools skill when a PDF is attached.",
    "Use this skill: when editing decks.",
    "**Use when** editing slides.",
    "Useful for decks - use when editing slides.",
    "Intended for use when debugging.",
    "Be sure to use this skill whenever charts come up.",
    "Consider using this skill when refactoring.",
    "Only use when explicitly told to.",
    "For spreadsheets, use this skill.",
    "If a deck is mentioned, this skill should be used.",
    "Writes queries when asked.",
    "Helps with decks, whenever you need one.",
    "Guidance when working with Terraform.",
    "Run before each commit.",
    "Covers Rust, C++, and C. Use when writing systems code.",
    "处理 PDF 文件。Use when a PDF is attached.",
    # denied first, said afterwards
    "Do NOT use for scripts. Use when writing libraries.",
    "Do not use for scripts; use when writing libraries.",
    "Not a linter, use for style questions.",
    "Don't guess dates: use this skill to look them up.",
    "Don't hesitate to use this skill when stuck.",
    "A library used before 2019. Use when porting it.",
]

REJECTED = [
    "",
    "A library used before 2019 for parsing.",
    "Never used when parsing.",
    "Do NOT use when parsing PDF files.",
    "Keeps an audit log: events trigger on save.",
    "Do not use this skill to write prose.",
    "Don't invoke it for invoices.",
    "Skip when the user has a mockup.",
    "Should not be used when offline.",
    "This skill should never be invoked for billing.",
    "Avoid using this skill when drafting.",
    "You must not use this for production.",
    "It cannot be used for video.",
    "Prefer grep instead of using this for search.",
    "Do not use for scripts or use for one-liners.",
    "Do not use for scripts, nor when the user asks for a quick fix.",
    "DO NOT TRIGGER when: the user asks about another library.",
    "Never use this skill unless told to.",
    "No longer used for production.",
    "Rarely used for anything new.",
    "If the user mentions invoices, do not use this skill.",
    "Fonts that you can apply to any artifact.",
    "How to use this for reports.",
    "Memory use on servers and load on databases.",
    "Hooks that trigger on save.",
    "Applies to any artifact.",
    "Runs on Linux.",
    "Redis, used for caching.",
    "Redis used to cache sessions.",
    "Themes can be used for slides.",
    "Files that should be used for fonts.",
    "Retries are triggered after a failure.",
    "The parser was used when markup was common.",
    "Replace with a description of the skill and when Claude should use it.",
    "Toolkit for testing local web applications using Playwright.",
    "Guidance for visual design when building new interfaces.",
    "Run on-call rotations smoothly.",
    "Explains when you should stop.",
    "Traite les fichiers PDF. À utiliser quand l'utilisateur le demande.",
    "处理 PDF 文件。当用户提到 PDF 时使用。",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_trigger_phrase_is_found_and_located(text: str) -> None:
    triggers = analyse(text).triggers

    assert triggers
    assert [text[trigger.start : trigger.end] for trigger in triggers] == [trigger.phrase for trigger in triggers]


@pytest.mark.parametrize("text", REJECTED)
def test_what_is_denied_or_said_of_something_else_is_no_trigger_phrase(text: str) -> None:
    assert analyse(text).triggers == ()


def test_every_accepted_phrase_is_listed_in_order() -> None:
    triggers = analyse(
        "Use when drawing. Not for maps. It should be used for charts, or when you need a plot."
    ).triggers

    assert [trigger.phrase for trigger in triggers] == ["Use when", "should be used for", "when you"]


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("Draws things, maps, and charts.", ""),
        ("Use when editing a deck.", "editing a deck"),
        (
            "Use when editing decks, reviewing decks, or building charts.",
            "editing decks | reviewing decks | building charts",
        ),
        ("Use when editing decks and building charts.", "editing decks | building charts"),
        ("Use when editing decks and charts.", "editing decks and charts"),
        (
            'Use when asked to "make a deck", "Make a  deck" or "build slides".',
            'asked to "make a deck | make a deck | build slides',
        ),
        ("Use for decks; for charts; for tables.", "decks | charts | tables"),
        (
            "Use when:\n- editing decks\n- reviewing decks.\n- building charts.\n\nFast, small, free.",
            "editing decks | reviewing decks | building charts",
        ),
        ("Use for decks, Decks,  DECKS, etc.", "decks"),
        ("Use for decks. Also use for charts.", "decks | charts"),
        ("Use for decks, charts - not for maps, tables or globes.", "decks | charts"),
        ("Use for decks; do not wait for approval, drafts, or gates.", "decks"),
        ("Use for decks. Do not use for maps, tables or globes.", "decks"),
        ("If the user mentions decks, charts or tables, use this skill.", "user mentions decks | charts | tables"),
        ("When the user mentions decks, use this skill.", "mentions decks"),
        (
            "Use for files such as SKILL.md, e.g. version 2.2 of it, or CHANGELOG.md.",
            "files such as skill.md | e.g. version 2.2 of it | changelog.md",
        ),
        ("Use for , ; or , .", ""),
    ],
)
def test_use_cases_are_counted_in_the_trigger_clauses_only(text: str, cases: str) -> None:
    assert " | ".join(analyse(text).use_cases) == cases


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("Guidance when building charts.", "when building"),
        ("Tools for debugging.", "for debugging"),
        ("Help during re-training.", "during re-training"),
        ("Use when **writing** prose.", "when writing"),
        ("Do NOT use for building. Use when testing.", "when testing"),
        ("Use when tests are not passing, or when linting.", "when linting"),
        ("For anything, for everything, for something, for nothing, for string values.", None),
        ("Works during spring, when bring fails, for a thing.", None),
        ("Do NOT use for building.", None),
        ("Not for building or when testing.", None),
    ],
)
def test_a_context_is_an_activity_that_is_not_denied(text: str, context: str | None) -> None:
    assert analyse(text).context == context


@pytest.mark.parametrize(
    ("text", "proactive", "automatic"),
    [
        ("Use proactively after changes.", True, False),
        ("Do not use proactively.", False, False),
        ("Is not proactively run.", False, False),
        ("Automatically use this skill.", False, True),
        ("Use this skill automatically.", False, True),
        ("Always use this for charts.", False, True),
        ("Trigger when a chart is mentioned.", False, True),
        ("Invoke this skill freely.", False, True),
        ("Should be automatically invoked when charts come up.", False, True),
        ("It does not automatically run.", False, False),
        ("Never trigger on charts.", False, False),
        ("Resolves the ticket automatically.", False, False),
        ("Improves triggering; events trigger on save.", False, False),
        ("Use when deployments should finish automatically.", False, False),
    ],
)
def test_insistence_counts_as_an_instruction_only(text: str, proactive: bool, automatic: bool) -> None:
    routing = analyse(text)

    assert (routing.proactive, routing.automatic) == (proactive, automatic)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Fills in the forms of a PDF.", Language.ENGLISH),
        ("Traite les fichiers PDF. À utiliser quand l'utilisateur le demande.", Language.OTHER),
        ("处理 PDF 文件。当用户提到 PDF 时使用。", Language.OTHER),
        ("pdf docx xlsx", Language.UNKNOWN),
    ],
)
def test_the_language_tells_whether_a_missing_phrase_means_anything(text: str, language: Language) -> None:
    assert analyse(text).language is language


@pytest.mark.parametrize(
    "unit",
    [
        "use ",
        "when ",
        ",",
        "use this it the skill ",
        "if use this, ",
        "do not use for ",
        "- x\n",
        ": \n- ",
        "the the skill ",
        "always automatically use ",
        "should be used ",
        '"or ',
        "e.g. ",
        "...",
        " ",
        "\n",
        "a",
        "'",
    ],
)
def test_a_hostile_description_is_bounded(unit: str) -> None:
    started = time.process_time()

    analyse("if " + unit * 200_000)

    assert time.process_time() - started < 2.0  # 0.1 s in practice; what is quadratic takes minutes


def test_only_the_first_twenty_thousand_characters_are_read() -> None:
    assert analyse("x " * 9_990 + "Use when.").triggers == ()
    assert analyse("x. " * 6_000 + "Use when reading.").triggers
    assert analyse("x. " * 7_000 + "Use when reading.").triggers == ()


_PIECES = [*"ab .,;:-\n\"'—()。", "use ", "when ", "not ", "or ", "the skill ", "be used ", "if ", "- "]


@given(st.lists(st.sampled_from(_PIECES)).map("".join))
def test_any_text_gives_phrases_that_stand_in_it(text: str) -> None:
    routing = analyse(text)

    assert all(text[trigger.start : trigger.end] == trigger.phrase for trigger in routing.triggers)
    assert len(set(routing.use_cases)) == len(routing.use_cases)
    assert not routing.use_cases or routing.triggers
