"""A command that downloads and runs a package without a pinned version.

Why:
    `npx -y`, `bunx`, `uvx`, `pnpm dlx` and `pipx run` run the latest release of a package. The skill's behaviour can
    change although its files do not, and a hijacked release runs with the user's rights. A tag such as `@latest` is not
    a version. `npx` without `-y` asks before it downloads a package, but only on a terminal, and an agent has none. As
    it mostly runs what the project has installed, it is not reported without a tag. Nor are `bunx` with a program that
    projects install, `create-…` packages, and one from a path, a URL or a placeholder. Each package is reported once
    per file. In a command that Claude Code runs when it loads the skill, the finding is a warning.

Bad:
    npx -y @acme/forms check

Good:
    npx -y @acme/forms@2.3.1 check

Source: npm (and its libnpmexec), uv, pnpm, Bun and pipx documentation of these commands; OpenSSF guidance on
pinned dependencies.
"""

import re
from collections.abc import Iterator

from skillgate.model.finding import Severity
from skillgate.model.skill import Document, Skill
from skillgate.static import Hits, rule
from skillgate.static.text import hit, without_fences

_RUNNER = r"npx|npm exec|bunx|uvx|uv tool run|pnpm dlx|yarn dlx|pipx run"
_START = (
    r"(?:^|[|;&(]|[ ]--[ ]|\bsudo |\bexec |\brun: |\bRUN |\bCMD )[ \t]*(?:[-$>*] )?"
    r"(?:(?:time|env|nohup|sudo|exec) )*(?:\w+=\S+ )*"
)
_COMMAND = rf"{_START}(?P<runner>{_RUNNER})[ ](?P<words>[^|;&\n]*)"
_SET_UP = r"\"?command\"?\s*[:=]\s*\"(?P<{0}>npx|bunx|uvx)\""
_ARGUMENTS = r"\"?args\"?\s*[:=]\s*\[(?P<{0}>[^\[\]]*)\]"
_CONFIGURED = "|".join(
    rf"{first}\s*,?\s*{second}"
    for first, second in (
        (_SET_UP.format("runner"), _ARGUMENTS.format("words")),
        (_ARGUMENTS.format("words_before"), _SET_UP.format("runner_behind")),
    )
)
_PACKAGE = r"(?P<package>@?[a-z][\w.-]*(?:/[a-z][\w.-]*)?)(?P<rest>.*)"
_TAG = r"(?:\[[\w,-]+\])?(?:@(?:[a-z][a-z-]*|[\^~*].*))?[),\]]*\Z"
_MAY_ASK = ("npx", "npm")
_OF_NPM = ("-p", "--package")
_NAMING = {  # the options that name the package, if the word after them is one of its programs
    **dict.fromkeys(("npx", "npm", "bunx", "pnpm", "yarn"), _OF_NPM),
    **dict.fromkeys(("uvx", "uv"), ("--from",)),
    "pipx": ("--spec",),
}
_WITH_VALUE = frozenset(  # options that another word follows, which is not the package that runs
    (
        *("--python", "--with", "--with-requirements", "--with-editable", "--index", "--index-url", "--default-index"),
        *("--extra-index-url", "--refresh-package", "--directory", "--registry", "--cache", "--pip-args", "-w", "-c"),
    )
)
_OF_PROJECTS = frozenset(  # programs that a project installs for itself; there bunx runs what it finds
    (
        *("tsc", "tsx", "eslint", "prettier", "biome", "vitest", "jest", "playwright", "cypress", "vite", "next"),
        *("astro", "expo", "turbo", "nx", "prisma", "drizzle-kit", "webpack", "rollup", "esbuild", "tailwindcss"),
        *("nuxt", "oxlint", "storybook", "wrangler", "convex", "husky", "lint-staged", "svelte-kit", "knip"),
        *("remotion",),
    )
)
_SPAN = r"(?P<executed>(?<!\S)!)?`(?P<code>[^`\n]+)`"
_WORDS = ("npx", "bunx", "npm exec", "uvx", "uv tool run", "dlx", "pipx run")


MAX_WORDS = 40  # of a command that are looked at


def find(skill: Skill) -> Hits:
    """Yield one hit for each package of a document, at its first command."""
    for document in skill.documents:
        if any(word in document.text for word in _WORDS):
            yield from _in(document, skill)


def _in(document: Document, skill: Skill) -> Hits:
    seen: set[str] = set()
    for line, runner, words, executed in _commands(document):
        package = _unpinned(runner, words)
        if package is None or package in seen:
            continue
        seen.add(package)
        message = f"{runner} runs the latest release of {package} (no version is given)"
        main = executed and document is skill.documents[0]
        yield hit(document, skill, line, message, severity=Severity.WARNING if main else None)


def _unpinned(runner: str, words: list[str]) -> str | None:
    """Return the package that a command downloads and runs without a version, path or placeholder."""
    word, agreed = _fetched(runner, words)
    match = re.fullmatch(_PACKAGE, word)
    if match is None or not re.match(_TAG, match["rest"]):
        return None
    package = match["package"]
    if package.endswith((".git", ".py", ".js", ".ts", ".sh")) or package.rpartition("/")[2].startswith("create-"):
        return None
    may_be_installed = (runner in _MAY_ASK and not agreed) or (runner == "bunx" and package in _OF_PROJECTS)
    return None if may_be_installed and "@" not in match["rest"] else package


def _fetched(runner: str, words: list[str]) -> tuple[str, bool]:
    """Return the package that a command names (``""`` for none), and whether it agrees to the download."""
    named, agreed, rest = "", False, iter(words)
    for word in rest:
        option, _, value = word.partition("=")
        if option in ("-y", "--yes"):
            agreed = True
        elif option in _NAMING[runner]:
            named = named or value or next(rest, "")
        elif option in _WITH_VALUE or (option == "-p" and runner in ("uvx", "uv")):
            value or next(rest, "")
        elif not word.startswith("-"):
            return named or word, agreed
    return named, agreed


def _commands(document: Document) -> Iterator[tuple[int, str, list[str], bool]]:
    """Find the commands of code blocks and code spans.

    Yields:
        Line, runner, the words after it, and whether Claude Code runs the command when it loads the skill.
    """
    for block in document.code_blocks:
        for offset, line in enumerate(block.code.split("\n")):
            if not line.lstrip().startswith(("#", "//")) and any(word in line for word in _WORDS):
                for match in re.finditer(_COMMAND, line):
                    yield block.line + 1 + offset, *_split(match), block.language == "!"
        for match in re.finditer(_CONFIGURED, block.code) if "args" in block.code else ():
            runner, words = match["runner"] or match["runner_behind"], match["words"] or match["words_before"] or ""
            row = block.line + 1 + block.code.count("\n", 0, match.start())
            yield row, runner, re.findall(r"\"([^\"\n]*)\"", words), False
    for row, text in enumerate(without_fences(document).split("\n"), start=1):
        for span in re.finditer(_SPAN, text) if "`" in text else ():
            found = re.match(_COMMAND, span["code"].strip())
            if found:
                yield row, *_split(found), span["executed"] is not None


def _split(match: re.Match[str]) -> tuple[str, list[str]]:
    return match["runner"].split()[0], [word.strip("'\"`") for word in match["words"].split()[:MAX_WORDS]]


RULE = rule(find, Severity.INFO, "code", fix="pin the version: npx -y name@1.2.3, uvx name@1.2.3")
