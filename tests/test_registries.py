"""Every registry: a file is all that a thing takes, and what exists is reachable wherever things of its kind are.

Each end-to-end test adds one file to a copy of the package and uses it by the command line, as its user would.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from skillgate import registry, settings
from skillgate.action.request import read_inputs
from skillgate.errors import UsageError
from skillgate.invocations.formats import reader
from skillgate.model.benchmark import AdapterType, Evaluator, Expected
from skillgate.model.score import key_of
from skillgate.model.setting import Setting
from skillgate.registry import (
    ADAPTERS,
    COMMANDS,
    EVAL_FORMATS,
    INVOCATION_FORMATS,
    OUTPUT_FORMATS,
    PROVIDERS,
    SCORERS,
    STARTERS,
    Room,
    scorers,
)
from skillgate.report.rendering import KINDS, formats_of, suffixes, writer
from skillgate.report.schema import benchmark_schema, config_schema, skill_schema
from tests.skills import write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
ROOMS = [room for room in vars(registry).values() if isinstance(room, Room)]


def page(path: str) -> str:
    return (ROOT / "docs" / path).read_text(encoding="utf-8")


def enum(key: str) -> set[Any]:
    """The words that the configuration's schema allows for a key, in a list or alone."""
    return set(re.findall(r"'([a-z0-9_.-]+)'", str(config_schema()["properties"][key].get("enum")))) or {
        word
        for shape in config_schema()["properties"][key]["anyOf"]
        for word in shape.get("enum", shape.get("items", {}).get("enum", ()))
    }


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.package)
def test_what_is_read_from_a_source_is_what_the_module_says(room: Room) -> None:
    for name in room.names():
        module = room.load(name)
        for constant, value in vars(module).items():
            if not re.fullmatch(r"[A-Z][A-Z_]*", constant) or f"\n{constant} = " not in room_source(room, name):
                continue
            if isinstance(value, bool):
                assert room.flag(name, constant) is value, (name, constant)
            elif isinstance(value, str) and not re.search(r'["\n]', value):
                if room.texts(name, constant):  # a text of more than one line, or a computed one, is none
                    assert room.texts(name, constant) == (value,), (name, constant)
            elif constant in asked_for() and isinstance(value, tuple):
                assert room.texts(name, constant) == value, (name, constant)
            elif constant in asked_for() and isinstance(value, dict):
                assert room.table(name, constant) == value, (name, constant)


def room_source(room: Room, name: str) -> str:
    return "".join(room._lines(name))


