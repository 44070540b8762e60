"""Configuration is found, checked as a whole, and layered: default, user, project, path, option."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate import settings
from skillgate.config import Config, config_digest, load, matches
from skillgate.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


class Place:
    """A repository with a home directory beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root / "repo"
        self.home = root / "home"
        (self.root / ".git").mkdir(parents=True)
        self.home.mkdir()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_user(self, text: str) -> None:
        path = self.home / ".config" / "skillgate" / "config.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def load(self, *, below: str = "", explicit: str | None = None, **environ: str) -> Config:
        cwd = self.root / below
        cwd.mkdir(parents=True, exist_ok=True)
        environ = {"HOME": str(self.home), "APPDATA": str(self.home / ".config"), **environ}
        return load(explicit=explicit, cwd=str(cwd), environ=environ)

    def refused(self, text: str) -> list[str]:
        self.write(".skillgate.yaml", text)
        with pytest.raises(UsageError) as caught:
            self.load()
        return str(caught.value).split("\n")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_a_file_every_value_is_the_default(place: Place) -> None:
    config = place.load()
    assert config.get(settings.MAX_DROP) == 2.0
    assert config.get(settings.THRESHOLD) is None
    assert config.origin(settings.THRESHOLD) == "default"


def test_a_file_that_holds_comments_alone_sets_nothing(place: Place) -> None:
    place.write(".skillgate.yaml", "# threshold: 80\n\n   # more\n")
    assert place.load().get(settings.THRESHOLD) is None


def test_the_project_goes_over_the_user_and_options_over_both(place: Place) -> None:
    place.write_user("threshold: 10\nmin-badge: gold\nbaseline: main\n")
    place.write(".skillgate.yaml", "# ours\nthreshold: 20\nmin-badge: silver\n")
    config = place.load().with_options({"threshold": 30})
    assert [config.get(settings.THRESHOLD), config.get(settings.MIN_BADGE), config.get(settings.BASELINE)] == [
        30.0,
        "silver",
        "main",
    ]
    assert config.origin(settings.THRESHOLD) == "option"
    assert config.origin(settings.MIN_BADGE) == ".skillgate.yaml:3"
    assert config.origin(settings.BASELINE).replace("\\", "/") == "~/.config/skillgate/config.yaml:3"


