"""Which file an estimate takes a session to read: the first that the skill's text names and that can be read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from skillgate.judge.siblings import OnDisk
from skillgate.montecarlo.library import Held, SkillLibrary
from skillgate.montecarlo.session import named_file
from skillgate.skill.tree import DiskTree
from tests.judge.doubles import subject
from tests.skills import write_skill

if TYPE_CHECKING:
    from pathlib import Path

FILES: dict[str, str | bytes] = {
    "references/a.md": "# A\n",
    "references/b.md": "# B\n",
    "scripts/c.py": "print()\n",
    "assets/logo.png": b"\x89PNG\x00",
    "evals/evals.json": "{}",
}


def _named(tmp_path: Path, body: str) -> str | None:
    write_skill(tmp_path, "own", files=FILES)
    held = Held("own", body, OnDisk(DiskTree(str(tmp_path)), "own", "own/SKILL.md"))
    return named_file(subject(name="own", library=SkillLibrary([held])))


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("Read `references/b.md`, then references/a.md.", "references/b.md"),
        ("Run ${SKILL_DIR}/scripts/c.py. Then (./references/a.md).", "scripts/c.py"),
        ("See assets/logo.png and [A](references/a.md).", "references/a.md"),
        ("See references/none.md or references/a.md.", "references/a.md"),
        ("See references/../evals/evals.json, or evals/evals.json.", None),
        ("See my-references/a.md and references.", None),
        ("", None),
    ],
)
def test_it_is_the_first_that_can_be_read(tmp_path: Path, body: str, path: str | None) -> None:
    assert _named(tmp_path, body) == (path and f"/skills/own/{path}")


def test_a_long_text_of_names_takes_a_moment(tmp_path: Path) -> None:
    began = time.process_time()
    assert _named(tmp_path, "references/" + "." * 200_000 + " references/x" * 20_000) is None
    assert time.process_time() - began < 1.0