@cache
def asked_for() -> dict[str, set[str]]:
    """The constants that the program reads from sources, with the rooms whose names stand before the call."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "skillgate").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 2):
                continue
            is_reading = node.func.attr in ("flag", "text", "texts", "table")
            if is_reading and isinstance(node.func.value, ast.Name) and isinstance(node.args[1], ast.Constant):
                found.setdefault(str(node.args[1].value), set()).add(node.func.value.id)
    return found


def test_every_constant_that_is_asked_for_is_declared_somewhere() -> None:
    for constant, names in asked_for().items():
        for name in names & vars(registry).keys():
            room = vars(registry)[name]
            assert any(f"\n{constant} = " in room_source(room, file) for file in room.names()), (name, constant)


def test_every_command_is_documented() -> None:
    assert {f"skillgate {name}" for name in COMMANDS.listed()} <= set(
        re.findall(r"^#+ `?(skillgate [a-z-]+)", page("cli.md"), re.MULTILINE)
    )


def test_every_output_format_shows_kinds_that_there_are_and_has_suffixes_of_its_own() -> None:
    known = [suffix for form in OUTPUT_FORMATS.listed() for suffix in OUTPUT_FORMATS.texts(form, "SUFFIXES")]
    assert len(known) == len(set(known)) == len(suffixes())
    for form in OUTPUT_FORMATS.listed():
        assert set(OUTPUT_FORMATS.table(form, "WRITERS")) <= {*KINDS, "*"}
        kinds = [kind for kind in KINDS if form in formats_of(kind)]
        assert kinds
        assert all(callable(writer(kind, form)) for kind in kinds)
        assert re.search(rf"\b{form}\b", page("cli.md"))


def test_every_format_of_benchmarks_is_a_choice_of_the_configuration() -> None:
    files = {form for form in formats_of("bench") if not OUTPUT_FORMATS.flag(form, "TERMINAL")}
    assert set(settings.FORMATS.choices) == files == enum("formats")


def test_every_scorer_can_be_named_and_needs_what_there_is() -> None:
    keys = {f"expectedOutput.{key_of(Expected, name)}" for name in Expected.__slots__}
    keys |= {f"evaluator.{key_of(Evaluator, name)}" for name in Evaluator.__slots__}
    table = set(re.findall(r"^\| `([a-z_]+)`", page("how-to/benchmarks.md"), re.MULTILINE))
    default = {word for word, name in scorers().items() if not SCORERS.flag(name, "BY_NAME")}
    assert set(settings.EVALUATOR.choices) == default == enum("evaluator")
    for name in SCORERS.names():
        assert callable(getattr(SCORERS.load(name), name))
        assert set(SCORERS.texts(name, "NEEDS")) <= keys
        assert name in table
        # Whatever the adapter declares, a task can name it, so the schema of benchmarks knows it.
        assert f"'{name}'" in str(benchmark_schema())


def test_every_provider_is_a_choice_everywhere() -> None:
    assert tuple(settings.PROVIDER.choices) == PROVIDERS.listed()
    assert enum("provider") == set(PROVIDERS.listed())
    for name in PROVIDERS.listed():
        if name == "replay":  # a recording is named by --replay, which no workflow has
            with pytest.raises(UsageError, match="input provider"):
                read_inputs({"INPUT_PROVIDER": name})
        else:
            assert read_inputs({"INPUT_PROVIDER": name})["provider"] == name
        assert f'    name = "{name}"\n' in room_source(PROVIDERS, name)
        assert re.search(rf"\b{name}\b", page("configuration.md"))
        assert PROVIDERS.text(name, "MODELS_OF") in ("", *PROVIDERS.listed())


def test_every_adapter_is_a_type_of_skills() -> None:
    types = {kind.value for kind in AdapterType}
    assert set(ADAPTERS.listed()) == types
    assert set(skill_schema()["$defs"]["Executable"]["properties"]["adapterType"]["enum"]) == types
    for name in ADAPTERS.names():
        assert callable(ADAPTERS.load(name).open_adapter)
        assert re.search(rf"\b{name}\b", page("how-to/benchmarks.md"))


def test_every_starter_is_documented() -> None:
    table = re.findall(r"^\| `([a-z_]+)`", page("how-to/writing-skills-that-run.md"), re.MULTILINE)
    assert sorted(table) == list(STARTERS.names())


def test_every_format_of_eval_sets_reads_documents_or_folders_and_is_documented() -> None:
    for name in EVAL_FORMATS.listed():
        module = EVAL_FORMATS.load(name)
        assert callable(module.is_it)
        assert callable(module.read)
        assert EVAL_FORMATS.text(name, "UNIT")
        assert f"| `{name}` |" in page("how-to/eval-sets.md")


def test_every_form_of_invocations_can_be_named_and_is_documented() -> None:
    assert sum(INVOCATION_FORMATS.flag(name, "FALLBACK") for name in INVOCATION_FORMATS.listed()) == 1
    for name in INVOCATION_FORMATS.listed():
        assert reader(name) is INVOCATION_FORMATS.load(name).read
        assert INVOCATION_FORMATS.text(name, "EXPECTED")
        assert f"`{name}`" in page("how-to/invocations.md")


def test_every_input_of_the_action_is_laid_over_the_configuration_or_read_by_its_name() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "skillgate/action").rglob("*.py"))
    names = {value.key: name for name, value in vars(settings).items() if isinstance(value, Setting)}
    manifest = (ROOT / "action.yml").read_text(encoding="utf-8")
    for entry in settings.INPUTS:
        assert f"\n  {entry.key}:\n" in manifest
        over = entry.configured and entry.action is not None and entry.action.configures
        is_read = re.search(rf"\bsettings\.{names[entry.key]}\b", sources) or f'variable("{entry.key}")' in sources
        assert over or is_read or re.search(rf"\.{entry.key.replace('-', '_')}\b", sources), entry.key


class Copy(NamedTuple):
    """A copy of the package that files are added to."""

    folder: Path

    def add(self, path: str, source: str) -> None:
        (self.folder / "skillgate" / path).write_text(dedent(source).lstrip(), encoding="utf-8")

    def run(self, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
        environ = {
            **{name: text for name, text in os.environ.items() if name in ("PATH", "LANG")},
            "PYTHONPATH": str(self.folder),
            "HOME": str(cwd / "home"),
            "COLUMNS": "200",
        }
        return subprocess.run(
            [sys.executable, "-m", "skillgate", *words], cwd=cwd, env=environ, capture_output=True, encoding="utf-8"
        )


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "skillgate", folder / "skillgate", ignore=shutil.ignore_patterns("__pycache__"))
    yield Copy(folder)
    shutil.rmtree(folder)


def test_an_input_of_the_action_is_one_entry(package: Copy, tmp_path: Path) -> None:
    table = package.folder / "skillgate/settings.py"
    source = table.read_text(encoding="utf-8")
    changed = re.sub(
        r'("in-flight",.*?option=Option\(MODELS, "N"\),\n)', r"\1    action=Input(),\n", source, flags=re.DOTALL
    )
    assert changed != source
    table.write_text(changed, encoding="utf-8")
    code = """
        from skillgate import settings
        from skillgate.action.request import read_inputs, set_options
        from skillgate.config import Config
        found = Config(cwd="/").with_options(set_options(read_inputs({"INPUT_IN-FLIGHT": "7"})))
        print(found.get(settings.IN_FLIGHT))
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(package.folder)},
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.stdout, done.stderr) == ("7\n", "")


