"""What one session is given: lines of files once and within bounds, and a list in which no author chooses a place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from skillgate.judge.subject import Sibling
from skillgate.model.exchange import Request
from skillgate.model.layers import COMPLETED
from skillgate.montecarlo import tools
from skillgate.montecarlo.session import session
from skillgate.montecarlo.subject import Served, Subject
from skillgate.montecarlo.tools import MOST_SERVED, listing, numbered
from tests.judge.doubles import Model, cases, drive, given, load, plan, subject, text, turn, turns, use

if TYPE_CHECKING:
    from collections.abc import Mapping

CASE = cases(1)[0]


class Files:
    """A library whose files are those of every skill, and are made anew each time they are asked for."""

    def __init__(self, files: Mapping[str, str], bodies: Mapping[str, str] | None = None) -> None:
        self._files = files
        self._bodies = bodies or {}

    def base(self, skill: str) -> str:
        return f"/skills/{skill}"

    def body(self, skill: str) -> Served:
        return Served(self._bodies.get(skill, "# Body\n"))

    def file(self, skill: str, path: str) -> Served:
        inside = path.removeprefix("./").removeprefix(f"{self.base(skill)}/")
        return Served("".join(self._files[inside])) if inside in self._files else Served(None, "no such file")

    def files(self, skill: str) -> tuple[str, ...]:
        return tuple(sorted(self._files))


def _results(request: Request) -> list[tuple[str, bool]]:
    blocks = [block for block in given(request) if block["type"] == "tool_result"]
    return [(block["content"], block.get("is_error", False)) for block in blocks]


def test_lines_that_were_given_are_not_given_again_however_they_are_asked_for() -> None:
    paths = ("references/keys.md", "./references/keys.md", "/skills/merge-sheets/references/keys.md")
    again = tuple(use("Read", number, file_path=path) for number, path in enumerate(paths))
    part = use("Read", 9, file_path="references/keys.md", offset=1, limit=1)
    model = Model(turns((load(),), again, (*again, part), (text("Done."),)))
    library = Files({"references/keys.md": "# Keys\nNewest wins.\n"})
    drive(session(subject(library=library), plan(), CASE, 0, 0), model)
    first, second = _results(model.asked[2]), _results(model.asked[3])
    assert first[0] == ("     1\t# Keys\n     2\tNewest wins.", False)
    assert {said for said, _ in (*first[1:], *second)} == {tools.UNCHANGED}
    assert not any(wrong for _, wrong in (*first, *second))


def test_a_long_file_is_read_in_parts_as_long_as_a_client_s() -> None:
    lines = [f"{number} {'x' * 90}" for number in range(1, 1_201)]
    served: list[str] = []
    start = 1
    model = Model(lambda request: read(request))

    def read(request: Request) -> object:
        nonlocal start
        if turn(request) > 1:
            said = _results(request)[0][0]
            served.extend(line.partition("\t")[2] for line in said.splitlines() if "\t" in line)
            assert len(said) < 50_200
            start = len(served) + 1
            if f"give {start} as the first line" not in said:
                return (text("Done."),)
        return (load(),) if turn(request) == 0 else (use("Read", file_path="references/long.md", offset=start),)

    went = drive(session(subject(library=Files({"references/long.md": "\n".join(lines)})), plan(), CASE, 0, 0), model)
    assert (went.outcome, served) == (COMPLETED, lines)
    assert went.turns == 5


@pytest.mark.parametrize(("limit", "shown"), [(None, 2_000), (5_000, 2_000), (1_999, 1_999)])
def test_two_thousand_lines_are_given_at_once_and_what_is_left_is_said(limit: int | None, shown: int) -> None:
    said, given = numbered("\n" * 3_000, 1, limit or 1 << 31)
    assert given == range(1, shown + 1)
    assert ("(lines 1 to 2000 of 3000 are shown" in said) is (limit != 1_999)


def test_a_session_is_given_so_much_text_and_no_more_in_one_turn_or_in_many() -> None:
    files = {f"references/{number:02}.md": f"{number} " + "x\n" * 1_900 for number in range(60)}
    reads = tuple(use("Read", number, file_path=path) for number, path in enumerate(files))
    model = Model(turns((load(),), reads[:30], reads[30:], reads, (text("Done."),)))
    went = drive(session(subject(library=Files(files)), plan(), CASE, 0, 0), model)
    results = [one for request in model.asked[2:5] for one in _results(request)]
    given = [said for said, wrong in results if not wrong and said != tools.UNCHANGED]
    assert 300_000 < sum(map(len, given)) <= MOST_SERVED
    assert (tools.FULL, True) in results
    assert went.outcome == COMPLETED
    assert max(len(json.dumps(request.body)) for request in model.asked) < 2 * MOST_SERVED


def test_the_text_of_the_skill_itself_takes_nothing_of_that_and_those_beside_it_do() -> None:
    own, huge = "o" * (2 * MOST_SERVED), "h" * (MOST_SERVED - 1_000)
    library = Files({"references/a.md": "a"}, {"merge-sheets": own, "plot-sheets": huge, "mail-sheets": huge})
    loads = tuple(load(name, number) for number, name in enumerate(("plot-sheets", "mail-sheets", "merge-sheets")))
    model = Model(turns(loads, (use("Read", 5, file_path="references/a.md"),), (text("Done."),)))
    went = drive(session(subject(library=library), plan(), CASE, 0, 0), model)
    assert went.loaded == ("plot-sheets", "merge-sheets")
    assert [wrong for _, wrong in _results(model.asked[1])] == [False, True, False]
    assert _results(model.asked[2]) == [("     1\ta", False)]


def _place(made: Subject, seed: int, order: int) -> int:
    return list(listing(made, seed, order).names).index(made.name)


@pytest.mark.parametrize("beside", [0, 1, 2, 3, 4, 7, 12, 15])
def test_the_skill_stands_in_every_fifth_of_the_list_once(beside: int) -> None:
    made = subject(siblings=tuple(Sibling(f"skill-{number}", "Does a thing.") for number in range(beside)))
    many = beside + 1
    for seed in range(20):
        places = sorted(_place(made, seed, order) for order in range(5))
        for fifth, place in enumerate(places):
            assert fifth * many // 5 <= place <= -(-(fifth + 1) * many // 5) - 1
    assert {_place(made, seed, order) for seed in range(60) for order in range(5)} == set(range(many))
    assert many < 3 or len({tuple(_place(made, seed, order) for order in range(5)) for seed in range(20)}) > 5


def test_nothing_that_an_author_writes_chooses_the_skill_s_place() -> None:
    beside = tuple(Sibling(f"skill-{number}", "Does a thing.") for number in range(12))
    plain = subject(siblings=beside)
    places = [_place(plain, 0, order) for order in range(5)]
    for number in range(200):
        made = subject(name=f"name-{number}", description=f"Version {number}.", siblings=beside)
        assert [_place(made, 0, order) for order in range(5)] == places
    others = [[name for name in listing(plain, 0, order).names if name != plain.name] for order in range(5)]
    other = subject(name="aaa", description="Another.", siblings=beside)
    assert [[name for name in listing(other, 0, order).names if name != "aaa"] for order in range(5)] == others
