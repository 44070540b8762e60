"""Tools, metadata, quotes, links and fences: what is mended, what is left alone, and what is unsafe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.fixes import diff
from tests.fixes.mending import HEAD, TEXT, mend
from tests.skills import write_bytes, write_skill

if TYPE_CHECKING:
    from pathlib import Path

FENCE = f"""{HEAD}# Merge sheets

Read the header of every file first, because it decides which columns can be joined.

```sh
merge a.csv b.csv

## Next steps

Look at [the limits](references/limits.md) before more is merged.
"""


def headed(tmp_path: Path, field: str, rule: str) -> str:
    """Mend a frontmatter with one more field, twice; return that field."""
    directory = write_bytes(tmp_path, "merge-sheets", HEAD.replace("---\n", "---\n", 1).encode()[:-4] + field.encode())
    path = directory / "SKILL.md"
    path.write_bytes(path.read_bytes() + f"\n---\n{TEXT}".encode())
    mend(directory, [rule])
    once = path.read_bytes()
    mend(directory, [rule])
    assert path.read_bytes() == once
    start = len(HEAD) - 4
    return once[start : len(once) - len(f"\n---\n{TEXT}")].decode()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("allowed-tools: Read, Grep", "allowed-tools: Read Grep"),
        ("allowed-tools: Read,Bash(git:*) , mcp__x__y # x", "allowed-tools: Read Bash(git:*) mcp__x__y # x"),
        ("allowed-tools: 'Read, Grep'", "allowed-tools: 'Read Grep'"),
        ("allowed-tools: [Read, 'Bash(git:*)']", "allowed-tools: Read Bash(git:*)"),
        ("allowed-tools: Read Grep", "allowed-tools: Read Grep"),
        ("allowed-tools: Read, Bash(git add:*)", "allowed-tools: Read, Bash(git add:*)"),
        ("allowed-tools: Bash(a,b)", "allowed-tools: Bash(a,b)"),
        ("allowed-tools:\n  - Read", "allowed-tools:\n  - Read"),
        ("allowed-tools: [Read, 3]", "allowed-tools: [Read, 3]"),
        ("allowed-tools: >-\n  Read, Grep", "allowed-tools: >-\n  Read, Grep"),
    ],
)
def test_tools_are_separated_by_spaces(written: str, expected: str, tmp_path: Path) -> None:
    assert headed(tmp_path, written, "ALLOWED_TOOLS_SHAPE") == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("metadata:\n  version: 1.10", 'metadata:\n  version: "1.10"'),
        (
            "metadata: # all\n    n: 2026-01-31 # x\n    b: yes",
            'metadata: # all\n    n: "2026-01-31" # x\n    b: "yes"',
        ),
        ("metadata:\n  author: me\n  n: -5\n  tags: [a]", 'metadata:\n  author: me\n  n: "-5"\n  tags: [a]'),
        ("metadata:\n  version: 1.0\n  empty:", "metadata:\n  version: 1.0\n  empty:"),
        ("metadata:\n  version: !!int 1", "metadata:\n  version: !!int 1"),
        ("metadata: {version: 1.0}", "metadata: {version: 1.0}"),
        ("metadata:\n  a:\n    version: 1\n  version: 2", 'metadata:\n  a:\n    version: 1\n  version: "2"'),
        ("metadata:\n  note: |\n    version: 1\n  version: 2", 'metadata:\n  note: |\n    version: 1\n  version: "2"'),
    ],
)
def test_metadata_becomes_text(written: str, expected: str, tmp_path: Path) -> None:
    assert headed(tmp_path, written, "METADATA_SHAPE") == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("notes: use when: a file is there", 'notes: "use when: a file is there"'),
        ("argument-hint: [file] [page]", 'argument-hint: "[file] [page]"'),
        ('notes: say "yes": or no', "notes: 'say \"yes\": or no'"),
        ("license: `MIT` or: other\nnotes: a: b", 'license: "`MIT` or: other"\nnotes: "a: b"'),
        ("notes: a: b # c", "notes: a: b # c"),
        ("notes: [a] [b]", "notes: [a] [b]"),
        ('notes: "a": b', 'notes: "a": b'),
        ("notes: a: b\n  more: c", "notes: a: b\n  more: c"),
        ("\tnotes: a", "\tnotes: a"),
    ],
)
def test_a_value_that_can_only_be_text_is_put_in_quotes(written: str, expected: str, tmp_path: Path) -> None:
    assert headed(tmp_path, written, "FRONTMATTER_INVALID") == expected


def test_what_unreadable_frontmatter_hid_is_repaired_in_the_same_run(tmp_path: Path) -> None:
    text = f"---\nname: Other\ndescription: Merges: CSV files. Use when joining exports.\n---\n{TEXT}"
    directory = write_bytes(tmp_path / "skills", "merge-sheets", text.encode())
    done = mend(directory, ["FRONTMATTER_INVALID", "NAME_INVALID"])
    assert [change.rules for change in done.planned] == [("FRONTMATTER_INVALID", "NAME_INVALID")]
    assert (directory / "SKILL.md").read_text(encoding="utf-8") == text.replace("Other", "merge-sheets").replace(
        "Merges: CSV files. Use when joining exports.", '"Merges: CSV files. Use when joining exports."'
    )
    assert mend(directory, ["FRONTMATTER_INVALID", "NAME_INVALID"]).planned == ()


def linked(tmp_path: Path, body: str, *, unsafe: bool = False) -> str:
    """Mend the links of a skill that has a few files; return its body."""
    directory = write_skill(
        tmp_path / "skills",
        "merge-sheets",
        frontmatter=HEAD[4:-5],
        body=body,
        files={"references/limits.md": "# Limits\n\nThree.\n", "docs/README.md": "All.\n", "a/x.md": "", "b/x.md": ""},
    )
    done = mend(directory, ["BROKEN_LINK"], unsafe=unsafe)
    assert done.after.claims <= done.before.claims
    return (directory / "SKILL.md").read_text(encoding="utf-8").rpartition("---\n")[2].strip("\n")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("See [it](reference/limits.md).", "See [it](references/limits.md)."),
        (
            "See [it](docs/limits.md) and [it](<docs/limits.md>).",
            "See [it](references/limits.md) and [it](<references/limits.md>).",
        ),
        ("See [it](docs/limits.md#limits).", "See [it](references/limits.md#limits)."),
        ("See [it](docs/limits.md#gone).", "See [it](docs/limits.md#gone)."),
        ("See [it](docs/x.md).", "See [it](docs/x.md)."),
        ("See [it](docs/gone.md).", "See [it](docs/gone.md)."),
        (
            "See [it](docs/limits.md), not `[it](docs/limits.md)`.",
            "See [it](docs/limits.md), not `[it](docs/limits.md)`.",
        ),
        ("See [it][1].\n\n[1]: docs/limits.md", "See [it][1].\n\n[1]: docs/limits.md"),
    ],
)
def test_a_link_leads_to_the_one_file_it_can_mean(written: str, expected: str, tmp_path: Path) -> None:
    assert linked(tmp_path, f"{written}\n") == expected


def test_a_link_that_may_be_the_users_is_mended_on_request_only(tmp_path: Path) -> None:
    written, expected = "See [it](../README.md).", "See [it](docs/README.md)."
    assert linked(tmp_path / "a", f"{written}\n") == written
    assert linked(tmp_path / "b", f"{written}\n", unsafe=True) == expected


def test_a_fence_is_closed_above_a_heading_on_request_only(tmp_path: Path) -> None:
    files = {"references/limits.md": "# Limits\n\nThree.\n"}
    directory = write_bytes(tmp_path / "skills", "merge-sheets", FENCE.encode(), files=files)
    left = mend(directory, ["UNCLOSED_FENCE"])
    assert [(change.rules, "unsafe" in (change.skipped or "")) for change in left.planned] == [
        (("UNCLOSED_FENCE",), True)
    ]
    assert (directory / "SKILL.md").read_text(encoding="utf-8") == FENCE
    done = mend(directory, ["UNCLOSED_FENCE"], unsafe=True)
    assert [change.unsafe for change in done.planned] == [("UNCLOSED_FENCE",)]
    assert (directory / "SKILL.md").read_text(encoding="utf-8") == FENCE.replace("b.csv\n", "b.csv\n```\n")
    assert diff(done.planned).partition("@@\n")[2].splitlines()[:4] == [
        *(" ", " ```sh", " merge a.csv b.csv", "+```"),
    ]
    assert mend(directory, ["UNCLOSED_FENCE"], unsafe=True).planned == ()


@pytest.mark.parametrize("old", ["## Next steps\n", "```sh\n"], ids=["no heading in it", "a comment, not a heading"])
def test_a_fence_without_a_likely_end_stays_open(old: str, tmp_path: Path) -> None:
    text = FENCE.replace(old, {"## Next steps\n": "# next\n", "```sh\n": "````markdown\n"}[old])
    directory = write_bytes(tmp_path / "skills", "merge-sheets", text.encode())
    assert mend(directory, ["UNCLOSED_FENCE"], unsafe=True).planned == ()
