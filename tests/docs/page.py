"""A page of the documentation whose commands are run as printed."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING

from skillgate.cli.main import main
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from pathlib import Path


class Page:
    """One how-to page.

    Attributes:
        text: the Markdown.
        commands: every line of its shell blocks that runs skillgate, in order.
    """

    def __init__(self, name: str) -> None:
        self.text = (ROOT / "docs" / "how-to" / f"{name}.md").read_text(encoding="utf-8")
        self.commands = [
            line for block in self.blocks("sh") for line in block.splitlines() if line[:10] == "skillgate "
        ]

    def blocks(self, language: str) -> list[str]:
        """Return the code blocks of a language, in order."""
        return re.findall(rf"```{language}\n(.*?)```", self.text, flags=re.DOTALL)

    def section(self, title: str) -> str:
        """Return the text below a heading of the second level."""
        return self.text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]

    def run(self, folder: Path, *commands: str) -> dict[str, str]:
        """Run commands, by default all of the page, beside a copy of the examples; each must pass.

        Returns:
            What each command printed.
        """
        if not (folder / "examples").exists():
            shutil.copytree(ROOT / "examples", folder / "examples")
        environ = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        printed = {}
        for line in commands or self.commands:
            out, err = io.StringIO(), io.StringIO()
            code = main(shlex.split(line)[1:], stdout=out, stderr=err, environ=environ, cwd=str(folder))
            assert code == 0, (line, out.getvalue(), err.getvalue())
            printed[line] = out.getvalue()
        return printed
