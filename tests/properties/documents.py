"""What properties are asked of: skills as people write them, anything at all as bytes, and any tree of files."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import skillgate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.model.report import SkillResult

# The same examples on every machine and in every run; a failure prints how to have it again.
CI = settings(
    derandomize=True,
    deadline=None,
    print_blob=True,
    database=None,
    max_examples=60,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

_SENTENCES = (
    "Read the header of every file first, because it decides which columns can be joined.",
    "Sort the rows by date, and keep the newest one where two of them share a key.",
    "It returns a JSON object whose output format is described below.",
    "The script accepts two parameters: the input file and the separator.",
    "Never rename a column before the owner has agreed; you MUST ask first.",
    "ALWAYS keep the original file, and NEVER write to it.",
    "See also the notes on encodings.",
    "Coordinate the agents that read the parts, and delegate each part to one of them.",
    "csv, tsv, xlsx, parquet, json",
    "Use `cut -d,` where the file is too large; **do not** open it in an editor.",
    "第一行决定哪些列可以合并，请先阅读。",
    "Compare [the manual](https://example.org/manual) with ../other/notes.md and `docs/x.md`.",
)
_TITLES = ("Steps", "Examples", "Troubleshooting", "When to use", "Output format", "Inputs", "Related skills", "Notes")
_CODE = (
    "```python\nprint('x')\n```",
    "```python\nprint('x'\n```",
    '```json\n{"a": 1}\n```',
    "```yaml\na: [1, 2]\n```",
    "```\n# not a heading\n[x](references/gone.md)\n```",
    "~~~bash\nls -l\n~~~",
    "    indented code",
)
sentences = st.sampled_from(_SENTENCES)
_paragraphs = st.lists(sentences, min_size=1, max_size=4).map("\n".join)
_lists = st.lists(sentences, min_size=1, max_size=5).map(lambda items: "\n".join(f"- {item}" for item in items))
_headings = st.builds(lambda level, title: f"{'#' * level} {title}", st.integers(1, 4), st.sampled_from(_TITLES))
_tables = st.lists(sentences, min_size=1, max_size=3).map(
    lambda cells: "| Option | Best for |\n|---|---|\n" + "\n".join(f"| a | {cell} |" for cell in cells)
)
_quotes = sentences.map(lambda text: f"> {text}")
_html = st.sampled_from(("<!-- MUST NEVER -->", "<important>\nRead the header first.\n</important>", "***"))
blocks = st.one_of(_paragraphs, _paragraphs, _lists, _headings, _tables, _quotes, _html, st.sampled_from(_CODE))
bodies = st.lists(blocks, max_size=14).map("\n\n".join)

TRIGGERED = (
    "Clean and merge CSV files into one table. Use this skill when joining exports, fixing broken encodings, or"
    " removing duplicate rows from a sheet.",
    "Merges tables. Use when the user has two sheets and wants one.",
    "Use proactively for cleaning data, always use when joining exports.",
)
UNTRIGGERED = (
    "A collection of tools for the cleaning and merging of CSV files into one table.",
    "Merges tables of every kind, quickly and without a server.",
)
descriptions = st.sampled_from(
    (*TRIGGERED, *UNTRIGGERED, "csv", "Zusammenführen von Tabellen, wenn die Spalten passen.")
)


class Written(NamedTuple):
    """A skill as text, before it stands on disk."""

    body: str
    description: str = TRIGGERED[0]

    @property
    def text(self) -> str:
        """Give the whole SKILL.md."""
        return f"---\nname: merge-sheets\ndescription: '{self.description}'\n---\n{self.body}\n"


@contextmanager
def on_disk(files: Mapping[str, str | bytes]) -> Iterator[Path]:
    """Write files below a new directory, and give it."""
    with TemporaryDirectory() as folder:
        for path, content in files.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        yield Path(folder)


def evaluated(skill: Written, files: Mapping[str, str] | None = None) -> SkillResult:
    """Evaluate a skill that has a real neighbour, ``../tidy-tables``; ``files`` lie beside its SKILL.md."""
    tree = {"skills/merge-sheets/SKILL.md": skill.text, "skills/tidy-tables/SKILL.md": Written("Tidy it.").text}
    tree |= {f"skills/merge-sheets/{path}": content for path, content in (files or {}).items()}
    with on_disk(tree) as folder:
        results = skillgate.evaluate(folder / "skills").results
    return next(result for result in results if result.skill.path.endswith("merge-sheets"))


class Node(NamedTuple):
    """One path of a tree: a file with its bytes, a directory, or a symbolic link with its target."""

    kind: str
    content: bytes = b""


_NAMES = st.one_of(
    st.sampled_from(
        (
            "SKILL.md",
            "skill.md",
            "references",
            "assets",
            "scripts",
            "guide.md",
            "skills",
            "agents",
            "plugin.json",
            ".claude-plugin",
            ".skillgate.yaml.bak",
            "node_modules",
            "a b",
            "a\nb",
            "ä",
            "-x",
            "..x",
        )
    ),
    st.text(st.characters(blacklist_characters="/\x00", blacklist_categories=["Cs"]), min_size=1, max_size=8).filter(
        lambda name: name not in (".", "..", ".git")
    ),
)
_PATHS = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)
_MAIN_FILES = st.one_of(st.just(b""), st.binary(max_size=60), bodies.map(lambda body: Written(body).text.encode()))
_NODES = st.one_of(
    st.builds(Node, st.just("file"), _MAIN_FILES),
    st.just(Node("directory")),
    st.builds(
        Node, st.just("link"), st.sampled_from((b".", b"..", b"SKILL.md", b"loop", b"/", b"../..", b"gone", b"a b"))
    ),
)
trees = st.dictionaries(_PATHS, _NODES, max_size=12)


def plant(folder: Path, tree: Mapping[str, Node]) -> None:
    """Make the tree on disk; what the system will not take, or what is in the way of another path, is left out."""
    for path, node in tree.items():
        place = folder / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if node.kind == "file":
                place.write_bytes(node.content)
            elif node.kind == "directory":
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.symlink_to(os.fsdecode(node.content))
        except (OSError, ValueError, NotImplementedError):
            continue
