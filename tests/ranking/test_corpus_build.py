"""What a search makes of an index, and what is kept of a skill."""

from __future__ import annotations

from pathlib import Path

from skillgate.evaluation.corpus.members import (
    Candidate,
    built,
    entrant_of,
    joined,
    member,
    open_corpus,
    ratings_digest,
    siblings,
    text_of,
)
from skillgate.evaluation.corpus.store import Store, content_digest
from skillgate.model.corpus import CorpusIndex, Fit, Indexed
from skillgate.ranking.corpus import Entrant, Text
from skillgate.skill.find import discover, read
from tests.skills import DESCRIPTION, write_bytes, write_skill


def entrant(path: Path) -> Entrant:
    """Read a skill from disk."""
    (root,) = discover([str(path)]).roots
    source = read(root)
    found = entrant_of(source)  # type: ignore[arg-type]
    assert found is not None
    return found


def candidate(letter: str, origin: str = "") -> Candidate:
    """Give a skill that was found; its content is told by a letter."""
    pages = (Text("SKILL.md", letter),)
    return Candidate(Entrant(letter, content_digest(pages), "", 10, pages), letter, origin or letter, 70.0, "silver")


def digest(letter: str) -> str:
    """Give the digest of a candidate."""
    return candidate(letter).entrant.digest


def index(*letters: str) -> CorpusIndex:
    """Give an index of rated members."""
    found = built(CorpusIndex(), [candidate(one) for one in letters], is_gone=lambda _: False, played=()).corpus
    members = tuple(one._replace(rating=1600.0, matches=3, anchor=True) for one in found.members)
    return CorpusIndex(members=members, fit=Fit("live", 3, 3))


def names(found: CorpusIndex) -> str:
    """Give the members' names."""
    return "".join(one.name for one in found.members)


def test_a_rebuild_keeps_ratings_by_content() -> None:
    done = built(index("a", "b"), [candidate("a"), candidate("c")], is_gone=lambda _: False, played=())
    assert (names(done.corpus), done.added, done.stayed, done.changed, done.dropped) == ("abc", 1, 1, 0, 0)
    assert [(one.rating, one.matches) for one in done.corpus.members] == [(1600.0, 3), (1600.0, 3), (1500.0, 0)]
    assert done.corpus.fit == Fit("live", 3, 3)


def test_a_skill_that_moved_keeps_its_rating() -> None:
    done = built(index("a"), [candidate("a", "elsewhere")], is_gone=lambda _: True, played=())
    assert [(one.origin, one.rating) for one in done.corpus.members] == [("elsewhere", 1600.0)]
    assert (done.stayed, done.changed, done.dropped) == (1, 0, 0)


def test_a_skill_that_changed_starts_anew_and_is_counted_once() -> None:
    done = built(index("a"), [candidate("b", "a")], is_gone=lambda _: False, played={digest("a")})
    assert (names(done.corpus), done.added, done.stayed, done.changed, done.dropped) == ("b", 0, 0, 1, 0)
    assert done.corpus.members[0].matches == 0
    assert [one.name for one in done.corpus.former] == ["a"]


def test_a_skill_that_is_back_has_its_rating_again() -> None:
    left = built(index("a", "b"), [candidate("b")], is_gone=lambda _: True, played={digest("a")}).corpus
    done = built(left, [candidate("a")], is_gone=lambda _: False, played={digest("a")})
    assert names(left) == "b"
    assert (names(done.corpus), done.added) == ("ab", 1)
    assert done.corpus.members[0].rating == 1600.0
    assert done.corpus.former == ()


def test_who_left_without_a_match_is_forgotten() -> None:
    done = built(index("a", "b"), [candidate("b")], is_gone=lambda _: True, played=())
    assert (names(done.corpus), done.dropped, done.corpus.former) == ("b", 1, ())


def test_equal_skills_are_one_member() -> None:
    done = built(CorpusIndex(), [candidate("a", "x"), candidate("a", "y")], is_gone=lambda _: False, played=())
    assert (len(done.corpus.members), done.doubles, done.added) == (1, 1, 1)
    assert done.corpus.members[0].origin == "x"


