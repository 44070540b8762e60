"""The steps of a release that change or read the working tree; release.yml and the rehearsal both run them.

python .ci/release.py pin VERSION OWNER/NAME
python .ci/release.py stamp VERSION OWNER/NAME [--image NAME@sha256:DIGEST]
python .ci/release.py notes VERSION
python .ci/release.py commit VERSION
python .ci/release.py verify TAG NAME@sha256:DIGEST

It needs Python 3.11 and git, and nothing that would have to be installed first.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ACCOUNT = "<account>/skillgate"
"""What stands for the repository in the documentation until a release."""
VERSION = re.compile(r"\d{1,5}\.\d{1,5}\.\d{1,5}")
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")
IMAGE = re.compile(r"[a-z0-9.:-]{1,200}(?:/[a-z0-9._-]{1,100}){2}@sha256:[0-9a-f]{64}")
PLACES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "Dockerfile", "mkdocs.yml", "docs", "examples")
BUILT = "  image: Dockerfile\n"
OWN = re.compile(r"(?<=uses: )\S+@v\d+\.\d+\.\d+(?= )")
"""What a reusable workflow calls the Action of its own release; it pins every other action by hash."""


class ReleaseError(Exception):
    """The release must stop: what is wrong, and what to do."""


def pin(version: str, repository: str) -> None:
    """Let the reusable workflows run the Action of this version.

    This happens in a pull request: the token of the release workflow must not change workflows.
    """
    _require(VERSION, version, "version", "0.1.0")
    _require(REPOSITORY, repository, "repository", "OWNER/NAME")
    for path in _workflows():
        text = path.read_text(encoding="utf-8")
        path.write_text(OWN.sub(f"{repository}@v{version}", text), encoding="utf-8", newline="\n")


def stamp(version: str, repository: str, image: str = "") -> None:
    """Write the repository's name, and the image if it is known, into the working tree."""
    _require(VERSION, version, "version", "0.1.0")
    _require(REPOSITORY, repository, "repository", "OWNER/NAME")
    written = re.search(r'^__version__ = "(.+)"$', Path("skillgate/__init__.py").read_text(encoding="utf-8"), re.M)
    if written is None or written[1] != version:
        raise ReleaseError(f"skillgate/__init__.py does not say {version}: change __version__ in a pull request first")
    notes(version)
    others = {own for path in _workflows() for own in OWN.findall(path.read_text(encoding="utf-8"))}
    if others != {f"{repository}@v{version}"}:
        raise ReleaseError(
            f"the reusable workflows run {', '.join(sorted(others)) or 'no Action'}: in a pull request first, run"
            f" python .ci/release.py pin {version} {repository}"
        )
    for path in _documents():
        text = path.read_text(encoding="utf-8")
        if ACCOUNT in text:
            path.write_text(text.replace(ACCOUNT, repository), encoding="utf-8", newline="\n")
    _add_urls(Path("pyproject.toml"), f"https://github.com/{repository}", version)
    if image:
        _require(IMAGE, image, "image", "ghcr.io/owner/name@sha256:…")
        manifest = Path("action.yml")
        text = manifest.read_text(encoding="utf-8")
        if text.count(BUILT) != 1:
            raise ReleaseError(f"action.yml has no line '{BUILT.strip()}': start from the main branch")
        manifest.write_text(text.replace(BUILT, f"  image: docker://{image}\n"), encoding="utf-8", newline="\n")


def notes(version: str) -> str:
    """Return what the changelog says of a version."""
    text = Path("CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if found is None or not found[1].strip():
        raise ReleaseError(f"CHANGELOG.md has no section [{version}]: give Unreleased that name and a date first")
    return found[1].strip() + "\n"


def commit(version: str) -> None:
    """Commit the stamped tree and tag the commit; the branch that is checked out stays where it is."""
    _git("checkout", "--quiet", "--detach")
    who = ("-c", "user.name=github-actions[bot]", "-c", "user.email=github-actions[bot]@users.noreply.github.com")
    _git(*who, "commit", "--quiet", "--all", "--message", f"Release {version}")
    _git(*who, "tag", "--annotate", "--message", f"skillgate {version}", f"v{version}")


def verify(tag: str, image: str) -> None:
    """Make sure that the Action of a tag runs the image that was pushed."""
    _require(IMAGE, image, "image", "ghcr.io/owner/name@sha256:…")
    found = re.findall(r"^  image: (.*)$", _git("show", f"{tag}:action.yml"), re.M)
    if found != [f"docker://{image}"]:
        raise ReleaseError(f"action.yml of {tag} runs {', '.join(found) or 'no image'}, and {image} was pushed")
    print(f"action.yml of {tag} runs {image}")


def _documents() -> list[Path]:
    listed = _git("ls-files", "-z", "--", *PLACES).split("\0")
    return [Path(name) for name in listed if name and Path(name).suffix != ".svg"]


def _workflows() -> list[Path]:
    return sorted(Path(".github/workflows").glob("*.yml"))


def _add_urls(path: Path, url: str, version: str) -> None:
    text = path.read_text(encoding="utf-8")
    if "[project.urls]" in text:
        raise ReleaseError("pyproject.toml has [project.urls]: start from the main branch")
    table = (
        f'[project.urls]\nHomepage = "{url}"\nDocumentation = "{url}/tree/v{version}/docs"\n'
        f'Changelog = "{url}/blob/v{version}/CHANGELOG.md"\nIssues = "{url}/issues"\n\n'
    )
    before, scripts, after = text.partition("[project.scripts]\n")
    path.write_text(f"{before}{table}{scripts}{after}", encoding="utf-8", newline="\n")


def _require(form: re.Pattern[str], text: str, name: str, example: str) -> None:
    if not form.fullmatch(text):
        raise ReleaseError(f"{text!r} is no {name}; write it like {example}")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def main(arguments: list[str]) -> int:
    """Run one step; 1 with a message where it cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    for name in ("pin", "stamp"):
        step = steps.add_parser(name)
        step.add_argument("version")
        step.add_argument("repository")
    step.add_argument("--image", default="")
    for name in ("notes", "commit"):
        steps.add_parser(name).add_argument("version")
    step = steps.add_parser("verify")
    step.add_argument("tag")
    step.add_argument("image")
    args = parser.parse_args(arguments)
    try:
        match args.step:
            case "pin":
                pin(args.version, args.repository)
            case "stamp":
                stamp(args.version, args.repository, args.image)
            case "notes":
                print(notes(args.version), end="")
            case "commit":
                commit(args.version)
            case _:
                verify(args.tag, args.image)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
