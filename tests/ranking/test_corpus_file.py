"""A corpus on disk: what a killed run leaves, who may write, and what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skillgate.errors import IncompleteError, UsageError
from skillgate.evaluation.corpus.store import Store, is_below, origin_of, place_of
from skillgate.model.corpus import CorpusIndex, Indexed, PageText, Played, SkillText

A, B = "a" * 32, "b" * 32
WRITES = """
import sys
from skillgate.model.corpus import CorpusIndex, Indexed, Played
from skillgate.evaluation.corpus.store import Store
store = Store(sys.argv[1])
members = tuple(Indexed(f"skill-{n}", f"{n:032x}", "x" * 200, "", n) for n in range(500))
with store.writing():
    store.put_index(CorpusIndex(members=members))
    print("begun", flush=True)
    number = 0
    while True:
        number += 1
        store.add([Played("a" * 32, "b" * 32, 1.0, ("win", "win"), False, (), (), f"m{number}", "1", "live")])
        store.put_index(CorpusIndex(members=tuple(one._replace(matches=number) for one in members)))
"""


def match(model: str = "m") -> Played:
    """Give a decided match."""
    return Played(A, B, 1.0, ("win", "win"), False, (), (), model, "1", "live")


def test_a_run_that_is_killed_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    for delay_s in (0.0, 0.013, 0.037, 0.071):
        folder = tmp_path / str(delay_s)
        child = subprocess.Popen([sys.executable, "-c", WRITES, str(folder)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(delay_s)  # at another moment each time
        child.send_signal(signal.SIGKILL) if hasattr(signal, "SIGKILL") else child.kill()
        child.wait()
        child.stdout.close()
        store = Store(str(folder))
        index, matches = store.index(), store.matches()
        assert index is not None
        assert len(index.members) == 500
        assert not matches.problems
        assert len({one.matches for one in index.members}) == 1
        assert index.members[0].matches <= len(matches.played)
        with store.writing():  # its lock went with it
            store.add([match("after")])
        assert store.matches().played == (*matches.played, match("after"))


def test_a_match_that_was_not_written_to_its_end_is_not_there_and_makes_room(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "c"))
    with store.writing():
        store.add([match("one"), match("two")])
        with (tmp_path / "c" / "matches.jsonl").open("ab") as file:
            file.write(b'{"first":"aaaa')
        torn = store.matches()
        store.add([match("three")])
    assert torn.torn
    assert [one.model for one in torn.played] == ["one", "two"]
    assert store.matches() == (tuple(map(match, ("one", "two", "three"))), (), False)


def test_a_torn_line_longer_than_what_is_read_at_once_goes_as_a_whole(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "c"))
    with store.writing():
        (tmp_path / "c" / "matches.jsonl").write_bytes(b"x" * 200_000)
        store.add([match()])
    assert store.matches().played == (match(),)


def test_a_line_that_is_no_match_is_named(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "c"))
    with store.writing():
        store.add([match()])
        with (tmp_path / "c" / "matches.jsonl").open("ab") as file:
            file.write(b'{"first": 1}\n[NaN]\n')
    (one, two) = store.matches().problems
    assert "matches.jsonl:2" in one
    assert "matches.jsonl:3" in two


def test_two_writers_are_told_apart(tmp_path: Path) -> None:
    one, two = Store(str(tmp_path)), Store(str(tmp_path))
    with one.writing(), pytest.raises(IncompleteError, match="another run is writing"), two.writing():
        raise AssertionError
    with two.writing():
        two.put_index(CorpusIndex())
    assert one.index() == CorpusIndex()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"kind": "score"}', "is not a document of kind 'corpus-index'"),
        ('{"kind": "corpus-index", "corpus_version": 2}', "has version 2"),
        ('{"kind": "corpus-index", "members": [{"name": 1}]}', "members\\[0\\]"),
        (
            '{"kind": "corpus-index", "members": [{"name": "x", "digest": "../../x", "path": "", "category": "",'
            ' "lines": 1}]}',
            "is not a digest",
        ),
        (
            f'{{"kind": "corpus-index", "members": [{{"name": "x", "digest": "{A}", "path": "", "category": "",'
            ' "lines": 1, "rating": 1e300}]}',
            "rating",
        ),
    ],
)
def test_an_index_that_is_none_is_refused_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(UsageError, match=said):
        Store(str(tmp_path)).index()


def test_a_text_is_found_by_its_digest_alone(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    text = SkillText(A, (PageText("SKILL.md", "one \ud800 two\n"),))
    with store.writing():
        store.put_text(text)
        store.keep_texts([A])
        assert store.text(A) == text
        store.keep_texts([B])
    assert store.text(A) is None
    assert store.text("../index") is None


def test_what_is_not_a_text_is_left_alone(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with store.writing():
        (tmp_path / "texts" / "notes.json").write_text("{}")
        store.keep_texts([])
    assert (tmp_path / "texts" / "notes.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "texts").symlink_to(tmp_path / "elsewhere")
    store = Store(str(tmp_path / "c"))
    with pytest.raises(UsageError, match="symbolic link"), store.writing():
        raise AssertionError
    (tmp_path / "c" / "texts").unlink()
    (tmp_path / "victim").write_text("mine\n")
    (tmp_path / "c" / "matches.jsonl").symlink_to(tmp_path / "victim")
    with store.writing(), pytest.raises(UsageError, match=r"matches\.jsonl"):
        store.add([match()])
    assert (tmp_path / "victim").read_text() == "mine\n"


def test_the_place_is_the_system_s_unless_told() -> None:
    if os.name == "nt":
        pytest.skip("another place there")
    assert place_of({"HOME": "/h"}, None, "/w") == "/h/.local/share/skillgate/corpus"
    assert place_of({"HOME": "/h", "XDG_DATA_HOME": "/d"}, None, "/w") == "/d/skillgate/corpus"
    assert place_of({"HOME": "/h", "XDG_DATA_HOME": "d"}, None, "/w") == "/h/.local/share/skillgate/corpus"
    assert place_of({}, None, "/w") == ""
    assert place_of({}, "x/../c", "/w") == "/w/c"


def test_an_origin_moves_with_its_corpus(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "skills" / "a").mkdir(parents=True)
        (tmp_path / name / "corpus").mkdir()
    origin = origin_of(str(tmp_path / "one" / "corpus"), str(tmp_path / "one" / "skills" / "a"))
    assert origin == "../skills/a"
    assert is_below(str(tmp_path / "two" / "corpus"), origin, str(tmp_path / "two" / "skills"))
    assert not is_below(str(tmp_path / "two" / "corpus"), origin, str(tmp_path / "one"))
    assert not is_below(str(tmp_path / "two" / "corpus"), "", str(tmp_path))


def test_an_index_reads_back_as_it_was_written(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "c"))
    index = CorpusIndex(members=(Indexed("näme \u202e", A, "p", "c", 3, 71.5, "silver", rating=1498.125, matches=2),))
    with store.writing():
        store.put_index(index)
    assert store.index() == index
