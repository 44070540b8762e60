"""Write a commented configuration file and the directories of a new skills repository."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate import __version__, settings
from skillgate.config import TOML_NAME, YAML_NAME, defines_settings
from skillgate.config_writing import carried_over, new_file
from skillgate.errors import UsageError
from skillgate.files import toplevel
from skillgate.format import printable
from skillgate.homepage import ACCOUNT, homepage, repository

if TYPE_CHECKING:
    from skillgate.console import Console

POSITION = 3
GROUP = "everyday"
_FOLDERS = {
    "skills": "# Skills\n\nOne directory per skill, each with a `SKILL.md` or a `skill.json`.\n\n"
    "    skillgate score skills\n    skillgate create --name NAME --from-template python_script\n",
    "benchmarks": "# Benchmarks\n\nTasks that measure how well the skills work.\n\n    skillgate bench"
    " list\n    skillgate bench validate\n",
    "reports": "# Reports\n\nSaved reports, such as the baseline for later scores.\n",
}
HOOKS_NAME = ".pre-commit-config.yaml"
_HOOKS = f"""\
repos:
  - repo: {{url}}
    rev: v{__version__}
    hooks:
      - id: skillgate  # the SKILL.md files of a commit. Or use one of these instead.
      # - id: skillgate-skill  # the skill of any changed file, including its references and scripts.
      # - id: skillgate-all  # every skill: also finds deletions and conflicts between skills
      # - id: skillgate-config  # .skillgate.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--dir``, ``--minimal``, ``--pre-commit`` and ``--workflow``."""
    parser.add_argument("--dir", default=".", metavar="DIR", help="where to write (default: .)")
    parser.add_argument("--minimal", action="store_true", help=f"do not write the directories {', '.join(_FOLDERS)}")
    parser.epilog = (
        f"Writes {YAML_NAME} and directories with a README each. With --pre-commit or --workflow,"
        " directories\nare only written to an empty directory. Nothing is overwritten."
    )
    parser.add_argument("--pre-commit", action="store_true", help=f"also write {HOOKS_NAME} with the hooks")
    parser.add_argument(
        "--workflow",
        action="append",
        choices=tuple(FILES),
        default=[],
        help="also write a GitHub workflow: for pull requests, for comments on those from forks, for every night, or"
        " to certify; only at the top of the repository, where GitHub reads it; repeatable",
    )
    # Accepted only to suggest the right command.
    parser.add_argument("paths", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument(f"--{settings.CORPUS_DIR.key}", help=argparse.SUPPRESS)


def run(args: argparse.Namespace, session: Console) -> int:
    """Write what does not exist yet, overwrite nothing, and report both.

    Raises:
        UsageError: a path is given, GitHub would not find a workflow there, or the directory cannot be written.
    """
    if args.paths != ["."] or args.corpus_dir is not None:
        raise UsageError(f"init takes no path; to index a corpus run {_corpus_command(args.paths, args.corpus_dir)}")
    root = Path(session.cwd, args.dir)
    if args.workflow:
        _require_top(root, session.cwd, args.workflow)
    files = {HOOKS_NAME: _hooks()} if args.pre_commit else {}
    files |= {place(name): workflow(name) for name in args.workflow}
    carried, notices = carried_over(str(root))
    wanted = {YAML_NAME: new_file(carried)}
    try:
        folders = _folders(args, root)
        wanted |= {f"{name}/README.md": _FOLDERS[name] for name in folders if not (root / name).exists()}
        wanted |= files
        written = [name for name, text in wanted.items() if _write(root, name, text)]
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from error
    existing = [name for name in (YAML_NAME, *folders, *files) if not {name, f"{name}/README.md"} & set(written)]
    _report(session, args.dir, written, existing)
    if YAML_NAME in written:
        for notice in notices:
            session.note(notice)
    filled = [name for name in written if ACCOUNT in files.get(name, "")]
    if filled and not homepage():
        session.note(
            f"replace {ACCOUNT} in {' and '.join(filled)} with the account that publishes skillgate; this copy was not"
            " installed from a release and does not know it"
        )
    if args.pre_commit and not session.json:
        _note_hooks(session, new=HOOKS_NAME in written)
    if "fork" in args.workflow and not session.json and not (root / place("pull-request")).exists():
        session.out("then: skillgate init --workflow pull-request    (the workflow that creates the report)")
    return 0


def _corpus_command(paths: list[str], corpus_dir: str | None) -> str:
    """Return the shell command that indexes a corpus of skills."""
    words = [*paths, *(() if corpus_dir is None else (f"--{settings.CORPUS_DIR.key}", corpus_dir))]
    return printable(f"skillgate corpus build {' '.join(map(shlex.quote, words))}")


def _require_top(root: Path, cwd: str, names: list[str]) -> None:
    """Refuse to write workflows in a subdirectory of a repository, where they would never run."""
    here = os.path.realpath(root)
    top = toplevel(here)
    if top is not None and top != here:
        words = " ".join(f"--workflow {name}" for name in names)
        above = shlex.quote(os.path.relpath(top, os.path.realpath(cwd)))
        raise UsageError(
            "GitHub reads workflows only at the top of a repository, and this is a subdirectory\nTo"
            f" write them there: skillgate init --dir {above} {words}"
        )


def _folders(args: argparse.Namespace, root: Path) -> tuple[str, ...]:
    """Return the directories to write; a repository that gets a workflow or hooks has a place for skills."""
    adds = args.workflow or args.pre_commit
    if args.minimal or (adds and root.is_dir() and any(entry.name != ".git" for entry in root.iterdir())):
        return ()
    return tuple(_FOLDERS)


def _note_hooks(session: Console, *, new: bool) -> None:
    if new:
        session.out("then: pre-commit install    (and pre-commit run --all-files to see what the hooks find now)")
    else:
        session.out(f"to use the hooks, add to {HOOKS_NAME}:\n\n" + _hooks().removeprefix("repos:\n"))


def _hooks() -> str:
    return _HOOKS.replace("{url}", homepage() or f"https://github.com/{repository()}")


def _write(root: Path, name: str, text: str) -> bool:
    if name == YAML_NAME and defines_settings(str(root / TOML_NAME)):
        return False
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True


def _report(session: Console, folder: str, written: list[str], existing: list[str]) -> None:
    if session.json:
        session.out(json.dumps({"dir": folder, "written": written, "kept": existing}, indent=2))
        return
    lines = [f"wrote {printable(name)}" for name in written]
    has_yaml = Path(session.cwd, folder, YAML_NAME).exists()
    lines += [f"left  {name} as it is" for name in existing if name != YAML_NAME or has_yaml]
    if YAML_NAME in existing and not has_yaml:
        lines.append(f"left  [tool.skillgate] in {TOML_NAME}; no {YAML_NAME} was written")
    session.out("\n".join(lines))


FILES = {
    "pull-request": "pull-request.yml",
    "fork": "fork-comment.yml",
    "nightly": "nightly.yml",
    "certify": "certify.yml",
}
"""The file of each workflow, by purpose; the names are also used in ``examples/workflows/``."""


def reference() -> str:
    """Return the reference to this version of the Action in workflows."""
    return f"{repository()}@v{__version__}"


def workflow(name: str) -> str:
    """Return a workflow, by its key in :data:`FILES`, for this version of the Action."""
    text = resources("skillgate.cli").joinpath("workflows", FILES[name]).read_text(encoding="utf-8")
    return text.replace("{action}", reference())


def place(name: str) -> str:
    """Return the path of a workflow, relative to the top of the repository, with ``/``."""
    endings = {"pull-request": "", "fork": "-comment", "nightly": "-nightly", "certify": "-certify"}
    return f".github/workflows/skillgate{endings[name]}.yml"
