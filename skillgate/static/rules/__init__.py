"""The rules over one parsed skill: findings beyond the score, one file each.

``NEEDS`` says, for a rule, when it can have anything to say: words of which one must be in a skill's text, or a
condition on the skill. Its file is loaded only then; a rule that is not named here is loaded for every skill. A test
holds each entry to its rule's own case table. ``OPTIONAL`` are the opt-in rules, loaded only where one is selected.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.skill.parse import TESTS
from skillgate.static.substance import substance

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.skill import CodeBlock, Skill

BODY_LINES = 500  # what the specification advises for the main file
BODY_TOKENS = 5_000
CHARACTERS_PER_TOKEN = 4
TOC_LINES = 300  # a longer reference needs a table of contents
# The tags of code blocks whose syntax is checked, with the parser for each.
CHECKED = {"python": "python", "py": "python", "python3": "python", "json": "json", "toml": "toml"}
CHECKED |= {"yaml": "yaml", "yml": "yaml"}
MAX_PARSED = 1 << 19  # characters of a skill's other files that are parsed
DESCRIPTION_CHARACTERS = 1_024  # that every client takes
NAME_CHARACTERS = 64
_OF_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")

SPECIFIED = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")  # by the specification
CLAUDE_CODE = (  # what Claude Code adds to those fields, as of 2026-11
    *("when_to_use", "argument-hint", "arguments", "disable-model-invocation", "user-invocable", "disallowed-tools"),
    *("model", "effort", "context", "agent", "background", "hooks", "paths", "shell"),
)

OPTIONAL = frozenset(
    ("portable_field", "portable_path", "portable_product_name", "portable_substitution", "portable_tool_name")
)


def _longer_than(lines: int, characters: float = float("inf")) -> Callable[[Skill], bool]:
    return lambda skill: any(
        document.text.count("\n") >= lines or len(document.text) > characters for document in skill.documents
    )


def _having(wanted: Callable[[CodeBlock], bool]) -> Callable[[Skill], bool]:
    """Whether a document of the skill has such a code block."""
    return lambda skill: any(wanted(block) for document in skill.documents for block in document.code_blocks)


def _names_other_files(skill: Skill) -> bool:
    """Return whether a document names something in a folder of a skill that is not one of its files."""
    for folder in ("references/", "scripts/", "assets/"):
        files = tuple(path[path.find(folder) :] for path in skill.files if folder in path)
        for document in skill.documents:
            text, place = document.text, document.text.find(folder)
            while place >= 0:
                if not files or not text.startswith(files, place):
                    return True
                place = text.find(folder, place + 1)
    return False


def _texts(skill: Skill) -> list[str]:
    return [file.text for file in skill.documents] + [file.text for file in skill.scripts]


_MARKS = "|.$]"  # what many words begin with and few places of a text hold
_MARKED = 12  # characters from a mark on that are searched


class Searched:
    """A text that is searched for many words: for those that begin with a mark, only what follows each mark is."""

    __slots__ = ("_following", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._following: dict[str, str] = {}

    def __contains__(self, word: str) -> bool:
        """Whether the text holds a word."""
        mark = word[0]
        if mark not in _MARKS or mark in word[1:] or len(word) > _MARKED:
            return word in self._text
        if mark not in self._following:
            pieces = self._text.split(mark)[1:]
            self._following[mark] = "\n".join([f"{mark}{piece[: _MARKED - 1]}" for piece in pieces])
        return word in self._following[mark]


_latest: list[tuple[Skill, Searched, dict[tuple[str, ...], tuple[str, ...]]]] = []


def present(skill: Skill, words: tuple[str, ...]) -> tuple[str, ...]:
    """Select the words that a text of the skill, of a document or another file, holds.

    The answers for the latest skill are remembered. No word may have a line break.
    """
    if not (_latest and _latest[0][0] is skill):
        _latest[:] = [(skill, Searched("\n".join(_texts(skill))), {})]
    _, text, known = _latest[0]
    if words not in known:
        known[words] = tuple(word for word in words if word in text)
    return known[words]


def _holding(*words: str) -> Callable[[Skill], bool]:
    return lambda skill: bool(present(skill, words))


def compiles(code: str) -> bool:
    """Whether Python makes a program of a text: sooner known than its syntax tree."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "<file>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _may_not_parse(skill: Skill) -> bool:
    """Whether a skill has Python that is no program, or data that has to be parsed."""
    left = MAX_PARSED
    for script in skill.scripts:
        if not TESTS.isdisjoint(script.file.split("/")):
            continue
        if script.file.lower().endswith((".json", ".toml", ".yaml", ".yml")):
            return True
        if script.file.lower().endswith(".py"):
            left -= len(script.text)
            if left < 0 or not compiles(script.text):
                return left >= 0
    return False


