"""What a rule says beside place and message: how bad a finding is, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.static import layer
from tests.static.cases import HEAD, parsed, write

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.finding import Claim


def only(tmp_path: Path, body: str, rule: str) -> Claim:
    """Give the only finding of a rule in a skill with this body."""
    (found,) = (item for item in layer.run(parsed(write(HEAD + body, tmp_path))).claims if item.id == rule)
    return found


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        pytest.param("Run:\n\n```sh\na\n```\n```\n", "warning", id="nothing below it"),
        pytest.param("Run:\n\n```sh\na\n```\n```\n\n \n", "warning", id="blank lines below it"),
        pytest.param("Run:\n\n```sh", "warning", id="an opening one that the file ends with"),
        pytest.param("Run:\n\n```sh\na\n```\n```\nThen stop.\n", "error", id="a line below it"),
    ],
)
def test_a_fence_that_swallows_nothing_is_a_warning(body: str, severity: str, tmp_path: Path) -> None:
    assert only(tmp_path, body, "UNCLOSED_FENCE").severity.value == severity


def test_a_character_shown_on_purpose_is_to_be_written_as_its_code_point(tmp_path: Path) -> None:
    specimen = only(tmp_path / "a", "A zero-width space, as in ig\u200bnore.\n", "HIDDEN_UNICODE")
    assert specimen.fix == "to show the character on purpose, write U+200B instead"
    assert only(tmp_path / "b", "Then ig\u200bnore it.\n", "HIDDEN_UNICODE").fix == "delete them"
