"""The command line: run the chosen command, and turn errors into messages and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn, TextIO

from skillgate.cli.options import HELP_ALL, Answer, Parser, shared_defaults, takes_value
from skillgate.console import Console, deliver, width_of
from skillgate.errors import EXIT_BUG, EXIT_INTERRUPTED, EXIT_PASSED, EXIT_TERMINATED, SkillgateError, UsageError
from skillgate.format import did_you_mean, printable
from skillgate.registry import COMMANDS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from types import ModuleType

EXIT_PIPE_CLOSED = 141  # what a shell shows for a program that SIGPIPE ended
_GROUPS = {  # what a command's GROUP may be, in the order of the help
    "everyday": "everyday commands",
    "model": "with a model",
    "programs": "skills that are programs",
    "past": "past results",
    "reference": "CI and reference",
}
_STARTS_PROGRAMS = frozenset({"eval", "run", "task"})  # of others, which must not see this process's secrets
_DESCRIPTION = "Score Agent Skills, show what to fix first, and gate their quality."
_START = "Start with `skillgate score .`; `skillgate help COMMAND` shows the options of a command."
_MEANT = {  # words of other tools, and the command that does it here
    **dict.fromkeys(("lint", "validate", "verify", "scan", "audit", "analyze", "doctor", "inspect"), "check"),
    **dict.fromkeys(("fix", "format", "repair", "autofix"), "check --fix"),
    **dict.fromkeys(("grade", "rate", "rank", "review", "evaluate", "quality", "badge", "badges"), "score"),
    **{"test": "eval", "tests": "eval", "benchmark": "bench", "benchmarks": "bench", "exec": "task", "invoke": "task"},
    **{"new": "create", "scaffold": "create", "generate": "create", "setup": "init", "install": "init"},
    **{"why": "explain", "rule": "explain", "docs": "explain", "doc": "explain", "search": "find", "list": "find"},
    **{"ls": "find", "diff": "compare", "convert": "report convert", "merge": "report merge", "logs": "log"},
    **{"dashboard": "log dashboard", "settings": "config", "baseline": "check --write-known-findings FILE"},
    **{"version": "--version", "completions": "completion", "serve": "demo-server", "watch": "check --watch"},
}


def _starts_programs(word: str | None) -> bool:
    """Whether a command will start programs of others; the Action does if its input allows it.

    The first start hands that input over to the second one.
    """
    if word == "bench":
        return "serve" in sys.argv
    allowed = os.environ.get("INPUT_ALLOW-EXEC", "").strip().lower() == "true"
    return word in _STARTS_PROGRAMS or (word == "action" and (allowed or "SKILLGATE_HANDED" in os.environ))


def entry() -> NoReturn:
    """Run as a program, with the process's own streams, arguments and signals.

    Raises:
        SystemExit: always, with the exit code.
    """
    # A short life with hardly a cycle: the collector would walk every document's tokens repeatedly.
    gc.disable()
    if _starts_programs(_split(sys.argv[1:])[1]):
        from skillgate.bench.isolation.seclusion import seclude  # before anything else is loaded: it may start again

        seclude()
    _exit_on_sigterm()
    code = main()
    if not _flushed():
        code = code or EXIT_PIPE_CLOSED
    sys.exit(code)


def main(
    argv: Sequence[str] | None = None,
    *,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> int:
    """Run one command and return its exit code; the defaults are the process's own.

    Raises:
        SystemExit: SIGTERM came, where :func:`entry` listens for it.
    """
    out = _tolerant(sys.stdout if stdout is None else stdout)
    err = _tolerant(sys.stderr if stderr is None else stderr)
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(arguments, out, err, os.environ if environ is None else environ, cwd)
        deliver(out, "", flush=True)
    except SkillgateError as error:
        lines = "\n  ".join(map(printable, str(error).split("\n")))
        _write(err, f"skillgate: error: {lines}\n")
        return error.exit_code
    except KeyboardInterrupt:
        _write(err, "skillgate: interrupted\n")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return EXIT_PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 - the one boundary: anything unforeseen is reported as a bug
        _confess(err, error, verbose="-v" in arguments or "--verbose" in arguments)
        return EXIT_BUG
    return code


def _run(arguments: list[str], out: TextIO, err: TextIO, environ: Mapping[str, str], cwd: str | None) -> int:
    _require_no_files(arguments, cwd)
    before, command, after = _split(arguments)
    if command == "help":  # `help check` is `check --help`
        before, command, after = _split([*before, *(word for word in after if word != "help"), "--help"])
    try:
        module, args = _parse(before, command, after, cwd or "")
    except Answer as answer:
        deliver(out, answer.text(width_of(out, environ)))
        return EXIT_PASSED
    session = Console(
        stdout=out,
        stderr=err,
        environ=environ,
        cwd=_here() if cwd is None else cwd,
        config_file=args.config_file,
        json=args.json,
        no_house_rules=args.no_house_rules,
        no_color=args.no_color,
        verbose=args.verbose,
        quiet=args.quiet,
    )
    code: int = module.run(args, session)
    return code


def _require_no_files(arguments: Sequence[str], cwd: str | None) -> None:
    """Refuse an option that is also the name of a file here.

    Hooks pass file names, and a file called ``--config=x.yaml`` must not set an option.

    Raises:
        UsageError: naming the file.
    """
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    for word in arguments[:cut]:
        if word.startswith("-") and os.path.lexists(os.path.join(cwd or "", word)):  # noqa: PTH118
            raise UsageError(f"{word!r} is both an option and a file here; write ./{word} for the file, or rename it")


def _split(arguments: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Find the command, the first word that is neither an option nor an option's value."""
    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        index += 2 if takes_value(arguments[index]) else 1
    if index >= len(arguments):
        return arguments, None, []
    return arguments[:index], arguments[index], arguments[index + 1 :]


