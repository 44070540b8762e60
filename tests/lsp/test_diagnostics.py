"""What an editor shows as findings: of the unsaved text, at the right places, with the repository's configuration."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.lsp.editor import UNITS, Editor, quoted
from tests.skills import BODY, DESCRIPTION, NAME, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAIN = f"skills/{NAME}/SKILL.md"
DEAD = "See [the columns](docs/gone.md)."
KEY = "AKIA" + "Z7QK3XW5N2VYT6RD"  # in two parts: no scanner takes it for a real one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with one skill."""
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / "skills")
    return tmp_path


@pytest.fixture
def fresh(folder: Path) -> Iterator[Editor]:
    """An editor that has opened the repository, for one test."""
    with Editor(folder) as one:
        yield one


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor for several tests."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / ".git").mkdir()
    write_skill(folder / "skills")
    with Editor(folder) as one:
        yield one


@pytest.fixture
def editor(shared: Editor) -> Iterator[Editor]:
    """The shared editor, without documents."""
    yield shared
    shared.forget()


def ids(diagnostics: list[types.Diagnostic]) -> list[object]:
    """The rules of some findings."""
    return [one.code for one in diagnostics]


def skill(body: str, head: str = f"name: {NAME}\ndescription: {DESCRIPTION}") -> str:
    """A text of a skill."""
    return f"---\n{head}\n---\n{body}"


def test_the_unsaved_text_is_evaluated(editor: Editor) -> None:
    assert "BROKEN_LINK" not in ids(editor.open(MAIN))
    (found,) = [one for one in editor.change(MAIN, skill(f"{BODY}\n{DEAD}\n")) if one.code == "BROKEN_LINK"]
    assert found.source == "skillgate"
    assert found.severity is types.DiagnosticSeverity.Warning
    assert quoted(editor.texts[MAIN], found.range) == "docs/gone.md"
    assert found.message.startswith("docs/gone.md does not exist\nFix: ")
    assert found.code_description is None  # a clone does not know where its pages are
    assert "BROKEN_LINK" not in ids(editor.change(MAIN, skill(BODY)))
    assert "gone" not in (editor.folder / MAIN).read_text(encoding="utf-8")


def test_a_skill_is_evaluated_before_it_is_saved(editor: Editor) -> None:
    found = ids(editor.open("skills/new-one/SKILL.md", skill(f"{BODY}\n{DEAD}\n", "name: new-one")))
    assert {"BROKEN_LINK", "EMPTY_DESCRIPTION"} <= set(found)


@pytest.mark.parametrize("encoding", [None, *UNITS])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_places_are_counted_as_the_editor_counts(encoding: str | None, end: str, folder: Path) -> None:
    text = skill(f"{BODY}\n𝒜 é 日\u2028本 🎉 [the columns](docs/gone.md) 🎉\n").replace("\n", end)
    with Editor(folder, encoding=encoding) as editor:
        (found,) = [one for one in editor.open(MAIN, text) if one.code == "BROKEN_LINK"]
        assert quoted(text, found.range, editor.encoding) == "docs/gone.md"
        middle = found.range.start.line, found.range.end.character - 1
        assert "BROKEN" in (editor.hover(MAIN, *middle) or "")
        assert editor.hover(MAIN, middle[0], 0) is None


def test_a_reference_is_evaluated_with_its_own_unsaved_text(fresh: Editor) -> None:
    page = f"skills/{NAME}/references/columns.md"
    write_skill(fresh.folder / "skills", files={"references/columns.md": "# Columns\n\nWhat each is called.\n"})
    before = ids(fresh.open(page))
    found = fresh.change(page, "# Columns\n\nSee [more](none.md).\n")
    assert [quoted(fresh.texts[page], one.range) for one in found if one.code not in before] == ["none.md"]
    main = fresh.open(MAIN)
    assert "BROKEN_LINK" not in ids(main)  # a file's own findings are shown in that file
    fresh.close(MAIN)
    assert "BROKEN_LINK" in ids(fresh.diagnostics(page))


