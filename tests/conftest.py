"""What every test has: a cache of the session's own, so that no test reads or writes the user's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from skillgate.homepage import publish
from tests.browser import MISSING, Browser, program
from tests.published import HOMEPAGE, REF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SLOW = Path(__file__).with_name("slow.txt")  # files that take more than two seconds

publish(HOMEPAGE, REF)

# What has the machine to itself where tests run on several cores: engines of containers and of workflows, hooks that
# make environments, databases' servers. Tests of one of these run one after another, in one process.
_ALONE = ("tests/container/", "tests/workflows/", "tests/hooks/")

# How fast examples are made depends on what else the machine does, and says nothing of the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = str(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", folder)
        environment.setenv("LOCALAPPDATA", folder)
        yield


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start a headless Chromium for the tests of a module."""
    if program() is None:
        pytest.skip(MISSING)
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Mark as fast what is not in a slow file, and keep the tests of one engine together with ``--dist loadgroup``."""
    slow = SLOW.read_text(encoding="utf-8").split()
    for item in items:
        if item.path.relative_to(config.rootpath).as_posix() not in slow:
            item.add_marker(pytest.mark.fast)
        if item.nodeid.startswith(_ALONE) and config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group("engines"))