def may_deceive(text: str) -> bool:
    """Whether a text may have a link that runs code, an odd host, or an image with a query."""
    if "cript:" in text or ("://" in text and not text.isascii() and re.search(ODD_HOST, text)):
        return True
    return ("![" in text or "data:" in text) and re.search(IMAGE_WITH_QUERY, text) is not None


def _is_name(text: str) -> bool:
    """Whether a text is what the specification calls a name: words of lower-case letters and digits, with hyphens."""
    return len(text) <= NAME_CHARACTERS and all(text.split("-")) and _OF_NAMES.issuperset(text)


# Looked for word by word, which is far cheaper than by a pattern: the rules on security look at every file.
SECRETS = (
    *("AKIA", "ASIA", "ghp_", "gho_", "ghs_", "github_pat_", "sk-ant-", "sk-proj-", "T3BlbkFJ", "xox", "AIza"),
    *("hooks.slack", "k_live_", "npm_", "pypi-Ag", "glpat-", "PRIVATE KEY"),
    *("ecret_access_key", "ECRET_ACCESS_KEY", "ecretaccesskey", "ecretAccessKey", "ECRETACCESSKEY"),
)
COMMANDS = (
    *(
        "base64",
        "atob(",
        "rm -",
        "dangerously-",
        "/dev/tcp",
        "mkfifo",
        ":(){",
        "-e /bin",
        "| sh",
        "|sh",
        "| bash",
        "|bash",
        "| zsh",
        "| /bin",
        "| env",
        "<(curl",
        "ncodedCommand",
    ),
    *("| sudo", "(curl", "(wget", "iex", "IEX", "-enc ", "| python", "|python", "| perl", "| node", "| ruby", "| /usr"),
    *("|sudo", "|/bin", "|zsh", "dup2", "STDIN", "TCPSocket", "fsockopen", "ncat ", " -e sh", " -e bash", " -c sh"),
    *(" -c bash", "pwsh", "|  ", "|\t", "|&", "| dash", "|dash"),
)
IMAGE_WITH_QUERY = (
    r"!\[[^\[\]\n]{0,200}\]\(<?https?://[^\s()<>]{0,300}\?|data:text/html|data:application|data:image/svg"
)
ODD_HOST = r"://[A-Za-z0-9.-]{0,99}[^\x00-\x7f]"
CREDENTIALS = (
    *(
        ".ssh",
        ".aws",
        ".netrc",
        ".gnupg",
        ".git-cred",
        ".kube",
        "eychain",
        "id_rsa",
        "id_ed25519",
        "/etc/shadow",
        "/.env",
    ),
    *(" .env", "`.env", "@.env", "env |", "os.environ)", "process.env)"),
)
_BRACKETS = frozenset("<>")

