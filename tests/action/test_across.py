"""What a pull request does to findings across skills: neither words nor the skill they stand at make one new."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.action.pull_request import PullRequest
from tests.skills import filler

if TYPE_CHECKING:
    from pathlib import Path

_READ = "Reads models of orders. Use when implementing CQRS, separating queries, or optimizing queries of orders."
_ALIKE = "Separates read models of orders. Use when implementing CQRS or optimizing queries of orders in models."


def _skill(path: str, description: str, *, start: int) -> dict[str, str]:
    name = path.rpartition("/")[2]
    text = f"---\nname: {name}\ndescription: {description}\n---\n# Do it\n\n{filler(20, start=start)}"
    return {f"{path}/SKILL.md": text}


def _pair() -> dict[str, str]:
    return _skill("skills/cqrs", _READ, start=1) | _skill("skills/projection", _ALIKE, start=100)


def _told(repository: PullRequest, **inputs: str) -> tuple[list[str], set[str], str]:
    """Return the rules across skills that came or went, those of the skills' own lists, and the summary."""
    ran = repository.run(fail_on="never", **inputs)
    assert ran.code == 0
    diff = ran.document("diff.json")
    across = [item["id"] for side in ("new", "fixed") for item in diff["across"][side]]
    own = {item["id"] for one in diff["skills"] for side in ("new", "fixed") for item in one[side]}
    return across, own, ran.summary


def test_an_unrelated_skill_brings_no_finding_of_others(tmp_path: Path) -> None:
    repository = PullRequest(folder=tmp_path / "work")
    repository.base(_pair())
    told = "Teaches how to paint models. Use when a pupil wants to paint models, orders or queries by hand."
    repository.change(_skill("skills/paint", told, start=300))
    across, own, summary = _told(repository)
    assert (across, "INDISTINCT" in own, "INDISTINCT" in summary) == ([], False, False)


def test_a_moved_skill_of_a_pair_brings_none_though_the_other_is_not_touched(tmp_path: Path) -> None:
    repository = PullRequest(folder=tmp_path / "work")
    repository.base(_pair())
    text = _pair()["skills/projection/SKILL.md"]
    # From the end of the list to its beginning: the finding is reported at the other of the two now.
    repository.change({"skills/projection": None, "archive/skills/projection/SKILL.md": text})
    for changed_only in ("true", "false"):
        across, own, summary = _told(repository, changed_only=changed_only)
        assert (across, "INDISTINCT" in own, "Gone across skills" in summary) == ([], False, False)


def test_a_pair_that_the_change_makes_is_new_once(tmp_path: Path) -> None:
    repository = PullRequest(folder=tmp_path / "work")
    repository.base(_skill("skills/cqrs", _READ, start=1))
    repository.change(_skill("skills/projection", _ALIKE, start=100))
    across, own, summary = _told(repository)
    assert (across, "INDISTINCT" in own) == (["INDISTINCT"], True)
    assert ("**Catalogue**" in summary, len(re.findall(r"\*\*warning\*\* \[?\*\*INDISTINCT\*\*", summary))) == (
        False,
        1,
    )
