"""House rules: rules that a configuration adds, from templates and from code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from skillgate.rules import failed_cases
from tests.cli.running import Done, commit, git, run
from tests.skills import BODY, DESCRIPTION, write_skill

TONE = '''\
"""A heading that shouts.

Why:
    It is hard to read.
"""

from skillgate.rules import Hit, Hits, Severity, Skill, Span, rule


def find(skill: Skill) -> Hits:
    for heading in skill.headings:
        if heading.text.isupper():
            yield Hit(Span(heading.line), f"the heading {heading.text!r} shouts")


RULE = rule(find, Severity.INFO, fix="write it in lower case")
'''
BROKEN = TONE.replace('yield Hit(Span(heading.line), f"the heading {heading.text!r} shouts")', "yield {}[heading.text]")


def configure(folder: Path, text: str, **files: str) -> None:
    """Write the project's configuration and files of rules."""
    git(folder, "init", "-q")
    (folder / ".skillgate.yaml").write_text(text, encoding="utf-8")
    for name, code in files.items():
        place = folder / "house" / f"{name}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(code, encoding="utf-8")


def house(done: Done) -> list[str]:
    """List the findings of house rules of a JSON document."""
    return [
        f"{Path(one['path']).name}:{one['line']}:{one['column']} {one['severity']} {one['id']} {one['message']}"
        for one in done.json["findings"]
        if one["id"].startswith("ACME")
    ]


def check(cwd: Path, *words: str) -> Done:
    return run(cwd, "check", "--json", *words)


SECTION = "no section 'Support'"
OWNER = "the frontmatter has no metadata.owner"
PHRASE = "is a phrase that this project does not use"
HEADER = "no licence header in the first 15 lines"


@pytest.mark.parametrize(
    ("table", "files", "found"),
    [
        ("required-section: Support", {}, [f"SKILL.md:1:1 warning ACME_X {SECTION}"]),
        ("required-section: Support", {"": "## 🆘 **Support**\n"}, []),
        ("required-section: Support", {"": "```\n## Support\n```\n"}, [f"SKILL.md:1:1 warning ACME_X {SECTION}"]),
        ("required-section: Support, severity: error, message: say who helps", {}, ["1:1 error ACME_X say who helps"]),
        ("required-metadata: metadata.owner", {}, [f"SKILL.md:1:1 warning ACME_X {OWNER}"]),
        ("required-metadata: name", {}, []),
        ("required-metadata: name.owner", {}, ["SKILL.md:2:1 warning ACME_X the frontmatter has no name.owner"]),
        (
            "forbidden-phrase: simply",
            {"": "It simply, SIMPLY works.\n"},
            [f":4 warning ACME_X 'simply' {PHRASE}", ":12"],
        ),
        ("forbidden-phrase: simply", {"": "An oversimply word.\n"}, []),
        ("forbidden-phrase: just works", {"": "It just\n  works.\n"}, [f":4 warning ACME_X 'just works' {PHRASE}"]),
        ("forbidden-phrase: just works", {"": "It is just\n\nworks of art.\n"}, []),
        (
            "forbidden-phrase: '(a+)+$'",
            {"": f"{'a' * 5000}! and (a+)+$\n"},
            [f":5007 warning ACME_X '(a+)+$' {PHRASE}"],
        ),
        (
            "forbidden-phrase: [x1, y2]",
            {"references/a.md": "# A\n\nNo y2.\n"},
            [f"a.md:3:4 warning ACME_X 'y2' {PHRASE}"],
        ),
        ("licence-header: Copyright 2020 ACME", {"scripts/a.py": "# one\n"}, [f"a.py:1:1 warning ACME_X {HEADER}"]),
        ("licence-header: Copyright 2020 ACME", {"scripts/a.py": "#!/x\n#  copyright\n# (2031) Acme.\n"}, []),
        ("licence-header: Copyright 2020 ACME", {"scripts/a.txt": "x\n", "scripts/b.py": ""}, []),
        ("licence-header: ACME", {"scripts/a.py": "x\n" * 15 + "# ACME\n"}, [f"a.py:1:1 warning ACME_X {HEADER}"]),
        ("licence-header: ACME, paths: '*.sh'", {"scripts/a.py": "x\n", "scripts/b.sh": "x\n"}, ["b.sh:1:1"]),
        ("required-section: Support, paths: skills/**", {}, [f"SKILL.md:1:1 warning ACME_X {SECTION}"]),
        ("required-section: Support, paths: [other/**, '*.py']", {}, []),
    ],
)
def test_a_template_finds_what_it_says(tmp_path: Path, table: str, files: dict[str, str], found: list[str]) -> None:
    folder = write_skill(tmp_path / "skills", body=BODY + "\n" + files.pop("", ""))
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    configure(tmp_path, f"rules: {{ACME_X: {{{table}}}}}\n")
    lines = house(check(tmp_path))
    assert len(lines) == len(found), lines
    assert all(part in line for part, line in zip(found, lines, strict=True)), lines


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{NAME_INVALID: {required-section: A}}", "rules.NAME_INVALID: skillgate has a rule with this id; choose"),
        ("{acme: {required-section: A}}", "rules.acme: the id of a rule has 3 to 40 capital letters, digits and _"),
        ("{A-CME: {required-section: A}}", "rules.A-CME: the id of a rule has"),
        ("{ACME_X: {severity: error}}", "rules.ACME_X: a rule needs one of required-section,"),
        ("{ACME_X: {required-section: A, python: a.py}}", "found required-section and python"),
        ("{ACME_X: {required-section: '***'}}", "required-section: expected letters or digits, found '***'"),
        ("{ACME_X: {forbidden-phrase: []}}", "rules.ACME_X"),
        ("{ACME_X: {pattern: a}}", "rules.ACME_X.pattern: unknown key 'pattern'"),
        ("{ACME_X: {python: a.txt}}", "python: expected a file that ends in .py, found 'a.txt'"),
        ("{ACME_X: {python: a.py, message: b}}", "python and message exclude each other"),
        ("{ACME_X: {python: gone.py}}", "rules.ACME_X: the house rule gone.py does not exist"),
        ("{ACME_X: {entry-point: gone}}", "rules.ACME_X: no installed package has the entry point 'gone'"),
        ("{ACME_X: {required-section: A, severity: fatal}}", "expected one of error, warning, info, found 'fatal'"),
    ],
)
def test_a_rule_that_is_not_valid_is_an_error_that_names_it(tmp_path: Path, text: str, said: str) -> None:
    write_skill(tmp_path / "skills")
    configure(tmp_path, f"rules: {text}\n")
    done = run(tmp_path, "check")
    assert done.code == 2
    assert said in done.err
    assert ".skillgate.yaml:1" in done.err


