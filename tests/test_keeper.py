"""What was kept is what judging anew would give, and is not used when it would give anything else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.cache import Cache
from skillgate.evaluation.assess import assess
from skillgate.evaluation.pipeline import Assessor
from skillgate.model.finding import Assessment, Listing, Member, SkillTexts
from skillgate.model.skill import SkillSource
from skillgate.skill.find import discover, discover_commit, read
from skillgate.skill.tree import DiskTree
from tests.skills import PROSE, filler, run, run_python, write_bytes, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CORPUS = Path(os.environ.get("SKILLGATE_TEST_DATA", ""), "corpus")
CLOCK = time.perf_counter_ns
LINKED = f"""# Alpha

{PROSE}
See [the columns](references/columns.md), [the words](references/words.md#top) and [its neighbour](../beta/SKILL.md).
Run `scripts/join.py`, as beta-gamma does, or read `notes/later.md`.
"""


def sources(*paths: Path) -> list[SkillSource]:
    """Read the skills as a run begins to: from a directory that nobody has listed yet."""
    found = [read(root) for root in discover([str(path) for path in paths]).roots]
    return [source for source in found if isinstance(source, SkillSource)]


def opened(facts: Assessment) -> Assessment:
    """Put what is read later in the place of what gives it, and leave out what only a keeper knows."""
    later = {"texts": facts.texts(), "detail": facts.detail()}
    return facts._replace(**later, duration_ms=0, mark="", outside=())  # type: ignore[arg-type]


class Judged(NamedTuple):
    """What a keeper gave, and how much of it was kept from before."""

    facts: list[Assessment]
    reused: int
    failure: str | None


def judged(found: Sequence[SkillSource], cache: Path, *, made_by: bytes = b"these tests") -> Judged:
    keeper = Assessor(Cache(str(cache), now=time.time), clock=CLOCK, made_by=made_by)
    facts = [opened(one) for one in keeper.assess(found)]
    keeper.close()
    return Judged(facts, keeper.reused, keeper.failure)


def anew(found: Sequence[SkillSource]) -> list[Assessment]:
    return [opened(assess(source, CLOCK)) for source in found]


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A folder with two skills, of which one links to files and to the other."""
    skills = tmp_path / "top" / "skills"
    files = {"references/columns.md": "# Columns\n", "references/words.md": "# Top\n", "scripts/join.py": "# é\n"}
    write_skill(skills, "alpha", body=LINKED, files=files)
    write_skill(skills, "beta")
    return tmp_path / "top"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the skills to try it on are not here")
def test_what_is_kept_of_published_skills_is_what_judging_gives(tmp_path: Path) -> None:
    first = judged(sources(CORPUS), tmp_path)
    second = judged(sources(CORPUS), tmp_path)
    assert (first.reused, second.reused, first.failure) == (0, len(first.facts), None)
    assert len(first.facts) > 200
    assert first.facts == second.facts == anew(sources(CORPUS))


HOSTILE: dict[str, bytes] = {
    "nul": b"---\nname: nul\n---\n# A\x00B\n",
    "not-utf-8": b"---\nname: x\xff\n---\n# Caf\xe9\n",
    "empty": b"",
    "blank": b" \n\t\n",
    "head-alone": b"---\nname: head-alone\n---\n",
    "huge": b"---\nname: huge\ndescription: x\n---\n" + b"word " * 1_000_001,
    "long": b"---\nname: long\ndescription: x\n---\n" + filler(3_000).encode(),
    "escapes": b'---\nname: "a\\0b\\ud83d\\ude00\\u2028"\ndescription: "\\udc80 \\x85 use when"\n---\n'
    + PROSE.encode(),
    "carriage": b"---\r\nname: carriage\r\n---\r\n# A\r\rB\r\n",
    "lines": "---\nname: lines\n---\n# A\u2028B\x0b\x0c\x1c\x85\n".encode() + PROSE.encode(),
    "deep": b"---\nname: deep\n---\n" + b">" * 3_000 + b"\n" + b"[" * 3_000,
    "bomb": b"---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n```json\n" + b"[" * 50_000 + b"\n```\n",
    "waived": b"---\nname: waived\n---\n<!-- skillgate: ignore-file NO_TRIGGER until 2031-01-01: so be it -->\n"
    + PROSE.encode(),
    "entry": b'---\nname: entry\ndescription: |\n  x\n  ["e","a"]\n---\n\n["light"]\n\n["told"]\n' + PROSE.encode(),
}
NAMES = [b"new\nline", b"latin-\xe9", "日本🙂".encode(), b"back\\slash", b"quo\"te'", b"tab\there", b"-dash", b"%2e%2e"]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_kept_of_any_bytes_is_what_judging_gives(tmp_path: Path, name: str) -> None:
    skill = write_bytes(tmp_path / "skills", name, HOSTILE[name], files={"references/a.md": HOSTILE[name]})
    first = judged(sources(skill), tmp_path / "cache")
    second = judged(sources(skill), tmp_path / "cache")
    assert (first.reused, second.reused) == (0, 1)
    assert first.facts == second.facts == anew(sources(skill))


@pytest.mark.skipif(os.name == "nt", reason="file names are Unicode here")
def test_what_is_kept_under_any_name_is_what_judging_gives(tmp_path: Path) -> None:
    made = 0
    for name in NAMES:
        folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/skills/" + name))
        try:
            folder.mkdir(parents=True)
        except OSError:
            continue  # this file system refuses the name
        shown = os.fsdecode(name)
        (folder / "SKILL.md").write_bytes(f"---\nname: x\n---\n[a]({shown}.md)\n{PROSE}".encode("utf-8", "replace"))
        (folder / f"{shown}.md").write_bytes(b"# \xc3\xa9\n")
        (folder / "scripts").mkdir()
        (folder / "scripts" / f"{shown}.py").write_bytes("# \u200b\n".encode())
        made += 1
    assert made
    first = judged(sources(tmp_path / "skills"), tmp_path / "cache")
    second = judged(sources(tmp_path / "skills"), tmp_path / "cache")
    assert (first.reused, second.reused) == (0, made)
    assert first.facts == second.facts == anew(sources(tmp_path / "skills"))


def flatten(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("x", encoding="utf-8")


def move_behind_link(file: Path, to: Path) -> None:
    file.rename(to)
    file.symlink_to(to)


CHANGES: dict[str, Callable[[Path], object]] = {
    "the main file": lambda skill: write(skill / "SKILL.md", (skill / "SKILL.md").read_text("utf-8") + "More.\n"),
    "a linked file deleted": lambda skill: (skill / "references/columns.md").unlink(),
    "a linked file emptied": lambda skill: write(skill / "references/columns.md", ""),
    "another reference's content": lambda skill: write(skill / "references/words.md", "# Bottom\n"),
    "a file more": lambda skill: write(skill / "references/more.md", "# More\n"),
    "a mentioned file made": lambda skill: write(skill / "notes/later.md", "# Later\n"),
    "a script's content": lambda skill: write(skill / "scripts/join.py", "# \u200b\n"),
    "a script deleted": lambda skill: (skill / "scripts/join.py").unlink(),
    "a directory renamed": lambda skill: (skill / "references").rename(skill / "reference"),
    "a directory made a file": lambda skill: flatten(skill / "scripts"),
    "assets added": lambda skill: write(skill / "assets/a.txt", "x"),
    "an empty asset added": lambda skill: write(skill / "assets/a.txt", ""),
    "a sibling more": lambda skill: write_skill(skill.parent, "delta"),
    "a sibling less": lambda skill: shutil.rmtree(skill.parent / "beta"),
    "a sibling that is named": lambda skill: (skill.parent / "beta").rename(skill.parent / "beta-gamma"),
    "a sibling emptied": lambda skill: write(skill.parent / "beta/SKILL.md", ""),
    "a skill below": lambda skill: write(skill / "references/SKILL.md", "# Below\n"),
    "a plugin around": lambda skill: write(skill.parents[1] / ".claude-plugin/plugin.json", "{}"),
}
LINKS: dict[str, Callable[[Path], object]] = {
    "a link more": lambda skill: (skill / "references/link.md").symlink_to("columns.md"),
    "a file made a link to its like": lambda skill: move_behind_link(
        skill / "references/columns.md", skill / "kept.md"
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_judging_could_see_is_judged_anew(top: Path, tmp_path: Path, name: str) -> None:
    check_changed(top / "skills" / "alpha", tmp_path / "cache", CHANGES[name])


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege here")
@pytest.mark.parametrize("name", LINKS)
def test_a_link_put_somewhere_is_judged_anew(top: Path, tmp_path: Path, name: str) -> None:
    check_changed(top / "skills" / "alpha", tmp_path / "cache", LINKS[name])


def check_changed(skill: Path, cache: Path, change: Callable[[Path], object]) -> None:
    """The skill's entry serves until the change and not after; then the new one does."""
    assert [judged(sources(skill), cache).reused for _ in range(2)] == [0, 1]
    change(skill)
    after = judged([source for source in sources(skill) if source.root.name == "alpha"], cache)
    assert after.reused == 0
    assert after.facts == anew([source for source in sources(skill) if source.root.name == "alpha"])
    assert judged([source for source in sources(skill) if source.root.name == "alpha"], cache).reused == 1


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege here")
def test_a_link_that_leads_elsewhere_is_judged_anew(top: Path, tmp_path: Path) -> None:
    link = top / "skills" / "alpha" / "references" / "link.md"
    write(top / "skills" / "alpha" / "one.md", "# One\n")
    write(top / "skills" / "alpha" / "two.md", "# Two\n")
    for target, reused in (
        ("../one.md", 0),
        ("../two.md", 0),
        ("../nothing.md", 0),
        ("../one.md", 0),
        ("../one.md", 1),
    ):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        found = judged(sources(top / "skills" / "alpha"), tmp_path / "cache")
        assert (found.reused, target) == (reused, target)
        assert found.facts == anew(sources(top / "skills" / "alpha"))


def test_another_name_or_place_of_the_directory_is_judged_anew(top: Path, tmp_path: Path) -> None:
    skill = top / "skills" / "alpha"
    assert judged(sources(skill), tmp_path / "cache").reused == 0
    moved = skill.rename(skill.with_name("omega"))
    found = judged(sources(moved), tmp_path / "cache")
    assert found.reused == 0
    assert found.facts == anew(sources(moved))
    copied = shutil.copytree(top, tmp_path / "copy")
    assert judged(sources(copied / "skills" / "omega"), tmp_path / "cache").reused == 0


def test_a_change_that_does_not_concern_a_skill_keeps_its_entry(top: Path, tmp_path: Path) -> None:
    assert judged(sources(top), tmp_path / "cache").reused == 0
    beta = top / "skills" / "beta"
    write(beta / "SKILL.md", (beta / "SKILL.md").read_text("utf-8") + "More.\n")
    write(beta / "references/more.md", "# More\n")
    write(top / "README.md", "# Read me\n")
    write(top / "docs" / "guide.md", "# Guide\n")
    os.utime(top / "skills" / "alpha" / "SKILL.md", (0, 0))
    found = judged(sources(top), tmp_path / "cache")
    assert found.reused == 1
    assert found.facts == anew(sources(top))


PLACES = ["alpha/SKILL.md", "alpha/references/columns.md", "alpha/references/words.md", "alpha/scripts/join.py"]
PLACES += [
    "alpha/notes/later.md",
    "alpha/assets/a.txt",
    "beta/SKILL.md",
    "beta-gamma/SKILL.md",
    "alpha/references",
    "beta",
]
CONTENTS = ["", "# Top\n\nSee [it](columns.md).\n", "# \u200b\n", f"---\nname: alpha\n---\n{LINKED}", LINKED]
EDITS = st.tuples(st.sampled_from(PLACES), st.sampled_from(["delete", "move", "link", *CONTENTS]))


def edit(folder: Path, place: str, how: str) -> None:
    with suppress(OSError):  # what the system refuses, such as a file below a file, is no edit
        change(folder / place, how, folder / "alpha" / "references" / "words.md")


def change(path: Path, how: str, target: Path) -> None:
    if how == "move":
        path.rename(path.with_name(path.name + "x"))
    elif how in ("delete", "link"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif os.path.lexists(path):
            path.unlink()
        if how == "link":
            path.symlink_to(target)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(how, encoding="utf-8")


@settings(max_examples=40, deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=5))
def test_after_any_edits_what_the_cache_gives_is_what_judging_gives(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str]]
) -> None:
    base = tmp_path_factory.getbasetemp() / f"edits-{os.getpid()}"  # the same for all: old entries are still there
    folder = base / "skills"
    shutil.rmtree(folder, ignore_errors=True)
    for place in PLACES[:4]:
        edit(folder, place, LINKED)
    write_skill(folder, "beta")
    for place, how in edits:
        edit(folder, place, how)
        assert judged(sources(base), base / "cache").facts == anew(sources(base))


@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.parametrize("line", ["[" * 200_000, "", "{}", "[]", "null", "7", '"x"', "[[],[],[],[],[],[[1]]]", "[[7]]"])
def test_an_entry_of_another_make_is_not_used(top: Path, tmp_path: Path, line: str, place: int) -> None:
    found, folder = sources(top / "skills" / "alpha"), tmp_path / "cache"
    judged(found, folder)
    cache = Cache(str(folder), now=time.time)
    (key,) = ("".join(path.parts[-2:]) for path in folder.glob("??/*"))
    lines = (cache.get(key) or "").split("\n")
    lines[place] = line
    cache.put(key, "\n".join(lines))
    assert judged(found, folder).facts == anew(found)


def test_what_another_program_judged_is_not_used(top: Path, tmp_path: Path) -> None:
    found = sources(top)
    assert judged(found, tmp_path / "cache", made_by=b"yesterday's").reused == 0
    assert judged(found, tmp_path / "cache", made_by=b"today's").reused == 0
    assert judged(found, tmp_path / "cache", made_by=b"yesterday's").reused == 2


def test_any_change_of_the_program_is_another_program(tmp_path: Path) -> None:
    package = tmp_path / "skillgate"
    shutil.copytree(Path(assess.__code__.co_filename).parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from skillgate.evaluation.pipeline import stamp; print(stamp())"
    )
    rules = package / "static" / "rules"

    def stamp() -> str:
        done = run_python(code, tmp_path, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    seen = [stamp()]
    assert stamp() == seen[0]
    one = next(path for path in sorted(rules.glob("*.py")) if not path.name.startswith("_"))
    os.utime(one, (1, 1))  # older than all the others
    seen.append(stamp())
    one.write_bytes(one.read_bytes() + b"\n")
    os.utime(one, (1, 1))
    seen.append(stamp())
    one.rename(one.with_name("zzz.py"))
    seen.append(stamp())
    assert len(set(seen)) == len(seen)


def test_skills_of_a_commit_are_kept_too(top: Path, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *identity, *words], cwd=top, check=True, capture_output=True)

    def committed(revision: str) -> list[SkillSource]:
        found = [read(root) for root in discover_commit(revision, "./", cwd=str(top)).roots]
        return [source for source in found if isinstance(source, SkillSource)]

    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    (top / "skills" / "alpha" / "references" / "columns.md").unlink()
    git("commit", "-am", "two")
    first = judged(committed("HEAD~1"), tmp_path / "cache")
    assert first.reused == 0
    assert first.facts == anew(committed("HEAD~1"))
    second = judged(committed("HEAD"), tmp_path / "cache")
    assert second.reused == 1  # beta
    assert second.facts == anew(committed("HEAD"))
    assert judged(committed("HEAD~1"), tmp_path / "cache").reused == 1  # alpha's entry is that of the second commit now
    assert judged(committed("HEAD~1"), tmp_path / "cache").reused == 2
    assert judged(sources(top), tmp_path / "cache").facts == anew(sources(top))


def member(path: str, name: str, *, plugin: str | None = None, mark: str = "m", description: str = "d") -> Member:
    told = SkillTexts(lines=tuple((row, f"the same line number {row} in all of them") for row in range(1, 12)))
    return Member(path, Listing(name, description), lambda: told, plugin, mark=mark)


def test_what_shows_beside_others_is_kept_while_they_are_the_same(tmp_path: Path) -> None:
    def across(*members: Member) -> list[object]:
        keeper = Assessor(Cache(str(tmp_path), now=time.time), clock=CLOCK, made_by=b"these tests")
        return list(keeper.across(members))

    one, two = member("a", "same", mark="1"), member("b", "same", mark="2")
    found = across(one, two)
    assert found
    assert across(one, two) == found == list(Assessor(None, clock=CLOCK).across((one, two)))
    assert across(one, two._replace(listing=Listing("other", "x"))) == found  # the mark stands for all that it says
    changed = two._replace(listing=Listing("other", "x"), mark="3")
    assert across(one, changed) == list(Assessor(None, clock=CLOCK).across((one, changed))) != found
    for other in (two._replace(plugin="None"), two._replace(file="skill.md"), two._replace(path="c")):
        assert across(one, other) == list(Assessor(None, clock=CLOCK).across((one, other)))


def test_a_name_with_a_nul_takes_no_other_skills_place(tmp_path: Path) -> None:
    def found(name: str, description: str) -> set[str]:
        head = json.dumps(name), json.dumps(description)
        write_skill(tmp_path / "skills", "one", frontmatter=f"name: {head[0]}\ndescription: {head[1]}")
        write_skill(tmp_path / "skills", "two", frontmatter="name: twin\ndescription: x")
        keeper = Assessor(Cache(str(tmp_path / "cache"), now=time.time), clock=CLOCK, made_by=b"these tests")
        there = sources(tmp_path / "skills")
        pairs = zip(there, keeper.assess(there), strict=True)
        members = [Member(str(s.root.path), f.listing, f.texts, mark=f.mark) for s, f in pairs]
        return {claim.id for _, claim in keeper.across(members)}

    assert "DUPLICATE_NAME" not in found("twin\0x", "y")
    assert "DUPLICATE_NAME" in found("twin", "x\0y")


def test_without_a_cache_everything_is_judged(top: Path) -> None:
    keeper = Assessor(None, clock=CLOCK)
    assert [opened(one) for one in keeper.assess(sources(top))] == anew(sources(top))
    keeper.close()
    assert (keeper.reused, keeper.failure) == (0, None)


def test_where_nothing_can_be_kept_the_results_are_the_same_and_the_reason_is_known(top: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"precious")
    found = judged(sources(top), tmp_path / "file")
    assert found.facts == anew(sources(top))
    assert found.failure is not None
    assert "file" in found.failure
    assert (tmp_path / "file").read_bytes() == b"precious"


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_run_whose_cache_cannot_be_written_says_the_same(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "file").write_bytes(b"precious")
    plain = run("check", ".", "--no-cache", cwd=top)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / place))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / place))
    done = run("check", ".", cwd=top)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert "Traceback" not in done.stderr


