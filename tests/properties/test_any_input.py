"""Whatever lies on the disk is answered: a report or a clear refusal, never a traceback, and twice the same."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import example, given
from hypothesis import strategies as st

from skillgate.cli.main import main
from skillgate.model.codec import decode
from skillgate.model.report import Report
from skillgate.model.single_report import SingleReport
from skillgate.scoring.composite import MIN_COVERAGE
from tests.properties.documents import CI, Node, Written, bodies, descriptions, on_disk, plant, trees

if TYPE_CHECKING:
    from collections.abc import Mapping

_DURATION = re.compile(r'"duration_ms": \d+')
_HEADS = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            (
                "name: merge-sheets",
                "name: [a, b]",
                "name:",
                "description: 12",
                "description: Use when merging.",
                "description: a: b",
                "a: &a [x]",
                "b: *a",
                "b: *gone",
                "\tk: v",
                "? [x]",
                "!!python/object:os.system x",
                "metadata: {category: reference}",
                "metadata: workflow",
                "paths: ['*.csv']",
                "disable-model-invocation: yes",
                "'",
                "- x",
                "...",
                "%YAML 9",
                "d: 2024-13-01",
            )
        ),
        max_size=5,
    ).map("\n".join),
)
_LINE_ENDS = st.sampled_from(("\n", "\r\n", "\r", "\n\n"))
documents = st.one_of(
    st.binary(max_size=400),
    st.text(max_size=400).map(lambda text: text.encode("utf-8", "replace")),
    st.text("#[]()`<>*_-|!&;:\\\"'~ \t\nax1", max_size=200).map(str.encode),
    st.builds(lambda head, body: f"---\n{head}\n---\n{body}".encode("utf-8", "replace"), _HEADS, bodies),
    st.builds(lambda body, end: Written(body).text.replace("\n", end).encode("utf-8-sig"), bodies, _LINE_ENDS),
    st.builds(lambda body, text: Written(body, text).text.encode(), bodies, descriptions),
)


def ask(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(arguments, stdout=out, stderr=err, environ={}, cwd=str(cwd))
    assert code in (0, 1, 2, 3), err.getvalue()
    assert "Traceback" not in err.getvalue()
    if code == 2:
        assert out.getvalue() == ""
        assert any(line.startswith("skillgate: error: ") for line in err.getvalue().split("\n"))
    return code, out.getvalue(), err.getvalue()


def in_range(document: Mapping[str, Any]) -> None:
    """Read a document back, which checks the range of every number, and look at those that matter once more."""
    report: object = decode(SingleReport if "skill" in document else Report, document)
    assert report is not None
    for result in document.get("results", [document]):
        score = result["composite"]["score"]
        assert score is None or 0 <= score <= 100
        assert (score is None) == (result["coverage"] < MIN_COVERAGE)
        for dimension in result["dimensions"].values():
            assert dimension["score"] is None or 0 <= dimension["score"] <= 1
            assert dimension["score"] is not None or dimension["reason"]


@CI
@example(
    "\ufeff---\n(:\ndescription: (\n---\n".encode() + "က ဠ ".encode() * 12
)  # read, in a language that is not known
@given(documents)
@example(b"")
@example(b"---")
@example(b"---\n---\n")
@example(b"---\n---\n\x00")
@example(b"\xff\xfe#\x00")
@example(b"---\r---\r# x")
def test_any_bytes_as_skill_md_are_scored_or_explained_and_twice_the_same(data: bytes) -> None:
    with on_disk({"merge-sheets/SKILL.md": data}) as folder:
        code, out, _ = ask("score", "merge-sheets", "--output", "json", cwd=folder)
        assert code in (0, 3)
        again = ask("score", "merge-sheets", "--output", "json", cwd=folder)[1]
        checked, text, _ = ask("check", "merge-sheets", cwd=folder)
        gated = ask("score", "merge-sheets", "--threshold", "90", "--fail-on", "error,threshold", cwd=folder)[0]
    document = json.loads(out)
    in_range(document)
    assert _DURATION.sub("", out) == _DURATION.sub("", again)
    errors = any(finding["severity"] == "error" for finding in document["findings"])
    assert checked == (1 if errors else 0)
    assert text
    score = document["composite"]["score"]
    # What was read but has no score, as in an unknown language, cannot reach a threshold.
    fails = errors or (document["evaluated"] and (score is None or score < 90))
    assert gated == (1 if fails else 3 if score is None else 0)


@CI
@given(trees)
@example({"SKILL.md": Node("directory"), "a/SKILL.md": Node("link", b"loop"), "loop": Node("link", b"loop")})
@example({"references": Node("file", b"x"), "assets": Node("link", b"/"), "SKILL.md": Node("file", b"# x\n\nText.\n")})
def test_any_tree_of_files_is_answered_and_twice_the_same(tree: Mapping[str, Node]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name, "around", "searched")  # links that lead out of what is searched end up in here
        folder.mkdir(parents=True)
        plant(folder, tree)
        code, out, _ = ask("score", ".", "--output", "json", cwd=folder)
        again, repeated, _ = ask("score", ".", "--output", "json", cwd=folder)
        ask("check", ".", cwd=folder)
        assert ask("check", ".", "--allow-empty", cwd=folder)[0] != 2
    assert (code, _DURATION.sub("", out)) == (again, _DURATION.sub("", repeated))
    if code != 2:
        in_range(json.loads(out))


@CI
@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"]), max_size=20), max_size=4))
def test_any_path_and_any_option_is_an_answer_or_a_usage_error(arguments: list[str]) -> None:
    with on_disk({"merge-sheets/SKILL.md": Written("# x\n\nText.").text}) as folder:
        ask("score", *arguments, cwd=folder)


def test_a_link_inside_a_skill_does_not_widen_what_was_asked_for(tmp_path: Path) -> None:
    text = Written("Read the header first.").text
    plant(tmp_path, {"a/SKILL.md": Node("file", text.encode()), "b/SKILL.md": Node("file", text.encode())})
    plant(tmp_path, {"a/agents": Node("link", b".."), "a/scripts": Node("link", b"../b")})
    code, out, _ = ask("score", "a", "--output", "json", cwd=tmp_path)
    assert code == 0
    assert "b/SKILL.md" not in out
    assert json.loads(out)["skill"]["path"] == "a"
