"""Which skill of one report is which of another."""

from __future__ import annotations

import pytest

from skillgate.model.report import Composite, SkillName, SkillResult
from skillgate.scoring.pairing import paired


def skills(*paths: str, **named: str) -> list[SkillResult]:
    """Give results by path, named after their directories or as told (``__`` for ``/``)."""
    names = {path: path.rpartition("/")[2] for path in paths} | {
        path.replace("__", "/"): name for path, name in named.items()
    }
    return [
        SkillResult(Composite(score=1.0, badge=None), dimensions={}, layers=(), skill=SkillName(name, path))
        for path, name in names.items()
    ]


def found(before: list[SkillResult], after: list[SkillResult]) -> set[tuple[str, str]]:
    return {
        (then.skill.path if then else "", now.skill.path if now else "") for then, now in paired(before, after).pairs
    }


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        (skills("s/a", "s/b"), skills("s/b", "s/c"), {("s/b", "s/b"), ("s/a", ""), ("", "s/c")}),
        # Moved, with one that stays to show that paths are alike.
        (skills("s/x", "s/a"), skills("s/x", "t/a"), {("s/x", "s/x"), ("s/a", "t/a")}),
        # The directory has another name, the skill has not.
        (skills("x", s__a="tidy"), skills("x", s__b="tidy"), {("x", "x"), ("s/a", "s/b")}),
        # The skill has another name, the directory has not, but is elsewhere.
        (skills("x", s__a="tidy"), skills("x", t__a="neat"), {("x", "x"), ("s/a", "t/a")}),
        # Both have another.
        (skills("x", s__a="tidy"), skills("x", s__b="neat"), {("x", "x"), ("s/a", ""), ("", "s/b")}),
        # Two of a name on either side: nobody can tell.
        (skills("x", "p/a", "q/a"), skills("x", "r/a"), {("x", "x"), ("p/a", ""), ("q/a", ""), ("", "r/a")}),
        (skills("x", "p/a"), skills("x", "q/a", "r/a"), {("x", "x"), ("p/a", ""), ("", "q/a"), ("", "r/a")}),
        # A skill's own name is surer than that of its directory.
        (
            skills("x", p__a="tidy", p__tidy="old"),
            skills("x", q__new="tidy"),
            {("x", "x"), ("p/a", "q/new"), ("p/tidy", "")},
        ),
        ([], skills("a"), {("", "a")}),
        (skills("a"), [], {("a", "")}),
        ([], [], set()),
    ],
)
def test_by_path_then_by_the_only_one_of_a_name(
    before: list[SkillResult], after: list[SkillResult], pairs: set[tuple[str, str]]
) -> None:
    assert found(before, after) == pairs


@pytest.mark.parametrize(
    ("one", "other", "start"),
    [
        ("", "skills/", ("", "skills")),
        ("before/skills/", "after/skills/", ("before", "after")),
        ("/tmp/x/", "y/", ("/tmp/x", "y")),
    ],
)
def test_reports_of_one_place_that_is_named_differently(one: str, other: str, start: tuple[str, str]) -> None:
    before, after = skills(f"{one}a", f"{one}b/c", f"{one}gone"), skills(f"{other}a", f"{other}b/c", f"{other}new")
    pairs = paired(before, after)
    assert pairs.start == start
    assert found(before, after) == {
        (f"{one}a", f"{other}a"),
        (f"{one}b/c", f"{other}b/c"),
        (f"{one}gone", ""),
        ("", f"{other}new"),
    }
    assert pairs.rebased[f"{one}gone"] == f"{other}gone"


def test_one_place_on_both_sides_is_not_named_differently() -> None:
    pairs = paired(skills("s/a", "s/b", "s/c"), skills("s/a", "t/b", "t/c"))
    assert (pairs.start, dict(pairs.rebased)) == (None, {})


def test_a_renamed_directory_is_no_other_beginning() -> None:
    pairs = paired(skills(s__old="tidy"), skills(s__new="tidy"))
    assert pairs.start is None
    assert [(then and then.skill.path, now and now.skill.path) for then, now in pairs.pairs] == [("s/old", "s/new")]
