"""Rules whose severity depends on what they found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.model.finding import Severity
from skillgate.static import layer
from tests.skills import DESCRIPTION, NAME, write_skill
from tests.static.cases import parsed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("more", "line", "severity"),
    [
        ("", "The year ends at $2.5M.", Severity.INFO),
        ("", "It costs $5/month, or $0.04 a page.", Severity.INFO),
        ("", "Take `awk '{print $1}'`.", Severity.WARNING),
        ("", "For $2.5M take `awk '{print $1}'`.", Severity.WARNING),
        ("\narguments: [form]", "The year ends at $2.5M.", Severity.WARNING),
        ("", "Fill $ARGUMENTS for $2.5M.", Severity.WARNING),
    ],
)
def test_a_sum_of_money_is_an_info_where_nobody_passes_arguments(
    more: str, line: str, severity: Severity, tmp_path: Path
) -> None:
    skill = write_skill(tmp_path, frontmatter=f"name: {NAME}\ndescription: {DESCRIPTION}{more}", body=f"{line}\n")
    claims = [claim for claim in layer.run(parsed(skill)).claims if claim.id == "SUBSTITUTION_HAZARD"]
    assert [claim.severity for claim in claims] == [severity]


@pytest.mark.parametrize(("directory", "fix"), [("merge-sheets", "name it merge-sheets"), ("Merge_S", "use 1 to 64")])
def test_one_name_is_one_finding(directory: str, fix: str, tmp_path: Path) -> None:
    skill = write_skill(tmp_path, directory, frontmatter=f"name: Merge Sheets\ndescription: {DESCRIPTION}")
    claims = [claim for claim in layer.run(parsed(skill)).claims if claim.id.startswith("NAME_")]
    assert [claim.id for claim in claims] == ["NAME_INVALID"]
    assert claims[0].fix.startswith(fix)


@pytest.mark.parametrize(("files", "severity"), [({}, Severity.WARNING), ({"shared/a.md": "All.\n"}, Severity.INFO)])
def test_a_long_skill_with_other_documents_is_an_info(
    files: dict[str, str], severity: Severity, tmp_path: Path
) -> None:
    skill = write_skill(tmp_path, body="".join(f"Line {n} of it.\n" for n in range(900)), files=files)
    claims = [claim for claim in layer.run(parsed(skill)).claims if claim.id == "BLOATED_SKILL"]
    assert [claim.severity for claim in claims] == [severity]
