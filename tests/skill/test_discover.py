"""Which skills paths mean: on disk, through links, in repositories, and in a commit."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from skillgate.errors import UsageError
from skillgate.model.skill import SkillSource
from skillgate.skill.find import Discovery, discover, discover_commit, read
from skillgate.skill.git import GitTree
from skillgate.skill.tree import DiskTree

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
posix = pytest.mark.skipif(os.name == "nt", reason="links need a privilege and names are restricted here")


def make(directory: Path, file_name: str = "SKILL.md") -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / file_name).write_bytes(b"---\nname: " + os.fsencode(directory.name) + b"\n---\n")
    return directory


def do(repo: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", str(repo), *arguments], capture_output=True, check=True)


def commit(repo: Path) -> None:
    do(repo, "add", "-A")
    do(repo, "commit", "-q", "-m", "state")


def shown(discovery: Discovery) -> list[str]:
    return [str(root.path) for root in discovery.roots]


def found(at: Path, *paths: str) -> list[str]:
    return shown(discover(paths or (".",), cwd=str(at)))


def starts_no_process(repo: Path) -> bool:
    """Find and read ``skills/a`` in a process of its own, and tell whether that left out what starts others."""
    code = (
        "import sys; from skillgate.skill.find import discover; from skillgate.skill.find import read;"
        "(root,) = discover(['skills/a'], cwd=sys.argv[1]).roots; read(root);"
        "print('subprocess' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", code, str(repo)]
    done = subprocess.run(argv, capture_output=True, env=environment, check=True)
    return done.stdout.strip() == b"False"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    directory = tmp_path / "top"
    directory.mkdir()
    return directory


@pytest.fixture
def repo(top: Path) -> Path:
    do(top, "init", "-q")
    return top


class TestWhatIsFound:
    def test_a_directory_of_skills_is_searched_at_any_depth_and_listed_by_path(self, top: Path) -> None:
        for path in ("skills/b", "skills/a", "skills/a-b", "skills/cat/deep/c", ".claude/skills/d", "x/y/z/e", "B"):
            make(top / path)
        assert found(top) == [
            ".claude/skills/d",
            "B",
            "skills/a",
            "skills/a-b",
            "skills/b",
            "skills/cat/deep/c",
            "x/y/z/e",
        ]

    def test_what_tools_and_version_control_fill_is_left_out(self, top: Path) -> None:
        for name in (".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache"):
            make(top / name / "skills" / "hidden")
        make(top / "env" / "lib" / "python3.11" / "site-packages" / "package" / "hidden")
        make(top / "build" / "seen")
        (top / ".git").rename(top / "x.git")
        assert found(top) == ["build/seen", "x.git/skills/hidden"]

    def test_a_marker_file_cannot_hide_skills_from_the_gate(self, top: Path) -> None:
        make(top / "skills" / "a")
        for name in ("pyvenv.cfg", "CACHEDIR.TAG", ".nobackup"):
            (top / "skills" / name).touch()
        assert found(top) == ["skills/a"]

    def test_a_directory_left_out_by_name_is_searched_when_given(self, top: Path) -> None:
        make(top / "node_modules" / "package" / "a")
        assert found(top, ".", "node_modules") == ["node_modules/package/a"]

    def test_a_skill_below_a_skill_is_one_of_its_own(self, top: Path) -> None:
        make(make(make(top / "outer") / "references" / "inner") / "more" / "innermost")
        assert found(top, "outer") == ["outer", "outer/references/inner", "outer/references/inner/more/innermost"]

    @pytest.mark.parametrize("name", ["skill.md", "Skill.md", "SKILL.MD", "sKiLl.Md"])
    def test_another_spelling_is_found_and_kept(self, top: Path, name: str) -> None:
        make(top / "a", name)
        (root,) = discover(["."], cwd=str(top)).roots
        assert (root.file_name, str(root.path)) == (name, "a")

    def test_the_right_spelling_wins(self, top: Path) -> None:
        make(make(top / "a"), "skill.md")
        if len(list((top / "a").iterdir())) == 1:
            pytest.skip("this file system does not tell letter case apart")
        assert [root.file_name for root in discover(["a/skill.md"], cwd=str(top)).roots] == ["SKILL.md"]

    def test_a_directory_named_like_a_lower_case_skill_file_is_just_a_directory(self, top: Path) -> None:
        make(top / "docs" / "skill.md" / "a")
        assert found(top) == ["docs/skill.md/a"]

    def test_finding_nothing_is_not_an_error(self, top: Path) -> None:
        assert discover(["."], cwd=str(top)) == Discovery(roots=(), notices=(), single=False)

    @posix
    @pytest.mark.parametrize("name", [b"sp ace", b"new\nline", "ä日".encode(), b"latin-\xe9", b"-dash", b"back\\slash"])
    def test_any_name_works(self, top: Path, name: bytes) -> None:
        path = os.fsdecode(name)
        try:
            make(top / path / path)
        except OSError:
            pytest.skip("this file system refuses the name")
        (root,) = discover([path], cwd=str(top)).roots
        assert (root.name, root.path) == (path, PurePosixPath(path, path))
        assert isinstance(read(root), SkillSource)

    @posix
    def test_a_tree_deeper_than_any_path_is_searched_as_far_as_it_can_be_named(self, top: Path) -> None:
        make(top / "a")
        make(top.joinpath(*["d"] * 500, "deep"))
        here = os.open(top, os.O_RDONLY)
        for _ in range(5_000):
            with contextlib.suppress(FileExistsError):
                os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
        discovery = discover(["."], cwd=str(top))
        subprocess.run(["rm", "-rf", str(top / "d")], check=True)  # pytest's own clean-up would recurse
        assert [root.name for root in discovery.roots] == ["a", "deep"]
        assert len(discovery.notices) == 1
        assert "cannot be searched: File name too long" in discovery.notices[0]


class TestWhatAPathMeans:
    @pytest.mark.parametrize("path", ["skills/a", "skills/a/", "./skills//a", "skills/a/SKILL.md", "skills/b/../a"])
    def test_a_skill_given_directly_is_shown_normalised(self, top: Path, path: str) -> None:
        make(top / "skills" / "a")
        make(top / "skills" / "b")
        discovery = discover([path], cwd=str(top))
        assert (shown(discovery), discovery.single) == (["skills/a"], True)

    @pytest.mark.parametrize("path", [".", "SKILL.md", "./SKILL.md", "../a", "../a/SKILL.md", "x/.."])
    def test_the_current_directory_has_a_name_and_is_shown_as_a_dot(self, top: Path, path: str) -> None:
        make(top / "a" / "x")
        make(top / "a")
        first, second = discover([path], cwd=str(top / "a")).roots
        assert (first.name, str(first.path), first.directory) == ("a", ".", "a")
        assert (second.name, str(second.path), second.directory) == ("x", "x", "a/x")

    def test_absolute_paths_are_shown_from_the_current_directory_when_below_it(self, top: Path) -> None:
        make(top / "a")
        assert shown(discover([str(top / "a")], cwd=str(top))) == ["a"]
        assert shown(discover([str(top)], cwd=str(top / "a"))) == ["."]
        assert found(top / "a", "..") == found(top / "a", "..", ".") == ["."]

    def test_paths_above_the_current_directory_are_shown_as_given(self, top: Path) -> None:
        make(top / "skills" / "a")
        (top / "elsewhere").mkdir()
        at = top / "elsewhere"
        assert found(at, "../skills") == ["../skills/a"]
        assert found(at, "../skills/a/.") == ["../skills/a"]
        assert found(at, str(top / "skills")) == [(top / "skills" / "a").as_posix()]

    def test_overlapping_paths_give_each_skill_once_whatever_their_order(self, top: Path) -> None:
        make(top / "skills" / "a")
        make(top / "skills" / "b")
        paths = ("skills/a/SKILL.md", "skills", ".", "skills/b", "skills/a", str(top))
        assert found(top, *paths) == found(top, *reversed(paths)) == ["skills/a", "skills/b"]

    def test_single_is_one_path_that_is_a_skill(self, top: Path) -> None:
        make(top / "skills" / "a")
        given = (["skills/a"], ["skills/a/SKILL.md"], ["skills"], ["."], ["skills/a", "skills/a"])
        assert [discover(paths, cwd=str(top)).single for paths in given] == [True, True, False, False, False]

    def test_paths_that_do_not_exist_are_all_named_at_once(self, top: Path) -> None:
        make(top / "a")
        (top / "README.md").touch()
        with pytest.raises(UsageError) as caught:
            discover(["gone", "a", "a/gone/SKILL.md", "README.md", "", "nul\0"], cwd=str(top))
        message = str(caught.value)
        assert "'gone' does not exist; 'a/gone/SKILL.md' does not exist; 'README.md' is not a skill" in message
        assert "path is empty" in message
        assert "null" in message

    @posix
    def test_a_given_link_to_nothing_says_so(self, top: Path) -> None:
        (top / "broken").symlink_to("nowhere")
        with pytest.raises(UsageError, match="'broken' is a broken symbolic link"):
            discover(["broken"], cwd=str(top))


@posix
class TestLinks:
    def test_mirrors_are_found_once_and_shown_by_their_own_path(self, top: Path) -> None:
        make(top / "skills" / "a")
        make(top / "skills" / "b")
        (top / ".claude").mkdir()
        (top / ".claude" / "skills").symlink_to("../skills")
        (top / ".agents").symlink_to("skills")
        (top / ".gemini" / "a").mkdir(parents=True)
        (top / ".gemini" / "a" / "SKILL.md").symlink_to("../../skills/a/SKILL.md")
        assert found(top) == ["skills/a", "skills/b"]
        assert found(top, ".claude/skills", ".gemini", "skills") == ["skills/a", "skills/b"]
        assert found(top, "skills", ".gemini/a", ".claude") == ["skills/a", "skills/b"]

    def test_what_only_a_link_leads_to_is_shown_by_the_link_and_named_by_its_directory(self, repo: Path) -> None:
        make(repo / "store" / "a")
        (repo / ".claude").mkdir()
        (repo / ".claude" / "skills").symlink_to("../store")
        (root,) = discover([".claude"], cwd=str(repo)).roots
        assert (str(root.path), root.directory, root.name) == (".claude/skills/a", "store/a", "a")

    def test_a_given_link_is_followed_wherever_it_leads(self, top: Path) -> None:
        make(top / "far" / "skills" / "real")
        (top / "near").mkdir()
        (top / "near" / "alias").symlink_to("../far/skills/real")
        discovery = discover(["alias"], cwd=str(top / "near"))
        (root,) = discovery.roots
        assert (str(root.path), root.name, root.directory, discovery.single) == ("alias", "real", "skills/real", True)

    def test_loops_are_harmless(self, top: Path) -> None:
        make(top / "a" / "b")
        (top / "a" / "up").symlink_to("..")
        (top / "a" / "b" / "self").symlink_to(".")
        (top / "a" / "knot").symlink_to("knot")
        (top / "a" / "b" / "cross").symlink_to("../../c")
        (top / "c").mkdir()
        (top / "c" / "back").symlink_to("../a")
        assert discover(["."], cwd=str(top)).notices == ()
        assert found(top) == ["a/b"]

    def test_links_out_of_the_tree_are_counted_not_followed(self, top: Path) -> None:
        make(top / "outside" / "secret")
        make(top / "in" / "a")
        (top / "in" / "out").symlink_to("../outside")
        (top / "in" / "out2").symlink_to(top / "outside" / "secret")
        (top / "in" / "broken").symlink_to("../nowhere")
        discovery = discover(["in"], cwd=str(top))
        assert shown(discovery) == ["in/a"]
        (notice,) = discovery.notices
        assert notice.startswith(
            "2 symbolic links point outside the searched tree and were not followed (first: 'in/out')"
        )
        assert "pass its real path" in notice

    def test_a_notice_keeps_to_one_line(self, top: Path) -> None:
        (top / "outside").mkdir()
        (top / "in").mkdir()
        (top / "in" / "x\n::error::y").symlink_to("../outside")
        (notice,) = discover(["in"], cwd=str(top)).notices
        assert "\n" not in notice


def manifest(directory: Path, name: str = "plugin.json", text: str = "{}") -> None:
    """Make a directory a plugin, or a marketplace."""
    path = directory / ".claude-plugin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class TestSurroundings:
    def test_the_tree_is_the_repository(self, repo: Path) -> None:
        make(repo / "plugins" / "p" / "skills" / "a")
        manifest(repo / "plugins" / "p")
        (root,) = discover(["plugins/p/skills/a"], cwd=str(repo)).roots
        assert isinstance(root.tree, DiskTree)
        assert (Path(root.tree.root), root.directory, root.plugin) == (
            repo.resolve(),
            "plugins/p/skills/a",
            "plugins/p",
        )

    def test_without_a_repository_it_is_the_plugin(self, top: Path) -> None:
        make(top / "p" / "skills" / "cat" / "a")
        manifest(top / "p")
        for path in ("p", "p/skills", "p/skills/cat/a"):
            (root,) = discover([path], cwd=str(top)).roots
            assert (root.directory, root.plugin) == ("skills/cat/a", "")

    @pytest.mark.parametrize(
        ("skill", "path", "directory"),
        [
            ("x/skills/a", "x/skills/a", "skills/a"),
            ("x/a", "x/a", "a"),
            ("x/skills/a", "x/skills", "skills/a"),
            ("x/a", "x", "a"),
            ("x/skills/a", "x", "skills/a"),
        ],
    )
    def test_without_a_plugin_it_is_what_holds_the_skills(
        self, top: Path, skill: str, path: str, directory: str
    ) -> None:
        make(top / skill)
        (root,) = discover([path], cwd=str(top)).roots
        assert (root.directory, root.plugin) == (directory, None)

    def test_each_skill_of_a_marketplace_has_its_own_plugin(self, top: Path) -> None:
        for directory in (".", "plugins/p", "plugins/q"):
            manifest(top / directory)
        for skill in ("plugins/p/skills/a", "plugins/q/skills/b", "skills/c"):
            make(top / skill)
        roots = discover(["."], cwd=str(top)).roots
        assert [root.plugin for root in roots] == ["plugins/p", "plugins/q", ""]
        assert len({id(root.tree) for root in roots}) == 1

    def test_a_marketplace_names_plugins_that_have_no_manifest(self, top: Path) -> None:
        for skill in ("packs/one/skills/a", "packs/two/skills/b", "skills/c", "other/d"):
            make(top / skill)
        listed = '{"plugins": [{"source": "./packs/one", "strict": false}, {"source": "packs/two/"}, {"source": "./"}]}'
        manifest(top, "marketplace.json", listed)
        assert [root.plugin for root in discover(["."], cwd=str(top)).roots] == [None, "packs/one", "packs/two", None]

    @pytest.mark.parametrize(
        "text",
        ["", "[]", "{", '{"plugins": 1}', '{"plugins": [1, {"source": 2}, {"source": "../x"}, {"source": "a:b/c"}]}'],
    )
    def test_a_marketplace_that_says_nothing_names_none(self, text: str, top: Path) -> None:
        make(top / "packs" / "one" / "skills" / "a")
        manifest(top, "marketplace.json", text)
        assert [root.plugin for root in discover(["."], cwd=str(top)).roots] == [None]

    def test_paths_in_no_repository_share_the_outermost_tree(self, top: Path) -> None:
        make(top / "x" / "skills" / "a")
        make(top / "b")
        for paths in (["x/skills/a", "b"], ["b", "x/skills/a"]):
            roots = discover(paths, cwd=str(top)).roots
            assert [root.directory for root in roots] == ["b", "x/skills/a"]
            assert roots[0].tree is roots[1].tree

    def test_a_nested_repository_is_a_tree_of_its_own(self, repo: Path) -> None:
        do(repo, "init", "-q", "vendor/lib")
        make(repo / "vendor" / "lib" / "skills" / "b")
        make(repo / "skills" / "a")
        own, nested = discover(["."], cwd=str(repo)).roots
        assert isinstance(own.tree, DiskTree)
        assert isinstance(nested.tree, DiskTree)
        assert (own.directory, Path(own.tree.root)) == ("skills/a", repo.resolve())
        assert (nested.directory, Path(nested.tree.root)) == ("skills/b", (repo / "vendor" / "lib").resolve())


@needs_git
class TestIgnored:
    def test_what_git_ignores_is_left_out_unless_it_is_tracked(self, repo: Path) -> None:
        for name in ("kept", "build/out", "tracked/forced"):
            make(repo / name)
        (repo / ".gitignore").write_text("build/\ntracked/\n", encoding="utf-8")
        do(repo, "add", "-f", "tracked")
        assert found(repo) == ["kept", "tracked/forced"]
        assert discover(["."], cwd=str(repo)).notices == ()

    @pytest.mark.parametrize("path", ["build", "build/x", "build/x/out", "build/x/out/SKILL.md"])
    def test_what_is_given_is_never_left_out(self, repo: Path, path: str) -> None:
        make(repo / "build" / "x" / "out" / "inner")
        make(repo / "build" / "x" / "out")
        (repo / ".gitignore").write_text("build/\n", encoding="utf-8")
        assert found(repo, path) == found(repo, ".", path) == ["build/x/out", "build/x/out/inner"]
        assert found(repo) == []

    def test_a_tracked_skill_is_found_whatever_its_directory_is_called(self, repo: Path) -> None:
        tracked = ("node_modules/kit/skills/a", ".cache/b", "x/.venv/lib/site-packages/c", ".next", "s/__pycache__/d/e")
        for name in tracked:
            make(repo / name)
        make(repo / "low" / ".turbo" / "f", "skill.md")
        (repo / ".gitignore").write_text("node_modules/\n.venv/\n", encoding="utf-8")
        do(repo, "add", "-f", "-A")
        for name in ("node_modules/kit/skills/untracked", ".yarn/untracked", ".git/skills/untracked"):
            make(repo / name)
        assert found(repo) == sorted([*tracked, "low/.turbo/f"], key=lambda path: path.split("/"))
        assert found(repo, "node_modules", "x") == ["node_modules/kit/skills/a", "x/.venv/lib/site-packages/c"]
        assert found(repo, "s") == ["s/__pycache__/d/e"]

    def test_a_tracked_skill_that_is_gone_from_the_disk_is_not_found(self, repo: Path) -> None:
        for name in ("node_modules/a", "node_modules/b", "node_modules/c"):
            make(repo / name)
        commit(repo)
        shutil.rmtree(repo / "node_modules" / "b")
        (repo / "node_modules" / "c" / "SKILL.md").unlink()
        assert found(repo) == ["node_modules/a"]

    @posix
    def test_a_tracked_skill_is_shown_by_its_own_path_and_not_by_a_link_to_it(self, repo: Path) -> None:
        make(repo / "node_modules" / "kit" / "a")
        (repo / ".claude").mkdir()
        (repo / ".claude" / "skills").symlink_to("../node_modules/kit")
        commit(repo)
        assert found(repo) == ["node_modules/kit/a"]
        shutil.move(repo / "node_modules" / "kit", repo / "moved")
        (repo / "node_modules" / "kit").symlink_to("../moved")
        assert found(repo, ".", ".claude") == ["moved/a"]

    def test_a_given_skill_with_compiled_files_beside_its_scripts_starts_no_process(self, repo: Path) -> None:
        cached = make(repo / "skills" / "a") / "scripts" / "__pycache__"
        cached.mkdir(parents=True)
        (cached / "run.cpython-311.pyc").touch()
        assert starts_no_process(repo)

    def test_a_given_skill_does_not_save_its_ignored_neighbours(self, repo: Path) -> None:
        for name in ("build/a", "build/b"):
            make(repo / name)
        (repo / ".gitignore").write_text("build/\n", encoding="utf-8")
        assert found(repo, ".", "build/a") == ["build/a"]

    def test_a_clone_below_an_ignored_directory_is_ignored(self, repo: Path) -> None:
        do(repo, "init", "-q", "cache/clone")
        make(repo / "cache" / "clone" / "a")
        (repo / ".gitignore").write_text("cache/\n", encoding="utf-8")
        assert found(repo) == []
        assert found(repo, "cache/clone") == ["cache/clone/a"]

    @posix
    def test_what_an_ignored_link_leads_to_is_left_out_with_it(self, repo: Path) -> None:
        make(repo / "store" / "a")
        (repo / "skills").mkdir()
        (repo / "skills" / "local").symlink_to("../store")
        (repo / "skills" / "shared").symlink_to("../store/a")
        (repo / ".gitignore").write_text("/skills/local\n", encoding="utf-8")
        assert found(repo, "skills") == []
        (repo / ".gitignore").write_text("/skills/other\n", encoding="utf-8")
        assert found(repo, "skills") == ["skills/local/a"]

    def test_a_repository_that_git_refuses_is_searched_by_the_fixed_list(self, top: Path) -> None:
        make(top / "node_modules" / "a")
        make(top / "b")
        (top / ".git").write_text("gitdir: /no/such/place\n", encoding="utf-8")
        discovery = discover(["."], cwd=str(top))
        assert shown(discovery) == ["b"]
        (notice,) = discovery.notices
        assert notice.startswith("git cannot list ignored files: not a git repository")

    def test_without_git_everything_but_the_fixed_list_is_found(
        self, repo: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make(repo / "build" / "a")
        (repo / ".gitignore").write_text("build/\n", encoding="utf-8")
        monkeypatch.setenv("PATH", str(repo))
        discovery = discover(["."], cwd=str(repo))
        assert shown(discovery) == ["build/a"]
        assert discovery.notices[0].startswith("git is not installed")

    def test_one_skill_given_directly_starts_no_process(self, repo: Path) -> None:
        make(repo / "skills" / "a" / "references")
        (repo / "skills" / "a" / "references" / "SKILL.md").unlink()
        make(repo / "skills" / "a")
        assert starts_no_process(repo)


@needs_git
class TestCommits:
    def test_the_same_skills_are_found_and_shown_as_when_checked_out(self, repo: Path) -> None:
        for name in ("skills/b", "skills/a", ".claude/skills/c", "plugins/p/skills/d", "node_modules/e"):
            make(repo / name)
        make(repo / "skills" / "low", "skill.md")
        (repo / "plugins" / "p" / ".claude-plugin").mkdir()
        (repo / "plugins" / "p" / ".claude-plugin" / "plugin.json").touch()
        do(repo, "add", "-f", "-A")
        commit(repo)
        for at, disk_path, commit_path in (
            (repo, ".", ""),
            (repo / "skills", "..", ".."),
            (repo / "skills", ".", "./"),
        ):
            on_disk = discover([disk_path], cwd=str(at)).roots
            committed = discover_commit("HEAD", commit_path, cwd=str(at)).roots
            assert [(root.path, root.directory, root.name, root.file_name, root.plugin) for root in on_disk] == [
                (root.path, root.directory, root.name, root.file_name, root.plugin) for root in committed
            ]

    def test_the_commit_is_read_not_the_working_tree(self, repo: Path) -> None:
        make(repo / "a")
        commit(repo)
        (repo / "a" / "SKILL.md").write_bytes(b"changed")
        make(repo / "b")
        discovery = discover_commit("HEAD", ".", cwd=str(repo))
        (root,) = discovery.roots
        assert isinstance(root.tree, GitTree)
        source = read(root)
        assert isinstance(source, SkillSource)
        assert source.data == b"---\nname: a\n---\n"

    @pytest.mark.parametrize("path", ["a", "a/", "a/SKILL.md", "./a", "./a/SKILL.md"])
    def test_one_skill_of_a_commit_is_single(self, repo: Path, path: str) -> None:
        make(repo / "a")
        commit(repo)
        discovery = discover_commit("HEAD", path, cwd=str(repo))
        assert (shown(discovery), discovery.single) == (["a"], True)

    def test_a_repository_that_is_a_skill_has_the_name_of_its_directory(self, repo: Path) -> None:
        make(repo)
        commit(repo)
        (root,) = discover_commit("HEAD", "SKILL.md", cwd=str(repo)).roots
        assert (root.name, str(root.path), root.directory) == ("top", ".", "")

    @pytest.mark.parametrize("path", ["gone", "../top/a", "../..", "/a", "a/gone/SKILL.md"])
    def test_a_path_the_commit_does_not_have_is_named(self, repo: Path, path: str) -> None:
        make(repo / "a")
        commit(repo)
        with pytest.raises(UsageError, match=f"HEAD has no '{path}'"):
            discover_commit("HEAD", path, cwd=str(repo))

    def test_a_file_of_another_kind_is_refused(self, repo: Path) -> None:
        (repo / "README.md").touch()
        commit(repo)
        with pytest.raises(UsageError, match=r"'README\.md' of HEAD is not a skill"):
            discover_commit("HEAD", "README.md", cwd=str(repo))

    @posix
    def test_links_are_followed_inside_the_commit_and_counted_outside(self, repo: Path) -> None:
        make(repo / "store" / "a")
        (repo / "skills").mkdir()
        (repo / "skills" / "local").symlink_to("../store")
        (repo / "skills" / "out").symlink_to("../../elsewhere")
        (repo / "skills" / "loop").symlink_to("..")
        commit(repo)
        assert shown(discover_commit("HEAD", "", cwd=str(repo))) == ["store/a"]
        discovery = discover_commit("HEAD", "skills/local", cwd=str(repo))
        assert shown(discovery) == ["skills/local/a"]
        discovery = discover_commit("HEAD", "skills", cwd=str(repo))
        assert discovery.notices[0].startswith("1 symbolic link points outside")
