"""Write assets/score.svg: the beginning of what `skillgate score examples/skills` prints on a terminal.

python docs/screenshot.py

It needs the extra `docs`.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from generate import Terminal  # beside this file
from rich.console import Console
from rich.text import Text

from skillgate.cli.main import main as skillgate

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "assets" / "score.svg"
COMMAND = "skillgate score examples/skills"
COLUMNS, ROWS = 96, 39

# rich's own form, without the font that it loads from the network
FORM = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; \
font-size: {char_height}px; line-height: {line_height}px}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def picture() -> str:
    """Return the output of the command as SVG."""
    out = Terminal()
    environ = {"COLUMNS": str(COLUMNS)}
    skillgate(COMMAND.split()[1:], stdout=out, stderr=io.StringIO(), environ=environ, cwd=str(ROOT))
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    lines = [f"$ {COMMAND}", *out.getvalue().splitlines()][:ROWS]
    console.print(Text.from_ansi("\n".join(lines)), soft_wrap=True)
    svg = console.export_svg(title="", code_format=FORM, unique_id="score")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}", file=sys.stderr)
