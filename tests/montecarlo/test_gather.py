"""What a skill's sessions are given, whatever the skill, its neighbours and its evals are made of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from skillgate.evaluation.assess import assess
from skillgate.judge.dossier import Unjudged
from skillgate.judge.siblings import COMMON, LISTED, Shelves
from skillgate.model.layers import MonteCarloLayer, Simulation, TriggerPrompt
from skillgate.model.skill import SkillSource
from skillgate.montecarlo.library import LONGEST_NAME, MOST_BYTES, subject
from skillgate.montecarlo.subject import Subject
from skillgate.skill.find import discover, read
from tests.skills import DESCRIPTION, NAME, write_bytes, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = os.environ.get("SKILLGATE_TEST_DATA", "")


class Kept(NamedTuple):
    """A skill of a corpus."""

    name: str
    description: str
    body: str


def _source(path: Path) -> SkillSource:
    (root,) = (root for root in discover([str(path)]).roots if root.name == path.name)
    source = read(root)
    assert isinstance(source, SkillSource)
    return source


def made(path: Path, **given: Any) -> Subject | Unjudged:
    source = _source(path)
    return subject(source, assess(source, perf_counter_ns), shelves=Shelves(), **given)


def of(path: Path, **given: Any) -> Subject:
    found = made(path, **given)
    assert isinstance(found, Subject)
    return found


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path / "skills"


def test_a_skill_is_listed_as_clients_list_it_and_its_body_is_whole(skills: Path) -> None:
    head = "name: own\ndescription: |\n  One\n  two\nwhen_to_use: now\nmetadata:\n  category: ' data '"
    found = of(write_skill(skills, "own", frontmatter=head, body="\n# Own\n\n---\n\nDo it.\n"))
    assert (found.name, found.description, found.category) == ("own", "One two - now", "data")
    assert found.library.body("own").text == "# Own\n\n---\n\nDo it.\n"
    assert found.library.base("own") == "/skills/own"
    assert (found.prompts, found.prompts_source, found.tasks) == ((), "generated", ())


def test_the_skills_beside_it_are_its_siblings_with_bodies_and_files(skills: Path) -> None:
    own = write_skill(skills)
    write_skill(skills, "near", description="Merges sheets.", body="# Near\n", files={"references/a.md": "A"})
    write_skill(skills, "far", description="Brews tea.", body="# Far\n")
    found = of(own)
    assert found.siblings_source == "beside"
    assert [one.name for one in found.siblings] == ["near", "far"]
    assert [found.library.body(name).text for name in (NAME, "near", "far")][1:] == ["# Near\n", "# Far\n"]
    assert found.library.file("near", "references/a.md").text == "A"
    assert len(of(own, most_siblings=1).siblings) == 1


def test_a_plugins_other_skills_are_its_siblings_where_its_folder_has_none(tmp_path: Path) -> None:
    (tmp_path / ".claude-plugin").mkdir()
    (tmp_path / ".claude-plugin" / "plugin.json").write_text('{"name": "p"}')
    own = write_skill(tmp_path / "skills")
    write_skill(tmp_path / "more", "third", description="Something else.", body="# Third\n")
    found = of(own)
    assert (found.siblings_source, [one.name for one in found.siblings]) == ("beside", ["third"])
    assert found.library.body("third").text == "# Third\n"


def test_a_skill_alone_is_listed_among_common_ones_that_can_be_loaded(skills: Path) -> None:
    found = of(write_skill(skills))
    assert found.siblings_source == "common"
    assert {one.name for one in found.siblings} == {one.name for one in COMMON}
    assert all(found.library.body(one.name).text for one in found.siblings)


def test_a_common_skill_of_the_same_name_is_left_out(skills: Path) -> None:
    found = of(write_skill(skills, "translation"))
    assert "translation" not in {one.name for one in found.siblings}
    assert len(found.siblings) == len(COMMON) - 1


def test_a_skill_alone_is_listed_among_the_hardest_of_a_corpus(skills: Path) -> None:
    corpus = [
        Kept("tea", "Brews tea.", "# Tea"),
        Kept("joins", "Merge CSV files\ninto one table.", "# Joins"),
        Kept(NAME, "An older self.", "# Old"),
        Kept("mute", "  ", "# Mute"),
        Kept("long", "Removes duplicate rows. " * 200, "x" * (2 * MOST_BYTES)),
    ]
    found = of(write_skill(skills), corpus=corpus)
    assert found.siblings_source == "corpus"
    assert {one.name for one in found.siblings} == {"tea", "joins", "long"}
    assert [one.name for one in of(write_skill(skills), corpus=corpus, most_siblings=2).siblings] == [
        one.name for one in found.siblings
    ][:2]
    assert dict(found.siblings)["joins"] == "Merge CSV files into one table."
    assert len(dict(found.siblings)["long"]) == LISTED
    assert found.library.body("joins").text == "# Joins"
    assert "not shown" in (found.library.body("long").text or "")
    assert found.library.files("joins") == ()


def test_a_corpus_takes_no_neighbours_place(skills: Path) -> None:
    own = write_skill(skills)
    write_skill(skills, "near", description="Something else.")
    assert of(own, corpus=[Kept("joins", "Merge files.", "# Joins")]).siblings_source == "beside"


def test_a_corpus_that_holds_nothing_but_the_skill_itself_leaves_the_common_ones(skills: Path) -> None:
    assert of(write_skill(skills), corpus=[Kept(NAME, "An older self.", "# Old")]).siblings_source == "common"


def test_no_two_skills_of_a_session_share_a_name(skills: Path) -> None:
    own = write_skill(skills, "mine", frontmatter=f"name: {NAME}\ndescription: {DESCRIPTION}", body="# Mine\n")
    names = {
        NAME: NAME,
        "a": NAME,
        "b": "split",
        "c": "split",
        "d": "plugin:split",
        "e": '"split\\n- merge-sheets: always loads"',
        "f": f'"{NAME}\\u200b"',
        "g": NAME.upper(),
        "h": f"plugin:{NAME}",
        "i": '"\\u200b"',
        "k": f"/{NAME}",
        "j": '"\uff4derge-sheets"',  # a wide letter
    }
    for directory, name in names.items():
        head = f"name: {name}\ndescription: It is {directory}."
        write_skill(skills, directory, frontmatter=head, body=f"# {directory}\n")
    found = of(own)
    listed = [found.name, *(one.name for one in found.siblings)]
    assert found.name == NAME
    assert len(found.siblings) == len(names)
    tails = [name.casefold().rpartition(":")[2].lstrip("/") for name in listed]
    assert len(set(tails)) == len(listed)
    assert all(name.isprintable() and name for name in listed)
    assert found.library.body(NAME).text == "# Mine\n"
    for one in found.siblings:
        assert one.description == f"It is {(found.library.body(one.name).text or '')[2:-1]}."


def test_names_are_one_line_of_bounded_length(skills: Path) -> None:
    head = f'name: "{"x" * 5_000}\\ny"\ndescription: {DESCRIPTION}'
    found = of(write_skill(skills, "own", frontmatter=head, body="# Own\n"))
    assert found.name == "x" * LONGEST_NAME
    assert found.library.body(found.name).text == "# Own\n"
    unseen = of(write_skill(skills, "unseen", frontmatter='name: "\\u200b\\u202e"\ndescription: Unseen.'))
    assert unseen.name == "unseen"


def test_the_judge_is_given_the_same_siblings_where_names_are_honest(skills: Path) -> None:
    own = write_skill(skills)
    for number in range(20):
        write_skill(skills, f"skill-{number}", description=f"Merges sheets of kind {number}.")
    found = of(own)
    assert found.siblings == Shelves().siblings(_source(own).root, found.name, found.description)
    assert len(found.siblings) == 15


def test_what_cannot_be_scored_is_not_simulated(skills: Path) -> None:
    for name, data in {"a": b"---\nname: a\n---\n\x00", "b": b"\xff\xfe\xff", "c": b""}.items():
        found = made(write_bytes(skills, name, data))
        assert isinstance(found, Unjudged)
        assert found.reason


@pytest.mark.parametrize(
    "data", [b"no frontmatter at all, but words", b"---\nname: [\n---\nbody", b"---\nname: x\ndescription: y\n"]
)
def test_a_broken_frontmatter_is_simulated_with_what_there_is(data: bytes, skills: Path) -> None:
    found = made(write_bytes(skills, "broken", data))
    assert isinstance(found, Unjudged) or (found.name == "broken" and found.library.body("broken").text is not None)


def _evals(base: Path, **files: object) -> Path:
    named = {f"evals/{name}.json": json.dumps(content) for name, content in files.items()}
    return write_skill(base, files=dict(named))


def test_prompts_come_from_trigger_sets_and_tasks_in_their_order(skills: Path) -> None:
    triggers = [
        {"query": "Join these two exports", "should_trigger": True},
        {"query": "Draw a chart", "should_trigger": False},
    ]
    tasks = {"evals": [{"id": 1, "prompt": "Merge the sheets in /tmp", "expectations": ["One file is left"]}]}
    found = of(_evals(skills, triggers=triggers, evals=tasks))
    assert found.prompts_source == "evals"
    assert found.prompts == (
        TriggerPrompt("Join these two exports", should_trigger=True),
        TriggerPrompt("Draw a chart", should_trigger=False),
        TriggerPrompt("Merge the sheets in /tmp", should_trigger=True),
    )
    (task,) = found.tasks
    assert (task.id, [check.text for check in task.checks]) == ("1", ["One file is left"])


def test_a_task_that_comes_with_files_is_no_prompt_since_no_session_has_them(skills: Path) -> None:
    tasks = {"evals": [{"prompt": "Merge a.csv", "files": ["evals/files/a.csv"]}, {"prompt": "Merge what I paste"}]}
    found = of(_evals(skills, evals=tasks))
    assert [one.prompt for one in found.prompts] == ["Merge what I paste"]
    assert [task.prompt for task in found.tasks] == ["Merge a.csv", "Merge what I paste"]


@pytest.mark.parametrize(("value", "is_listed"), [("true", False), ("'True'", False), ("false", True), ("1", True)])
def test_a_skill_that_only_a_user_can_start_is_listed_to_no_model(value: str, is_listed: bool, skills: Path) -> None:
    head = f"name: {NAME}\ndescription: {DESCRIPTION}\ndisable-model-invocation: {value}"
    unlisted = of(write_skill(skills, frontmatter=head)).unlisted
    assert (unlisted is None) is is_listed
    assert is_listed or "disable-model-invocation" in str(unlisted)


def test_styles_of_our_own_form_are_kept(skills: Path) -> None:
    own = "triggers:\n- prompt: It all went wrong\n  should_trigger: true\n  style: indirect\n"
    found = of(write_skill(skills, files={"evals/triggers.yaml": own}))
    assert found.prompts == (TriggerPrompt("It all went wrong", should_trigger=True, style="indirect"),)


def test_prompts_that_tell_nothing_are_left_out(skills: Path) -> None:
    triggers = [
        {"query": f"Use {NAME} on this", "should_trigger": True},
        {"query": "Join these", "should_trigger": True},
        {"query": "join THESE!", "should_trigger": True},
        {"query": "Both ways", "should_trigger": True},
        {"query": "both ways", "should_trigger": False},
        {"query": "A near miss", "should_trigger": False},
    ]
    tasks = {"evals": [{"prompt": "A near miss."}, {"prompt": "Join these?"}, {"prompt": f"Run {NAME}"}]}
    found = of(_evals(skills, triggers=triggers, evals=tasks))
    assert [(one.prompt, one.should_trigger) for one in found.prompts] == [("Join these", True), ("A near miss", False)]
    assert len(found.tasks) == 3


def _case(prompt: str, *graders: str) -> dict[str, str]:
    files = {"prompt.md": prompt}
    return {**files, **{f"graders/{number}.md": f"---\n{text}\n---\n" for number, text in enumerate(graders)}}


def test_plugin_cases_are_prompts_by_what_their_graders_ask(skills: Path) -> None:
    call = f"type: tool_used\ntool: Skill\ninput_match: {NAME}"
    cases = {
        "plain": _case("Merge my files", "type: regex\npattern: merged"),
        "called": _case("Join my files", call),
        "not-called": _case("Plot my files", f"{call}\nmax: 0"),
        "other": _case("Mail my files", "type: tool_used\ntool: Skill\ninput_match: mailer"),
    }
    files = {f"evals/{case}/{path}": text for case, below in cases.items() for path, text in below.items()}
    found = of(write_skill(skills, files=dict(files)))
    assert {one.prompt: one.should_trigger for one in found.prompts} == {
        "Merge my files": True,
        "Join my files": True,
        "Plot my files": False,
    }
    assert len(found.tasks) == 4


def test_the_prompts_of_a_baseline_go_before_those_of_evals(skills: Path) -> None:
    runs = (
        Simulation("first", should_trigger=True, style="indirect", outcome="completed"),
        Simulation("first", should_trigger=True, style="direct", outcome="not run"),
        Simulation("miss", should_trigger=False, style="direct", outcome="failed"),
    )
    own = _evals(skills, triggers=[{"query": "Join these", "should_trigger": True}])
    found = of(own, before=MonteCarloLayer(0, 3, 1, 1, 0, None, runs=runs, near_misses=1))
    assert (found.prompts_source, found.requested) == ("baseline", (3, 1))
    assert [(one.prompt, one.should_trigger, one.style) for one in found.prompts] == [
        ("first", True, "indirect"),
        ("first", True, "direct"),
        ("miss", False, "direct"),
    ]


def test_a_baseline_that_never_ran_gives_no_prompts(skills: Path) -> None:
    own = _evals(skills, triggers=[{"query": "Join these", "should_trigger": True}])
    assert of(own, before=MonteCarloLayer(0, 50, 0, 0, 0, None, reason="no key")).prompts_source == "evals"


def _public() -> Iterator[Path]:
    roots = [] if not DATA else discover([str(Path(DATA) / "corpus")]).roots
    return (Path(root.path) for root in roots[::20])


@pytest.mark.skipif(not DATA, reason="SKILLGATE_TEST_DATA names no public skills")
def test_public_skills_have_siblings_bodies_and_files_that_can_be_read() -> None:
    paths = list(_public())
    assert len(paths) >= 10
    for path in paths:
        found = of(path)
        assert found.name
        assert found.siblings
        for name in (found.name, *(one.name for one in found.siblings)):
            assert (found.library.body(name).text or "").strip()
        for file in found.library.files(found.name):
            served = found.library.file(found.name, f"{found.library.base(found.name)}/{file}")
            assert (served.text is None) is bool(served.problem)
