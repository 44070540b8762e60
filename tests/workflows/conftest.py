"""The image that the workflows use, made once for all tests that need it."""

from __future__ import annotations

import pytest

from tests.container.engine import Engine, engine_of, image_of


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_of(request.config)


@pytest.fixture
def image(request: pytest.FixtureRequest) -> str:
    return image_of(request.config)
