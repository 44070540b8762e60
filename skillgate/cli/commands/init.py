"""Write a short configuration file for the skills that are here; on request workflows, hooks and directories."""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import shlex
import shutil
import sys
from collections import Counter
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate import __version__, settings
from skillgate.config import TOML_NAME, YAML_NAME, defines_settings
from skillgate.config_writing import carried_over, new_file, with_ignored
from skillgate.errors import UsageError
from skillgate.files import replace, require_place, toplevel
from skillgate.format import plural, printable
from skillgate.homepage import ACCOUNT, homepage, repository
from skillgate.skill.find import discover

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_IGNORED = (".skillgate/", "/reports/eval-result*")  # written by runs, not to be committed
_IGNORE_NAME = ".gitignore"
_NAMED = 3  # places with skills that are named
HOOKS_NAME = ".pre-commit-config.yaml"
_HOOKS = f"""\
repos:
  - repo: {{url}}
    rev: v{__version__}
    hooks:
      - id: skillgate  # the SKILL.md files of a commit. Or use one of these instead.
        # args: [--baseline, HEAD]  # also stops a skill that got worse
      # - id: skillgate-skill  # the skill of any changed file, including its references and scripts.
      # - id: skillgate-all  # every skill: also finds deletions and conflicts between skills
      # - id: skillgate-config  # .skillgate.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare where and what to write."""
    parser.add_argument("--dir", default=".", metavar="DIR", help="where to write (default: .)")
    parser.epilog = (
        f"Looks for skills, and writes {YAML_NAME}. In a Git repository it adds to {_IGNORE_NAME} what runs write."
        " Nothing is overwritten."
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
    parser.add_argument(
        "--folders", action="store_true", help=f"also write the directories {', '.join(_FOLDERS)} with a README each"
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
    if args.workflow or args.pre_commit:
        _require_top(root, session.cwd, args)
    skills = [str(one.path) for one in discover(["."], cwd=str(root)).roots] if root.is_dir() else []
    files = {HOOKS_NAME: _hooks()} if args.pre_commit else {}
    files |= {place(name): workflow(name) for name in args.workflow}
    carried, notices = carried_over(str(root))
    folders = tuple(_FOLDERS) if args.folders else ()
    wanted = {YAML_NAME: new_file(carried, profile=_profile(skills))}
    try:
        wanted |= {f"{name}/README.md": _FOLDERS[name] for name in folders if not (root / name).exists()}
        wanted |= files
        written = [name for name, text in wanted.items() if _write(root, name, text)]
        ignored = _ignore(root, session)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from error
    existing = [name for name in (YAML_NAME, *folders, *files) if not {name, f"{name}/README.md"} & set(written)]
    filled = [name for name in written if ACCOUNT in files.get(name, "")] if not homepage() else []
    command = _next(args, session, skills, written, runs_hooks=not filled)
    if session.json:
        names = [*written, *([_IGNORE_NAME] if ignored else [])]
        document = {"dir": args.dir, "skills": skills, "written": names, "kept": existing, "next": command}
        session.out(json.dumps(document, indent=2))
    else:
        lines = [_found(skills), *_report(session, args.dir, written, existing)]
        lines += [f"added {' and '.join(ignored)} to {_IGNORE_NAME}"] if ignored else []
        session.out("\n".join(lines))
        if HOOKS_NAME in existing and "id: skillgate" not in (root / HOOKS_NAME).read_text(errors="replace"):
            session.out(f"to use the hooks, add to {HOOKS_NAME}:\n\n" + _hooks().removeprefix("repos:\n"))
        session.out(f"next: {command}")
    for notice in notices if YAML_NAME in written else ():
        session.note(notice)
    if filled:
        session.note(
            f"replace {ACCOUNT} in {' and '.join(filled)} with the account that publishes skillgate; this copy was not"
            " installed from a release and does not know it"
        )
    return 0


def _found(skills: Sequence[str]) -> str:
    """Say how many skills there are, and where most of them are."""
    if not skills:
        return "found no skill"
    places = Counter(posixpath.dirname(path) or "." for path in skills).most_common()
    named = [f"{count:,} in {printable(folder)}" for folder, count in places[:_NAMED]]
    more = f" and {plural(len(places) - _NAMED, 'more place')}" if len(places) > _NAMED else ""
    return f"found {plural(len(skills), 'skill')}: {', '.join(named)}{more}"


def _profile(skills: Sequence[str]) -> str:
    """Return the client that skills are probably written for, by the folders that only it reads; ``""`` for none."""
    clients = {".claude/skills/": "claude-code", ".agents/skills/": "codex", ".codex/skills/": "codex"}
    found = {client for folder, client in clients.items() if any(folder in path for path in skills)}
    return found.pop() if len(found) == 1 else ""


def _next(
    args: argparse.Namespace, session: Console, skills: Sequence[str], written: Sequence[str], *, runs_hooks: bool
) -> str:
    """Return the command to run next, as it can be pasted: also where the program is not on the PATH."""
    found = shutil.which("skillgate", path=session.environ.get("PATH", ""))
    program = "skillgate" if found else f"{shlex.quote(sys.executable)} -m skillgate"
    above = "" if args.dir == "." else f"cd {shlex.quote(args.dir)} && "
    if HOOKS_NAME in written and runs_hooks:
        return f"{above}pre-commit install && pre-commit run --all-files"
    if "fork" in args.workflow and not Path(session.cwd, args.dir, place("pull-request")).exists():
        return f"{above}{program} init --workflow pull-request"
    if skills:
        return f"{above}{program} score"
    return f"{above}{program} create --name my-skill --from-template skill_md"


def _ignore(root: Path, session: Console) -> list[str]:
    """Add what runs write to the ignored files of a Git repository; return the added lines.

    A link is left alone, since Git reads none and it may lead elsewhere.
    """
    if toplevel(os.path.realpath(root)) is None:
        return []
    path = root / _IGNORE_NAME
    if path.is_symlink():
        session.note(
            f"{_IGNORE_NAME} is a symbolic link and was left as it is; ignore {' and '.join(_IGNORED)} yourself"
        )
        return []
    status = path.stat() if path.exists() else None
    before = b"" if status is None else path.read_bytes()
    after, added = with_ignored(before, _IGNORED)
    if not added:
        return []
    if status is None:
        path.write_bytes(after)
    else:
        replace(str(path), after, status=status)
    return list(added)


def _corpus_command(paths: list[str], corpus_dir: str | None) -> str:
    """Return the shell command that indexes a corpus of skills."""
    words = [*paths, *(() if corpus_dir is None else (f"--{settings.CORPUS_DIR.key}", corpus_dir))]
    return printable(f"skillgate corpus build {' '.join(map(shlex.quote, words))}")


def _require_top(root: Path, cwd: str, args: argparse.Namespace) -> None:
    """Refuse to write workflows or hooks in a subdirectory of a repository, where they would never run."""
    here = os.path.realpath(root)
    top = toplevel(here)
    if top is not None and top != here:
        words = " ".join(
            (*(["--pre-commit"] if args.pre_commit else []), *(f"--workflow {one}" for one in args.workflow))
        )
        above = shlex.quote(os.path.relpath(top, os.path.realpath(cwd)))
        raise UsageError(
            "workflows and hooks are read only at the top of a repository, and this is a subdirectory\nTo"
            f" write them there: skillgate init --dir {above} {words}"
        )


def _hooks() -> str:
    return _HOOKS.replace("{url}", homepage() or f"https://github.com/{repository()}")


def _write(root: Path, name: str, text: str) -> bool:
    path = root / name
    if os.path.lexists(path) or (name == YAML_NAME and defines_settings(str(root / TOML_NAME))):
        return False
    require_place(name, str(root))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return True


def _report(session: Console, folder: str, written: Sequence[str], existing: Sequence[str]) -> list[str]:
    lines = [f"wrote {printable(name)}" for name in written]
    has_yaml = Path(session.cwd, folder, YAML_NAME).exists()
    lines += [f"left  {name} as it is" for name in existing if name != YAML_NAME or has_yaml]
    if YAML_NAME in existing and not has_yaml:
        lines.append(f"left  [tool.skillgate] in {TOML_NAME}; no {YAML_NAME} was written")
    return lines


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
    """Return a workflow, by its key in :data:`FILES`, for this version of the Action and its reusable workflows."""
    text = resources("skillgate.cli").joinpath("workflows", FILES[name]).read_text(encoding="utf-8")
    text = text.replace(f"{ACCOUNT}/skillgate", repository()).replace("@version", f"@v{__version__}")
    return text.replace("{action}", reference())


def place(name: str) -> str:
    """Return the path of a workflow, relative to the top of the repository, with ``/``."""
    endings = {"pull-request": "", "fork": "-comment", "nightly": "-nightly", "certify": "-certify"}
    return f".github/workflows/skillgate{endings[name]}.yml"