def test_code_declares_a_rule_like_our_own(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", body=BODY + "\n## IN CAPITALS\n")
    configure(tmp_path, "rules: {ACME_TONE: {python: house/tone.py}}\n", tone=TONE)
    [line] = house(check(tmp_path))
    assert line.endswith("info ACME_TONE the heading 'IN CAPITALS' shouts")
    configure(tmp_path, "rules: {ACME_TONE: {python: house/tone.py, severity: error, paths: other/**}}\n")
    assert house(check(tmp_path)) == []
    configure(tmp_path, "rules: {ACME_TONE: {python: house/tone.py, severity: error, fix: be quiet}}\n")
    done = run(tmp_path, "check")
    assert done.code == 1
    assert "error ACME_TONE the heading" in done.out
    assert "fix: be quiet (skillgate explain ACME_TONE)" in done.out


def test_a_house_rule_is_selected_ignored_and_explained_like_others(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "skills", body=BODY + "\n## IN CAPITALS\n")
    configure(tmp_path, "rules: {ACME_TONE: {python: house/tone.py}, ACME_X: {required-section: Support}}\n", tone=TONE)
    assert check(tmp_path, "--select", "ACME_TONE").ids == ["ACME_TONE"]
    assert check(tmp_path, "--select", "house").ids == ["ACME_X", "ACME_TONE"]
    assert {name for name, _ in check(tmp_path, "--ignore", "house").suppressed} == {"ACME_X", "ACME_TONE"}
    assert run(tmp_path, "check", "--select", "ACME_TON").code == 2
    listed = {one["id"]: one for one in run(tmp_path, "rules", "--json").json["rules"]}
    assert (listed["ACME_TONE"]["group"], listed["ACME_TONE"]["kind"], listed["ACME_TONE"]["url"]) == ("house",) * 2 + (
        "",
    )
    page = run(tmp_path, "explain", "acme-tone").out
    assert "A heading that shouts." in page
    assert "It is hard to read." in page
    assert "The configuration, .skillgate.yaml:1" in run(tmp_path, "explain", "ACME_X").out
    sarif = run(tmp_path, "check", "--output", "sarif").json["runs"][0]["tool"]["driver"]["rules"]
    [described] = [one for one in sarif if one["id"] == "ACME_TONE"]
    assert described["fullDescription"]["text"] == "A heading that shouts. It is hard to read."
    assert "helpUri" not in described
    main = folder / "SKILL.md"
    comment = "\n<!-- skillgate: ignore ACME_TONE: the name of a product -->\n## IN CAPITALS"
    main.write_text(main.read_text(encoding="utf-8").replace("\n## IN CAPITALS", comment), encoding="utf-8")
    assert check(tmp_path).suppressed == [("ACME_TONE", "comment")]


def test_house_rules_change_no_score(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", body=BODY + "\n## IN CAPITALS\n")
    git(tmp_path, "init", "-q")
    before = run(tmp_path, "score", "skills", "--json").json["results"][0]
    text = "rules: {ACME_TONE: {python: house/tone.py, severity: error}, ACME_X: {required-section: Support}}\n"
    configure(tmp_path, text, tone=TONE.replace('fix="write it in lower case"', 'fix="x"'))
    after = run(tmp_path, "score", "skills", "--json").json["results"][0]
    assert after["composite"] == before["composite"]
    assert after["layers"][0]["score"] == before["layers"][0]["score"]
    assert len(after["findings"]) == len(before["findings"]) + 2


def test_a_rule_that_fails_on_a_skill_stops_nothing_else(tmp_path: Path) -> None:
    for name in ("aa", "bb", "cc"):
        shouts = "\n## IN CAPITALS\n" if name != "bb" else ""
        write_skill(tmp_path / "skills" / name, body=BODY + shouts)
    configure(
        tmp_path,
        "rules: {ACME_TONE: {python: house/tone.py}, ACME_X: {required-section: Support}}\n",
        tone=BROKEN,
    )
    for _ in range(2):  # a failure is not cached
        done = check(tmp_path)
        assert done.code == 3
        assert len(house(done)) == 3
        assert "house rule ACME_TONE (house/tone.py:13) failed on skills/aa/" in done.err
        assert "KeyError: 'IN CAPITALS' (and on 1 more)" in done.err
    write_skill(tmp_path / "skills" / "dd", body=BODY + "[a](gone.md)\n")
    assert check(tmp_path, "--fail-on", "error,warning").code == 1


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = (", "house/tone.py:1: SyntaxError"),
        ('"""A."""\n\nimport gone_module_of_nobody\n', "house/tone.py:3: ModuleNotFoundError: No module named"),
        ('"""A."""\nraise SystemExit(0)\n', "house/tone.py:2: SystemExit: 0"),
        ('"""A."""\n', "house/tone.py declares no rule"),
        (TONE.replace('"""A heading that shouts.\n\nWhy:\n    It is hard to read.\n"""', ""), "has no docstring"),
    ],
)
def test_code_that_cannot_be_loaded_is_an_error_with_file_and_line(tmp_path: Path, code: str, said: str) -> None:
    write_skill(tmp_path / "skills")
    configure(tmp_path, "rules: {ACME_TONE: {python: house/tone.py}}\n", tone=code)
    done = run(tmp_path, "check")
    assert done.code == 2
    assert ".skillgate.yaml:1: rules.ACME_TONE: house/tone.py" in done.err
    assert said in done.err


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('yield "text"', "TypeError: expected a Hit, found 'text'"),
        ("yield Hit(Span(0), 'a')", "ValueError: line and column count from 1, found (0, 1)"),
        ("yield Hit(Span(), 3)", "TypeError: expected a text as the message of a Hit, found 3"),
        ("yield Hit(Span(), 'a', file='/etc/passwd')", "ValueError: '/etc/passwd' is no file of the skill"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("return 3", "TypeError: 'int' object is not iterable"),
    ],
)
def test_what_a_rule_yields_is_checked(tmp_path: Path, body: str, said: str) -> None:
    write_skill(tmp_path / "skills")
    head, _, _ = TONE.partition("    for heading")
    code = f"{head}    {body}\n\n\nRULE = rule(find, Severity.INFO, fix='x')\n"
    configure(tmp_path, "rules: {ACME_TONE: {python: house/tone.py}}\n", tone=code)
    done = check(tmp_path)
    assert done.code == 3
    assert said in done.err


