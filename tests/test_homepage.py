"""Where links lead: to the repository that a release wrote into the metadata, to the Action's own, or nowhere."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skillgate
from skillgate import homepage
from tests.published import HOMEPAGE, REF

PACKAGE = Path(skillgate.__file__).parent
ACTION = {
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_ACTION_REPOSITORY": "acme/gate",
    "GITHUB_ACTION_REF": "v3",
    "GITHUB_ACTION": "__acme_gate",
}
ASK = """
import sys, json
from skillgate import homepage
from skillgate.model.finding import rule_url
if len(sys.argv) > 1: homepage.publish_action(json.loads(sys.argv[1]))
print(json.dumps([homepage.homepage(), homepage.repository(), rule_url("BROKEN_LINK")]))
"""
NOWHERE = ["", "<account>/skillgate", ""]


def asked(folder: Path, *metadata: str, environ: dict[str, str] | None = None) -> list[str]:
    """Ask an installed package, whose metadata has these lines."""
    site = folder / "site"
    if not site.exists():
        shutil.copytree(PACKAGE, site / "skillgate", ignore=shutil.ignore_patterns("__pycache__"))
    if metadata:
        about = site / "skillgate_action-4.5.6.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("\n".join([*metadata, "", "Project-URL: Homepage, https://readme.example", ""]))
    given = () if environ is None else (json.dumps(environ),)
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n{ASK}"
    done = subprocess.run([sys.executable, "-I", "-c", code, *given], cwd=folder, capture_output=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def test_a_clone_knows_no_address_and_links_nothing(tmp_path: Path) -> None:
    assert asked(tmp_path) == NOWHERE


def test_a_package_without_an_address_takes_none_from_its_readme(tmp_path: Path) -> None:
    assert asked(tmp_path, "Metadata-Version: 2.4", "Name: skillgate-action") == NOWHERE


def test_an_installed_release_links_to_the_pages_of_its_own_tag(tmp_path: Path) -> None:
    url = "https://github.com/acme/skillgate"
    assert asked(tmp_path, "Name: skillgate-action", f"Project-URL: Homepage, {url}") == [
        url,
        "acme/skillgate",
        f"{url}/blob/v4.5.6/docs/rules.md#broken_link",
    ]


def test_the_action_links_to_where_the_workflow_takes_it_from(tmp_path: Path) -> None:
    there = [
        "https://github.com/acme/gate",
        "acme/gate",
        "https://github.com/acme/gate/blob/v3/docs/rules.md#broken_link",
    ]
    assert asked(tmp_path, environ=ACTION) == there


@pytest.mark.parametrize(
    "change",
    [
        {"GITHUB_ACTION": "__run_2"},
        {"GITHUB_ACTION_REPOSITORY": ""},
        {"GITHUB_ACTION_REPOSITORY": "acme/gate/../../evil"},
        {"GITHUB_ACTION_REF": "../../x"},
        {"GITHUB_ACTION_REF": "v3)\n[x](https://evil.example"},
        {"GITHUB_SERVER_URL": "javascript:alert(1)"},
    ],
)
def test_what_is_no_action_of_ours_or_no_address_is_not_linked(tmp_path: Path, change: dict[str, str]) -> None:
    assert asked(tmp_path, environ={**ACTION, **change}) == NOWHERE


def test_a_release_on_a_server_of_ones_own_still_links_to_where_it_was_published(tmp_path: Path) -> None:
    url = "https://github.com/acme/skillgate"
    elsewhere = {**ACTION, "GITHUB_SERVER_URL": "https://git.example"}
    assert asked(tmp_path, f"Project-URL: Homepage, {url}", environ=elsewhere)[0] == url


def test_init_says_what_to_fill_in_where_it_does_not_know(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom skillgate.cli.main import entry\nsys.argv = ['skillgate', *sys.argv[1:]]\nsys.exit(entry())"
    )
    (tmp_path / "new").mkdir()
    shutil.copytree(PACKAGE, tmp_path / "skillgate", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", code, "init", "--dir", "new", "--workflow", "pull-request", "--pre-commit"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    told = " ".join(done.stderr.split())
    assert "replace <account> in .pre-commit-config.yaml and .github/workflows/skillgate.yml" in told
    text = (tmp_path / "new/.github/workflows/skillgate.yml").read_text(encoding="utf-8")
    assert "uses: <account>/skillgate@v" in text


def test_these_tests_have_an_address() -> None:
    assert homepage.page("rules.md") == f"{HOMEPAGE}/blob/{REF}/docs/rules.md"
