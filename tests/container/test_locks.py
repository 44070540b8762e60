"""The locks of the container: complete for the extras they serve, every file by its hash."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.container.engine import PROJECT

PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = {"static": ("action", "report"), "full": ("all",)}


def locked(name: str) -> dict[str, str]:
    """Give the version of each package in a lock, and check that each comes with a hash."""
    text = (PROJECT / f"docker/{name}.txt").read_text(encoding="utf-8")
    entries = re.findall(r"^([a-z0-9._-]+)==(\S+)[^\n]*\\\n((?:    --hash=sha256:[0-9a-f]{64}[^\n]*\n)+)", text, re.M)
    assert len(entries) == len(re.findall(r"^[a-z0-9]", text, re.M)), "every package has hashes"
    return {package: version for package, version, _ in entries}


def wanted(extras: tuple[str, ...]) -> list[Requirement]:
    """List what the extras ask for, those that name other extras of ours resolved."""
    project = PYPROJECT["project"]
    found, own = [], canonicalize_name(project["name"])
    queue = [*project["dependencies"], *(item for extra in extras for item in project["optional-dependencies"][extra])]
    while queue:
        requirement = Requirement(queue.pop())
        if canonicalize_name(requirement.name) == own:
            queue += [item for extra in requirement.extras for item in project["optional-dependencies"][extra]]
        else:
            found.append(requirement)
    return found


@pytest.mark.parametrize("name", EXTRAS)
def test_a_lock_has_all_that_its_extras_ask_for(name: str) -> None:
    versions = locked(name)
    for requirement in wanted(EXTRAS[name]):
        version = versions.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement} is not in docker/{name}.txt: run docker/lock"
        assert requirement.specifier.contains(version), f"{requirement} does not allow {version}: run docker/lock"


def test_the_build_backend_is_locked_too() -> None:
    versions = locked("build")
    for requirement in map(Requirement, PYPROJECT["build-system"]["requires"]):
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)])


def test_both_stages_agree_on_the_versions_they_share() -> None:
    static, full = locked("static"), locked("full")
    assert static.items() <= full.items()
