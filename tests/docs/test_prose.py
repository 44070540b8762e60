"""The check of wording: what it finds, where, and what it leaves alone."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from pathlib import Path

LONG = " ".join(["word"] * 36) + "."
WORDS = ROOT / "docs" / "words.txt"


def prose(check: str, root: Path, *only: str, **files: str) -> tuple[int, list[str]]:
    """Write files, ``__`` being a slash and ``_`` a dot of their names, and check them.

    Returns:
        The exit code, and the printed lines without the summary.
    """
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, str(ROOT / "docs" / "prose.py"), check, str(root)]
    done = subprocess.run([*command, *(["--only", *only] if only else [])], capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, [line for line in done.stdout.splitlines() if re.match(r"\S+:\d+: ", line)]


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("README_md", "# Title\n\nA page.\nIt goes\non here.\n", 4),
        ("README_md", "| a |\n|---|\n| it goes on |\n", 3),
        ("skillgate__a_py", '"""Read.\n\nIt goes on.\n"""\n', 3),
        ("skillgate__a_py", 'X = 1\n"""It goes on."""\n', 2),
        ("skillgate__a_py", 'def f(n):\n    raise ValueError(f"{n} goes on: {n}")\n', 2),
        ("skillgate__templates__a_j2", "<p>\n{{ name }} goes on</p>\n", 2),
        ("action_yml", "name: x\ninputs:\n  a:\n    description: it goes on\n", 4),
        ("examples__a_yml", "a: 1\n# It goes on,\n# and on.\n", 2),
    ],
)
def test_a_banned_word_is_found_with_its_line(file: str, text: str, line: int, tmp_path: Path) -> None:
    code, (hit,) = prose("words", tmp_path, **{file: text})
    path = file.replace("__", "/").replace("_", ".")
    assert (code, hit) == (1, f"{path}:{line}: 'goes on'; better: resumes, continues")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("README_md", "It `goes on`.\n\n```\nit goes on\n```\n"),
        ("README_md", "<!-- it goes on -->\n\nOngoing, so.\n"),
        ("skillgate__a_py", 'KEY = "told"\nPATTERN = r"\\bgoes on\\b"\n# it goes on\n'),
        ("skillgate__judge__questions_py", 'PROMPT = "It goes on, and you go on."\n'),
        ("tests__a_py", '"""It goes on."""\n'),
        ("examples__a_yml", "# it: goes on\nkey: it goes on\n"),
    ],
)
def test_code_data_and_prompts_are_left_alone(file: str, text: str, tmp_path: Path) -> None:
    assert prose("words", tmp_path, **{file: text}) == (0, [])


@pytest.mark.parametrize("text", ['"""It goes on."""\n', 'def f():\n    raise ValueError("it goes on")\n'])
def test_docstrings_and_messages_of_modules_with_prompts_are_checked(text: str, tmp_path: Path) -> None:
    code, _ = prose("words", tmp_path, skillgate__judge__questions_py=text)
    assert code == 1


def test_every_exempt_path_exists() -> None:
    source = (ROOT / "docs" / "prose.py").read_text(encoding="utf-8")
    paths = re.findall(r'^ *"(skillgate/[^"]+)",$', source, re.MULTILINE)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_only_the_named_paths_are_checked(tmp_path: Path) -> None:
    pages = {"a_md": "It goes on.\n", "docs__b_md": "It goes on.\n"}
    assert len(prose("words", tmp_path, **pages)[1]) == 2
    assert len(prose("words", tmp_path, "docs", **pages)[1]) == 1


def test_each_line_of_the_list_is_a_pattern_with_a_better_word_that_is_not_banned() -> None:
    rows = [line.split(" => ") for line in WORDS.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    assert len(rows) > 40
    patterns = [re.compile(rf"\b(?:{pattern})(?!\w)", re.IGNORECASE) for pattern, _ in rows]
    for _, better in rows:
        assert not [pattern.pattern for pattern in patterns if pattern.search(better)], better


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("README_md", f"Short.\n\n- An item.\n- {LONG}\n", 4),
        ("README_md", f"One sentence here.\n{LONG} Another sentence.\n", 2),
        ("skillgate__a_py", f'"""Read.\n\nArgs:\n    a: one.\n    b: {LONG}\n"""\n', 5),
        ("skillgate__a_py", f'TEXT = "{LONG}"\n', 1),
        ("action_yml", f"inputs:\n  a:\n    description: {LONG}\n", 3),
        ("README_md", f"{' '.join(['word'] * 20)}, e.g. {' '.join(['word'] * 15)}.\n", 1),
    ],
)
def test_a_sentence_above_35_words_is_found_with_its_line(file: str, text: str, line: int, tmp_path: Path) -> None:
    code, (hit,) = prose("sentences", tmp_path, **{file: text})
    path = file.replace("__", "/").replace("_", ".")
    assert code == 1
    assert re.match(rf"{re.escape(path)}:{line}: 3[67] words \(maximum 35\): ", hit)


@pytest.mark.parametrize(
    "text",
    [
        f"| a |\n|---|\n| {LONG} |\n",
        f"```\n{LONG}\n```\n",
        f"See `{LONG}` and [this](https://example.org/{LONG.replace(' ', '/')}).\n",
    ],
)
def test_tables_code_and_addresses_are_no_sentences(text: str, tmp_path: Path) -> None:
    assert prose("sentences", tmp_path, README_md=f"Here is a sentence.\n\n{text}")[1] == []


def test_the_median_counts_for_each_kind_of_text(tmp_path: Path) -> None:
    sentence = " ".join(["word"] * 17) + ".\n"
    labels = "".join(f'A{n} = "a short label for {n} things"\n' for n in range(9))
    assert prose("sentences", tmp_path, README_md=sentence, skillgate__a_py=labels) == (1, [])
    assert prose(
        "sentences", tmp_path, README_md=sentence.replace("word word ", "word ", 1), skillgate__a_py=labels
    ) == (0, [])
