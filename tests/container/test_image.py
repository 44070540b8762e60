"""The Dockerfile builds an image of a bounded size, with an entry point that no workspace can change."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from skillgate.cli.commands.init import FILES
from tests.container.engine import BASE_IMAGE, PROJECT, image_of
from tests.container.layers import compressed_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.container.engine import Engine

MB = 1_000_000
MODEL = ("anthropic", "jsonschema", "numpy", "scipy")


def imports(engine: Engine, image: str, *modules: str) -> dict[str, bool]:
    """Tell which modules an image's interpreter finds."""
    code = f"import importlib.util as u, json; print(json.dumps({{m: bool(u.find_spec(m)) for m in {modules!r}}}))"
    entry = ("--entrypoint", "/opt/skillgate/bin/python", image, "-I", "-c", code)
    done = engine.docker("run", "--rm", "--network", "none", *entry)
    assert done.code == 0, done.said
    found: dict[str, bool] = json.loads(done.out)
    return found


@pytest.fixture
def static(request: pytest.FixtureRequest) -> str:
    return image_of(request.config, "static")


def test_both_stages_are_as_small_as_promised(
    engine: Engine, image: str, static: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = compressed_bytes(engine, tmp_path, BASE_IMAGE, static, image)
    with capsys.disabled():
        print({tag: f"{sizes[tag] / MB:.1f} MB above the base, compressed" for tag in (static, image)})
    assert 5 * MB < sizes[static] <= 25 * MB
    assert sizes[static] < sizes[image] <= 95 * MB


def test_the_last_stage_is_the_full_one() -> None:
    stages = re.findall(r"^FROM .* AS (\S+)$", (PROJECT / "Dockerfile").read_text(encoding="utf-8"), re.M)
    assert stages[-1] == "full"
    assert "static" in stages


def test_the_static_stage_has_all_but_the_libraries_of_the_model(engine: Engine, image: str, static: str) -> None:
    assert imports(engine, static, "github", "jinja2", *MODEL) == {
        "github": True,
        "jinja2": True,
        **dict.fromkeys(MODEL, False),
    }
    assert all(imports(engine, image, "github", "jinja2", *MODEL).values())


def test_the_entry_point_is_an_isolated_interpreter_and_no_shell(engine: Engine, image: str) -> None:
    config = json.loads(engine.docker("image", "inspect", image).out)[0]["Config"]
    assert config["Entrypoint"] == ["/opt/skillgate/bin/python", "-I", "-m", "skillgate"]
    assert config["Cmd"] == ["action"]
    assert not config.get("User")
    assert not config.get("WorkingDir")


def test_nothing_can_be_installed_into_the_environment_of_the_image(engine: Engine, image: str) -> None:
    assert imports(engine, image, "pip", "skillgate") == {"pip": False, "skillgate": True}


def test_the_workflows_to_start_with_came_along(engine: Engine, image: str) -> None:
    asked = ("init", "--dir", "/tmp/new", *(word for name in FILES for word in ("--workflow", name)))
    done = engine.docker("run", "--rm", "--network", "none", image, *asked)
    assert done.code == 0, done.said
    assert done.out.count("wrote .github/workflows/") == len(FILES)


def test_git_is_there_without_perl_and_scanners_see_it(engine: Engine, image: str) -> None:
    entry = ("run", "--rm", "--network", "none", "--entrypoint")
    done = engine.docker(*entry, "dpkg-query", image, "--show", "--showformat=${db:Status-Status}", "git")
    assert (done.code, done.out) == (0, "installed"), done.said
    assert engine.docker(*entry, "dpkg-query", image, "--show", "perl-modules-5.40").code != 0
    assert engine.docker(*entry, "git", image, "init", "--bare", "/tmp/new.git").code == 0


def test_every_module_of_the_program_can_be_imported(engine: Engine, image: str) -> None:
    """What was removed from the libraries is nothing that the program needs."""
    code = (
        "import importlib, pkgutil, skillgate\n"
        "names = [m.name for m in pkgutil.walk_packages(skillgate.__path__, 'skillgate.')]\n"
        "programs = ('_driver', '.__main__', '.migrations.env')\n"
        "for name in names:\n"
        "    if name.endswith(programs): continue\n"
        "    try: importlib.import_module(name)\n"
        "    except ModuleNotFoundError as error: assert error.name == 'claude_agent_sdk', error\n"  # its own extra
        "import scipy.special, scipy.stats, numpy, psycopg, alembic, mcp, anthropic, github\n"
        "print(len(names))"
    )
    entry = ("--entrypoint", "/opt/skillgate/bin/python", image, "-I", "-c", code)
    done = engine.docker("run", "--rm", "--network", "none", *entry)
    assert done.code == 0, done.said
    assert int(done.out) > 200