def test_xdg_config_home_is_used_when_absolute(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "xdg" / "skillgate" / "config.yaml"
    other.parent.mkdir(parents=True)
    other.write_text("threshold: 40\n")
    place.write_user("threshold: 10\n")
    found = place.load(XDG_CONFIG_HOME=str(tmp_path / "xdg"), APPDATA=str(tmp_path / "xdg"))
    assert found.get(settings.THRESHOLD) == 40.0
    assert place.load(XDG_CONFIG_HOME="xdg").get(settings.THRESHOLD) == 10.0


def test_the_search_goes_up_to_the_repository_and_no_further(place: Place) -> None:
    (place.root.parent / ".skillgate.yaml").write_text("threshold: 1\n")
    assert place.load(below="a/b").get(settings.THRESHOLD) is None
    place.write(".skillgate.yaml", "threshold: 2\n")
    config = place.load(below="a/b")
    assert config.get(settings.THRESHOLD) == 2.0
    assert config.origin(settings.THRESHOLD).replace("\\", "/") == "../../.skillgate.yaml:1"
    place.write("a/.skillgate.yaml", "min-badge: gold\n")
    assert place.load(below="a/b").get(settings.THRESHOLD) is None  # the first found is the only one


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a right there")
def test_a_skill_reached_through_a_link_gets_the_override_of_its_real_place(place: Place) -> None:
    place.write("vendor/a/SKILL.md", "")
    (place.root / "skills").mkdir()
    (place.root / "skills" / "a").symlink_to("../vendor/a")
    (place.root.parent / "link").symlink_to(place.root)
    strict = "overrides:\n  - paths: [vendor/**]\n    threshold: 90\n  - paths: [skills/**]\n    threshold: 1\n"
    place.write(".skillgate.yaml", strict)
    config = place.load()
    for shown in ("vendor/a", "skills/a", "skills/../skills/a", "../link/skills/a", str(place.root / "skills" / "a")):
        assert config.get(settings.THRESHOLD, PurePosixPath(shown)) == 90.0
    assert config.get(settings.THRESHOLD, PurePosixPath("skills/b")) == 1.0  # need not be there: a commit's path, say
    through = load(explicit=None, cwd=str(place.root.parent / "link"), environ={"HOME": str(place.home)})
    assert through.get(settings.THRESHOLD, PurePosixPath("skills/a")) == 90.0


def test_without_a_repository_the_search_ends_at_home(tmp_path: Path) -> None:
    (tmp_path / "home" / "work").mkdir(parents=True)
    (tmp_path / ".skillgate.yaml").write_text("threshold: 1\n")
    environ = {"HOME": str(tmp_path / "home")}
    cwd = str(tmp_path / "home" / "work")
    assert load(explicit=None, cwd=cwd, environ=environ).get(settings.THRESHOLD) is None
    (tmp_path / "home" / ".skillgate.yaml").write_text("threshold: 2\n")
    assert load(explicit=None, cwd=cwd, environ=environ).get(settings.THRESHOLD) == 2.0


def test_pyproject_is_read_where_it_has_the_table(place: Place) -> None:
    table = '[tool.skillgate]\nthreshold = 60\nfail-on = ["error"]\n[[tool.skillgate.overrides]]\npaths = ["old/**"]\n'
    place.write("pyproject.toml", table + "threshold = 5\n")
    place.write("sub/pyproject.toml", "[project]\nname = 'x' # tool.skillgate\n")
    config = place.load(below="sub")
    assert config.get(settings.THRESHOLD) == 60.0
    assert config.get(settings.FAIL_ON) == ("error",)
    assert config.origin(settings.THRESHOLD).replace("\\", "/") == "../pyproject.toml"
    assert config.get(settings.THRESHOLD, PurePosixPath("../old/skill")) == 5.0


def test_beside_a_yaml_file_the_pyproject_table_is_named_and_not_read(place: Place) -> None:
    place.write("pyproject.toml", "[tool.skillgate]\nthreshold = 60\n")
    place.write(".skillgate.yaml", "min-badge: gold\n")
    config = place.load()
    assert config.get(settings.THRESHOLD) is None
    assert len(config.notices) == 1
    assert "pyproject.toml: [tool.skillgate] is ignored" in config.notices[0]


def test_an_explicit_file_takes_the_projects_place(place: Place) -> None:
    place.write_user("baseline: main\n")
    place.write(".skillgate.yaml", "threshold: 20\n")
    place.write("ci/strict.yaml", "min-badge: gold\n")
    config = place.load(explicit="ci/strict.yaml")
    assert [config.get(settings.THRESHOLD), config.get(settings.MIN_BADGE), config.get(settings.BASELINE)] == [
        None,
        "gold",
        "main",
    ]
    assert config.origin(settings.MIN_BADGE) == "ci/strict.yaml:1"
    place.write("ci/strict.toml", "[tool.skillgate]\nthreshold = 9\n")
    assert place.load(explicit="ci/strict.toml").get(settings.THRESHOLD) == 9.0


def test_an_explicit_file_must_exist_and_hold_settings(place: Place) -> None:
    place.write("plain.toml", "[project]\n")
    for name, words in (
        ("nope.yaml", "configuration file nope.yaml does not exist"),
        ("plain.toml", "no .tool.skillgate"),
    ):
        with pytest.raises(UsageError, match=words):
            place.load(explicit=name)


def test_overrides_hold_for_their_paths_and_the_last_match_wins(place: Place) -> None:
    place.write(
        ".skillgate.yaml",
        "threshold: 80\noverrides:\n  - paths: legacy/**\n    threshold: 50\n"
        "  - paths: ['legacy/keep', 'x']\n    threshold: null\n    min-badge: gold\n",
    )
    config = place.load()
    assert config.get(settings.THRESHOLD) == 80.0
    assert config.get(settings.THRESHOLD, PurePosixPath("skills/a")) == 80.0
    assert config.get(settings.THRESHOLD, PurePosixPath("legacy/a/b")) == 50.0
    assert config.get(settings.THRESHOLD, PurePosixPath("legacy/keep")) is None
    assert config.get(settings.MIN_BADGE, PurePosixPath("x")) == "gold"
    assert config.origin(settings.THRESHOLD, PurePosixPath("legacy/a")) == ".skillgate.yaml:4"
    assert config.with_options({"threshold": 1}).get(settings.THRESHOLD, PurePosixPath("legacy/a")) == 1.0


def test_patterns_are_relative_to_their_file_wherever_the_command_runs(place: Place) -> None:
    place.write(".skillgate.yaml", "overrides:\n  - paths: [legacy/**]\n    threshold: 50\n")
    config = place.load(below="legacy")
    assert config.get(settings.THRESHOLD, PurePosixPath("a")) == 50.0
    assert config.get(settings.THRESHOLD, PurePosixPath(".")) == 50.0
    assert config.get(settings.THRESHOLD, PurePosixPath("../other/legacy")) is None
    assert config.get(settings.THRESHOLD, PurePosixPath(place.root.as_posix()) / "legacy" / "b") == 50.0


def test_all_problems_of_a_file_come_together_with_their_lines(place: Place) -> None:
    lines = place.refused(
        "treshold: 80\nmax-drop: -1\nmin-badge: gold\nmin-badge: tin\noverrides:\n- paths: []\n  depth: quick\n- x\n"
        "fail-on: [error, eror]\nmin-dimension: {robustnes: 0.1}\n"
    )
    assert lines[0] == ".skillgate.yaml: 9 problems"
    expected = [
        ".skillgate.yaml:4: duplicate key min-badge",
        ".skillgate.yaml:1: unknown key 'treshold' (did you mean 'threshold'?)",
        ".skillgate.yaml:2: max-drop: expected a number of at least 0, found -1",
        ".skillgate.yaml:4: min-badge: expected one of bronze, silver, gold, platinum, found 'tin'",
        ".skillgate.yaml:9: fail-on: expected a list of error, ",
        ".skillgate.yaml:10: min-dimension: expected a mapping of names to numbers (triggering_accuracy, ",
        ".skillgate.yaml:6: overrides[0].paths: expected a list of globs, found []",
        ".skillgate.yaml:7: depth applies to a whole run; it cannot differ by path",
        ".skillgate.yaml:8: overrides[1]: expected a mapping with paths and settings, found 'x'",
    ]
    for line, beginning in zip(lines[1:], expected, strict=True):
        assert line.startswith(beginning)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [\n", ".skillgate.yaml:1:1: while parsing"),
        ("- threshold: 3\n", ".skillgate.yaml:1:1: a list; a mapping of keys"),
        ("threshold: 80\n---\nx: 1\n", ".skillgate.yaml:2:1: a second document"),
        ("overrides: 3\n", ".skillgate.yaml:1: overrides: expected a list"),
        ("overrides: false\n", ".skillgate.yaml:1: overrides: expected a list"),
        ("threshold: 2024-01-01\n", ".skillgate.yaml:1: threshold: expected a number from 0 to 100, found datetime"),
        ("x: " + "[" * 50_000, ".skillgate.yaml:1:35: nested deeper"),
        ("# " + "x" * 70_000, ".skillgate.yaml: too large (maximum 64 KiB)"),
    ],
)
def test_what_is_no_configuration_is_refused_with_its_place(place: Place, text: str, message: str) -> None:
    assert place.refused(text)[0].startswith(message)


