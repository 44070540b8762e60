"""Check the wording of every text that a user can see.

    python docs/prose.py words [ROOT] [--only PATH]...      banned words, listed in words.txt; exits with 1 on a hit
    python docs/prose.py sentences [ROOT] [--only PATH]...  sentence length; exits with 1 if a limit is missed

Texts are the docstrings, messages and help below skillgate/, its templates and workflows, Markdown pages, action.yml
and the examples. Code, inline code and URLs are not text. Tables are checked for words, and not for sentences.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MEDIAN, LONGEST = 16, 35
"""The highest median and the highest number of words in a sentence."""
SHORTEST = 4
"""Words of a sentence that counts for the median; shorter ones are labels."""

# Files that are no prose of ours: test data, and skills that are examples of good and bad ones.
DATA = ("tests/", "examples/skills/", "skillgate/bench/builtin/", "docs/schemas/", ".github/", "docker/")
# Modules whose constants are prompts for a model, or what a scripted model answers. Their other texts are checked.
PROMPTS = (
    "skillgate/bench/scorers/llm_judge.py",
    "skillgate/judge/asking.py",
    "skillgate/judge/questions.py",
    "skillgate/judge/requests.py",
    "skillgate/judge/siblings.py",
    "skillgate/llm/port.py",
    "skillgate/llm/scripted/",
    "skillgate/montecarlo/grading.py",
    "skillgate/montecarlo/library.py",
    "skillgate/montecarlo/lift.py",
    "skillgate/montecarlo/prompts.py",
    "skillgate/montecarlo/session.py",
    "skillgate/montecarlo/tasks.py",
    "skillgate/montecarlo/tools.py",
    "skillgate/ranking/layer.py",
)
KEYS = {"description", "name", "summary", "help"}
"""Keys of YAML files that hold text."""

_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|https?://[^\s)>\]]+", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"<!--.*?-->|</?[a-z][^<>]*>|\{[{%#].*?[}%#]\}|\*{1,2}(?=\S)|(?<=\S)\*{1,2}", re.DOTALL)
_EXAMPLE = re.compile(
    r"^ *(`{3,}).*?^ *\1|(?:(?<=\n\n)|(?<=\nBad:\n)|(?<=\nGood:\n))(?: {4,}\S.*(?:\n|\Z))+", re.DOTALL | re.MULTILINE
)
_NO_PROSE = re.compile(
    r"\\[bwdsS]|\(\?|\[\^|;\s*\}|--[a-z-]+:[^;]*;|^\s*(?:SELECT|CREATE|INSERT|UPDATE|DELETE|PRAGMA|WITH)\b|^\S+/\S+$"
)
_ITEM = re.compile(r"\n\s*(?=[-*•] |\d+\. |\w+:\n|[\w`*.\"', ()]{1,30}: )")
_END = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!cf\.)(?<!\betc\.)(?<!\bal\.)(?<=[.!?])[\"”’)*]*\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Text:
    """A text at a place.

    Attributes:
        path: path relative to the root.
        line: its first line, from 1.
        group: ``pages``, ``docstrings`` or ``messages``; each has its own median.
        prose: whether its sentences are measured.
    """

    path: str
    line: int
    group: str
    text: str
    prose: bool = True


def plain(text: str) -> str:
    """Replace inline code, links and tags by their text, line by line."""
    text = _CODE.sub(lambda found: "X" + _lines(found), text)
    return _LINK.sub(r"\1", _TAG.sub(_lines, text))


def _lines(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def markdown(path: str, source: str) -> Iterator[Text]:
    """Yield paragraphs, list items, headings and table cells."""
    source = re.sub(r"\A---\n.*?\n---\n", _lines, source, flags=re.DOTALL)
    table = heading = False
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        table = token.type == "table_open" or (table and token.type != "table_close")
        heading = token.type == "heading_open" or (heading and token.type != "heading_close")
        if token.type == "inline" and token.map:
            yield Text(path, token.map[0] + 1, "pages", plain(token.content), not table and not heading)


def python(path: str, source: str) -> Iterator[Text]:
    """Yield docstrings, and the other strings that are prose."""
    tree = ast.parse(source)
    seen: set[ast.AST] = set()  # parts of strings that were taken, and prompts
    if path.startswith(PROMPTS):
        seen.update(
            node for part in tree.body if isinstance(part, ast.Assign | ast.AnnAssign) for node in ast.walk(part)
        )
    for node in ast.walk(tree):  # parents come before their children
        group, text = "messages", ""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            seen.add(node.value)
            group, text = "docstrings", _EXAMPLE.sub(_lines, inspect.cleandoc(str(node.value.value)))
        elif isinstance(node, ast.JoinedStr) and node not in seen:
            seen.update(node.values)
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in seen:
            text = node.value
        if isinstance(node, ast.stmt | ast.expr) and (group == "docstrings" or is_prose(text)):
            yield Text(path, node.lineno, group, plain(text))


def is_prose(text: str) -> bool:
    """Return whether a string has words, and is no pattern, style sheet, query, path or list of words."""
    words = re.findall(r"[A-Za-z]{2,}", text)
    is_list = len(words) > 15 and not re.search(r"[.,;:!?](?!\w)", text)
    return len(words) > 1 and " " in text.strip() and not is_list and not _NO_PROSE.search(text)


def comments(path: str, source: str) -> Iterator[Text]:
    """Yield the comments of a YAML file, each run of lines as one, and the values of ``KEYS``."""
    lines = [re.search(r"(?:^|\s)#\s(.*)$", line) for line in source.split("\n")]
    said = [found[1] if found and not re.match(r"\s*(- )?[\w.-]+:( |$)", found[1]) else "" for found in lines]
    joined = re.finditer(r"(?:.+\n?)+", "\n".join(said))
    for found in joined:
        yield Text(path, "\n".join(said)[: found.start()].count("\n") + 1, "pages", plain(found[0]))
    pending = list(yaml.compose_all(source))  # a file may hold several documents
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                pending.append(value)
                if key.value in KEYS and isinstance(value, yaml.ScalarNode):
                    yield Text(path, value.start_mark.line + 1, "messages", plain(value.value))
        elif isinstance(node, yaml.SequenceNode):
            pending += node.value


def template(path: str, source: str) -> Iterator[Text]:
    """Yield the text of a page's template; it is in pieces, so its sentences are not measured."""
    yield Text(path, 1, "messages", plain(source), prose=False)


