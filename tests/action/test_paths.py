"""What a change's configuration leaves out by path has no effect on its own gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.action.pull_request import DEAD_LINK, PullRequest, skill

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    'per-file-ignores: {"**": [all, ORPHAN_REFERENCE, BROKEN_LINK]}\n',
    "exclude: [skills]\n",
    'exclude: ["**"]\nper-file-ignores: {"SKILL.md": [all]}\n',
)


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("text", HOSTILE)
def test_a_change_does_not_leave_itself_out(tmp_path: Path, text: str, *, merge: bool) -> None:
    made = PullRequest(folder=tmp_path / "work")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": "fail-on: [error]\n"})
    made.change({**skill("merge-sheets", body=DEAD_LINK), ".skillgate.yaml": text}, merge=merge)
    ran = made.run()
    assert ran.code == 1, ran.err
    assert any("ORPHAN_REFERENCE" in one["id"] for one in ran.document("report.json")["results"][0]["findings"])
    keys = [line.partition(":")[0] for line in text.splitlines()]
    assert all(any(one.startswith(key) for one in ran.run["policy_changes"]) for key in keys)


def test_the_list_of_a_glob_that_a_change_makes_longer_is_reported(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    before = "per-file-ignores: {'*.md': [MISSING_TOC]}\nexclude: [old]\n"
    made.base({**skill("merge-sheets"), ".skillgate.yaml": before})
    after = "per-file-ignores: {'*.md': [MISSING_TOC, links], SKILL.md: [all]}\nexclude: [old, skills]\n"
    made.change({".skillgate.yaml": after})
    changes = made.run().run["policy_changes"]
    assert changes == [
        "exclude: added skills",
        "per-file-ignores: added *.md: MISSING_TOC links, SKILL.md: all; removed *.md: MISSING_TOC",
    ]


def test_what_the_base_leaves_out_is_not_gated(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": "exclude: [generated]\n"})
    made.change({f"generated/{path}": text for path, text in skill("own", body=DEAD_LINK).items()})
    ran = made.run()
    assert ran.code == 0, ran.err
    assert ran.run["touched"] == 0


def test_a_skill_that_moves_to_another_directory_takes_no_suppression_with_it(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    base = {**skill("merge-sheets"), ".skillgate.yaml": 'per-file-ignores: {"legacy/**": [ORPHAN_REFERENCE]}\n'}
    made.base(base)
    moved = {f"legacy/{path.removeprefix('skills/')}": text for path, text in skill("merge-sheets").items()}
    main = "legacy/merge-sheets/SKILL.md"
    made.change({"skills/merge-sheets": None, **moved, main: moved[main] + DEAD_LINK})
    ran = made.run()
    assert ran.code == 1, ran.err