def test_what_arrives_brings_no_rating() -> None:
    boasting = Indexed("z", "f" * 32, "z", "", 10, rating=2900.0, matches=99, anchor=True, origin="/etc")
    found = joined(index("a"), CorpusIndex(members=(*index("a").members, boasting)))
    assert [(one.name, one.rating, one.matches, one.origin) for one in found.members] == [
        ("a", 1600.0, 3, "a"),
        ("z", 1500.0, 0, ""),
    ]


def test_the_digest_is_of_every_page(tmp_path: Path) -> None:
    plain = entrant(write_skill(tmp_path / "one"))
    copy = entrant(write_skill(tmp_path / "two"))
    more = entrant(write_skill(tmp_path / "three", files={"references/x.md": "# X\n\nMore of it.\n"}))
    other = entrant(write_skill(tmp_path / "four", files={"references/x.md": "# X\n\nLess of it.\n"}))
    assert plain.digest == copy.digest
    assert len({plain.digest, more.digest, other.digest}) == 3
    assert [page.path for page in more.pages] == ["SKILL.md", "references/x.md"]


def test_a_skill_that_cannot_be_scored_takes_part_in_nothing(tmp_path: Path) -> None:
    (root,) = discover([str(write_bytes(tmp_path, "broken", b"\xff\xfe\x00"))]).roots
    assert entrant_of(read(root)) is None  # type: ignore[arg-type]


def kept(folder: Path, *skills: Path) -> Store:
    """Keep skills as a corpus."""
    store = Store(str(folder))
    found = [Candidate(entrant(path), path.name, path.name, None, None) for path in skills]
    with store.writing():
        for one in found:
            store.put_text(text_of(one.entrant))
        store.put_index(built(CorpusIndex(), found, is_gone=lambda _: False, played=()).corpus)
    return store


def test_a_corpus_gives_members_with_their_texts_as_they_were_indexed(tmp_path: Path) -> None:
    path = write_skill(tmp_path, files={"references/x.md": "# X\n\nMore of it.\n"})
    before = entrant(path)
    kept(tmp_path / "c", path)
    (path / "SKILL.md").write_text("changed")
    corpus = open_corpus(str(tmp_path / "c"))
    assert corpus is not None
    assert corpus.entrant(corpus.members[0]) == before


def test_a_text_that_was_changed_is_nobody_s(tmp_path: Path) -> None:
    kept(tmp_path / "c", write_skill(tmp_path))
    (file,) = (tmp_path / "c" / "texts").iterdir()
    file.write_text(file.read_text().replace("Merge", "Purge"))
    corpus = open_corpus(str(tmp_path / "c"))
    assert corpus is not None
    assert corpus.entrant(corpus.members[0]) is None
    assert list(siblings(corpus)) == []


def test_where_there_is_no_corpus_there_is_none(tmp_path: Path) -> None:
    assert open_corpus(str(tmp_path)) is None
    assert open_corpus("") is None


def test_members_can_be_listed_beside_a_skill_that_lies_alone(tmp_path: Path) -> None:
    hidden = f"name: by-hand\ndescription: {DESCRIPTION}\ndisable-model-invocation: true"
    kept(
        tmp_path / "c",
        write_skill(tmp_path / "s", "merge-sheets"),
        write_skill(tmp_path / "s", "by-hand", frontmatter=hidden),
        write_skill(tmp_path / "s", "silent", frontmatter="name: silent"),
    )
    corpus = open_corpus(str(tmp_path / "c"))
    assert corpus is not None
    (one,) = siblings(corpus)
    assert (one.name, one.description) == ("merge-sheets", DESCRIPTION)
    assert one.body.startswith("# Merge sheets\n")


def test_the_digest_of_a_corpus_is_that_of_its_ratings() -> None:
    one, two = map(member, index("a", "b").members)
    assert ratings_digest([one, two]) == ratings_digest([two, one])
    assert ratings_digest([one, two]) != ratings_digest([one, two._replace(rating=1601.0)])
    assert ratings_digest([one, two]) == ratings_digest([one, two._replace(path="elsewhere")])
