"""Frontmatter as each client takes it: every constraint at its limit and one past it, under every profile.

A case is a frontmatter, what its name and description are once parsed, and the findings about it. A finding is written
as its id and five letters, one for each profile in the order of ``PROFILES``: ``e`` error, ``w`` warning, ``i`` info,
``-`` not reported.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillgate.model.finding import Claim, Client
from skillgate.scoring.selection import Selection, settle
from skillgate.static import layer
from skillgate.static.defects import DEFECTS
from tests.properties.documents import CI
from tests.skills import write_bytes
from tests.static.cases import parsed

if TYPE_CHECKING:
    from skillgate.model.skill import Skill

PROFILES = (None, Client.SPEC, Client.CLAUDE_CODE, Client.CLAUDE_UPLOAD, Client.CODEX)
DIRECTORY = "pdf-forms"
DESCRIPTION = "Fills PDF forms. Use when a form is empty."
HEAD = f"name: {DIRECTORY}\ndescription: {DESCRIPTION}\n"
BODY = "# Forms\n\nRead the form, and fill in what is known of its fields.\n"


class Case(NamedTuple):
    """One frontmatter; ``directory`` is the name of the skill's own, and ``whole`` marks all bytes of the file."""

    title: str
    head: str | bytes
    findings: tuple[str, ...] = ()
    name: str = DIRECTORY
    description: str = DESCRIPTION
    directory: str = DIRECTORY
    whole: bool = False
    file: str = "SKILL.md"

    @property
    def data(self) -> bytes:
        """Give the file."""
        head = self.head.encode() if isinstance(self.head, str) else self.head
        return head if self.whole else b"---\n" + head + b"---\n" + BODY.encode()


def named(title: str, name: str, *findings: str, written: str | None = None, directory: str | None = None) -> Case:
    """Make a case of one name, in the directory of that name."""
    head = f"name: {name if written is None else written}\ndescription: {DESCRIPTION}\n"
    return Case(title, head, findings, name=name, directory=directory or name)


def described(title: str, written: str, description: str, *findings: str) -> Case:
    """Make a case of one description."""
    return Case(title, f"name: {DIRECTORY}\ndescription:{written}\n", findings, description=description)


def more(title: str, lines: str, *findings: str) -> Case:
    """Make a case of further fields."""
    return Case(title, f"{HEAD}{lines}\n", findings)


INVALID = "NAME_INVALID wewew"  # the specification and uploads refuse it
TOO_LONG = "NAME_INVALID wewee"  # Codex too
NOT_ASCII = "NAME_INVALID w--e-"
MISMATCH = "NAME_MISMATCH wewww"
UNKNOWN = "UNKNOWN_FIELD wewew"
DIALECT = "UNKNOWN_FIELD ie-ei"
UNREAD = "FRONTMATTER_INVALID eeeee"
EMPTY = "EMPTY_DESCRIPTION eeeee"
TYPE = "FIELD_TYPE eeeee"