def test_findings_are_cached_until_the_rule_the_skill_or_a_file_changes(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "skills", body=BODY + "\n## IN CAPITALS\n")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "a.py").write_text("# one\n", encoding="utf-8")
    rules = "rules: {ACME_TONE: {python: house/tone.py}, ACME_LIC: {licence-header: %s}}\n"
    configure(tmp_path, rules % "Two", tone=TONE)
    first = house(check(tmp_path))
    assert [line.split()[2] for line in first] == ["ACME_LIC", "ACME_TONE"]
    assert house(check(tmp_path)) == first
    configure(tmp_path, rules % "Two", tone=TONE.replace("shouts", "is loud"))
    assert house(check(tmp_path))[1].endswith("is loud")
    (folder / "scripts" / "a.py").write_text("# Two\n", encoding="utf-8")
    assert len(house(check(tmp_path))) == 1
    configure(tmp_path, rules % "Three", tone=TONE)
    assert len(house(check(tmp_path))) == 2


def marks(folder: Path) -> str:
    """Give code that writes a file where it runs."""
    return TONE + f'\nfrom pathlib import Path\n\nPath({str(folder / "ran")!r}).write_text("x")\n'


def test_an_option_leaves_house_rules_out_and_runs_no_code(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", body=BODY + "\n## IN CAPITALS\n")
    text = "rules: {ACME_TONE: {python: house/tone.py}}\nignore: [ACME_TONE]\n"
    configure(tmp_path, text, tone=marks(tmp_path))
    for words in (
        ("check",),
        ("check", "--output", "sarif"),
        ("score",),
        ("rules",),
        ("explain", "gone"),
        ("config", "list"),
    ):
        done = run(tmp_path, *words, "--no-house-rules")
        assert done.code == (2 if "gone" in words else 0), done.err
        assert "ACME_TONE" not in done.out.replace("ignore = ", "").replace('["ACME_TONE"]', "")
    assert not (tmp_path / "ran").exists()
    run(tmp_path, "check")
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("git_there", [True, False])
def test_a_configuration_in_a_skill_runs_no_code(tmp_path: Path, *, git_there: bool) -> None:
    (tmp_path / "outer" / ".git").mkdir(parents=True)
    folder = write_skill(tmp_path / "outer" / "skills", body=BODY)
    (folder / ".skillgate.yaml").write_text("rules: {ACME_TONE: {python: tone.py}}\n", encoding="utf-8")
    (folder / "tone.py").write_text(marks(tmp_path), encoding="utf-8")
    if git_there:
        git(folder, "init", "-q")
    inside = run(folder, "check")
    assert inside.code == (2 if git_there else 0)
    assert ("a skill must not run code on those who check it" in inside.err) is git_there
    assert run(tmp_path / "outer", "check").code == 0
    assert run(tmp_path, "check", "outer").code == 0
    assert not (tmp_path / "ran").exists()
    assert run(folder, "check", "--config", ".skillgate.yaml").code == 0
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(("name", "below"), [("Skill.md", ""), ("SKILL.MD", ""), ("SKILL.md", "scripts")])
def test_nor_does_one_below_it_or_however_its_file_is_spelled(tmp_path: Path, name: str, below: str) -> None:
    folder = tmp_path / "sample-skill"
    (folder / below).mkdir(parents=True)
    (folder / name).write_text(f"---\nname: sample-skill\n---\n{BODY}", encoding="utf-8")
    (folder / below / ".skillgate.yaml").write_text("rules: {ACME_TONE: {python: tone.py}}\n", encoding="utf-8")
    (folder / below / "tone.py").write_text(marks(tmp_path), encoding="utf-8")
    done = run(folder / below, "check", str(folder))
    assert (done.code, "a skill must not run code on those who check it" in done.err) == (2, True)
    assert not (tmp_path / "ran").exists()


def test_a_secret_that_a_rule_quotes_is_hidden(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    key = "AK" + "IAQ4WD7XN2KTB6VZ3J"
    write_skill(tmp_path, body=f"{BODY}\n## USE {key} NOW\n")
    code = '''"""Capitals."""
from skillgate.rules import Hit, Severity, Span, rule
def find(skill):
    for heading in skill.headings:
        yield Hit(Span(heading.line), heading.text)
RULE = rule(find, Severity.WARNING, fix="x")
'''
    (tmp_path / "capitals.py").write_text(code, encoding="utf-8")
    (tmp_path / ".skillgate.yaml").write_text("rules: {ACME_C: {python: capitals.py}}\n", encoding="utf-8")
    done = run(tmp_path, "check", "--json")
    assert "ACME_C" in done.out
    assert key not in done.out


def test_a_path_is_relative_to_the_file_of_the_configuration(tmp_path: Path) -> None:
    """A hostile working directory cannot bring the code of a configuration that lies elsewhere."""
    write_skill(tmp_path / "work" / "skills", body=BODY + "\n## IN CAPITALS\n")
    (tmp_path / "work" / "tone.py").write_text(marks(tmp_path), encoding="utf-8")
    own = tmp_path / "work" / "home" / ".config" / "skillgate"
    for place, words in ((tmp_path / "conf", ("--config", "../conf/config.yaml")), (own, ())):
        place.mkdir(parents=True)
        (place / "config.yaml").write_text("rules: {ACME_TONE: {python: tone.py}}\n", encoding="utf-8")
        (place / "tone.py").write_text(TONE, encoding="utf-8")
        assert len(house(check(tmp_path / "work", *words, "skills"))) == 1
    assert not (tmp_path / "ran").exists()


def test_an_entry_point_of_an_installed_package_declares_a_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    (site / "acme-1.dist-info").mkdir(parents=True)
    (site / "acme-1.dist-info" / "METADATA").write_text("Name: acme\nVersion: 1\n", encoding="utf-8")
    (site / "acme-1.dist-info" / "entry_points.txt").write_text(
        "[skillgate.rules]\ntone = acme_tone\n", encoding="utf-8"
    )
    (site / "acme_tone.py").write_text(TONE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    write_skill(tmp_path / "work" / "skills", body=BODY + "\n## IN CAPITALS\n")
    configure(tmp_path / "work", "rules: {ACME_TONE: {entry-point: tone}}\n")
    assert len(house(check(tmp_path / "work"))) == 1
    sys.modules.pop("acme_tone", None)


def test_a_baseline_is_checked_by_the_same_rules(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", body=BODY)
    configure(tmp_path, "rules: {ACME_X: {required-section: Support}}\nfail-on: [regression]\n")
    commit(tmp_path)
    assert run(tmp_path, "score", "--baseline", "HEAD").code == 0


CASES = f"""\
a loud heading
.
---
name: sample-skill
description: {DESCRIPTION}
---
# Sample

## LOUD
=== references/a.md
# A
.
SKILL.md:7:1 the heading 'LOUD' shouts
.

a quiet one
.
---
name: sample-skill
description: {DESCRIPTION}
---
# Sample
.
.
"""


def test_a_table_of_cases_tests_a_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_tone_rule.py").write_text(TONE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import acme_tone_rule  # type: ignore[import-not-found]

    table = tmp_path / "tone.md"
    table.write_text(CASES, encoding="utf-8")
    assert failed_cases(acme_tone_rule.RULE, table) == ()
    table.write_text(CASES.replace("7:1", "8:1"), encoding="utf-8")
    [failed] = failed_cases(acme_tone_rule.RULE, table)
    assert ":1 a loud heading" in failed
    assert "SKILL.md:8:1" in failed
    assert "SKILL.md:7:1" in failed
    table.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="has no case"):
        failed_cases(acme_tone_rule.RULE, table)


def test_the_setting_is_shown_as_it_is_written(tmp_path: Path) -> None:
    configure(tmp_path, "rules: {ACME_X: {forbidden-phrase: [a, b]}}\n")
    shown = json.loads(run(tmp_path, "config", "get", "rules", "--json").out)
    assert shown["value"] == {"ACME_X": {"forbidden-phrase": ["a", "b"]}}