NEEDS: dict[str, tuple[str, ...] | Callable[[Skill], bool]] = {
    "body_too_long": _longer_than(BODY_LINES, BODY_TOKENS * CHARACTERS_PER_TOKEN),
    "missing_toc": _longer_than(TOC_LINES),
    "description_too_long": lambda skill: len(skill.frontmatter.text("description")) > DESCRIPTION_CHARACTERS,
    "filler_text": lambda skill: substance(skill).much_filler,
    "category_unknown": ("category:",),
    "name_mismatch": lambda skill: skill.frontmatter.text("name") != skill.root.name,
    "unknown_field": lambda skill: any(key not in SPECIFIED for key in skill.frontmatter.values),
    "name_invalid": lambda skill: not _is_name(skill.frontmatter.text("name")),
    "name_missing": lambda skill: not skill.frontmatter.text("name").strip(),
    "no_final_newline": lambda skill: not all(document.text.endswith("\n") for document in skill.documents),
    "backslash_path": ("\\",),
    "broken_anchor": ("](#", "](<#", "]: #", ".md#", ".markdown#"),
    "broken_link": ("](", "]:"),
    "link_escapes": ("../",),
    "nested_fence": _having(lambda block: "```" in block.code or "~~~" in block.code),
    "nested_reference": lambda skill: len(skill.documents) > 2,
    "allowed_tools_shape": ("allowed-tools",),
    "allowed_tools_unknown": ("allowed-tools", "disallowed-tools"),
    "bundled_code_syntax": _may_not_parse,
    "deceptive_link": lambda skill: any(may_deceive(document.text) for document in skill.documents),
    "exfiltration": _holding(*CREDENTIALS),
    "hook_unknown": ("hooks:",),
    "model_unknown": lambda skill: "model" in skill.frontmatter.values,
    "retired_model": _holding("claude-", "gpt-", "davinci-00"),
    "suspicious_command": _holding(*COMMANDS),
    "compatibility_invalid": lambda skill: "compatibility" in skill.frontmatter.values,
    "description_cut": lambda skill: (
        len(skill.frontmatter.text("description")) + len(skill.frontmatter.text("when_to_use")) > DESCRIPTION_CHARACTERS
    ),
    "description_markup": lambda skill: not _BRACKETS.isdisjoint(skill.frontmatter.text("description")),
    "duplicate_heading": ("](#", "](<#", "]: #", ".md#", ".markdown#"),
    "field_value": ("effort:", "context:", "shell:"),
    "mentioned_file_missing": _names_other_files,
    "metadata_shape": lambda skill: "metadata" in skill.frontmatter.values,
    "name_reserved": ("claude", "anthropic", "Claude", "Anthropic", "CLAUDE", "ANTHROPIC"),
    "code_syntax": _having(lambda block: block.language in CHECKED),
    "hidden_unicode": lambda skill: not all(text.isascii() for text in _texts(skill)),
    "unused_reference": lambda skill: bool(skill.references),
    "judge_addressed": (
        *("his skill", "his\nskill", "HIS SKILL", "his plugin", "his agent skill", "his document", "his file"),
        *("his text", "udge", "UDGE", "rader", "valuator", "rater", "corer"),
    ),
    "portable_field": CLAUDE_CODE,
    "portable_path": ("~/.", "$HOME", "${HOME}", "/Users/", "/home/", ":\\", "%USERPROFILE%"),
    "portable_product_name": ("Claude", "Codex", "Copilot", "Gemini", "ChatGPT"),
    "portable_tool_name": (
        *("Todo", "Web", "AskUser", "NotebookEdit", "PlanMode", "Multi", "Bash", "Kill", "Slash", "mcp__", " tool"),
    ),
    "portable_substitution": ("$ARGUMENTS", "${CLAUDE_", "!`", "```!"),
    "substitution_hazard": ("$0", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9"),
    "unclosed_fence": _having(lambda block: not block.closed),
    "unused_script": lambda skill: any(
        path.startswith(skill.root.tree_path("scripts/")) and path.rpartition("/")[2] not in skill.documents[0].text
        for path in skill.files
    ),
    "secret": _holding(*SECRETS),
    "unpinned_package": ("npx", "bunx", "npm exec", "uvx", "uv tool run", "dlx", "pipx run"),
    "untagged_code": _having(lambda block: not block.language),
}
