"""--changed: only skills that a change touches are reported; --files: the skills that files belong to."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from skillgate.evaluation.changed import owning_skills
from tests.cli.running import commit, git, run
from tests.skills import BODY, write_skill

GONE = "See [it](references/gone.md).\n"


def touched(cwd: Path, *words: str) -> list[str]:
    """Score what is changed, and give the paths of the skills that are asked about."""
    done = run(cwd, "score", "--json", "--changed", *words)
    assert done.code == 0, done.err
    document = done.json
    return [item["skill"]["path"] for item in document.get("results", [document])]


def edit(file: Path) -> None:
    """Add a line to a file."""
    file.write_text(file.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")


def describe(name: str) -> str:
    """Give a description in words of its own, so that nothing shows only beside the others."""
    return f"Reads {name * 3} tables. Use this skill when asked for {name * 4} or {name * 5}."


def add(folder: Path, name: str, *, more: str = "", called: str = "", **files: str) -> Path:
    """Write a skill in words of its own; ``called`` is its name where that is another one."""
    own = "".join(f"The {name}{n} of {name * 2} goes to {name}{n + 1}.\n\n" for n in range(20))
    head = f"name: {called or name}\ndescription: {describe(name)}"
    return write_skill(folder, name, frontmatter=head, body=f"# {name}\n\n{own}{more}", files=files)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Three skills, one with a reference, all committed."""
    folder = tmp_path / "repo"
    for name in ("alpha", "beta", "gamma"):
        add(folder / "skills", name)
    add(folder / "skills", "beta", **{"references/a.md": "# A\n\nText.\n"})
    (folder / "README.md").write_text("# Skills\n")
    commit(folder)
    return folder


def test_nothing_changed_is_no_failure(repo: Path) -> None:
    for words in (("check",), ("score",), ("check", "--threshold", "100"), ("score", "--fail-on", "error,warning")):
        done = run(repo, *words, "--changed")
        assert (done.code, done.err) == (0, "")
    assert "0 changed skills (3 in all)" in run(repo, "check", "--changed").out
    assert touched(repo) == []
    edit(repo / "README.md")
    assert touched(repo) == []


def test_changes_of_every_kind_touch_their_skill(repo: Path) -> None:
    skills = repo / "skills"
    edit(skills / "alpha" / "SKILL.md")
    assert touched(repo) == ["skills/alpha"]
    git(repo, "add", "-A")
    assert touched(repo) == ["skills/alpha"]
    (skills / "beta" / "references" / "a.md").unlink()
    assert touched(repo) == ["skills/alpha", "skills/beta"]
    (skills / "gamma" / "notes.txt").write_text("x")
    assert touched(repo) == ["skills/alpha", "skills/beta", "skills/gamma"]
    commit(repo)
    assert touched(repo) == []


def test_a_new_and_a_renamed_skill_are_touched(repo: Path) -> None:
    add(repo / "skills", "delta")
    git(repo, "mv", "skills/gamma", "skills/golf")
    assert touched(repo) == ["skills/delta", "skills/golf"]


def test_an_untouched_skill_fails_no_gate(repo: Path) -> None:
    add(repo / "skills", "alpha", more=GONE)
    commit(repo)
    assert run(repo, "check").code == 1
    edit(repo / "skills" / "beta" / "SKILL.md")
    assert run(repo, "check", "--changed").code == 0
    edit(repo / "skills" / "alpha" / "SKILL.md")
    done = run(repo, "check", "--changed")
    assert done.code == 1
    assert "skills/alpha/SKILL.md" in done.out


def test_of_a_skill_below_another_that_one_is_touched(repo: Path) -> None:
    add(repo / "skills" / "alpha" / "more", "inner")
    commit(repo)
    edit(repo / "skills" / "alpha" / "more" / "inner" / "SKILL.md")
    assert touched(repo) == ["skills/alpha/more/inner"]