def test_a_file_of_no_skill_has_no_findings(editor: Editor) -> None:
    (editor.folder / "README.md").write_text(DEAD, encoding="utf-8")
    text = editor.texts["README.md"] = DEAD
    item = types.TextDocumentItem(editor.uri("README.md"), "markdown", 1, text)
    editor.send(types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
    editor.open(MAIN)
    assert {one.uri for one in editor.published} == {editor.uri(MAIN)}


def test_only_the_last_of_many_changes_matters(editor: Editor) -> None:
    editor.open(MAIN)
    for number in range(30):
        editor.change(MAIN, skill(f"{BODY}\nLine {number}.\n"), wait=False)
    assert "BROKEN_LINK" in ids(editor.change(MAIN, skill(f"{BODY}\n{DEAD}\n")))
    versions = [one.version or 0 for one in editor.published]
    assert versions == sorted(versions)
    assert versions[-1] == editor.versions[MAIN]
    assert len(versions) < 30


# -- configuration


@pytest.mark.parametrize(
    ("configuration", "shown"),
    [
        ("fail-on: [error]\n", True),
        ("ignore: [BROKEN_LINK]\n", False),
        ("overrides:\n  - paths: ['skills/**']\n    ignore: [BROKEN_LINK]\n", False),
        ("overrides:\n  - paths: ['other/**']\n    ignore: [BROKEN_LINK]\n", True),
        (f"per-file-ignores:\n  '{MAIN}': [BROKEN_LINK]\n", False),
        ("exclude: [skills]\n", False),
        ("depth: deep\nbaseline: main\n", True),  # neither a model nor Git is asked
    ],
)
def test_the_configuration_of_the_repository_applies(configuration: str, shown: bool, folder: Path) -> None:
    (folder / ".skillgate.yaml").write_text(configuration, encoding="utf-8")
    with Editor(folder) as editor:
        assert ("BROKEN_LINK" in ids(editor.open(MAIN, skill(f"{BODY}\n{DEAD}\n")))) is shown
        assert editor.messages == []


def test_a_comment_suppresses_a_finding(editor: Editor) -> None:
    comment = "<!-- skillgate: ignore BROKEN_LINK: the release writes it -->"
    assert "BROKEN_LINK" not in ids(editor.open(MAIN, skill(f"{BODY}\n{comment}\n{DEAD}\n")))


def test_an_invalid_configuration_is_said_and_its_repair_is_noticed(fresh: Editor) -> None:
    configuration = fresh.folder / ".skillgate.yaml"
    text = skill(f"{BODY}\n{DEAD}\n")
    fresh.open(MAIN, text)
    configuration.write_text("thresold: 3\n", encoding="utf-8")
    fresh.save(MAIN)
    assert "unknown key 'thresold'" in fresh.next_message()
    configuration.write_text("ignore: [BROKEN_LINK]\n", encoding="utf-8")
    after = len(fresh.published)
    fresh.save(MAIN)
    assert "BROKEN_LINK" not in ids(fresh.next_diagnostics(MAIN, after))


HOUSE = """\
rules:
  ACME_WORDS:
    forbidden-phrase: [rows by date]
    message: say it otherwise
  ACME_CODE:
    python: rules/code.py
"""
CODE = '''\
"""A rule that leaves a trace."""

from pathlib import Path

from skillgate.rules import Hit, Severity, Span, rule

Path(__file__).with_name("it-ran").touch()
print("noise on standard output")


def find(skill):
    yield Hit(Span(1), "found by code")


RULE = rule(find, Severity.WARNING, fix="none")
'''


@pytest.mark.parametrize(("words", "runs"), [((), False), (("--run-house-rules",), True)])
def test_opening_a_repository_runs_none_of_its_code(words: tuple[str, ...], runs: bool, folder: Path) -> None:
    (folder / ".skillgate.yaml").write_text(HOUSE, encoding="utf-8")
    (folder / "rules").mkdir()
    trace = folder / "rules" / "it-ran"
    (folder / "rules" / "code.py").write_text(CODE.replace("__file__", repr(str(folder / "rules" / "x"))))
    with Editor(folder, *words) as editor:
        found = ids(editor.open(MAIN))
        assert "ACME_WORDS" in found
        assert ("ACME_CODE" in found, trace.exists()) == (runs, runs)
        (place,) = [one.range.start for one in editor.diagnostics(MAIN) if one.code == "ACME_WORDS"]
        assert "ACME" in (editor.hover(MAIN, place.line, place.character) or "")
    assert (b"do not run in an editor: ACME_CODE" in editor.stderr) is not runs


# -- hostile texts


@pytest.mark.parametrize("place", ["/dev/stdin", "/etc/passwd", "known/../../elsewhere.json", "pipe"])
def test_a_repository_cannot_make_the_server_read_what_is_not_its_file(folder: Path, place: str) -> None:
    (folder / "known").mkdir()
    (folder.parent / "elsewhere.json").write_text("{}")
    os.mkfifo(folder / "pipe")
    (folder / ".skillgate.yaml").write_text(f"known-findings: {place}\n")
    with Editor(folder) as editor:
        editor.open(MAIN, skill(f"{BODY}\n{DEAD}\n"))
        assert "is not a file of this repository" in editor.next_message()


def test_no_message_has_a_secret(editor: Editor) -> None:
    text = skill(f"{BODY}\nUse {KEY} and [{KEY}]({KEY}.md).\n", f"name: {KEY}\ndescription: {KEY}\n{KEY}: {KEY}")
    found = editor.open(MAIN, text)
    assert "SECRET" in ids(found)
    said = [*(one.message for one in found), *(one.title for one in editor.actions(MAIN))]
    places = [one.range.start for one in found]
    said += [editor.hover(MAIN, place.line, place.character) or "" for place in places]
    assert not [line for line in said if KEY in line]


def test_a_file_that_is_too_large_is_one_finding(editor: Editor) -> None:
    found = editor.open(MAIN, skill("x" * 5_000_001))
    assert ids(found) == ["FILE_TOO_LARGE"]
    assert "BROKEN_LINK" in ids(editor.change(MAIN, skill(f"{BODY}\n{DEAD}\n")))


@pytest.mark.parametrize(
    "text", ["", "\r", "---", "---\n", "\ufeff", "\x00", "---\n---\n", "\ud800", "---\nname: [\n---\n"]
)
def test_any_text_is_evaluated(text: str, editor: Editor) -> None:
    for one in editor.open(MAIN, text):
        assert one.range.start.line <= one.range.end.line <= text.count("\n") + text.count("\r")
    editor.hover(MAIN, 0, 0)
    editor.actions(MAIN)
    editor.complete(MAIN, 1, 0)


def test_a_link_out_of_the_repository_is_not_followed(editor: Editor, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "SKILL.md"
    outside.write_text(skill(f"{BODY}\n{DEAD}\n"), encoding="utf-8")
    page = "skills/linked/references/a.md"
    write_skill(editor.folder / "skills", "linked", files={"references/a.md": "# A\n"})
    (editor.folder / "skills/linked/SKILL.md").unlink()
    (editor.folder / "skills/linked/SKILL.md").symlink_to(outside)
    assert editor.open(page) == []
    assert editor.hover(page, 0, 0) is None


# -- the connection


def test_a_message_that_is_none_does_not_end_the_server(fresh: Editor) -> None:
    fresh.open(MAIN)
    fresh.send("textDocument/didChange", {"textDocument": "secret text"})
    fresh.send("textDocument/unknown", {"x": "secret text"})
    place = types.VersionedTextDocumentIdentifier(uri="file:///nowhere/SKILL.md", version=3)
    whole = types.TextDocumentContentChangeWholeDocument("secret text")
    fresh.send(types.TEXT_DOCUMENT_DID_CHANGE, types.DidChangeTextDocumentParams(place, [whole]))
    assert "BROKEN_LINK" in ids(fresh.change(MAIN, skill(f"{BODY}\n{DEAD}\n")))
    fresh.stop()
    assert b"secret text" not in fresh.stderr


def test_the_server_ends_with_the_editor(folder: Path) -> None:
    with Editor(folder) as editor:
        editor.open(MAIN)
        editor.vanish()
        assert editor.process.returncode == 0


def test_closing_a_document_takes_its_findings_away(editor: Editor) -> None:
    assert editor.open(MAIN, skill(f"{BODY}\n{DEAD}\n"))
    editor.close(MAIN)
    assert editor.hover(MAIN, 1, 1) is None
    assert "BROKEN_LINK" not in ids(editor.open(MAIN))
