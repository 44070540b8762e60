"""Hooks of the documentation site: links from a page to files outside docs/.

On GitHub such a link is relative. On the site it leads to the file in the repository, at the tag of this version. A
clone does not know its repository; there the link's text remains.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.homepage import ACCOUNT

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)\s#]+)(#[^)\s]+)?\)")
_FENCE = re.compile(r"^( *`{3,}).*?^\1`*$", re.DOTALL | re.MULTILINE)
_ROOT = Path(__file__).parent.parent


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Link no repository if its address is not known."""
    if config.repo_url and ACCOUNT in config.repo_url:
        config.repo_url = config.repo_name = ""
    return config


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes it
    """Replace relative links to files outside docs/; one to a missing file stays, and fails the build."""
    folder = posixpath.dirname(page.file.src_uri)

    def replace(found: re.Match[str]) -> str:
        text, target, anchor = found.groups()
        path = posixpath.normpath(posixpath.join("docs", folder, target))
        if path.startswith("docs/") or not (_ROOT / path).exists():
            return found[0]
        return f"[{text}]({config.repo_url}/blob/v{__version__}/{path}{anchor or ''})" if config.repo_url else text

    pieces, at = [], 0
    for fence in _FENCE.finditer(markdown):
        pieces += [_LINK.sub(replace, markdown[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*pieces, _LINK.sub(replace, markdown[at:])])