NAMES = (
    named("one character", "a"),
    named("one digit in quotes", "7", written='"7"'),
    named("64 characters", "a" * 64),
    named("65 characters", "a" * 65, TOO_LONG),
    named("65 letters of another script", "é" * 65, TOO_LONG),
    named("digits and hyphens", "pdf-2-forms"),
    named("a hyphen alone", "-", INVALID, written='"-"'),
    named("a hyphen at the start", "-forms", INVALID),
    named("a hyphen at the end", "forms-", INVALID),
    named("two hyphens in a row", "pdf--forms", INVALID),
    named("three hyphens in a row", "pdf---forms", INVALID),
    named("one capital", "pdf-Forms", INVALID),
    named("all capitals", "PDF", INVALID),
    named("an underscore", "pdf_forms", INVALID),
    named("a blank", "pdf forms", INVALID),
    named("a dot", "pdf.forms", INVALID),
    named("a colon within", "pdf:forms", INVALID),
    named("an emoji", "pdf-📄", INVALID),
    named("an accent", "café", NOT_ASCII),
    named("an accent as a mark of its own", "café", NOT_ASCII, written="cafe\N{COMBINING ACUTE ACCENT}")._replace(
        name="cafe\N{COMBINING ACUTE ACCENT}"
    ),
    named("Chinese", "表格-清理", NOT_ASCII),
    named("Cyrillic", "формы", NOT_ASCII),
    named("a capital of another script", "Формы", INVALID),
    named("a wide letter and the directory in plain ones", "ｐdf-forms", NOT_ASCII, directory=DIRECTORY),
    named("a ligature that unfolds to 65 characters", "ﬁ" + "a" * 63, INVALID),
    named("an Arabic digit", "forms-٣", NOT_ASCII),
    named("a superscript digit, which is a digit once folded", "forms²", NOT_ASCII),
    named("blanks around it", DIRECTORY, written='"  pdf-forms "'),
    named("in single quotes", DIRECTORY, written="'pdf-forms'"),
    named("in a block", DIRECTORY, written=">-\n  pdf-forms"),
    named("an escape", DIRECTORY, written='"pdf\\u002dforms"'),
    named("another directory", DIRECTORY, MISMATCH, directory="forms"),
    named("a directory in other case", DIRECTORY, MISMATCH, directory="PDF-forms"),
    named("a reserved word", "claude", "NAME_RESERVED w--e-"),
    named("a reserved word within", "my-anthropic2", "NAME_RESERVED w--e-"),
    named("a word that only looks reserved", "claud-anthropi"),
    Case("absent", f"description: {DESCRIPTION}\n", ("NAME_MISSING wewew",), name=""),
    Case("empty", f'name: ""\ndescription: {DESCRIPTION}\n', ("NAME_MISSING wewew",), name=""),
    Case("null", f"name: ~\ndescription: {DESCRIPTION}\n", ("NAME_MISSING wewew",), name=""),
    Case("blanks", f'name: "  "\ndescription: {DESCRIPTION}\n', ("NAME_MISSING wewew",), name=""),
    Case("a number", f"name: 123\ndescription: {DESCRIPTION}\n", (TYPE,), name="", directory="123"),
    Case("a truth value", f"name: true\ndescription: {DESCRIPTION}\n", (TYPE,), name="", directory="true"),
    Case("a date", f"name: 2024-05-01\ndescription: {DESCRIPTION}\n", (TYPE,), name="", directory="2024-05-01"),
    Case("a list", f"name: [pdf-forms]\ndescription: {DESCRIPTION}\n", (TYPE,), name=""),
    Case("a mapping", f"name: {{a: b}}\ndescription: {DESCRIPTION}\n", (TYPE,), name=""),
    Case("a number in sixties, as YAML 1.1 has it", f"name: 1:30\ndescription: {DESCRIPTION}\n", (TYPE,), name=""),
)

