"""The word ``import`` of ``bench``: lines of JSON become a benchmark's file."""
# ruff: noqa: PTH110, PTH112, PTH113, PTH118, PTH123

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from skillgate.bench.files import MAX_BYTES
from skillgate.bench.importing import LIKES, bytes_of, imported, map_of, told
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, UsageError
from skillgate.files import write

if TYPE_CHECKING:
    import argparse

    from skillgate.session import Session


def import_lines(args: argparse.Namespace, session: Session) -> int:
    """Read the lines, write the benchmark and say what was left out.

    Raises:
        UsageError: an option does not fit, the file cannot be read, or no line of it is a task, or the
            benchmark cannot be written.
    """
    if (args.like is None) == (args.map is None):
        raise UsageError(f"bench import needs --like ({', '.join(LIKES)}) or --map input=FIELD,expected=FIELD")
    source, target = os.path.join(session.cwd, args.file), os.path.join(session.cwd, args.output)
    if os.path.lexists(target) and not args.force:
        raise UsageError(f"{args.output} is there already; --force overwrites it")
    if os.path.exists(target) and os.path.realpath(target) == os.path.realpath(source):
        raise UsageError(f"{args.output} is the file that is read")
    attachments = None if args.attachments is None else os.path.join(session.cwd, args.attachments)
    if attachments is not None and not os.path.isdir(attachments):
        raise UsageError(f"--attachments {args.attachments}: there is no such directory")
    if not os.path.isfile(source):
        raise UsageError(f"{args.file} is no file" if os.path.lexists(source) else f"{args.file} does not exist")
    try:
        with open(source, "rb") as lines:
            found = imported(
                lines,
                args.file,
                like=args.like,
                fields=None if args.map is None else map_of(args.map),
                attachments=attachments,
                identifier=args.id,
                version=args.version_,
            )
    except OSError as error:
        raise UsageError(f"{args.file} cannot be read: {error.strerror}") from error
    data = bytes_of(found.data)
    if len(data) > MAX_BYTES:
        raise UsageError(f"the benchmark would be larger than {MAX_BYTES:,} bytes; import its lines in parts")
    home = os.path.join(session.cwd, "benchmarks")  # where they are looked for
    own = os.path.normpath(os.path.join(target, os.pardir)) == home
    write(args.output, data, cwd=session.cwd, parents=own)
    for line in (*told(found.bad), *told(found.left_out)):
        session.note(line)
    if session.json:
        whole = {"path": args.output, "id": found.data["id"], "tasks": found.tasks}
        whole |= {"bad": list(found.bad), "leftOut": list(found.left_out)}
        session.out(json.dumps(whole, indent=2, ensure_ascii=False))
    else:
        told_of = f"{len(found.bad)} problems in lines" if found.bad else "no line was wrong"
        session.out(f"{args.output}: {found.tasks} tasks, {len(found.left_out)} left out, {told_of}")
    return EXIT_GATE_FAILED if found.bad else EXIT_PASSED