def test_a_file_that_is_not_utf8_is_refused_with_its_line(place: Place) -> None:
    (place.root / ".skillgate.yaml").write_bytes(b"threshold: 80\nbaseline: \xff\n")
    with pytest.raises(UsageError, match=r"\.skillgate\.yaml:2: not UTF-8"):
        place.load()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.skillgate\n", "pyproject.toml: invalid TOML"),
        ("[tool.skillgate]\nx = " + "[" * 5000, "pyproject.toml: invalid TOML"),
        ("tool.skillgate = 3\n", "pyproject.toml: tool.skillgate: expected a table"),
        ("[tool.skillgate]\nthreshold = 'x'\n", "pyproject.toml: threshold: expected a number"),
    ],
)
def test_a_broken_pyproject_is_refused(place: Place, text: str, message: str) -> None:
    place.write("pyproject.toml", text)
    with pytest.raises(UsageError) as caught:
        place.load()
    assert str(caught.value).startswith(message)


def test_options_are_checked_too(place: Place) -> None:
    with pytest.raises(UsageError, match="threshold: expected a number from 0 to 100, found 200"):
        place.load().with_options({"threshold": 200})


def test_the_digest_follows_the_effective_settings_alone(place: Place) -> None:
    default = config_digest(place.load())
    assert len(default) == 16
    place.write(".skillgate.yaml", "max-drop: 2\n")
    assert config_digest(place.load()) == default
    place.write(".skillgate.yaml", "\nthreshold: 80\n")
    changed = config_digest(place.load())
    assert changed != default
    assert config_digest(place.load(below="x").with_options({"threshold": 80.0})) == changed
    place.write(".skillgate.yaml", "threshold: 80\noverrides: [{paths: a, threshold: 1}]\n")
    assert config_digest(place.load()) != changed


@pytest.mark.parametrize(
    ("pattern", "path", "matched"),
    [
        ("legacy/**", "legacy/a/b", True),
        ("legacy/**", "legacy", True),
        ("legacy/**", "old/legacy/a", False),
        ("**/legacy", "legacy", True),
        ("**/legacy", "a/b/legacy", True),
        ("**/legacy/**", "a/legacy/b/c", True),
        ("*", "a", True),
        ("*", "a/b", False),
        ("a/*/c", "a/b/c", True),
        ("a/*/c", "a/c", False),
        ("a?[bc]/", "axb", True),
        ("A", "a", False),
        ("./a", "a", True),
        ("**", "", True),
        ("**", "x/y", True),
        ("a/**/b/**/c", "a/b/x/b/c", True),
        ("a/**/b/**/c", "a/x/c", False),
        ("*.old", ".old", True),
    ],
)
def test_globs(pattern: str, path: str, matched: bool) -> None:
    assert matches(pattern, path) is matched


@given(parts=st.lists(st.sampled_from(["a", "b", "c d", "é"]), min_size=1, max_size=6), cut=st.integers(0, 6))
def test_a_directory_glob_covers_everything_below_it(parts: list[str], cut: int) -> None:
    assert matches("/".join([*parts[:cut], "**"]), "/".join(parts))


def test_many_stars_cost_no_time_beyond_their_number() -> None:
    assert not matches("/".join(["**", "a"] * 200), "/".join(["a"] * 199))