LONG = "Fills forms. Use when asked. "  # 29 characters
SHORT = "EMPTY_DESCRIPTION wwwww"
DESCRIPTIONS = (
    described("1,024 characters", f" {LONG}{'x' * 995}", f"{LONG}{'x' * 995}"),
    described("1,025 characters", f" {LONG}{'x' * 996}", f"{LONG}{'x' * 996}", "DESCRIPTION_TOO_LONG wewee"),
    described("1,024 characters of four bytes", f" {'💡' * 1024}", "💡" * 1024),
    described("1,536 characters", f" {LONG}{'x' * 1507}", f"{LONG}{'x' * 1507}", "DESCRIPTION_TOO_LONG wewee"),
    described(
        "1,537 characters",
        f" {LONG}{'x' * 1508}",
        f"{LONG}{'x' * 1508}",
        "DESCRIPTION_CUT w-w--",
        "DESCRIPTION_TOO_LONG wewee",
    ),
    described("one character", " x", "x", SHORT),
    described("nothing", "", "", EMPTY),
    described("an empty text", ' ""', "", EMPTY),
    described("blanks", ' "   "', "", EMPTY),
    described("null", " null", "", EMPTY),
    Case("absent", f"name: {DIRECTORY}\n", (EMPTY,), description=""),
    described("a number", " 12", "", TYPE),
    described("a decimal number", " 1.5", "", TYPE),
    described("a truth value", " yes", "", TYPE),
    described("a date", " 2024-05-01", "", TYPE),
    described("a list", "\n  - Fills PDF forms.", "", TYPE),
    described("a mapping", "\n  what: Fills PDF forms.", "", TYPE),
    described("three dashes within", f" {DESCRIPTION} --- always", f"{DESCRIPTION} --- always"),
    described("three dashes at its end", f" {DESCRIPTION} ---", f"{DESCRIPTION} ---"),
    described("three dashes in quotes", f' "--- {DESCRIPTION}"', f"--- {DESCRIPTION}"),
    described("three dashes on an indented line", f" |\n  {DESCRIPTION}\n  ---\n  All.", f"{DESCRIPTION}\n---\nAll."),
    described("a dot line in a block", f" |\n  {DESCRIPTION}\n  ...\n  All.", f"{DESCRIPTION}\n...\nAll."),
    described(
        "double quotes with escapes", ' "Fills \\"PDF\\" forms\\tfor all.\\u00e9"', 'Fills "PDF" forms\tfor all.é'
    ),
    described("single quotes doubled", " 'Fills the user''s PDF forms.'", "Fills the user's PDF forms."),
    described("a colon in quotes", " 'Use when: a form is empty.'", "Use when: a form is empty."),
    described("a colon without a blank", " Fills forms at http://forms.example", "Fills forms at http://forms.example"),
    described("a literal block", " |\n  Fills PDF forms.\n  Use when asked.", "Fills PDF forms.\nUse when asked."),
    described("a folded block", " >\n  Fills PDF forms.\n  Use when asked.", "Fills PDF forms. Use when asked."),
    described("a folded block, stripped", " >-\n  Fills PDF\n  forms, all.\n\n", "Fills PDF forms, all."),
    described("a folded block with a paragraph", " >\n  Fills forms.\n\n  Use it.", "Fills forms.\nUse it."),
    described(
        "a block with its own indentation", " |2\n    Fills PDF forms.", "Fills PDF forms.", "EMPTY_DESCRIPTION wwwww"
    ),
    described("a text over two lines", " Fills PDF forms.\n  Use when asked.", "Fills PDF forms. Use when asked."),
    described("a comment behind", f" {DESCRIPTION} # for now", DESCRIPTION),
    described("a hash within a word", " Fills C# and F# forms.", "Fills C# and F# forms."),
    described("quotes around a hash", " 'Fills form # 12 of all.'", "Fills form # 12 of all."),
    described("a text that looks like a number", ' "2024-05-01 and later on"', "2024-05-01 and later on"),
    described("a text tag", " !!str 2024", "2024", SHORT),
    described("an anchor", f" &d {DESCRIPTION}", DESCRIPTION),
    described(
        "other scripts",
        " 填写表格。当表格为空时使用,检查每个字段的内容。",
        "填写表格。当表格为空时使用,检查每个字段的内容。",
    ),
    described(
        "an element", " Draws <chart> parts of a PDF.", "Draws <chart> parts of a PDF.", "DESCRIPTION_MARKUP w--e-"
    ),
    described("an arrow", " Turns a PDF form -> a table.", "Turns a PDF form -> a table.", "DESCRIPTION_MARKUP i--i-"),
    described("a colon and a blank", " Use when: a form is empty.", "", UNREAD)._replace(name=""),
    described("a quote that stays open", ' "Fills PDF forms.', "", UNREAD)._replace(name=""),
    described("a text that begins with a bracket", " [WIP] Fills forms.", "", UNREAD)._replace(name=""),
    described("a text that begins with a grave accent", " `pdf` forms, filled.", "", UNREAD)._replace(name=""),
    described("a text that begins with an at", " @pdf forms, filled.", "", UNREAD)._replace(name=""),
    described("a Python object", " !!python/object/apply:os.system ['x']", "", UNREAD)._replace(name=""),
    described("a Python name", " !!python/name:os.system x", "", UNREAD)._replace(name=""),
    described("a tag of one's own", " !mine Fills PDF forms.", "", UNREAD)._replace(name=""),
    described("an alias of nothing", " *gone", "", UNREAD)._replace(name=""),
    described("a month that does not exist", " 2024-13-01", "", UNREAD)._replace(name=""),
    described("a number that is none", " !!int forms", "", UNREAD)._replace(name=""),
)

