"""Where skillgate is published. No one writes it down: a release puts it into the package's metadata.

A clone does not know it. Then nothing is linked.
"""

# ruff: noqa: PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

ACCOUNT = "<account>"
"""What stands for the account in an example where it is not known. No account can have this name."""
_START, _END = "skillgate_action-", ".dist-info"  # of the directory with the metadata
_KEY = "Project-URL: Homepage, "
_HOST = r"https://[A-Za-z0-9.-]{1,253}"
_REPOSITORY = r"[A-Za-z0-9_-]{1,100}/[A-Za-z0-9._-]{1,100}"
_REF = r"[A-Za-z0-9._/-]{1,200}"


class Address(NamedTuple):
    """A repository's address and the tag, branch or commit of this version; both ``""`` where they are not known."""

    url: str = ""
    ref: str = ""


_STATE: dict[str, Address] = {}


def homepage() -> str:
    """Return the address of the repository, ``""`` if it is not known."""
    return _address().url


def page(path: str) -> str:
    """Return the address of a page below ``docs/``, ``""`` if it is not known."""
    url, ref = _address()
    return f"{url}/blob/{ref}/docs/{path}" if url else ""


def raw(path: str) -> str:
    """Return the address of the bytes of a file below ``docs/``, for programs; ``""`` if it is not known."""
    url, ref = _address()
    return f"{url}/raw/{ref}/docs/{path}" if url else ""


def repository() -> str:
    """Return ``OWNER/NAME`` as workflows write it, with :data:`ACCOUNT` if it is not known."""
    return "/".join(homepage().split("/")[-2:]) or f"{ACCOUNT}/skillgate"


def publish(url: str, ref: str) -> None:
    """Link to this repository at this ref from now on, in this process and in those that it forks."""
    _STATE["address"] = Address(url, ref)


def publish_action(environ: Mapping[str, str]) -> None:
    """Link to the repository that the workflow takes the Action from.

    A step of a composite action has that action's address in its environment, so a step with ``run`` is left out.
    """
    name, ref = environ.get("GITHUB_ACTION_REPOSITORY", ""), environ.get("GITHUB_ACTION_REF", "")
    server = environ.get("GITHUB_SERVER_URL", "")
    if environ.get("GITHUB_ACTION", "").startswith("__run") or ".." in ref:
        return
    if homepage() and server != "https://github.com":  # an own server also runs actions of github.com
        return
    if re.fullmatch(_HOST, server) and re.fullmatch(_REPOSITORY, name) and re.fullmatch(_REF, ref):
        publish(f"{server}/{name}", ref)


def _address() -> Address:
    if "address" not in _STATE:
        publish(*_published())
    return _STATE["address"]


def _published() -> Address:
    """Read the metadata next to the package; importlib.metadata would take longer than a check."""
    parent = os.path.dirname(os.path.dirname(__file__))
    try:
        for name in os.listdir(parent):
            if not (name.startswith(_START) and name.endswith(_END)):
                continue
            with open(os.path.join(parent, name, "METADATA"), encoding="utf-8") as file:
                for line in iter(file.readline, "\n"):  # the README follows an empty line
                    if line.startswith(_KEY) or not line:
                        return Address(line.removeprefix(_KEY).strip(), f"v{name[len(_START) : -len(_END)]}")
    except OSError:  # an archive, or a directory that cannot be read
        pass
    return Address()
