"""A baseline: which skill of it is which of now, and that one which matches nothing does not pass."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Done, commit, git, run
from tests.skills import BODY, RICH_FILES, filler, rich_body, write_skill

if TYPE_CHECKING:
    from pathlib import Path

_GATE = ("--fail-on", "regression")
_TOLD = "Arranges photographs by day. Use when a camera's card is full, or when sorting pictures."


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with two skills, committed, whose report is base.json."""
    write_skill(tmp_path / "skills", "tidy", body=rich_body(), files=RICH_FILES)
    write_skill(tmp_path / "skills", "sort", description=_TOLD, body=filler(20))
    commit(tmp_path)
    assert run(tmp_path, "score", "skills", "--output-file", "base.json").code == 0
    return tmp_path


def gut(skill: Path, name: str = "") -> None:
    (skill / "SKILL.md").write_text(f"---\nname: {name or skill.name}\ndescription: Things.\n---\nDo.\n", "utf-8")


def reasons(done: Done) -> dict[str, str]:
    """Return by shown path what the regression gate said."""
    results = done.json.get("results", [done.json])
    return {
        one["skill"]["path"]: next(item["reason"] for item in one["gate"]["outcomes"] if item["gate"] == "regression")
        for one in results
    }


def kept(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


class TestAReport:
    @pytest.mark.parametrize(
        ("below", "paths"),
        [
            (".", ["skills"]),
            (".", ["skills/tidy"]),
            (".", ["."]),
            (".", ["{top}/skills"]),
            ("skills", ["."]),
            ("skills", ["tidy"]),
            ("skills/sort", ["../tidy"]),
            ("elsewhere", ["../skills/tidy"]),
            ("elsewhere", ["../skills"]),
            (".", ["mirror"]),
            (".", ["mirror/tidy"]),
        ],
    )
    def test_knows_a_skill_however_its_path_is_spelled_now(
        self, repository: Path, below: str, paths: list[str]
    ) -> None:
        (repository / "elsewhere").mkdir()
        (repository / "mirror").symlink_to("skills", target_is_directory=True)
        gut(repository / "skills/tidy")
        given = [path.format(top=repository) for path in paths]
        done = run(repository / below, "score", *given, "--baseline", str(repository / "base.json"), *_GATE, "--json")
        assert done.code == 1, done.err
        assert any("it lost its badge" in reason for reason in reasons(done).values())

    @pytest.mark.parametrize(
        ("below", "path"),
        [("skills", "."), ("skills", "tidy"), ("skills/sort", "../tidy"), (".", "{top}/skills/tidy"), (".", "mirror")],
    )
    def test_knows_a_skill_however_its_path_was_spelled_then(self, repository: Path, below: str, path: str) -> None:
        (repository / "mirror").symlink_to("skills", target_is_directory=True)
        then = str(repository / "then.json")
        (repository / "then.json").write_text(
            run(repository / below, "score", path.format(top=repository), "--json").out, "utf-8"
        )
        gut(repository / "skills/tidy")
        for cwd, now in ((".", "skills"), ("skills", "tidy"), ("skills/sort", "../tidy")):
            done = run(repository / cwd, "score", now, "--baseline", then, *_GATE, "--json")
            assert done.code == 1, (cwd, now, done.err)

    def test_of_another_clone_knows_the_same_skills(self, repository: Path, tmp_path_factory: Any) -> None:
        other = tmp_path_factory.mktemp("clone")
        git(other, "clone", "-q", str(repository), "here")
        gut(other / "here/skills/tidy")
        base = str(repository / "base.json")
        for cwd, path in ((other / "here/skills", "tidy"), (other, "here/skills"), (other, "here")):
            assert run(cwd, "score", path, "--baseline", base, *_GATE).code == 1

    def test_outside_of_a_repository_knows_a_skill_by_where_its_path_leads(self, tmp_path: Path) -> None:
        write_skill(tmp_path / "x/skills", "tidy", body=rich_body(), files=RICH_FILES)
        write_skill(tmp_path / "x/skills", "sort", description=_TOLD)
        assert run(tmp_path / "x", "score", "skills", "--output-file", "base.json").code == 0
        gut(tmp_path / "x/skills/tidy")
        for cwd, path in (
            ("x", "skills"),
            ("x", str(tmp_path / "x/skills")),
            ("x", "../x/skills/tidy"),
            ("x/skills", "."),
        ):
            done = run(tmp_path / cwd, "score", path, "--baseline", str(tmp_path / "x/base.json"), *_GATE)
            assert done.code == 1, (cwd, path, done.err)

    def test_of_one_skill_knows_it(self, repository: Path) -> None:
        (repository / "one.json").write_text(run(repository, "score", "skills/tidy", "--json").out, "utf-8")
        gut(repository / "skills/tidy")
        done = run(repository / "skills", "score", ".", "--baseline", "../one.json", *_GATE, "--json")
        assert done.code == 1
        assert reasons(done)["sort"] == "no baseline: the skill is new"
        assert done.err == "new (not in the baseline ../one.json): sort\n"

    def test_knows_a_moved_skill_by_its_name(self, repository: Path) -> None:
        (repository / "kept").mkdir()
        (repository / "skills/tidy").rename(repository / "kept/tidy")
        gut(repository / "kept/tidy")
        assert run(repository, "score", ".", "--baseline", "base.json", *_GATE).code == 1

    def test_knows_a_renamed_skill_by_the_name_in_its_frontmatter(self, repository: Path) -> None:
        (repository / "skills/tidy").rename(repository / "skills/neat")
        gut(repository / "skills/neat", name="tidy")
        done = run(repository, "score", "skills", "--baseline", "base.json", *_GATE)
        assert (done.code, done.err) == (1, "")

    def test_knows_moved_skills_of_one_name_by_their_content(self, tmp_path: Path) -> None:
        for place, body in (("p", rich_body()), ("q", BODY)):
            write_skill(tmp_path / place, "tidy", body=body, files=RICH_FILES)
        commit(tmp_path)
        before = run(tmp_path, "score", ".", "--json", "--output-file", "base.json").json
        for place in ("p", "q"):
            (tmp_path / place).rename(tmp_path / f"moved-{place}")
        done = run(tmp_path, "score", ".", "--baseline", "base.json", *_GATE, "--json")
        assert (done.code, done.err) == (0, "")
        assert all("no baseline" not in reason for reason in reasons(done).values())
        scores = {one["skill"]["path"]: one["composite"]["score"] for one in before["results"]}
        for path, reason in reasons(done).items():
            assert f"{scores[path.removeprefix('moved-')]:.2f}" in reason

    def test_names_skills_without_a_counterpart_on_stderr(self, repository: Path) -> None:
        (repository / "skills/sort/SKILL.md").unlink()
        write_skill(repository / "skills", "newcomer", description="Draws maps. Use when a map is wanted.")
        done = run(repository, "score", "skills", "--baseline", "base.json", *_GATE)
        assert done.code == 0
        assert done.err.splitlines() == [
            "in the baseline but not here: skills/sort",
            "new (not in the baseline base.json): skills/newcomer",
        ]

    def test_with_nothing_asked_about_in_it_names_the_new_skills_and_passes(self, repository: Path) -> None:
        write_skill(repository / "more", "newcomer", description="Draws maps. Use when a map is wanted.")
        done = run(repository, "score", "more", "--baseline", "base.json", *_GATE)
        assert done.code == 0  # its skills are in this repository, by path
        assert done.err == "new (not in the baseline base.json): more/newcomer\n"

    def test_whose_skills_are_elsewhere_in_this_repository_passes(self, repository: Path) -> None:
        (repository / "kept").mkdir()
        (repository / "skills/tidy").rename(repository / "kept/tidy")
        (repository / "skills/sort").rename(repository / "kept/sort")
        write_skill(repository / "more", "newcomer", description="Draws maps. Use when a map is wanted.")
        assert run(repository, "score", "more", "--baseline", "base.json", *_GATE).code == 0

    @pytest.mark.parametrize("command", ["score", "check"])
    def test_none_of_whose_skills_is_in_this_repository_is_refused(
        self, repository: Path, tmp_path_factory: Any, command: str
    ) -> None:
        other = tmp_path_factory.mktemp("other")
        write_skill(other / "skills", "maps", description="Draws maps. Use when a map is wanted.")
        commit(other)
        done = run(other, command, "skills", "--baseline", str(repository / "base.json"), *_GATE)
        assert done.code == 2
        assert "none of the 2 skills of the baseline" in done.err
        assert "is in this repository (by path, name or content)" in done.err

    def test_without_a_skill_is_refused(self, repository: Path) -> None:
        (repository / "empty").mkdir()
        run(repository, "score", "empty", "--allow-empty", "--output-file", "none.json")
        done = run(repository, "score", "skills", "--baseline", "none.json", *_GATE)
        assert done.code == 2
        assert "the baseline none.json has no skills" in done.err

    @pytest.mark.parametrize(
        "place",
        [
            "../../etc",
            "/etc",
            "..",
            "",
            "skills/../../x",
            "skills\x00tidy",
            "C:\\skills\\tidy",
            "skills\\tidy",
            "\x1b[31m",
        ],
    )
    def test_with_a_hostile_path_is_matched_by_name_alone(self, repository: Path, place: str) -> None:
        document = kept(repository / "base.json")
        for result in document["results"]:
            result["skill"]["repository_path"] = result["skill"]["path"] = f"{place}{result['skill']['name']}"
            result["skill"]["digest"] = None
        (repository / "odd.json").write_text(json.dumps(document), encoding="utf-8")
        gut(repository / "skills/tidy")
        done = run(repository, "score", "skills", "--baseline", "odd.json", *_GATE)
        assert done.code == 1, done.err
        assert "\x1b" not in done.err

    def test_with_two_skills_at_one_path_is_refused(self, repository: Path) -> None:
        document = kept(repository / "base.json")
        document["results"] += document["results"][:1]
        (repository / "twice.json").write_text(json.dumps(document), encoding="utf-8")
        done = run(repository, "score", "skills", "--baseline", "twice.json")
        assert (done.code, "two skills have the same path" in done.err) == (2, True)

    def test_with_two_skills_at_one_place_in_a_repository_lets_neither_stand_for_the_other(
        self, repository: Path
    ) -> None:
        document = kept(repository / "base.json")
        for result in document["results"]:
            result["skill"]["repository_path"] = "skills/tidy"
        (repository / "odd.json").write_text(json.dumps(document), encoding="utf-8")
        gut(repository / "skills/tidy")
        done = run(repository, "score", "skills", "--baseline", "odd.json", *_GATE, "--json")
        assert done.code == 1
        assert "it lost its badge" in reasons(done)["skills/tidy"]
        assert "new (not in the baseline odd.json): skills/sort" in done.err

    def test_of_several_repositories_keeps_them_apart(self, tmp_path: Path) -> None:
        for name, body in (("one", rich_body()), ("two", BODY)):
            write_skill(tmp_path / name / "skills", "tidy", body=body, files=RICH_FILES)
            commit(tmp_path / name)
        before = run(tmp_path, "score", "one", "two", "--json", "--output-file", "base.json").json
        done = run(tmp_path, "score", "one", "two", "--baseline", "base.json", *_GATE, "--json")
        assert (done.code, done.err) == (0, "")
        for result in before["results"]:
            assert f"{result['composite']['score']:.2f}" in reasons(done)[result["skill"]["path"]]

    def test_says_where_each_skill_lies_in_its_repository(self, repository: Path) -> None:
        document = run(repository / "skills/sort", "score", "../tidy", "..", "--json").json
        assert [(one["skill"]["path"], one["skill"]["repository_path"]) for one in document["results"]] == [
            (".", "skills/sort"),
            ("../tidy", "skills/tidy"),
        ]


class TestARevision:
    def test_does_not_have_a_skill_that_is_new(self, repository: Path) -> None:
        write_skill(repository / "skills", "newcomer", description="Draws maps. Use when a map is wanted.")
        done = run(repository, "score", "skills", "--baseline", "HEAD", *_GATE, "--json")
        assert done.code == 0
        assert reasons(done)["skills/newcomer"] == "no baseline: the skill is new"
        assert done.err == "new (not in the baseline HEAD): skills/newcomer\n"
        alone = run(repository, "score", "skills/newcomer", "--baseline", "HEAD", *_GATE)
        assert (alone.code, alone.err) == (0, "new (not in the baseline HEAD): skills/newcomer\n")

    @pytest.mark.parametrize("revision", ["HEAD", "HEAD~1", "main"])
    def test_in_a_repository_without_a_commit_is_no_baseline(self, tmp_path: Path, revision: str) -> None:
        write_skill(tmp_path / "skills", "tidy")
        git(tmp_path, "init", "-q", "-b", "main")
        for command in ("score", "check"):
            done = run(tmp_path, command, "skills", "--baseline", revision, *_GATE)
            assert done.code == 0
            assert done.err == f"no baseline: this repository has no commit yet, so {revision} does not exist\n"

    def test_misspelt_on_a_branch_without_a_commit_is_refused_where_other_branches_have_some(
        self, repository: Path
    ) -> None:
        git(repository, "checkout", "-q", "--orphan", "fresh")
        done = run(repository, "score", "skills", "--baseline", "mian", *_GATE)
        assert (done.code, "mian is not a commit" in done.err) == (2, True)
        none = run(repository, "score", "skills", "--baseline", "HEAD", *_GATE)
        assert (none.code, none.err) == (
            0,
            "no baseline: this repository has no commit yet, so HEAD does not exist\n",
        )

    def test_that_does_not_exist_is_refused_where_there_is_a_commit(self, repository: Path) -> None:
        done = run(repository, "score", "skills", "--baseline", "nope", *_GATE)
        assert (done.code, "nope" in done.err) == (2, True)

    def test_in_no_repository_is_refused(self, tmp_path: Path) -> None:
        write_skill(tmp_path / "skills", "tidy")
        assert run(tmp_path, "score", "skills", "--baseline", "HEAD", *_GATE).code == 2

    def test_whose_head_cannot_be_read_is_no_empty_repository(self, repository: Path) -> None:
        (repository / ".git/HEAD").write_text("nonsense\n", encoding="utf-8")
        assert run(repository, "score", "skills", "--baseline", "HEAD", *_GATE).code in (2, 3)

    def test_knows_moved_skills_of_one_name_by_their_content(self, tmp_path: Path) -> None:
        for place, body in (("p", rich_body()), ("q", BODY)):
            write_skill(tmp_path / place, "tidy", body=body, files=RICH_FILES)
        commit(tmp_path)
        for place in ("p", "q"):
            (tmp_path / place).rename(tmp_path / f"moved-{place}")
        done = run(tmp_path, "score", ".", "--baseline", "HEAD", *_GATE, "--json")
        assert (done.code, done.err) == (0, "")
        assert all("no baseline" not in reason for reason in reasons(done).values())