def test_an_output_format_is_one_file(package: Copy, tmp_path: Path) -> None:
    package.add(
        "report/formats/teamcity.py",
        '''
        """Service messages of TeamCity."""

        SUFFIXES = (".teamcity.txt",)
        WRITERS = {
            "score": "render",
            "check": "render",
            "bench": "render",
        }


        def render(report: object) -> str:
            """Write a message."""
            return f"##teamcity[message text='{type(report).__name__}']\\n"
        ''',
    )
    write_skill(tmp_path / "skill")
    done = package.run(tmp_path, "check", "skill", "--output", "teamcity", "--output-file", "all.teamcity.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (tmp_path / "all.teamcity.txt").read_text() == "##teamcity[message text='Report']\n"
    (tmp_path / "check.json").write_text(package.run(tmp_path, "check", "skill", "--output", "json").stdout)
    converted = package.run(tmp_path, "report", "convert", "check.json", "--output", "c.teamcity.txt")
    assert (converted.returncode, (tmp_path / "c.teamcity.txt").read_text()) == (0, done.stdout)
    for command, named in (("check", "gitlab, teamcity"), ("eval", "junit, teamcity")):
        assert named in " ".join(package.run(tmp_path, command, "--help").stdout.split())
    package.run(tmp_path, "create", "--name", "shout", "--from-template", "python_script")
    tasks = "skills/shout/tests/basic.eval.json"
    done = package.run(tmp_path, "eval", "--skills", "skills/shout", "--tasks", tasks, "--format", "teamcity")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "reports/eval-result.teamcity.txt").read_text() == "##teamcity[message text='BenchReport']\n"
    (tmp_path / ".skillgate.yaml").write_text("formats: teamcity\n")
    assert package.run(tmp_path, "config", "list").returncode == 0


def test_a_scorer_is_one_file(package: Copy, tmp_path: Path) -> None:
    package.add(
        "bench/scorers/starts_with.py",
        '''
        """The beginning of the answer's text."""

        from skillgate.bench.answers import scalar_text
        from skillgate.bench.scorers import right, scorer, wrong

        ALIASES = ("prefix",)
        NEEDS = ("expectedOutput.value",)


        @scorer()
        def starts_with(found, rules):
            """Score 1 where the text begins so."""
            begins = (scalar_text(found) or "").startswith(rules.expected.value)
            return right("it begins so") if begins else wrong("it begins otherwise")
        ''',
    )
    package.run(tmp_path, "create", "--name", "shout", "--from-template", "python_script")
    words = [("prefix", "TEST"), ("starts_with", "NO")]
    tasks: list[dict[str, Any]] = [
        {"id": word, "inputData": {"query": "test input"}, "expectedOutput": {"type": word, "value": value}}
        for word, value in words
    ]
    tasks.append({"id": "default", "inputData": {"query": "test input"}, "expectedOutput": {"value": "TEST IN"}})
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    assert package.run(tmp_path, "bench", "validate", "tasks.json").returncode == 0
    done = package.run(
        tmp_path, "eval", "--skills", "skills/shout", "--tasks", "tasks.json", "--evaluator", "prefix", "--json"
    )
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout)["reports"]
    found = {result["taskId"]: result["status"] for result in report["taskResults"]}
    assert found == {"prefix": "pass", "starts_with": "fail", "default": "pass"}
    del tasks[0]["expectedOutput"]["value"]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    done = package.run(tmp_path, "bench", "validate", "tasks.json")
    assert done.returncode == 1
    assert "expectedOutput.value: required by scorer starts_with, but missing" in done.stdout + done.stderr
    schema = json.loads(package.run(tmp_path, "schema", "benchmark").stdout)
    assert "starts_with" in str(schema)