FIELDS = (
    more("every field of the specification", "license: MIT\ncompatibility: git\nmetadata: {a: b}\nallowed-tools: Read"),
    more("a licence of any text", "license: Proprietary. LICENSE.txt has complete terms"),
    more("a licence that is a number", "license: 2", "FIELD_TYPE wwwww"),
    more("a licence without a value", "license:"),
    more("compatibility of one character", "compatibility: C"),
    more("compatibility of 500 characters", f"compatibility: {'x' * 500}"),
    more("compatibility of 501", f"compatibility: {'x' * 501}", "COMPATIBILITY_INVALID wewew"),
    more("compatibility of none", 'compatibility: ""', "COMPATIBILITY_INVALID wewew"),
    more("compatibility without a value", "compatibility:", "COMPATIBILITY_INVALID wewew"),
    more("compatibility as a number", "compatibility: 3.11", "FIELD_TYPE wwwew"),
    more("compatibility as a list", "compatibility:\n  - git", "FIELD_TYPE wewew"),
    more("metadata of text", 'metadata:\n  author: me\n  version: "1.0"'),
    more("metadata of nothing", "metadata: {}"),
    more("metadata without a value", "metadata:"),
    more("metadata with a number", "metadata:\n  version: 1.0", "METADATA_SHAPE iiiii"),
    more("metadata with a date", "metadata:\n  updated: 2026-01-31", "METADATA_SHAPE iiiii"),
    more("metadata with a mapping", "metadata:\n  tool:\n    needs: git", "METADATA_SHAPE wewww"),
    more("metadata with a list", "metadata:\n  tags: [pdf]", "METADATA_SHAPE wewww"),
    more("metadata with both", "metadata:\n  tags: [pdf]\n  n: 1", "METADATA_SHAPE wewww", "METADATA_SHAPE iiiii"),
    more("metadata as a list", "metadata: [a, b]", "METADATA_SHAPE wewwe"),
    more("metadata as text", "metadata: none", "METADATA_SHAPE wewwe"),
    more("the key of metadata that Codex reads", "metadata:\n  short-description: 12", "METADATA_SHAPE wewwe"),
    more("tools with blanks", "allowed-tools: Read Bash(git:*)"),
    more("tools with commas", "allowed-tools: Read, Bash", "ALLOWED_TOOLS_SHAPE ieiii"),
    more("tools in a list", "allowed-tools:\n  - Read", "ALLOWED_TOOLS_SHAPE ieiii"),
    more("tools in brackets", "allowed-tools: [Read, Bash]", "ALLOWED_TOOLS_SHAPE ieiii"),
    more("tools in a mapping", "allowed-tools:\n  Read: true", "ALLOWED_TOOLS_SHAPE eeeee"),
    more("tools as a number", "allowed-tools: 3", "ALLOWED_TOOLS_SHAPE eeeee"),
    more("no tools", "allowed-tools:"),
    more("an unknown field", "version: 1.0.0", UNKNOWN),
    more("two unknown fields", "version: 1.0.0\ntags: [pdf]", UNKNOWN, UNKNOWN),
    more("a misspelt field", "allowed_tools: Read", UNKNOWN),
    more("a field of Claude Code", "model: inherit", DIALECT),
    more("several of them", "argument-hint: <file>\nuser-invocable: false\nhooks: {}", DIALECT, DIALECT, DIALECT),
    more("a flag that is text", 'user-invocable: "maybe"', DIALECT, "FIELD_TYPE wwwww"),
    more("a fork", "context: fork\nagent: Explore\nbackground: false", DIALECT, DIALECT, DIALECT),
    more("another context", "context: parent", DIALECT, "FIELD_VALUE w-w--"),
    more("the highest effort", "effort: max", DIALECT),
    more("another effort", "effort: huge", DIALECT, "FIELD_VALUE w-w--"),
    more("another shell", "shell: fish", DIALECT, "FIELD_VALUE w-w--"),
    more("both texts at the limit of the list", f"when_to_use: {'x' * (1536 - 3 - len(DESCRIPTION))}", DIALECT),
    more("one past it", f"when_to_use: {'x' * (1537 - 3 - len(DESCRIPTION))}", DIALECT, "DESCRIPTION_CUT w-w--"),
    more("the description twice", f"description: {DESCRIPTION}", "DUPLICATE_KEY eeeee"),
    more("an unknown field twice", "a: 1\na: 2", UNKNOWN, "DUPLICATE_KEY eeeee"),
    more("a nested key twice", "metadata:\n  a: b\n  a: c", "DUPLICATE_KEY eeeee"),
    more("an alias", "metadata:\n  a: &x b\n  c: *x"),
    more("a merge key", "metadata:\n  <<: {a: b}", UNREAD)._replace(name="", description=""),
    more("a list as a key", "? [a]\n: b", UNREAD)._replace(name="", description=""),
    more("a null key", "~: b", UNREAD)._replace(name="", description=""),
    more("keys that YAML takes for a number and a truth value", "7: x\nyes: x", UNKNOWN, UNKNOWN),
    more("a key in quotes", '"license": MIT'),
    more("a key without a blank behind its colon", "license:MIT", UNREAD)._replace(name="", description=""),
    more("a comment", "# nothing"),
    more("a tab before the value", "license:\tMIT", "FRONTMATTER_TAB wewew"),
    more("a tab as indentation", "metadata:\n\ta: b", UNREAD)._replace(name="", description=""),
    more("a control character", "license: \x07", UNREAD)._replace(name="", description=""),
)