@pytest.mark.parametrize("target", ["../beta/SKILL.md", "../beta/", "../beta"])
def test_a_skill_is_touched_where_one_that_it_links_to_goes_or_comes(target: str, repo: Path) -> None:
    add(repo / "skills", "alpha", more=f"See [b]({target}).\n")
    commit(repo)
    edit(repo / "skills" / "beta" / "SKILL.md")  # what it says is its own affair
    (repo / "skills" / "beta" / "new.txt").touch()
    assert touched(repo) == ["skills/beta"]
    git(repo, "rm", "-rfq", "skills/beta")
    (repo / "skills" / "beta" / "new.txt").unlink()
    (repo / "skills" / "beta").rmdir()
    assert touched(repo) == ["skills/alpha"]
    assert run(repo, "check", "--changed").code == 1
    commit(repo)
    add(repo / "skills", "beta")
    assert touched(repo) == ["skills/alpha", "skills/beta"]


def test_skills_may_go(repo: Path) -> None:
    git(repo, "rm", "-rfq", "skills/beta", "skills/gamma")
    assert touched(repo) == []


def test_what_two_skills_share_is_shown_when_either_is_touched_and_nothing_else_of_the_other(repo: Path) -> None:
    add(repo / "skills", "delta", more=GONE, called="alpha")
    commit(repo)
    edit(repo / "skills" / "alpha" / "SKILL.md")
    done = run(repo, "check", "--changed", "--threshold", "100", "--fail-on", "warning")
    assert done.code == 1
    shown = [line.partition(":")[0] for line in done.out.splitlines() if "warning DUPLICATE_NAME" in line]
    assert shown == ["skills/alpha/SKILL.md", "skills/delta/SKILL.md"]
    assert "ORPHAN_REFERENCE" not in done.out
    assert "skills/delta: score" not in done.out
    commit(repo)
    edit(repo / "skills" / "gamma" / "SKILL.md")
    assert "DUPLICATE_NAME" not in run(repo, "check", "--changed").out


def test_comments_of_an_untouched_skill_are_not_called_unused(repo: Path) -> None:
    comment = "<!-- skillgate: ignore ORPHAN_REFERENCE: written later -->\n"
    add(repo / "skills", "delta", more=comment + GONE, called="alpha")
    commit(repo)
    edit(repo / "skills" / "alpha" / "SKILL.md")
    out = run(repo, "check", "--changed").out
    assert "skills/delta/SKILL.md" in out
    assert "SUPPRESSION_UNUSED" not in out


def test_since_a_revision_is_since_the_branch_left_it(repo: Path) -> None:
    git(repo, "switch", "-qc", "topic")
    edit(repo / "skills" / "alpha" / "SKILL.md")
    commit(repo)
    git(repo, "switch", "-q", "main")
    edit(repo / "skills" / "beta" / "SKILL.md")
    commit(repo)
    git(repo, "switch", "-q", "topic")
    assert touched(repo) == []
    assert touched(repo, "--since", "main") == ["skills/alpha"]
    edit(repo / "skills" / "gamma" / "SKILL.md")
    assert touched(repo, "--since", "main") == ["skills/alpha", "skills/gamma"]


@pytest.mark.parametrize("revision", ["nope", "--output", "-x", "main:skills", ""])
def test_an_unknown_revision_is_refused(revision: str, repo: Path) -> None:
    done = run(repo, "check", "--changed", f"--since={revision}")
    assert (done.code, done.out) == (2, "")
    assert "is not a commit in" in done.err


def test_since_alone_is_refused(repo: Path) -> None:
    done = run(repo, "check", "--since", "main")
    assert done.code == 2
    assert "--since needs --changed" in done.err


