"""What every test has: a cache of the session's own, so that no test reads or writes the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = str(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", folder)
        environment.setenv("LOCALAPPDATA", folder)
        yield
