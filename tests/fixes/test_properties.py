"""Whatever a skill looks like: mending changes no meaning, lowers no score, brings no finding, and is done once."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import skillgate
from skillgate.fixes import apply, plan
from skillgate.fixes.repairs import FIXES
from skillgate.skill.find import discover
from skillgate.skill.tree import disk_of
from tests.fixes.mending import RULES, mend, planned
from tests.properties.documents import CI, bodies, on_disk, sentences

if TYPE_CHECKING:
    from skillgate.model.skill import Document

DATA = os.environ.get("SKILLGATE_TEST_DATA", "")
_NAMES = st.sampled_from(("merge-sheets", "join", "'join'", '"a b" # why', "Merge  # x", "[a]", "12", "", "&a x"))
_GAPS = st.sampled_from((": ", ":\t", ": \t ", ":  "))
_FIELDS = (
    *("\nallowed-tools: Read, Bash(git:*)", "\nallowed-tools: [Read, 'Bash(a b)']", "\nallowed-tools: 'Read,Grep' # x"),
    *("\nmetadata:\n  version: 1.10\n  on: 2026-01-31 # x", "\nmetadata:\n  a: 1\n  b: [1]", "\nmetadata: {a: 1}"),
    "\nmetadata:\n  a:\n    b: 1\n  b: 2\n  c: ~",
)
_HEADS = st.builds(
    lambda name, gap, other, more: f"name{gap}{name}\ndescription{other}Merge sheets. Use when joining exports.{more}",
    *(_NAMES, _GAPS, _GAPS),
    st.sampled_from(
        ("", "\nmetadata:\n  a: b", "\n\tx: y", "\nname: two", "\nnotes: |\n  a:\tb", "\nn: 'a\n\n  b'", *_FIELDS)
    ),
)
_CODE = st.builds(
    lambda indent, fence, tag, code: "\n".join(indent + line for line in (fence + tag, *code.split("\n"), fence)),
    st.sampled_from(("", "  ", "> ", "- ", "    ")),
    st.sampled_from(("```", "~~~", "````")),
    st.sampled_from(("", " ", "text", "\t")),
    st.sampled_from(('{"a": 1}', "#!/bin/bash\nnpx merge", "#!/usr/bin/env python3\nprint(", '<?xml version="1.0"?>')),
)
_BODIES = st.builds(lambda parts: "\n\n".join(parts), st.lists(st.one_of(bodies, _CODE, sentences), max_size=5))
_TEXTS = st.one_of(
    st.builds(lambda head, body: f"---\n{head}\n---\n{body}", _HEADS, _BODIES),
    st.text("#[]()`<>*_-|!&;:\\\"'~ \t\nax1{}", max_size=120),
)
_ENDS = st.lists(st.sampled_from(("\n", "\n", "\r\n", "\r")), min_size=1, max_size=4)


def _written(text: str, ends: list[str], mark: str, last: str) -> bytes:
    lines = text.split("\n")
    joined = "".join(line + ends[index % len(ends)] for index, line in enumerate(lines[:-1]))
    return (mark + joined + lines[-1] + last).encode()


FILES = st.builds(
    _written, _TEXTS, _ENDS, st.sampled_from(("", "", "\ufeff", "\ufeff\ufeff")), st.sampled_from(("", "\n", "\r"))
)


def _meaning(document: Document) -> tuple[object, ...]:
    """Give all that a reader takes from a file, but for the tags of its code and the end of an open block."""
    codes = [(block.code.rstrip("\n"), block.line, block.end_line, block.closed) for block in document.code_blocks]
    return (*document._replace(text="", code_blocks=()), tuple(codes))


def check(directory: Path) -> None:
    """Mend a skill twice and compare."""
    score = skillgate.evaluate(directory).results[0].composite.score
    done = mend(directory)
    before, after = done.before, done.after
    harmful = [(change.file, change.rules) for change in done.planned if change.before == change.after]
    assert [(change.file, change.rules) for change in planned(directory)] == harmful
    assert all(result.written == (result.change.skipped is None) for result in done.results)
    assert after.claims <= before.claims
    assert [_meaning(document) for document in before.skill.documents] == [
        _meaning(document) for document in after.skill.documents
    ]
    mended = {
        (rule, change.file.partition("/merge-sheets/")[2])
        for change in done.planned
        for rule in change.rules
        if change.skipped is None
    }
    head = dict(before.skill.frontmatter.values)
    for rule, file in mended:
        values = FIXES[rule].head if file == "SKILL.md" else None
        head |= values(before.skill) if values is not None else {}
    assert after.skill.frontmatter.values == head
    left = {(rule, file) for rule, file, _ in after.claims if rule != "UNTAGGED_CODE"}  # some bring a finding with them
    assert not mended & left
    new_score = skillgate.evaluate(directory).results[0].composite.score
    assert (new_score is None) == (score is None)
    assert new_score is None or score is None or new_score >= score


@CI
@given(FILES, FILES)
@example(b'\xef\xbb\xbf---\rname:\tx\r---\r```\r{"a": 1}\r```\r\r\ry', b"a\r")
@example(b'---\r\nname: x\r\n---\r\n- ```\r\n  {"a": 1}\r\n  ```', b"```\n#!/bin/sh\n```")
@example(b"---\nname: x\n---", b"\xef\xbb\xbf")
def test_mending_changes_no_meaning_and_is_done_once(main: bytes, document: bytes) -> None:
    files = {"skills/merge-sheets/SKILL.md": main, "skills/merge-sheets/references/a.md": document}
    with on_disk(files) as folder:
        check(folder / "skills" / "merge-sheets")


@CI
@given(FILES, st.sets(st.sampled_from(RULES)))
def test_nothing_but_what_is_wanted_is_mended(main: bytes, wanted: set[str]) -> None:
    with on_disk({"skills/merge-sheets/SKILL.md": main}) as folder:
        directory = folder / "skills" / "merge-sheets"
        assert {rule for change in planned(directory, wanted) for rule in change.rules} <= wanted
        mend(directory, wanted)
        assert [change for change in planned(directory, wanted) if change.skipped is None] == []


@CI
@given(st.binary(max_size=300))
def test_any_bytes_are_mended_or_left_alone(data: bytes) -> None:
    with on_disk({"skills/merge-sheets/SKILL.md": data}) as folder:
        check(folder / "skills" / "merge-sheets")


@pytest.mark.skipif(not Path(DATA, "corpus").is_dir(), reason="SKILLGATE_TEST_DATA names no test data")
def test_real_skills_with_broken_bytes_become_what_they_were(tmp_path: Path) -> None:
    source, corpus = Path(DATA, "corpus"), tmp_path / "corpus"
    files = {corpus / path.relative_to(source): path.read_bytes() for path in sorted(source.rglob("*.md"))}
    wanted = frozenset(("LINE_ENDS", "BYTE_ORDER_MARK", "NO_FINAL_NEWLINE"))
    sound = {path for path, data in files.items() if re.fullmatch(rb"[^\xef\r][^\r]*[^\r\n]\n", data)}
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        broken = b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n").removesuffix(b"\r\n")
        path.write_bytes(broken if path in sound else data)
    mended = 0
    for root in discover([str(corpus)]).roots[::3]:
        for result in apply(plan(root, wanted.__contains__), disk_of(root)):
            place = Path(root.tree.origin + result.change.file)  # type: ignore[attr-defined]
            assert result.written, result
            assert place not in sound or place.read_bytes() == files[place]
            mended += place in sound
    assert mended > 77