_BOM = b"\xef\xbb\xbf"
_PLAIN = f"---\n{HEAD}---\n{BODY}".encode()


def file(title: str, data: bytes, *findings: str, read: bool = True, file: str = "SKILL.md") -> Case:
    """Make a case of a whole file; with ``read`` its name and description are known in the end."""
    case = Case(title, data, findings, whole=True, file=file)
    return case if read else case._replace(name="", description="")


FILES = (
    file("plain", _PLAIN),
    file("a byte order mark", _BOM + _PLAIN, "BYTE_ORDER_MARK wewee"),
    file("Windows line ends", _PLAIN.replace(b"\n", b"\r\n"), "LINE_ENDS iiiii"),
    file("carriage returns alone", _PLAIN.replace(b"\n", b"\r"), "LINE_ENDS iiiii"),
    file("blanks behind the dashes", _PLAIN.replace(b"---\n", b"--- \t\n")),
    file("blank lines within", _PLAIN.replace(b"description", b"\n\ndescription")),
    file("flow style", f'---\n{{name: {DIRECTORY}, description: "{DESCRIPTION}"}}\n---\n{BODY}'.encode()),
    file("JSON", f'---\n{{"name": "{DIRECTORY}", "description": "{DESCRIPTION}"}}\n---\n{BODY}'.encode()),
    file("a rule in the body", _PLAIN + b"\n---\n\nname: other\n\n---\n"),
    file("a second frontmatter below", _PLAIN.replace(b"# Forms", b"---\nname: other\n---\n# Forms")),
    file("another case of the file's name", _PLAIN, "FILE_NAME wwwee", file="skill.md"),
    file("no last line end", _PLAIN.rstrip()),
    file("no frontmatter", BODY.encode(), "FRONTMATTER_MISSING eeeee", read=False),
    file("a blank line first", b"\n" + _PLAIN, "FRONTMATTER_MISSING eeeee", read=False),
    file("a blank before the dashes", b" " + _PLAIN, "FRONTMATTER_MISSING eeeee", read=False),
    file("four dashes", _PLAIN.replace(b"---", b"----"), "FRONTMATTER_MISSING eeeee", read=False),
    file("TOML", f"+++\n{HEAD}+++\n{BODY}".encode(), "FRONTMATTER_MISSING eeeee", read=False),
    file("never closed", f"---\n{HEAD}\n{BODY}".encode(), "FRONTMATTER_UNCLOSED eeeee", read=False),
    file("closed by dots", f"---\n{HEAD}...\n{BODY}".encode(), "FRONTMATTER_UNCLOSED eeeee", read=False),
    file("closed by an indented line", f"---\n{HEAD} ---\n{BODY}".encode(), "FRONTMATTER_UNCLOSED eeeee", read=False),
    file("nothing between the dashes", f"---\n---\n{BODY}".encode(), UNREAD, read=False),
    file("a comment between the dashes", f"---\n# x\n---\n{BODY}".encode(), UNREAD, read=False),
    file("a list between the dashes", f"---\n- a\n---\n{BODY}".encode(), UNREAD, read=False),
    file("a text between the dashes", f"---\na\n---\n{BODY}".encode(), UNREAD, read=False),
    file("no body", f"---\n{HEAD}---\n".encode(), "NO_BODY wwwww"),
    file("no bytes", b"", "EMPTY_FILE eeeee", read=False),
    file("a blank line", b"\n", "EMPTY_FILE eeeee", read=False),
    file("the dashes alone", b"---\n---\n", "EMPTY_FILE eeeee", read=False),
    file("Latin-1", _PLAIN.replace(b"PDF", b"\xe4"), "NOT_UTF8 eeeee", read=False),
    file("UTF-16", _PLAIN.decode().encode("utf-16"), "NOT_UTF8 eeeee", read=False),
    file("a NUL byte", _PLAIN + b"\x00", "NUL_BYTE eeeee", read=False),
    file(
        "over 64 KiB", f"---\n{HEAD}license: {'x' * 65536}\n---\nx".encode(), "FRONTMATTER_TOO_LARGE eeeee", read=False
    ),
)

