"""Recorded invocations: take them in, score what really happened, compare over time, gate, and draw a dashboard.

Invocations come as JSON Lines, as transcripts of Claude Code, or as spans of OpenTelemetry. Each gets 0 to 100 points:
completion 25, efficiency 20, output quality 30, satisfaction 25. What nobody observed earns no points and costs none;
an invocation of which too little was observed is not rated. Texts of users are not kept.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from skillgate.cli.log_options import add_rubric, add_skills, add_window
from skillgate.cli.options import add_output
from skillgate.cli.parser import Rare
from skillgate.cli.store_options import add_store
from skillgate.cli.times import day_of, past
from skillgate.registry import INVOCATION_FORMATS
from skillgate.report.rendering import formats_of

if TYPE_CHECKING:
    from skillgate.session import Session

GROUP = "past"
_MOST_LISTED = 100_000
FORMS = ("auto", *INVOCATION_FORMATS.listed())
_WORDS = {
    "import": "take recorded invocations in",
    "add": "record one invocation, or more signals of one that is there",
    "list": "list invocations with their ids, the latest first",
    "show": "show all that is kept of one invocation, and what its score is made of",
    "score": "score invocations of a file, and keep nothing",
    "rescore": "score all that is there again, by another rubric",
    "stats": "figures of each skill",
    "trend": "the last seven days beside the days before",
    "gate": "hold skills to a gate: publish, feature, deprecation, or one of the configuration",
    "dashboard": "leaderboard, tiers, trends and what to improve, as tables, JSON or a page",
    "purge": "delete invocations",
}
_MORE = {
    "import": """\
A FILE holds JSON Lines, a transcript of Claude Code, OTLP JSON, or a portable log; a directory, such as
~/.claude/projects, all of its .jsonl files; - is the standard input. Each file is taken in one transaction: if the
program is killed, all of it is there or nothing. A line that is no invocation is reported with its number and keeps out
no other; the exit code is then 2. What is there already is passed over; what `log add --update` added to it stays. A
file without any use of a skill in a known form is described, and the exit code is 3. No text of a user and no path is
stored unless --keep-text or --project asks for it.""",
    "add": """\
INVOCATION is a JSON object with the fields of a line, or - for the standard input; --set adds fields. Time and id are
made where they are missing. With --update the fields are added to those of the invocation that has the id: signals such
as the user's verdict come later. They stay when its recording is imported again. `log list` lists ids.""",
    "score": """\
A file of one invocation is told part by part, with what each part rests on and why it has none.""",
    "show": """\
The beginning of an id is enough where no other invocation's begins so.""",
    "rescore": """\
The rubric is from then on the one that the view skill_invocations shows.""",
    "trend": """\
A change is called one where both windows have five rated invocations, it is at least 10 % and 3 points, and the 95 %
interval of the difference does not hold 0; so chance alone is called a change in fewer than one case in twenty.""",
    "gate": """\
A gate is a requirement, which too few invocations fail, or a trigger, which asks for a review where all of its
conditions hold. Without a SKILL every skill of the store is asked about. The exit code is 1 where one failed or was
triggered, and 3 where there is nothing to decide by.""",
    "purge": """\
What is deleted is overwritten in a SQLite file. At a terminal it asks first; elsewhere --yes is needed.""",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words, each with what it takes."""
    words = parser.add_subparsers(dest="word", required=True, metavar="|".join(_WORDS))
    parsers = {}
    for word, told in _WORDS.items():
        text = f"{told[0].upper()}{told[1:]}." + (f"\n\n{_MORE[word]}" if word in _MORE else "")
        parsers[word] = words.add_parser(word, help=told, description=text)
        if word != "score":
            add_store(parsers[word])
    _taking(parsers["import"], parsers["score"], parsers["add"])
    _listing(parsers["list"], parsers["show"])
    _changing(parsers["rescore"], parsers["purge"])
    _telling(parsers["stats"], parsers["trend"], parsers["gate"], parsers["dashboard"])


def _taking(
    importing: argparse.ArgumentParser, scoring: argparse.ArgumentParser, adding: argparse.ArgumentParser
) -> None:
    for one in (importing, scoring):
        one.add_argument("files", metavar="FILE", nargs="+", help="files, directories, or -; before any option")
        one.add_argument("--format", metavar="FORM", choices=FORMS, default="auto", help=f"{', '.join(FORMS)}")
    for one in (importing, scoring, adding):
        add_rubric(one)
        one.add_argument("--skill-category", metavar="NAME", help=Rare("of invocations that name none"))
    for one in (importing, adding):
        one.add_argument(
            "--keep-text",
            action="store_true",
            help=Rare("keep texts under unknown keys, and names and ids that look like text"),
        )
    importing.add_argument("--update", action="store_true", help="replace what is there under the same id")
    importing.add_argument(
        "--project",
        metavar="LABEL",
        help=Rare("store this name as the origin, in place of a digest of the files' folder"),
    )
    importing.add_argument("--strict", action="store_true", help=Rare("take nothing of a file with a bad line"))
    adding.add_argument("invocation", metavar="INVOCATION", nargs="?", help="a JSON object, or -")
    adding.add_argument("--skill", metavar="NAME", help="the skill's name")
    adding.add_argument("--id", metavar="ID", help="the invocation's id")
    adding.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="a field; VALUE is JSON, else text; repeatable"
    )
    adding.add_argument("--update", action="store_true", help="add to what is there under the id")


def _listing(listing: argparse.ArgumentParser, showing: argparse.ArgumentParser) -> None:
    add_skills(listing)
    add_window(listing)
    listing.add_argument(
        "--at", metavar="DATE", type=day_of, help=Rare("as it was at the end of a day, UTC (default: now)")
    )
    listing.add_argument("--limit", metavar="N", type=_count, default=50, help="list at most N (default: 50)")
    showing.add_argument("id", metavar="ID", help="its id, or how it begins")
    for one in (listing, showing):
        add_rubric(one)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= _MOST_LISTED):
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {_MOST_LISTED:,}, found {text!r}")
    return int(text)


def _changing(rescoring: argparse.ArgumentParser, purging: argparse.ArgumentParser) -> None:
    add_rubric(rescoring)
    rescoring.add_argument("--skill", metavar="NAME", help="of this skill alone")
    rescoring.add_argument("--since", metavar="DATE|30d", type=past, help="from a day on (UTC), or of the last 30d, 8w")
    purging.add_argument("--before", metavar="DATE|90d", type=past, help="what began before a day (UTC), or 90d ago")
    purging.add_argument("--skill", metavar="NAME", help="of this skill alone")
    purging.add_argument("--dry-run", action="store_true", help="say how many there are, and delete nothing")
    purging.add_argument("--yes", action="store_true", help="do not ask")


def _telling(
    stats: argparse.ArgumentParser,
    trend: argparse.ArgumentParser,
    gate: argparse.ArgumentParser,
    dashboard: argparse.ArgumentParser,
) -> None:
    gate.add_argument("gate", metavar="GATE", help="its name")
    for one in (stats, trend, gate, dashboard):
        add_skills(one)
        add_rubric(one)
        one.add_argument(
            "--at", metavar="DATE", type=day_of, help=Rare("as it was at the end of a day, UTC (default: now)")
        )
        add_window(one)
    dashboard.add_argument(
        "--gate", metavar="GATE", dest="gates", action="append", default=[], help="show a gate too; repeatable"
    )
    add_output(dashboard, formats_of("invocations"))


def run(args: argparse.Namespace, session: Session) -> int:
    """Do what the word says."""
    from skillgate.cli.log_running import RUN  # only a run needs it

    return RUN[args.word](args, session)