def _parse(before: list[str], command: str | None, after: list[str], cwd: str) -> tuple[ModuleType, argparse.Namespace]:
    """Parse the arguments; import only the command that is used."""
    if command is None:
        return _without_command(before)
    help_words = [word for word in before if word in ("-h", "--help", HELP_ALL)]
    program = Parser(prog="skillgate")
    args = program.parse([word for word in before if word not in help_words], shared_defaults())
    if command not in COMMANDS:
        _refuse(command, cwd)
    module = COMMANDS.load(command)
    parser = Parser(prog=f"skillgate {command}", description=(module.__doc__ or COMMANDS.summary(command)).strip())
    module.add_arguments(parser)
    if help_words:
        raise Answer(parser.whole_help if HELP_ALL in help_words else parser.everyday_help)
    return module, parser.parse(after, args)


def _refuse(word: str, cwd: str) -> NoReturn:
    """Raise UsageError for an unknown command, with the one that was probably meant."""
    meant = _MEANT.get(word.lower().lstrip("-"), "")
    if not meant and os.path.exists(os.path.join(cwd, word)):  # noqa: PTH110, PTH118 - pathlib costs start-up time
        meant = f"score {word}"
    near = f" (did you mean {meant!r}?)" if meant else did_you_mean(word, COMMANDS.listed())
    raise UsageError(f"unknown command {word!r}{near}\nTry: skillgate --help")


def _without_command(before: list[str]) -> NoReturn:
    rows: dict[str, str] = dict.fromkeys(_GROUPS, "")
    for name in COMMANDS.listed():
        rows[COMMANDS.text(name, "GROUP")] += f"\n  {name:<12}  {COMMANDS.summary(name)}"
    listing = "\n\n".join(f"{_GROUPS[group]}:{lines}" for group, lines in rows.items())
    program = Parser(prog="skillgate", description=f"{_DESCRIPTION}\n\n{listing}\n\n{_START}")
    program.usage = "skillgate [options] COMMAND [arguments]"
    program.parse(before, shared_defaults())
    raise UsageError("no command given\nTry: skillgate --help")


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - pathlib costs start-up time
    except OSError as error:
        raise UsageError("cannot read the working directory; change to another one") from error


def _tolerant(stream: TextIO | None) -> TextIO:
    """Make a stream accept any text: UTF-8 in any locale, with escapes for the rest; None becomes the null device."""
    if stream is None:  # a process may be started with a closed stdout
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - lives as long as the process
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")
    return stream


def _confess(err: TextIO, error: Exception, *, verbose: bool) -> None:
    """Report a bug: what, where, and where to report it."""
    import traceback  # only on the way out

    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    place = "unknown place"
    if last:
        place = f"{'/'.join(last.filename.replace(os.sep, '/').split('/')[-3:])}:{last.lineno}"
    text = printable(f"{type(error).__name__}: {error}")[:500]
    _write(err, f"skillgate: this is a bug in skillgate: {text} (at {place})\n")
    if verbose:
        lines = "".join(traceback.format_exception(error)).split("\n")
        _write(err, "".join(f"{printable(line)}\n" for line in lines))
    more = "the traceback above" if verbose else "the output of the same command with -v"
    _write(err, f"Please report it with {more}: {_tracker()}\n")


def _tracker() -> str:
    """Return where bugs are reported, as far as it is known."""
    from skillgate.homepage import homepage

    return f"{url}/issues" if (url := homepage()) else "the project's issue tracker"


def _write(err: TextIO, text: str) -> None:
    try:
        err.write(text)
        err.flush()
    except OSError:
        return  # there is no reader left


def _flushed() -> bool:
    """Flush both streams; if a reader is gone, keep the interpreter from complaining about it at exit."""
    fine = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            fine = False
    return fine


def _exit_on_sigterm() -> None:
    import signal

    def leave(_number: int, _frame: object) -> NoReturn:
        raise SystemExit(EXIT_TERMINATED)

    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, leave)