def test_outside_a_repository_it_is_refused(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills")
    for words in (("skills",), (".",)):
        done = run(tmp_path, "check", "--changed", *words)
        assert (done.code, done.out) == (2, "")
        assert "is not in a repository" in done.err
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty", "check", "--changed", "--allow-empty").code == 2


def test_before_the_first_commit_every_skill_is_touched(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "alpha")
    git(tmp_path, "init", "-q")
    assert touched(tmp_path) == ["skills/alpha"]
    assert run(tmp_path, "check", "--changed", "--since", "HEAD").code == 2


def test_it_works_from_below_the_top_and_from_beside_the_repository(repo: Path) -> None:
    edit(repo / "skills" / "alpha" / "SKILL.md")
    edit(repo / "skills" / "beta" / "SKILL.md")
    assert touched(repo / "skills") == ["alpha", "beta"]
    assert touched(repo / "skills" / "alpha") == ["."]
    assert touched(repo / "skills" / "alpha", "../beta", "../gamma") == ["../beta"]
    assert touched(repo.parent) == ["repo/skills/alpha", "repo/skills/beta"]
    assert touched(repo.parent, str(repo / "skills" / "beta")) == ["repo/skills/beta"]
    (repo.parent / "link").symlink_to(repo)
    assert touched(repo.parent / "link", "skills/alpha", "skills/gamma") == ["skills/alpha"]


def test_a_repository_that_is_one_skill(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "alpha", files={"references/a.md": "# A\n"})
    commit(folder)
    assert touched(folder) == []
    edit(folder / "references" / "a.md")
    assert touched(folder) == ["."]


def test_each_repository_is_asked_about_its_own_skills(repo: Path) -> None:
    inner = repo / "nested"
    add(inner / "skills", "inner")
    commit(inner)
    edit(repo / "skills" / "alpha" / "SKILL.md")
    assert touched(repo) == ["skills/alpha"]
    edit(inner / "skills" / "inner" / "SKILL.md")
    assert touched(repo) == ["nested/skills/inner", "skills/alpha"]


def test_a_submodule_is_held_against_what_the_repository_around_it_says(repo: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    add(source / "skills", "inner")
    commit(source)
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "vendor")
    before = commit(repo)
    assert touched(repo) == []
    edit(repo / "vendor" / "skills" / "inner" / "SKILL.md")
    assert touched(repo) == ["vendor/skills/inner"]
    commit(repo / "vendor")
    assert touched(repo) == ["vendor/skills/inner"]
    commit(repo)
    assert touched(repo) == []
    assert touched(repo, "--since", before) == ["vendor/skills/inner"]
    assert touched(repo / "vendor", "--since", before) == ["skills/inner"]


def test_a_worktree_is_compared_with_its_own_commit(repo: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(repo, "worktree", "add", "-q", "-b", "topic", str(tree))
    edit(tree / "skills" / "alpha" / "SKILL.md")
    commit(tree)
    edit(tree / "skills" / "beta" / "SKILL.md")
    assert touched(tree) == ["skills/beta"]
    assert touched(tree, "--since", "main") == ["skills/alpha", "skills/beta"]
    assert touched(repo) == []


@pytest.mark.parametrize("name", ["a b", "line\nbreak", "é文", "-x", "--all", '"q"', ":(top)x", "[a]*", "\udcff"])
def test_names_are_taken_as_they_are(name: str, repo: Path) -> None:
    head = f"name: delta\ndescription: {describe('delta')}"
    write_skill(repo / "skills" / "odd", name, frontmatter=head, body=BODY)
    assert touched(repo) == [f"skills/odd/{name}"]
    commit(repo)
    assert touched(repo) == []
    edit(repo / "skills" / "odd" / name / "SKILL.md")
    assert touched(repo) == [f"skills/odd/{name}"]


def test_a_link_that_leads_to_another_skill_is_a_change_of_it(repo: Path) -> None:
    (repo / ".claude").mkdir()
    (repo / ".claude" / "skills").symlink_to("../skills")
    commit(repo)
    assert touched(repo, ".claude/skills") == []
    (repo / "used").mkdir()
    (repo / "used" / "one").symlink_to("../skills/alpha")
    commit(repo)
    (repo / "used" / "one").unlink()
    (repo / "used" / "one").symlink_to("../skills/gamma")
    assert touched(repo, "used") == ["used/one"]


def test_a_mirror_shows_the_change_of_the_original(repo: Path) -> None:
    (repo / ".claude").mkdir()
    (repo / ".claude" / "skills").symlink_to("../skills")
    commit(repo)
    edit(repo / "skills" / "beta" / "SKILL.md")
    assert touched(repo, ".claude/skills") == [".claude/skills/beta"]


def test_a_file_behind_a_link_out_of_the_skill_is_the_skills_own(repo: Path) -> None:
    shared = repo / "shared" / "refs"
    shared.mkdir(parents=True)
    (shared / "a.md").write_text("# A\n", encoding="utf-8")
    add(repo / "skills", "alpha", more="See [a](references/a.md).\n")
    (repo / "skills" / "alpha" / "references").symlink_to("../../shared/refs")
    (repo / "skills" / "gamma" / "notes.md").symlink_to("../../README.md")
    commit(repo)
    assert touched(repo) == []
    edit(shared / "a.md")
    assert touched(repo) == ["skills/alpha"]
    (shared / "a.md").unlink()
    assert touched(repo) == ["skills/alpha"]
    commit(repo)
    (shared / "b.md").write_text("# B\n", encoding="utf-8")
    edit(repo / "README.md")
    assert touched(repo) == ["skills/alpha", "skills/gamma"]


def test_a_skill_is_touched_where_what_it_links_to_goes_behind_a_link(repo: Path) -> None:
    add(repo / "store", "delta")
    (repo / "skills" / "delta").symlink_to("../store/delta")
    add(repo / "skills", "alpha", more="See [d](../delta/SKILL.md).\n")
    commit(repo)
    assert touched(repo) == []
    edit(repo / "store" / "delta" / "SKILL.md")  # what it says is its own affair
    assert touched(repo) == ["store/delta"]
    git(repo, "rm", "-rfq", "store/delta")
    assert touched(repo) == ["skills/alpha"]
    git(repo, "reset", "-q", "--hard")
    (repo / "skills" / "delta").unlink()
    assert touched(repo) == ["skills/alpha"]
    (repo / "skills" / "delta").symlink_to("beta")
    assert touched(repo) == ["skills/alpha"]


def test_a_link_on_the_way_of_a_link_counts_too(repo: Path) -> None:
    add(repo / "store", "delta")
    (repo / "alias").symlink_to("store")
    (repo / "skills" / "delta").symlink_to("../alias/delta")
    add(repo / "skills", "alpha", more="See [d](../delta/SKILL.md).\n")
    commit(repo)
    shutil.copytree(repo / "store", repo / "other")
    commit(repo)
    assert touched(repo, "skills") == []
    (repo / "alias").unlink()
    (repo / "alias").symlink_to("other")
    assert touched(repo, "skills/alpha") == ["skills/alpha"]


def test_a_loop_of_links_ends(repo: Path) -> None:
    (repo / "skills" / "knot").symlink_to("knot")
    (repo / "skills" / "alpha" / "knot").symlink_to("../alpha/knot")
    add(repo / "skills", "beta", more="See [k](../knot/SKILL.md).\n")
    commit(repo)
    assert touched(repo) == []
    edit(repo / "README.md")
    assert touched(repo) == []


def test_a_main_file_that_leads_elsewhere_belongs_to_the_skill_it_stands_in(repo: Path, tmp_path: Path) -> None:
    (repo / "skills" / "out").mkdir()
    (repo / "skills" / "out" / "SKILL.md").symlink_to("/etc/passwd")
    add(tmp_path / "far", "away")
    (repo / "skills" / "away").symlink_to(tmp_path / "far" / "away")
    assert owning_skills(["skills/out/SKILL.md", "skills/away/SKILL.md"], str(repo)) == ["skills/out", "skills/away"]
    done = run(repo, "check", "--files", "skills/out/SKILL.md")
    assert done.code == run(repo, "check", "skills/out").code == 3
    assert "outside the skill" in done.out + done.err


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["skills/alpha/SKILL.md"], ["skills/alpha"]),
        (["skills/beta/references/a.md", "skills/beta/SKILL.md"], ["skills/beta"]),
        (["skills/beta/references/gone/deep.md"], ["skills/beta"]),
        (["skills/gone/SKILL.md", "README.md", "nowhere", ""], []),
        (["./skills//alpha/../beta/x"], ["skills/beta"]),
        (["skills/alpha"], ["skills/alpha"]),
        (["skills", "/", "/etc/passwd", "../x"], []),
    ],
)
def test_files_lead_to_their_skills(files: list[str], expected: list[str], repo: Path) -> None:
    assert owning_skills(files, str(repo)) == expected
    assert (
        owning_skills([str(repo / file) for file in files if file and not file.startswith(("/", ".."))], str(repo))
        == expected
    )


def test_files_are_looked_for_up_to_their_repository_alone(repo: Path, tmp_path: Path) -> None:
    write_skill(tmp_path.parent, tmp_path.name)  # around the repository
    assert owning_skills(["README.md"], str(repo)) == []
    assert owning_skills(["repo/README.md"], str(tmp_path)) == []
    assert owning_skills(["notes.md"], str(tmp_path)) == ["."]
    assert owning_skills(["skills/alpha/x"], str(repo / "skills")) == []
    assert owning_skills([str(repo / "skills" / "alpha" / "x")], os.sep) != []
