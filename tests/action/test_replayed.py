"""Single changes to real skills, each a pull request of its own: red only for what it did, and said in few words."""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

pytest.importorskip("openapi_core", reason="openapi-core is not installed")

from tests.action.edits import EDITS, Edit, added, collect, moved
from tests.action.prose import PROSE
from tests.action.pull_request import PullRequest
from tests.action.test_real_history import CORPUS
from tests.github.fake_github import NAME, TOKEN, FakeGitHub

if TYPE_CHECKING:
    from tests.action.pull_request import Ran

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="SKILLGATE_TEST_DATA names no test data")
DEAD = "".join(f"\nSee [part {number}](references/part-{number}.md).\n" for number in range(34))
NAMES = (
    *("brainstorming", "writing-skills", "systematic-debugging", "finishing-a-development-branch", "commit"),
    *("create-pr", "security-review", "iterate-pr", "agents-md", "doc-coauthoring", "using-superpowers"),
)
MEDIAN, MOST = 1_500, 6_000  # characters of a comment


class Replay(NamedTuple):
    """One change, and what the Action said of it."""

    kind: str
    fails: tuple[str, ...]
    ran: Ran
    comment: str

    @property
    def diff(self) -> Any:
        return self.ran.document("diff.json")


def changes(skills: Path) -> list[Edit]:
    """List the edits of the real history, and more of some kinds on other skills."""
    names = [name for name in NAMES if (skills / name / "SKILL.md").is_file()]
    more = [Edit("a paragraph added", name, added(f"{name}/SKILL.md", f"\n{PROSE[2]}\n")) for name in names]
    more += [Edit("renamed", f"{name}-2", moved(name, f"{name}-2")) for name in names[:3]]
    more += [
        Edit(
            "a dead link added",
            name,
            added(f"{name}/SKILL.md", "\nSee [it](references/gone.md).\n"),
            fails=("new-error",),
        )
        for name in names[3:6]
    ]
    more.append(Edit("34 dead links", names[0], added(f"{names[0]}/SKILL.md", DEAD), fails=("new-error", "regression")))
    return [*EDITS, *more]


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> list[Replay]:
    folder = tmp_path_factory.mktemp("replayed")
    found = []
    skills = folder / "all" / "skills"
    collect(CORPUS, skills)
    for number, edit in enumerate(changes(skills)):
        made = PullRequest(folder=folder / str(number) / "work", repository=NAME)
        shutil.copytree(skills, made.folder / "skills")
        made.base({".skillgate.yaml": "max-drop: 3\n"})
        edit.change(made.folder / "skills")
        made.change({})
        with FakeGitHub() as github:
            made.environ = {"INPUT_GITHUB-TOKEN": TOKEN, "GITHUB_API_URL": github.url, "INPUT_COMMENT": "always"}
            ran = made.run()
            (comment,) = github.bodies
        found.append(Replay(edit.kind, edit.fails, ran, comment.replace("\r\n", "\n")))
    return found


def test_there_are_many(replays: list[Replay]) -> None:
    assert len(replays) >= 30


def test_none_fails_for_what_was_there_before(replays: list[Replay]) -> None:
    failing = {index: replay.ran.code for index, replay in enumerate(replays) if replay.ran.code}
    assert failing == {index: 1 for index, replay in enumerate(replays) if replay.fails}


def test_no_finding_is_both_new_and_gone(replays: list[Replay]) -> None:
    for replay in replays:
        for change in (*replay.diff["skills"], replay.diff["across"] or {"new": (), "fixed": ()}):
            both = {(one["id"], one["message"]) for one in change["new"]}
            assert not both & {(one["id"], one["message"]) for one in change["fixed"]}, replay.kind


def test_comments_are_short(replays: list[Replay]) -> None:
    lengths = [len(replay.comment) for replay in replays]
    print(sorted(lengths))
    assert statistics.median(lengths) <= MEDIAN
    assert max(lengths) <= MOST


def test_each_finding_is_said_once(replays: list[Replay]) -> None:
    for replay in replays:
        for change in replay.diff["skills"]:
            for finding in change["new"]:
                said = replay.comment.partition("#### New findings")[2]
                assert said.count(finding["message"][:60]) <= 1, (replay.kind, finding)
