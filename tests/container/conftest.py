"""The engine and the images, made once for all tests that need them."""

from __future__ import annotations

import pytest

from tests.container.engine import Engine, engine_of, image_of


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_of(request.config)


@pytest.fixture
def image(request: pytest.FixtureRequest) -> str:
    """The image that GitHub would build: the Dockerfile's last stage."""
    return image_of(request.config)