def test_a_provider_is_one_file(package: Copy, tmp_path: Path) -> None:
    package.add(
        "llm/providers/echo.py",
        '''
        """The scripted model under another name."""

        from skillgate.llm.providers import scripted

        MADE_UP = "echoed"


        def connect(connection):
            """Connect."""
            provider = scripted.connect(connection)
            provider.name = "echo"
            return provider
        ''',
    )
    write_skill(tmp_path / "skill")
    done = package.run(tmp_path, "score", "skill", "--depth", "standard", "--provider", "echo", "--json")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    judge = next(layer for layer in result["layers"] if layer["name"] == "judge")
    assert (judge["provider"], judge["live"]) == ("echo", False)
    (tmp_path / "home/.config/skillgate").mkdir(parents=True)
    (tmp_path / "home/.config/skillgate/config.yaml").write_text("provider: echo\n")
    done = package.run(tmp_path, "score", "skill", "--depth", "standard")
    assert "provider echo" in done.stdout
    schema = json.loads(package.run(tmp_path, "schema", "config").stdout)
    assert "echo" in schema["properties"]["provider"]["enum"]


def test_a_format_of_eval_sets_is_one_file(package: Copy, tmp_path: Path) -> None:
    package.add(
        "evals/formats/flashcards.py",
        '''
        """Flashcards: a document with a list of fronts."""

        from skillgate.model.evals import TaskCase

        UNIT = "card"


        def is_it(loaded, file):
            """Whether a document is such a list."""
            return isinstance(loaded.value, dict) and "cards" in loaded.value


        def read(loaded, file):
            """Read the cards as tasks."""
            for number, card in enumerate(loaded.value["cards"]):
                yield TaskCase(str(number), card["front"], file, loaded.line(f"cards[{number}]"), card["back"])
        ''',
    )
    skill = write_skill(tmp_path / "skill")
    (skill / "evals").mkdir()
    cards = [{"front": f"How is capital {number} called?", "back": "Like this"} for number in range(3)]
    (skill / "evals/cards.json").write_text(json.dumps({"cards": cards}))
    done = package.run(tmp_path, "evals", "show", "skill")
    assert "3 cards" in done.stdout, done.stderr
    document = json.loads(package.run(tmp_path, "evals", "show", "skill", "--json").stdout)
    assert [file["kind"] for file in document["sets"][0]["files"]] == ["flashcards"]


def test_a_form_of_invocations_is_one_file(package: Copy, tmp_path: Path) -> None:
    package.add(
        "invocations/formats/ticker.py",
        '''
        """Ticker tape: the name of a skill on each line, after a mark."""

        from skillgate.invocations.formats._record import invocation_of

        EXPECTED = "ticker tape"


        def is_it(head):
            """Whether a file begins with the mark."""
            return head.startswith(b"TICKER ")


        def read(lines, options):
            """Read a use of a skill from each line."""
            for number, line in lines:
                name = line.removeprefix(b"TICKER ").decode()
                record = {"skill_name": name, "id": str(number), "timestamp": "2026-11-22T12:00:00Z"}
                yield invocation_of(record, options, number)
        ''',
    )
    (tmp_path / "tape.txt").write_text("TICKER tidy\nTICKER tidy\n")
    done = package.run(tmp_path, "log", "import", "tape.txt", "--store", "store.db", "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    document = json.loads(done.stdout)
    assert document["files"][0]["format"] == "ticker", document
    assert "ticker" in package.run(tmp_path, "log", "import", "--help").stdout
    (tmp_path / "none.txt").write_text("nothing\n")
    done = package.run(tmp_path, "log", "import", "none.txt", "--store", "store.db")
    assert "or ticker tape" in done.stderr


def test_a_starter_is_one_file(package: Copy, tmp_path: Path) -> None:
    package.add(
        "bench/starters/note.py",
        '''
        """A note."""

        FIRST = "cat {}/NOTE.md"


        def files(wanted):
            """Give the file."""
            return {"NOTE.md": f"# {wanted.name}\\n"}
        ''',
    )
    done = package.run(tmp_path, "create", "--name", "Shopping", "--from-template", "note")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "skills/shopping/NOTE.md").read_text() == "# Shopping\n"
    assert "then: cat skills/shopping/NOTE.md" in done.stdout


def test_a_command_is_one_file(package: Copy, tmp_path: Path) -> None:
    package.add(
        "cli/commands/greet.py",
        '''
        """Greet somebody."""

        GROUP = "everyday"


        def add_arguments(parser):
            """Declare whom."""
            parser.add_argument("name")


        def run(args, session):
            """Greet."""
            session.out(f"Hello {args.name}")
            return 0
        ''',
    )
    assert package.run(tmp_path, "greet", "you").stdout == "Hello you\n"
    assert "greet" in package.run(tmp_path, "--help").stdout