def test_eight_runs_at_once_over_an_empty_cache_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        write_skill(tmp_path / "skills", f"skill-{number}", body=LINKED)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    code = (
        "import sys; from skillgate.cli.main import main; print(main(['score', sys.argv[1], '--output', 'markdown']))"
    )
    plain = run_python(code.replace("'--output'", "'--no-cache', '--output'"), tmp_path / "skills", cwd=tmp_path)
    argv = [sys.executable, "-c", code, str(tmp_path / "skills")]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONUTF8": "1"}
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    at_once = [subprocess.Popen(argv, cwd=tmp_path, env=environ, **streams) for _ in range(8)]
    said = {(*one.communicate(timeout=120), one.returncode) for one in at_once}
    assert said == {(plain.stdout, "", 0)}
    assert plain.stdout.endswith("\n0\n")
    left = {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert len(left) == 6 + 1 + 1  # the skills, what they have in common, and the time of the last look
    assert not {name for name in left if name.endswith(".part")}
    assert run_python(code, tmp_path / "skills", cwd=tmp_path).stdout == plain.stdout


HEAVY = ["yaml", "markdown_it", "hashlib", "_hashlib", "ssl", "multiprocessing", "concurrent.futures", "subprocess"]
HEAVY += ["dataclasses", "inspect", "ast", "tomllib", "socket", "random", "tempfile", "skillgate.evaluation.assess"]


@pytest.mark.parametrize("words", [["check"], ["score", "--output", "text"]])
def test_a_run_that_judges_nothing_loads_what_it_needs(top: Path, words: list[str]) -> None:
    code = """
import io, sys
from skillgate.cli.main import main
heavy, words = sys.argv[1].split(","), sys.argv[2:]
main(words, stdout=io.StringIO())
print(*sorted(name for name in heavy if name in sys.modules))
"""
    cold, warm = (run_python(code, ",".join(HEAVY), *words, ".", cwd=top).stdout.split() for _ in range(2))
    assert {"yaml", "markdown_it", "skillgate.evaluation.assess"} <= set(cold)
    assert warm == []


class Refusing(DiskTree):
    """A directory whose references cannot be read, for a reason of its own."""

    def __init__(self, root: str, reason: str) -> None:
        super().__init__(root)
        self.reason = reason

    def read(self, path: str, *, limit: int) -> bytes:
        if "references/" in path:
            raise OSError(5, self.reason)
        return super().read(path, limit=limit)


def remembering(top: Path, *trees: DiskTree) -> tuple[list[Assessment], int]:
    """Assess the first skill in one tree after the other; return the results, and how many were remembered."""
    assessor = Assessor(clock=CLOCK, remember=True)
    source = sources(top)[0]
    here = [source._replace(root=source.root._replace(tree=tree)) for tree in trees]
    return [opened(facts) for one in here for facts in assessor.assess([one])], assessor.reused


def test_what_was_assessed_in_one_tree_holds_in_another_that_is_the_same(top: Path) -> None:
    first = DiskTree(str(top))
    (one, other, again), reused = remembering(top, first, DiskTree(str(top)), first)
    assert (one, reused) == (other, 2)
    assert again == one == opened(assess(sources(top)[0], CLOCK))


def test_a_tree_that_differs_is_remembered_beside_the_first(top: Path) -> None:
    first = DiskTree(str(top))
    assessor = Assessor(clock=CLOCK, remember=True)
    source = sources(top)[0]
    source = source._replace(root=source.root._replace(tree=first))
    (before,) = assessor.assess([source])
    write(top / "skills/alpha/references/columns.md", "# Columns\n\n[gone](gone.md)\n")
    changed = source._replace(root=source.root._replace(tree=DiskTree(str(top))))
    (after,) = assessor.assess([changed])
    assert [opened(facts) for facts in assessor.assess([source, changed])] == [opened(before), opened(after)]
    assert (assessor.reused, before.claims == after.claims) == (2, False)


def test_why_a_file_cannot_be_read_is_said_of_each_tree(top: Path) -> None:
    (one, other), reused = remembering(top, Refusing(str(top), "too old"), Refusing(str(top), "too new"))
    said = [" ".join(claim.message for claim in facts.claims) for facts in (one, other)]
    assert reused == 0
    assert [("too old" in text, "too new" in text) for text in said] == [(True, False), (False, True)]
