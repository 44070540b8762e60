"""The steps of a release that write: repository and image are stamped, the notes cut out, the tag checked."""

from __future__ import annotations

import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest
import yaml

from skillgate import __version__
from tests.release.clone import ROOT, Clone, clone_into

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = "ghcr.io/acme/gate@sha256:" + "0" * 64
OTHER = "ghcr.io/acme/gate@sha256:" + "1" * 64


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return clone_into(tmp_path, "acme/gate")


def test_the_stamped_tree_names_the_repository_everywhere(clone: Clone) -> None:
    assert clone.step("stamp", __version__, "acme/gate") == (0, "")
    assert (
        subprocess.run(
            ["git", "grep", "-q", "<account>/skillgate", "--", ":!.ci", ":!skillgate"], cwd=clone.folder
        ).returncode
        == 1
    )
    assert "- uses: acme/gate@v" in clone.text("README.md")
    assert "uses: acme/gate@v" in clone.text("examples/workflows/pull-request.yml")
    assert "uses: acme/gate/.github/workflows/gate.yml@v" in clone.text("examples/workflows/nightly.yml")
    urls = tomllib.loads(clone.text("pyproject.toml"))["project"]["urls"]
    assert urls["Homepage"] == "https://github.com/acme/gate"
    assert yaml.safe_load(clone.text("action.yml"))["runs"]["image"] == "Dockerfile"


def test_the_release_commit_changes_no_workflow_since_its_token_must_not(clone: Clone) -> None:
    tag = f"v{__version__}"
    assert clone.step("stamp", __version__, "acme/gate", "--image", IMAGE) == (0, "")
    assert clone.step("commit", __version__) == (0, "")
    changed = clone.git("diff", "--name-only", "main", tag).split()
    assert "action.yml" in changed
    assert [name for name in changed if name.startswith(".github/workflows/")] == []
    for name in ("certify", "comment", "gate"):
        text = clone.git("show", f"{tag}:.github/workflows/{name}.yml")
        assert f"uses: acme/gate@{tag} #" in text
        assert "<account>" not in text


@pytest.mark.parametrize("repository", ["", "someone/else"])
def test_a_release_stops_where_a_reusable_workflow_runs_another_action(tmp_path: Path, repository: str) -> None:
    made = clone_into(tmp_path, repository)
    code, said = made.step("stamp", __version__, "acme/gate")
    assert code == 1
    assert f"run {repository or '<account>/skillgate'}@v{__version__}:" in said
    assert f"pin {__version__} acme/gate" in said
    assert made.step("pin", __version__, "acme/gate") == (0, "")
    assert made.step("stamp", __version__, "acme/gate") == (0, "")


def test_the_tag_has_the_image_and_the_branch_stays_as_it_was(clone: Clone) -> None:
    assert clone.step("stamp", __version__, "acme/gate", "--image", IMAGE) == (0, "")
    assert clone.step("commit", __version__) == (0, "")
    tag = f"v{__version__}"
    assert clone.step("verify", tag, IMAGE) == (0, f"action.yml of {tag} runs {IMAGE}\n")
    assert yaml.safe_load(clone.git("show", f"{tag}:action.yml"))["runs"]["image"] == f"docker://{IMAGE}"
    assert clone.git("show", "main:action.yml") == (ROOT / "action.yml").read_text(encoding="utf-8")
    assert clone.git("log", "-1", "--format=%s", tag) == f"Release {__version__}\n"


def test_a_tag_with_another_image_is_refused(clone: Clone) -> None:
    clone.step("stamp", __version__, "acme/gate", "--image", OTHER)
    clone.step("commit", __version__)
    code, said = clone.step("verify", f"v{__version__}", IMAGE)
    assert code == 1
    assert f"runs docker://{OTHER}, and {IMAGE} was pushed" in said
    assert clone.step("verify", "main", IMAGE)[0] == 1


def test_the_notes_are_the_section_of_the_version_alone(clone: Clone) -> None:
    code, said = clone.step("notes", __version__)
    assert code == 0
    assert said.startswith("First of all.")
    assert "Older." not in said


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("stamp", "9.9.9", "acme/gate"), "skillgate/__init__.py does not say 9.9.9"),
        (("stamp", "1.0; rm", "acme/gate"), "is no version"),
        (("stamp", __version__, "acme"), "is no repository"),
        (("pin", __version__, "acme"), "is no repository"),
        (("pin", "1.0", "acme/gate"), "is no version"),
        (("stamp", __version__, "acme/gate", "--image", "ghcr.io/acme/gate:v1"), "is no image"),
        (("notes", "9.9.9"), "CHANGELOG.md has no section [9.9.9]"),
        (("verify", "v0", "x"), "is no image"),
    ],
)
def test_what_cannot_be_released_is_told(clone: Clone, argv: tuple[str, ...], said: str) -> None:
    code, told = clone.step(*argv)
    assert code == 1
    assert said in told
    assert "Traceback" not in told


def test_a_tree_is_not_stamped_twice(clone: Clone) -> None:
    clone.step("stamp", __version__, "acme/gate")
    assert "start from the main branch" in clone.step("stamp", __version__, "acme/gate")[1]
