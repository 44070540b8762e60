"""The workflows to start with, as GitHub reads them: what ``skillgate init --workflow`` writes."""

from __future__ import annotations

from importlib.resources import files

from skillgate import __version__
from skillgate.model.tool import HOMEPAGE

FILES = {
    "pull-request": "pull-request.yml",
    "fork": "fork-comment.yml",
    "nightly": "nightly.yml",
    "certify": "certify.yml",
}
"""The file of each workflow, by what it is for. The names also stand in ``examples/workflows/``."""

ACTION = f"{HOMEPAGE.removeprefix('https://github.com/')}@v{__version__}"
"""What a workflow says to use this version of the Action."""


def workflow(name: str) -> str:
    """Compose a workflow, for this version of the Action.

    Args:
        name: a key of :data:`FILES`.
    """
    text = files(__package__).joinpath(FILES[name]).read_text(encoding="utf-8")
    return text.replace("{action}", ACTION)


def place(name: str) -> str:
    """Give the path that a workflow is written to, relative to the repository's top, with ``/``."""
    endings = {"pull-request": "", "fork": "-comment", "nightly": "-nightly", "certify": "-certify"}
    return f".github/workflows/skillgate{endings[name]}.yml"