GROUPS = {"names": NAMES, "descriptions": DESCRIPTIONS, "fields": FIELDS, "files": FILES}
CASES = [(group, case) for group, cases in GROUPS.items() for case in cases]


def skill(case: Case, base: Path) -> Skill:
    directory = write_bytes(base, case.directory, b"", files={case.file: case.data})
    if case.file != "SKILL.md":
        (directory / "SKILL.md").unlink()
    return parsed(directory)


def concerns_the_frontmatter(claim: Claim) -> bool:
    return claim.group in {"spec", "reading"} or claim.id == "EMPTY_DESCRIPTION"


def told(claim: Claim) -> str:
    """Write a claim as the cases do: its id, and what becomes of it under each profile."""
    settled = (settle([claim], (), Selection(profile=profile), directory=PurePosixPath("x")) for profile in PROFILES)
    letters = (found.findings[0].severity.value[0] if found.findings else "-" for found in settled)
    return f"{claim.id} {''.join(letters)}"


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[f"{group}: {case.title}" for group, case in CASES])
def test_a_frontmatter_means_and_breaks_what_each_client_says(case: Case, tmp_path: Path) -> None:
    read = skill(case, tmp_path)
    assert (read.frontmatter.text("name"), read.frontmatter.text("description")) == (case.name, case.description)
    claims = [claim for claim in layer.run(read).claims if concerns_the_frontmatter(claim)]
    assert sorted(map(told, claims)) == sorted(case.findings)


def test_every_refusal_of_a_client_is_met_by_a_case() -> None:
    met = {finding.partition(" ")[0] for _, case in CASES for finding in case.findings}
    rules = [rule for rule in map(layer.rule, layer.RULES.names()) if rule.group == "spec"]
    defects = [rule for rule in DEFECTS if rule.refused_by or rule.about]
    accepted = {"BODY_TOO_LONG", "CATEGORY_UNKNOWN", "ALLOWED_TOOLS_UNKNOWN", "HOOK_UNKNOWN", "MODEL_UNKNOWN"}
    assert not {rule.id for rule in (*rules, *defects)} - accepted - met


heads = st.one_of(
    st.binary(max_size=200),
    st.text("abn:-[]{}&*!|>'\"#%@`,? \t\n\r0159~<=.\\", max_size=80).map(str.encode),
    st.lists(
        st.sampled_from(
            (
                b"name: x",
                b"name: [x]",
                b"description: >",
                b"  <a> " + b"x" * 1100,
                b"compatibility: {}",
                b"metadata: {a: {b: [c]}}",
                b"metadata: {? [a] : b}",
                b"metadata: !!set {a, b}",
                b"metadata: {short-description: !!binary aGk=}",
                b"allowed-tools: [[a], {b: c}, 1]",
                b"allowed-tools: )))((,",
                b"effort: !!float .nan",
                b"shell: !!binary aGk=",
                b"context: 2024-05-01 10:00:00",
                b"? !!binary aGk=\n: x",
                b"\xf0\x9f\x92\xa1: x",
                b"--- x",
                b"when_to_use: |",
                b"a" * 500 + b": x",
            )
        ),
        max_size=6,
    ).map(b"\n".join),
)


@CI
@given(heads)
@example(b"name: \xe2\x80\xa8x")
@example(b"metadata: {1: [a], ~: 2}")
def test_no_bytes_in_a_frontmatter_raise(head: bytes) -> None:
    with TemporaryDirectory() as name:
        data = b"---\n" + head + b"\n---\nRead the form.\n"
        result = layer.run(parsed(write_bytes(Path(name), DIRECTORY, data)))
    for claim in result.claims:
        assert told(claim).startswith(claim.id)
        assert "\n" not in claim.message
