"""The documentation site: it builds strictly, has every page, loads nothing from outside, and fits a telephone."""

from __future__ import annotations

import functools
import html.parser
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from skillgate import __version__
from skillgate.homepage import ACCOUNT
from tests.browser import MISSING, Browser, program

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
OPENED = ("", "tutorials/first-score/", "rules/", "cli/", "comparison/", "explanation/trust/")

needs_docs = pytest.mark.skipif(
    shutil.which("mkdocs", path=str(Path(sys.executable).parent)) is None, reason="the extra docs is not installed"
)


def build(target: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(target)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, encoding="utf-8")


def elsewhere(folder: Path, old: str, new: str) -> Path:
    """Write a configuration with one difference that builds the same pages."""
    text, count = re.subn(old, new, (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert count == 1
    text = text.replace("hooks: [docs/", f"docs_dir: {DOCS.as_posix()}\nhooks: [{DOCS.as_posix()}/")
    path = folder / "mkdocs.yml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    done = build(target)
    assert done.returncode == 0, done.stderr
    return target


def page_of(site: Path, name: str) -> Path:
    """Return the file that a page became."""
    path = Path(name)
    folder = path.parent if path.stem in {"index", "README"} else path.with_suffix("")
    return site / folder / "index.html"


def test_every_page_is_in_the_navigation_once() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    assert sorted(re.findall(r"[\w/-]+\.md$", navigation, re.MULTILINE)) == PAGES


@needs_docs
def test_a_page_that_is_missing_fails_the_build(tmp_path: Path) -> None:
    done = build(tmp_path / "site", elsewhere(tmp_path, "      - Rules: rules.md\n", ""))
    assert done.returncode == 1
    assert "rules.md" in done.stderr


@needs_docs
def test_the_site_has_the_pages_and_nothing_internal(site: Path) -> None:
    assert all(page_of(site, name).is_file() for name in PAGES)
    assert [path.name for path in site.rglob("*") if path.suffix in {".py", ".md"} or path.name == "words.txt"] == []
    assert (site / "schemas/config.schema.json").read_bytes() == (DOCS / "schemas/config.schema.json").read_bytes()


class Elements(html.parser.HTMLParser):
    """Counts the elements of a page's article, and collects its links."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.links: list[str] = []
        self._inside = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = self._inside or tag == "article"
        if self._inside:
            self.counts[tag] += 1
            self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "article"


@needs_docs
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_the_parts_that_it_has_on_github(name: str, site: Path) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse((DOCS / name).read_text(encoding="utf-8"))
    types = Counter(token.type for token in tokens)
    counts = Elements(page_of(site, name)).counts
    assert counts["table"] == types["table_open"]
    assert counts["tr"] == types["tr_open"]
    assert counts["li"] == types["list_item_open"]
    assert counts["pre"] == types["fence"] + types["code_block"]
    assert counts["h2"] + counts["h3"] == sum(
        token.tag in {"h2", "h3"} for token in tokens if token.type == "heading_open"
    )


@needs_docs
def test_links_out_of_the_pages_lead_to_the_repository_if_it_is_known(tmp_path: Path) -> None:
    known, unknown = tmp_path / "known", tmp_path / "unknown"
    assert build(known, elsewhere(tmp_path, "^repo_url: .*", "repo_url: https://github.com/acme/gate")).returncode == 0
    found = Elements(page_of(known, "contributing/releasing.md")).links
    assert f"https://github.com/acme/gate/blob/v{__version__}/CONTRIBUTING.md" in found
    assert f"https://github.com/acme/gate/blob/v{__version__}/.github/workflows/release.yml" in found
    address = f"repo_url: https://github.com/{ACCOUNT}/skillgate"
    assert build(unknown, elsewhere(tmp_path, "^repo_url: .*", address)).returncode == 0
    links = [link for name in PAGES for link in Elements(page_of(unknown, name)).links]
    assert [link for link in links if "account" in link or "CONTRIBUTING" in link] == []


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site on loopback."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@needs_docs
@pytest.mark.skipif(program() is None, reason=MISSING)
def test_pages_load_nothing_from_outside_and_fit_the_screen(address: str, tmp_path: Path) -> None:
    with Browser(tmp_path / "profile") as browser:
        for name in OPENED:
            for width in (1280, 390):
                browser.screen(width)
                browser.open(address + name)
                outside = [url for url in browser.seen.requests if not url.startswith((address, "data:"))]
                assert (outside, browser.seen.problems) == ([], []), name
                assert browser.run("document.documentElement.scrollWidth") == width, name


@needs_docs
@pytest.mark.skipif(program() is None, reason=MISSING)
def test_the_search_finds_a_rule(address: str, tmp_path: Path) -> None:
    with Browser(tmp_path / "profile") as browser:
        browser.open(address)
        browser.run("document.querySelector('.md-search__input').focus()")
        browser.call("Input.insertText", text="ORPHAN_REFERENCE")
        found = browser.run(
            "new Promise(resolve => { const look = () => {"
            " const all = [...document.querySelectorAll('.md-search-result__link')].map(one => one.href);"
            " all.length ? resolve(JSON.stringify(all)) : setTimeout(look, 50); }; look(); })"
        )
        assert any("/rules/" in link and link.endswith("#orphan_reference") for link in json.loads(found)), found
        outside = [url for url in browser.seen.requests if not url.startswith((address, "data:", "blob:"))]
        assert outside == []
