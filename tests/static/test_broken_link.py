"""How certain a broken link is, and what only a file system can show of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from skillgate.model.finding import Severity
from skillgate.static.rules.broken_link import RULE
from tests.skills import write_skill
from tests.static.cases import parsed

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.finding import Hit

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def hits(directory: Path) -> list[Hit]:
    """Give what the rule finds in a skill."""
    return list(RULE.find(parsed(directory)))


@pytest.mark.parametrize(
    ("file", "target", "severity"),
    [
        ("references/guide.md", "gone.md", ERROR),
        ("references/guide.md", "../references/gone", ERROR),
        ("references/guide.md", "../../two/SKILL.md", ERROR),
        ("references/guide.md", "../../notes.md", WARNING),
        ("examples/report.md", "charts/load.png", INFO),
    ],
)
def test_an_error_is_what_is_broken_for_certain(file: str, target: str, severity: Severity, tmp_path: Path) -> None:
    files = {file: f"See [the page]({target}).\n", "references/one.md": "x"}
    (found,) = hits(write_skill(tmp_path / "skills", "one", files=files))
    assert found.severity is severity


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("See [the plan](plan.md).", ERROR),
        ("See [the plan](rules/plan.md).", ERROR),
        ("See [rules/names.md](rules/names.md).", WARNING),
        ("Write the report to [report.md](report.md).", WARNING),
        ("See [`src/index.ts`](src/index.ts).", WARNING),
        ("See [references/gone.md](references/gone.md).", ERROR),
        ("See [`../two/SKILL.md`](../two/SKILL.md).", ERROR),
        ("See [the old rules](rules/old/).", ERROR),
        ("See [the pages](docs/).", WARNING),
        ("See [the tools](../../tools/).", WARNING),
        ("See [the entry](src/index.ts).", WARNING),
        ("Update [the scripts](package.json) there.", WARNING),
        ("Update [the notes](rules/CLAUDE.md) there.", WARNING),
        ("See [naming.md](naming.md).", ERROR),
        ("See [the rules](docs/naming.md).", ERROR),
    ],
)
def test_what_may_be_a_file_of_the_project_is_a_warning(text: str, severity: Severity, tmp_path: Path) -> None:
    files = {"rules/naming.md": "Short ones.", "guide.md": f"{text}\n"}
    (found,) = hits(write_skill(tmp_path / "skills", "one", files=files))
    assert found.severity is severity


def test_the_fix_names_the_file_that_was_meant(tmp_path: Path) -> None:
    files = {"a.md": "See [b](b.md) and [c](c.md).\n", "references/b.md": "x"}
    first, second = hits(write_skill(tmp_path / "skills", "one", files=files))
    assert (first.fix, second.fix) == ("link to references/b.md", None)


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_a_symbolic_link_that_leads_nowhere_is_told_from_no_file(tmp_path: Path) -> None:
    directory = write_skill(tmp_path / "skills", "one", files={"a.md": "See [b](b.md).\n"})
    (directory / "b.md").symlink_to(tmp_path / "elsewhere.md")
    (found,) = hits(directory)
    assert found.severity is WARNING
    assert "symbolic link" in found.message