READERS = {".md": markdown, ".py": python, ".yml": comments, ".yaml": comments, ".j2": template}


def texts(root: Path, only: Iterable[str] = ()) -> Iterator[Text]:
    """Yield the texts of the files that Git tracks, or of those below the paths ``only``."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "--", *only]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 (git, paths after --)
    for path in listed.stdout.splitlines():
        reader = READERS.get(Path(path).suffix)
        if reader and not path.startswith(DATA) and (root / path).is_file():
            yield from reader(path, (root / path).read_text(encoding="utf-8"))


def sentences(text: Text) -> Iterator[tuple[int, str]]:
    """Yield the line and the words of each sentence."""
    at = 0
    for unit in re.split(rf"\n\s*\n|{_ITEM.pattern}|{_END.pattern}", text.text):
        at = text.text.index(unit, at)
        if not unit.startswith("|"):  # a table in a string
            yield text.line + text.text[:at].count("\n"), " ".join(unit.split())


def count(sentence: str) -> int:
    """Return the number of words that hold a letter or a digit."""
    return sum(any(map(str.isalnum, word)) for word in sentence.split())


def banned(file: Path) -> list[tuple[re.Pattern[str], str]]:
    """Read the list of words."""
    rows = (line.split(" => ") for line in file.read_text(encoding="utf-8").splitlines() if line and line[0] != "#")
    lines = ((pattern.replace(" ", r"\s+"), better) for pattern, better in rows)
    return [(re.compile(rf"\b(?:{pattern})(?!\w)", re.I), better) for pattern, better in lines]


def check_words(found: Iterable[Text], words: list[tuple[re.Pattern[str], str]]) -> int:
    """Print each banned word, and return how many there are."""
    hits = 0
    for text in found:
        for pattern, better in words:
            for hit in pattern.finditer(text.text):
                hits += 1
                line = text.line + text.text[: hit.start()].count("\n")
                print(f"{text.path}:{line}: {' '.join(hit[0].split())!r}; better: {better}")
    print(f"{hits} banned words" if hits else "no banned words")
    return hits


def check_sentences(found: Iterable[Text]) -> int:
    """Print medians and the sentences that are too long, longest first; return how many limits are missed."""
    measured = [(count(s), t.group, t.path, line, s) for t in found if t.prose for line, s in sentences(t)]
    too_long = sorted((item for item in measured if item[0] > LONGEST), reverse=True)
    for words, _, path, line, sentence in too_long:
        print(f"{path}:{line}: {words} words (maximum {LONGEST}): {sentence[:160]}")
    missed = len(too_long)
    for group in sorted({item[1] for item in measured}):
        lengths = [item[0] for item in measured if item[1] == group and item[0] >= SHORTEST]
        median = statistics.median(lengths or [0])
        missed += median > MEDIAN
        print(f"{group}: {len(lengths)} sentences, median {median:g} words (maximum {MEDIAN})")
    return missed


def main(arguments: list[str] | None = None) -> int:
    """Run one of the two checks; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("check", choices=["words", "sentences"])
    parser.add_argument("root", nargs="?", type=Path, default=Path())
    parser.add_argument("--only", nargs="+", default=[], metavar="PATH", help="files or directories below ROOT")
    options = parser.parse_args(arguments)
    found = texts(options.root, options.only)
    if options.check == "words":
        return int(check_words(found, banned(Path(__file__).with_name("words.txt"))) > 0)
    return int(check_sentences(found) > 0)


if __name__ == "__main__":
    sys.exit(main())
