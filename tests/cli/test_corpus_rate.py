"""Rating a corpus: pairs are played once, what was decided is kept, and what was not is said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import Done, run
from tests.cli.test_corpus_command import built, listed, skills
from tests.llm.gateway import Keeps, gateway
from tests.standard import asking

pytest.importorskip("numpy")
NAMES = ("ant", "bee", "cat", "dog", "eel")
DOWN = "rules: [{match: {question: match}, reply: {status: 401}}]"


def corpus(base: Path, *names: str) -> None:
    """Build a corpus of some skills in ``c``."""
    skills(base, *(names or NAMES))
    built(base)


def rate(base: Path, *words: str, rules: str = "") -> Done:
    """Rate the corpus by a scripted model, with rules where some are given."""
    extra: tuple[str, ...] = ("--no-cache",)  # other tests ask the same
    if rules:
        (base / "rules.yaml").write_text(rules)
        extra = (*extra, "--script", "rules.yaml")
    return run(base, "corpus", "rate", "--provider", "scripted", "--corpus-dir", "c", *extra, *words)


def matches(base: Path) -> list[dict[str, object]]:
    """Give the matches on disk."""
    path = base / "c/matches.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_every_pair_is_played_once_and_never_again(tmp_path: Path) -> None:
    corpus(tmp_path)
    done = rate(tmp_path)
    assert done.code == 0
    assert done.out.startswith("10 pairs decided, 0 decided before, 0 not judged; $0.00 now; judge ")
    before = matches(tmp_path)
    assert len({(one["first"], one["second"]) for one in before}) == len(before) == 10
    again = rate(tmp_path)
    assert again.out.startswith("0 pairs decided, 10 decided before")
    assert matches(tmp_path) == before
    assert sorted(one["matches"] for one in listed(tmp_path).values()) == [4] * 5


def test_ratings_are_those_of_the_matches_the_median_at_1500(tmp_path: Path) -> None:
    corpus(tmp_path)
    rate(tmp_path)
    ratings = sorted(one["rating"] for one in listed(tmp_path).values())
    assert ratings[2] == pytest.approx(1500)
    assert run(tmp_path, "corpus", "verify", "--corpus-dir", "c").code == 0


def test_each_skill_meets_its_nearest(tmp_path: Path) -> None:
    corpus(tmp_path, *NAMES, "fox", "gnu", "hen")
    done = rate(tmp_path, "--opponents", "2")
    assert done.code == 0
    assert all(one["matches"] >= 2 for one in listed(tmp_path).values())
    assert len(matches(tmp_path)) < 8 * 7 / 2


def test_a_skill_more_costs_its_own_matches_alone(tmp_path: Path) -> None:
    corpus(tmp_path)
    rate(tmp_path)
    skills(tmp_path, "fox")
    built(tmp_path)
    assert rate(tmp_path).out.startswith("5 pairs decided, 10 decided before")


def test_a_changed_skill_is_played_anew_and_the_others_keep_what_they_have(tmp_path: Path) -> None:
    corpus(tmp_path)
    rate(tmp_path)
    before = listed(tmp_path)
    file = tmp_path / "skills/ant/SKILL.md"
    file.write_text(file.read_text() + "More of it.\n")
    assert "0 added, 4 unchanged, 1 changed, 0 removed" in built(tmp_path).out
    after = listed(tmp_path)
    assert after["ant"]["rating"] is None
    assert all(after[name] == before[name] for name in NAMES[1:])
    assert run(tmp_path, "corpus", "verify", "--corpus-dir", "c").code == 0
    assert rate(tmp_path).out.startswith("4 pairs decided, 6 decided before")


def test_another_judge_plays_them_again(tmp_path: Path) -> None:
    corpus(tmp_path)
    rate(tmp_path)
    assert rate(tmp_path, "--judge-model", "claude-haiku-4-5").out.startswith("10 pairs decided, 0 decided before")
    assert sorted(one["matches"] for one in listed(tmp_path).values()) == [4] * 5


def test_what_was_played_before_the_budget_ran_out_is_rated(tmp_path: Path) -> None:
    corpus(tmp_path)
    done = rate(tmp_path, "--max-calls", "8", "--in-flight", "1")
    assert done.code == 3
    assert len(matches(tmp_path)) == 4
    assert "4 pairs decided, 0 decided before, 6 not judged" in done.out
    assert "6 pairs not judged: " in done.err
    assert sum(one["matches"] for one in listed(tmp_path).values()) == 8
    assert run(tmp_path, "corpus", "verify", "--corpus-dir", "c").code == 0
    assert rate(tmp_path).out.startswith("6 pairs decided, 4 decided before")


def test_an_outage_rates_nothing_and_is_said(tmp_path: Path) -> None:
    corpus(tmp_path)
    done = rate(tmp_path, rules=DOWN)
    assert done.code == 3
    assert "no pair is decided, so nothing is rated" in done.out
    assert "0 pairs decided, 0 decided before, 10 not judged" in done.out
    assert "refused" in done.err or "401" in done.err
    assert matches(tmp_path) == []
    assert {one["rating"] for one in listed(tmp_path).values()} == {None}


def test_a_dry_run_says_what_it_would_cost_and_plays_nothing(tmp_path: Path) -> None:
    corpus(tmp_path)
    done = rate(tmp_path, "--dry-run")
    assert done.code == 0
    assert done.out.startswith("Dry run, nothing was sent: 10 of 10 pairs to play, 20 calls to make.\n")
    assert matches(tmp_path) == []


def test_ratings_of_a_real_model_are_not_replaced_by_a_scripted_one_s(tmp_path: Path) -> None:
    corpus(tmp_path)
    rate(tmp_path)
    words = ("corpus", "rate", "--corpus-dir", "c", "--max-cost-usd", "5", "--json")
    with asking.model() as demo, gateway(demo.server.base_url, Keeps(ids=False, headers=False)) as at:
        done = asking.run(tmp_path, *words, at=at)
    assert done.code == 0
    assert done.json["fit"]["source"] == "live"
    assert len(demo.asked) == 20
    before = listed(tmp_path)
    assert all(asking.KEY.encode() not in path.read_bytes() for path in (tmp_path / "c").rglob("*.json*"))
    refused = rate(tmp_path)
    assert (refused.code, refused.out) == (2, "")
    assert "are from a real model" in refused.err
    assert listed(tmp_path) == before


def test_a_server_that_answers_as_a_scripted_model_gives_no_live_ratings(tmp_path: Path) -> None:
    corpus(tmp_path)
    words = ("corpus", "rate", "--corpus-dir", "c", "--max-cost-usd", "5", "--json")
    with asking.model() as demo, gateway(demo.server.base_url, Keeps()) as at:
        for _ in range(2):
            done = asking.run(tmp_path, *words, at=at)
            assert (done.code, done.json["fit"]["source"]) == (0, "scripted")
    assert {one["source"] for one in matches(tmp_path)} == {"scripted"}
    assert len(matches(tmp_path)) == 10


def test_much_is_not_spent_unasked(tmp_path: Path) -> None:
    corpus(tmp_path, *(f"skill-{number}" for number in range(20)))
    with asking.model() as at:
        done = asking.run(tmp_path, "corpus", "rate", "--corpus-dir", "c", at=at)
    assert (done.code, at.asked) == (2, [])
    assert "pairs may cost about $" in done.err


def test_a_text_that_is_gone_is_not_judged(tmp_path: Path) -> None:
    corpus(tmp_path)
    next((tmp_path / "c/texts").iterdir()).unlink()
    done = rate(tmp_path)
    assert done.code == 3
    assert "6 pairs decided, 0 decided before, 4 not judged" in done.out
    assert "is missing or changed" in done.err


def test_a_run_beside_another_one_is_refused(tmp_path: Path) -> None:
    from skillgate.evaluation.corpus.store import Store

    corpus(tmp_path)
    with Store(str(tmp_path / "c")).writing():
        for done in (rate(tmp_path), built(tmp_path)):
            assert done.code == 3
            assert "another run is writing the corpus" in done.err
    assert rate(tmp_path).code == 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_run_that_is_killed_goes_on_from_what_it_had_decided(tmp_path: Path) -> None:
    corpus(tmp_path)
    (tmp_path / "slow.yaml").write_text("rules: [{match: {question: match}, reply: {delay_ms: 150}}]")
    words = [
        "corpus",
        "rate",
        "--provider",
        "scripted",
        "--script",
        "slow.yaml",
        "--corpus-dir",
        "c",
        "--in-flight",
        "2",
    ]
    environ = {**os.environ, "HOME": str(tmp_path / "home")}
    child = subprocess.Popen([sys.executable, "-m", "skillgate", *words], cwd=tmp_path, env=environ)
    deadline = time.monotonic() + 60
    while len(matches(tmp_path)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    child.kill()
    child.wait()
    decided = matches(tmp_path)
    assert 2 <= len(decided) < 10
    assert run(tmp_path, "corpus", "verify", "--corpus-dir", "c").code == 0
    done = rate(tmp_path)
    assert done.out.startswith(f"{10 - len(decided)} pairs decided, {len(decided)} decided before, 0 not judged")
    assert matches(tmp_path)[: len(decided)] == decided


POISON = "rules: [{match: {question: match, contains: POISON}, reply: {stop_reason: refusal}}]"


def test_a_skill_that_the_judge_refuses_is_not_rateable_and_nobody_meets_it_again(tmp_path: Path) -> None:
    skills(tmp_path, *NAMES)
    file = tmp_path / "skills/ant/SKILL.md"
    file.write_text(file.read_text() + "POISON\n")
    built(tmp_path)
    done = rate(tmp_path, rules=POISON)
    assert done.code == 3
    assert "not rateable, because the judge gives no verdicts on them: ant; no skill is compared with them" in done.out
    assert (
        "4 pairs not judged: the model refused to answer (caused by the text of a skill that is not rateable"
        in done.err
    )
    found = listed(tmp_path)
    assert {name: one["rateable"] for name, one in found.items()} == {name: name != "ant" for name in NAMES}
    assert (found["ant"]["rating"], found["ant"]["matches"]) == (None, 0)
    assert sorted(found[name]["matches"] for name in NAMES[1:]) == [3] * 4
    verified = run(tmp_path, "corpus", "verify", "--corpus-dir", "c")
    assert verified.code == 0
    assert "ant (" in verified.out
    assert "is not rateable" in verified.out
    assert "not rateable" in run(tmp_path, "corpus", "show", "ant", "--corpus-dir", "c").out
    assert "refused" in run(tmp_path, "corpus", "list", "--corpus-dir", "c").out
    again = rate(tmp_path, rules=POISON)
    assert again.code == 0
    assert again.out.startswith("0 pairs decided, 6 decided before, 0 not judged")
    built(tmp_path)
    assert not listed(tmp_path)["ant"]["rateable"]
    other = rate(tmp_path, "--judge-model", "claude-haiku-4-5")
    assert other.out.startswith("10 pairs decided")
    assert all(one["rateable"] for one in listed(tmp_path).values())


def test_a_skill_that_is_marked_by_hand_is_found(tmp_path: Path) -> None:
    corpus(tmp_path)
    rate(tmp_path)
    index = json.loads((tmp_path / "c/index.json").read_text())
    index["members"][0]["rateable"] = False
    (tmp_path / "c/index.json").write_text(json.dumps(index))
    done = run(tmp_path, "corpus", "verify", "--corpus-dir", "c")
    assert done.code == 1
    assert "is marked as not rateable, but no two pairs without a verdict confirm it" in " ".join(done.out.split())
