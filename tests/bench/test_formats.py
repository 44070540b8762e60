"""Every format that JSON Schema names is checked, by ``eval`` as a benchmark's author uses it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jsonschema", reason="jsonschema is not installed")

ECHO = """\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["text"]}), flush=True)
"""
DAY = "2024-02-29"
# format: texts that have it, texts that do not
TABLE: dict[str, tuple[list[str], list[str]]] = {
    "date-time": (
        [f"{DAY}T10:20:30Z", f"{DAY}t10:20:30.123z", f"{DAY}T23:59:60+00:00", f"{DAY}T10:20:30-05:30"],
        [
            DAY,
            f"{DAY} 10:20:30Z",
            f"{DAY}T10:20:30",
            f"{DAY}T24:00:00Z",
            f"{DAY}T10:20:60Z",
            f"{DAY}T10:20:30Z\n",
            "now",
        ],
    ),
    "date": (
        [DAY, "2000-02-29", "0000-01-01"],
        ["2023-02-29", "1900-02-29", "24-2-29", "2024-060", "2024-00-10", "٢024-01-01"],
    ),
    "time": (
        ["10:20:30Z", "10:20:30.5+01:00", "01:59:60+02:00"],
        ["10:20:30", "10:20Z", "25:00:00Z", "10:20:30+24:00", "10:20:60Z"],
    ),
    "duration": (
        ["P1Y2M3D", "P4W", "PT1H", "P1DT12H30M", "PT36H"],
        ["P", "PT", "1D", "P1D2H", "P1Y2D", "PT0.5S", "-P1D", "P1W2D", "P1S"],
    ),
    "email": (
        [
            "ann@example.org",
            "a.b+c@sub.example.org",
            '"a b"@example.org',
            "a@[192.0.2.1]",
            "a@[IPv6:2001:db8::1]",
            "a@localhost",
        ],
        [
            "@",
            "a@",
            "@example.org",
            "a b@example.org",
            "a..b@example.org",
            ".a@example.org",
            "a@b@example.org",
            "a@-b.org",
            "a@[999.0.0.1]",
            "Ann <ann@example.org>",
            "a@example.org, b@example.org",
            "ü@example.org",
            f"{'a' * 65}@example.org",
        ],
    ),
    "idn-email": (["ann@example.org", "用户@例え.jp", "ü@bücher.example"], ["@", "用户", "ü@", "ü ü@example.org"]),
    "hostname": (
        ["example.org", "a", "xn--bcher-kva.example", "1a.example"],
        [
            "",
            "-a.example",
            "a_b.example",
            "a..example",
            "example.org.",
            "bücher.example",
            "xn--X",
            f"{'a' * 64}.example",
            "a.example\n",
        ],
    ),
    "idn-hostname": (
        ["example.org", "bücher.example", "例え.jp"],
        ["", "-ü.example", "a..b", "a b", "〮a.example", "0a.א"],
    ),
    "ipv4": (["192.0.2.1"], ["192.0.2", "192.0.2.256", "192.0.2.01", "0x7f.0.0.1", "192.0.2.1/24", "١.0.0.1"]),
    "ipv6": (
        ["::", "2001:db8::1", "::ffff:192.0.2.1"],
        ["2001:db8", ":::1", "fe80::1%eth0", "12345::", "::1/64", "192.0.2.1"],
    ),
    "uri": (
        [
            "https://example.org/a?b=c#d",
            "urn:isbn:123",
            "http://[2001:db8::1]:80/",
            "mailto:a@example.org",
            "http://a/%20",
        ],
        [
            "/a",
            "a",
            "//example.org",
            "http://a b",
            "http://ü.example",
            "http://[::1",
            "1a://b",
            "http://a/%2",
            "http://a:b/",
            "",
        ],
    ),
    "uri-reference": (
        ["/a?b#c", "", "../a", "//example.org", "https://example.org"],
        ["a b", "\\a", "/ü", "1a:b", "#a#b"],
    ),
    "iri": (
        ["https://bücher.example/ä?ö#ü", "http://[2001:db8::1]/𐌀"],
        ["/ä", "http://a b", "http://bücher.example/%", "http://a/\ufffe"],
    ),
    "iri-reference": (["/ä", "", "#ü"], ["\\ä", "a b", "/{a}"]),
    "uri-template": (
        ["https://example.org/{a}/{+b,c*}{?d:3}", "", "{%41.b}"],
        ["{a", "a}", "{}", "{a,}", "{a:0}", "{a:01}", "a b", "{a b}", "{a=b}"],
    ),
    "json-pointer": (["", "/", "/a/0", "/a~0b~1c", "/ü"], ["a", "#/a", "/~", "/~2"]),
    "relative-json-pointer": (["0", "10#", "1/a"], ["", "/a", "01", "-1", "1a", "1#/a", "١/a"]),
    "regex": (["^a+$", "(?<n>a)\\k<n>", "[^]"], ["(", "(?P<n>a)", "a**", "\\a", "[z-a]"]),
    "uuid": (
        ["2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"],
        [
            "2eb8aa08aa9811eab4aa73b441d16380",
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
            "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}",
            "২eb8aa08-aa98-11ea-b4aa-73b441d16380",
            "2eb8aa08-aa98-11ea-b4aa-73b441d1_380",
        ],
    ),
}
DRAFTS = ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]


def asking(identifier: str, text: str, schema: Any) -> dict[str, Any]:
    expected = {"type": "json_schema", "schema": schema}
    return task(identifier, inputData={"text": text}, expectedOutput=expected)


def echo(folder: Path) -> None:
    skill(folder / "s", ECHO, config={"persistent": True})


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_format_that_the_specification_names_decides_valid_and_invalid_texts(tmp_path: Path, draft: str) -> None:
    echo(tmp_path)
    right: dict[str, str] = {}
    tasks: list[dict[str, Any]] = []
    for name, (valid, invalid) in TABLE.items():
        for text in (*valid, *invalid):
            identifier = f"{len(tasks)} {name}"
            right[identifier] = "pass" if text in valid else "fail"
            tasks.append(asking(identifier, text, {"$schema": draft, "type": "string", "format": name}))
    benchmark(tmp_path / "b.json", *tasks)
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--json")
    (report,) = done.json["reports"]
    found = {one["taskId"]: one["status"] for one in report["taskResults"]}
    given = {one["id"]: one["inputData"]["text"] for one in tasks}
    assert {one: (given[one], found[one]) for one in right if found[one] != right[one]} == {}


def test_the_table_has_every_format_that_is_checked() -> None:
    from skillgate.bench.formats import FORMATS

    assert TABLE.keys() == FORMATS.keys()
    assert len(FORMATS) == 19


@pytest.mark.parametrize("value", [7, None, True, [], {}])
def test_a_format_says_nothing_of_what_is_no_text(tmp_path: Path, value: Any) -> None:
    echo(tmp_path)
    benchmark(tmp_path / "b.json", asking("t1", value, {"format": "date-time"}))
    assert (
        run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--min-completion", "1").code
        == 0
    )


UNKNOWN = [
    ({"format": "datetime"}, "'datetime' is not supported (did you mean 'date-time'?)"),
    ({"properties": {"a": {"items": {"format": "colour"}}}}, "'colour' is not supported"),
    ({"$ref": "#/x", "x": {"format": "int32"}}, "'int32' is not supported"),
]
UNUSABLE = [
    ({"$ref": "http://127.0.0.1:9/x.json"}, "the reference 'http://127.0.0.1:9/x.json' is broken"),
    ({"items": {"$ref": "file:///etc/passwd"}}, "is broken"),
    ({"$ref": "#/$defs/a"}, "is broken"),
    ({"$ref": "#/x/a", "x": "text"}, "is broken"),
    ({"$ref": "#/title", "title": "x"}, "not a JSON Schema"),
    ({"$ref": "#"}, "endless"),
    ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}, "endless"),
    ({"$ref": "#/x", "x": {"type": "nope"}}, "not a JSON Schema: type"),
    ({"$schema": "https://json-schema.org/draft-07/schema"}, "did you mean 'http://json-schema.org/draft-07/schema'?"),
    ({"$schema": 7}, "unknown draft"),
]


@pytest.mark.parametrize(("schema", "words"), UNKNOWN + UNUSABLE)
def test_a_schema_that_cannot_be_applied_is_refused_by_eval_and_validate_before_anything_runs(
    tmp_path: Path, schema: Any, words: str
) -> None:
    skill(tmp_path / "s", "import pathlib\npathlib.Path('ran').touch()\n")
    benchmark(tmp_path / "b.json", task(), asking("t2", "x", schema))
    for command in (("eval", "--skills", "s", "--benchmark", "./b.json"), ("bench", "validate", "b.json")):
        done = run(tmp_path, *command)
        assert words in done.err + done.out
        assert "tasks[1].expectedOutput.schema: " in done.err + done.out
        assert done.code == (2 if command[0] == "eval" else 1)
    assert not (tmp_path / "s" / "ran").exists()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"next": {"$ref": "#"}}},
        {"$id": "urn:x", "$defs": {"a": {"$anchor": "a", "type": "string"}}, "$ref": "#a"},
        {
            "$schema": DRAFTS[1],
            "definitions": {"a": {"type": "string"}},
            "$ref": "#/definitions/a",
            "format": "left out",
        },
    ],
)
def test_references_inside_a_schema_are_followed(tmp_path: Path, schema: Any) -> None:
    echo(tmp_path)
    benchmark(tmp_path / "b.json", asking("t1", "x" if "$ref" in schema else {"next": {}}, schema))  # type: ignore[arg-type]
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--min-completion", "1")
    assert done.code == 0


def test_an_answer_may_be_asked_to_be_a_json_schema(tmp_path: Path) -> None:
    echo(tmp_path)
    schema = {"$ref": DRAFTS[0]}
    benchmark(tmp_path / "b.json", asking("t1", {"type": "string"}, schema), asking("t2", {"type": "nope"}, schema))  # type: ignore[arg-type]
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--json")
    assert [one["status"] for one in done.json["reports"][0]["taskResults"]] == ["pass", "fail"]


@pytest.mark.parametrize(("package", "name"), [("idna", "email"), ("regress", "regex")])
def test_a_format_whose_package_is_missing_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    skill(tmp_path / "s")
    benchmark(tmp_path / "b.json", asking("t1", "x", {"format": name}))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json")
    assert (done.code, f"the format {name!r} needs {package}" in done.err) == (2, True)


def test_a_hostile_answer_does_not_hold_a_format_up(tmp_path: Path) -> None:
    echo(tmp_path)
    long = 15_000
    hostile = {
        "email": '"' * long + "@",
        "idn-hostname": "ü" * long,
        "uri": "http://" + "%" * long,
        "iri-reference": "a:" * long + "{",
        "uri-template": "{a" + ".a" * (long // 2),
        "json-pointer": "/~" * (long // 2),
        "regex": "(" * 2_000,
        "duration": "P" + "1" * long,
    }
    benchmark(tmp_path / "b.json", *(asking(name, text, {"format": name}) for name, text in hostile.items()))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--json")
    statuses = {one["taskId"]: one["status"] for one in done.json["reports"][0]["taskResults"]}
    assert statuses == dict.fromkeys(hostile, "fail")
    assert json.dumps(done.json)
