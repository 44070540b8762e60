"""The comment in a browser, about as GitHub shows it: the verdict and what to do stand in the first screenful."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillgate.action.comment.comment import comment
from tests.github.build import SITUATIONS
from tests.github.rendered import reader

CHROMIUM = os.environ.get("SKILLGATE_CHROMIUM", "/usr/bin/chromium")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)
SCREEN = 800, 1000  # pixels: a comment's width on GitHub, and what one sees of it at a time
STYLE = """
body { margin: 16px; font: 14px/1.5 "Liberation Sans", Arial, sans-serif; color: #1f2328; width: 768px }
body { overflow-wrap: break-word }
a { color: #0969da; text-decoration: none } sub { font-size: 75%; color: #59636e }
code { background: #818b981f; border-radius: 6px; padding: .2em .4em; font: 85% "Liberation Mono", monospace }
table { display: block; width: max-content; max-width: 100%; overflow: auto; border-collapse: collapse }
table { margin: 0 0 16px }
th, td { border: 1px solid #d1d9e0; padding: 6px 13px } tr:nth-child(2n) { background: #f6f8fa }
blockquote { margin: 0 0 16px; padding: 0 1em; color: #59636e; border-left: .25em solid #d1d9e0 }
h3 { font-size: 1.25em; margin: 0 0 16px } h4 { font-size: 1em; margin: 24px 0 16px }
p, ul, ol { margin: 0 0 16px } summary { cursor: pointer }
"""
MEASURE = """
const top_of = text => {
  const found = [...document.querySelectorAll("h3, h4, p, summary")].find(one => one.textContent.startsWith(text));
  return found ? found.getBoundingClientRect().bottom : null;
};
const told = {
  next: top_of("New findings"), trust: top_of("Found by"), folded: document.querySelectorAll("details").length,
  open: document.querySelectorAll("details[open]").length, images: document.images.length,
  wide: document.documentElement.scrollWidth, text: document.body.innerText,
};
const box = document.createElement("script");
box.type = "application/json"; box.id = "told"; box.textContent = JSON.stringify(told).replaceAll("<", "\\\\u003c");
document.body.append(box);
"""


def open_page(name: str, folder: Path, *, picture: Path | None = None) -> str:
    """Open the comment of a situation, and give the page as the browser has it; or take its picture."""
    html = reader().render(comment(SITUATIONS[name]()))
    page = folder / "page.html"
    head = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title><style>{STYLE}</style></head>'
    )
    page.write_text(f"{head}<body>{html}<script>{MEASURE}</script></body></html>", encoding="utf-8")
    width, height = SCREEN
    task = [f"--screenshot={picture}", f"--window-size={width},{height}"] if picture else ["--dump-dom"]
    done = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            f"--user-data-dir={folder / 'profile'}",
            *task,
            f"--window-size={width},{height}",
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return done.stdout.decode()


def measured(name: str, folder: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="told">(.*?)</script>', open_page(name, folder), re.DOTALL)
    assert found is not None
    told: dict[str, Any] = json.loads(found[1])
    return told


pytestmark = pytest.mark.skipif(not Path(CHROMIUM).is_file(), reason="Chromium is not installed")


def test_a_failure_says_what_to_do_in_the_first_screenful(tmp_path: Path) -> None:
    told = measured("regression", tmp_path)
    assert 0 < told["next"] < SCREEN[1] / 2
    assert told["folded"] == 2
    assert told["open"] == 0


def test_a_hostile_pull_request_shows_no_picture_and_breaks_nothing(tmp_path: Path) -> None:
    told = measured("hostile", tmp_path)
    assert told["images"] == 0
    assert told["wide"] <= SCREEN[0]
    assert "<img src=h\u200bttps://evil.example/x.png>" in told["text"]
    assert told["open"] == 0


@pytest.mark.parametrize("name", ["regression", "many"])
def test_a_picture_can_be_taken(name: str, tmp_path: Path) -> None:
    picture = tmp_path / f"{name}.png"
    open_page(name, tmp_path, picture=picture)
    assert struct.unpack(">II", picture.read_bytes()[16:24]) == SCREEN
    assert picture.stat().st_size > 20_000
