"""Passages that two skills have word for word: the rule DUPLICATED_CONTENT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from skillgate.model.finding import Clash, Hit, Member
from skillgate.model.skill import Span
from skillgate.named_tuple import NamedTuple
from skillgate.scoring.listing import comparable, main_file

RUN = 8  # lines in a row
SHARE = 0.3  # of a body's lines
LEAST_LINES = 3  # minimum for such a share
LEAST_WORDS = 40  # minimum in them: as few as make a skill
WIDE = 20  # skills that may hold a line for it to count towards a share: more of them make it boilerplate
MOST_LINES = 20_000  # of a body that are compared: more than a model could read

_Line = tuple[int, str]


class _Body(NamedTuple):
    """The meaningful lines of a skill, and how often it has each line that another skill has too."""

    member: Member
    lines: tuple[_Line, ...]
    counts: Counter[str]


class _Run(NamedTuple):
    """Lines in a row that two bodies have: where they begin in each, and how many."""

    here: int
    other: _Body
    there: int
    length: int


def duplicated_content(members: Sequence[Member]) -> Iterator[Clash]:
    """Instructions that another skill has word for word.

    Why:
        Text in two places is fixed in only one: the copies drift apart, and a model that has read both follows either.
        Each copy also costs tokens whenever its skill is used. Lines of prose are counted, ignoring white space, case
        and list markers; headings, code and lines of fewer than three words are not. A finding is a run of eight such
        lines, or lines that make up three tenths of a body and have at least forty words. It is reported at the skill
        whose path sorts later, once for each skill copied from; a passage in more than twenty skills is reported once.
        Copies for several clients, as in .claude/skills and .codex/skills, are one skill.

    Bad:
        skills/deploy-web and skills/deploy-api, each with the same twenty lines on how a release is rolled back.

    Good:
        skills/roll-back with those twenty lines, and a link to it from both.

    Source: skillgate's own; eight lines and three tenths are our choice. In 232 public skills unrelated bodies share at
    most 4 lines in a row and 14 per cent of their lines.
    """
    for part in comparable(members):
        shared = _shared(member.texts().lines for member in part)
        bodies = ((member, member.texts().lines) for member in part if shared)  # read again: all are too many to hold
        yield from _copies([_body(member, lines, shared) for member, lines in bodies if _may_copy(lines, shared)])


def _shared(bodies: Iterable[Sequence[_Line]]) -> frozenset[str]:
    """Collect the meaningful lines that are in more than one body."""
    first: dict[str, int] = {}
    shared = {
        text
        for index, lines in enumerate(bodies)
        for _, text in lines[:MOST_LINES]
        if first.setdefault(text, index) != index
    }
    return frozenset(text for text in shared if _is_meaningful(text))


def _is_meaningful(text: str) -> bool:
    """Whether a line has at least three words; in a script without spaces, six characters."""
    if text.isascii():
        return text.count(" ") - 2 * text.count(" | ") >= 2 and any(map(str.isalpha, text))
    return text.count(" ") >= 2 or len(text) >= 6


def _may_copy(lines: Sequence[_Line], shared: frozenset[str]) -> bool:
    return bool(shared) and sum(1 for _, text in lines[:MOST_LINES] if text in shared) >= LEAST_LINES


def _body(member: Member, lines: Sequence[_Line], shared: frozenset[str]) -> _Body:
    telling = tuple(line for line in lines[:MOST_LINES] if line[1] in shared or _is_meaningful(line[1]))
    return _Body(member, telling, Counter(text for _, text in telling if text in shared))


def _copies(bodies: Sequence[_Body]) -> Iterator[Clash]:
    windows: dict[tuple[str, ...], tuple[_Body, int]] = {}
    holders = Counter(text for body in bodies for text in body.counts)
    earlier: dict[str, list[_Body]] = {}
    reported: set[str] = set()
    for body in bodies:
        longest: dict[str, _Run] = {}
        copied: set[str] = set()
        for run in _runs(body, windows):
            key = run.other.member.path
            copied.update(text for _, text in body.lines[run.here : run.here + run.length])
            if key not in longest or run.length > longest[key].length:
                longest[key] = run
        yield from (_passage(body, run, holders) for run in longest.values() if _is_new(body, run, holders, reported))
        yield from _scattered(body, copied, longest.keys(), earlier, holders)
        for start, window in _windows(body):
            windows.setdefault(window, (body, start))
        for text in body.counts:
            if holders[text] <= WIDE:
                earlier.setdefault(text, []).append(body)


def _is_new(body: _Body, run: _Run, holders: Mapping[str, int], reported: set[str]) -> bool:
    """Whether to report a passage: only once if more than ``WIDE`` skills have it; a whole copy always."""
    texts = [text for _, text in body.lines[run.here : run.here + run.length]]
    if min(holders[text] for text in texts) <= WIDE or len(texts) == len(body.lines):
        return True
    is_news = texts[0] not in reported
    reported.update(texts)
    return is_news


def _windows(body: _Body) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield every run of eight lines that other skills have too."""
    streak = 0
    for end, (_, text) in enumerate(body.lines, start=1):
        streak = streak + 1 if text in body.counts else 0
        if streak >= RUN:
            yield end - RUN, tuple(text for _, text in body.lines[end - RUN : end])


def _runs(body: _Body, windows: dict[tuple[str, ...], tuple[_Body, int]]) -> Iterator[_Run]:
    """Yield the passages that an earlier body has too, from top to bottom; none begins within another."""
    free = 0
    for start, window in _windows(body):
        if start < free or window not in windows:
            continue
        other, there = windows[window]
        length = _alike(body.lines, start, other.lines, there)
        free = start + length
        yield _Run(start, other, there, length)


def _alike(one: Sequence[_Line], start: int, two: Sequence[_Line], there: int) -> int:
    """Count the lines from two places on that are the same."""
    most = min(len(one) - start, len(two) - there)
    return next((n for n in range(most) if one[start + n][1] != two[there + n][1]), most)


def _passage(body: _Body, run: _Run, holders: Mapping[str, int]) -> Clash:
    here, there = body.lines[run.here : run.here + run.length], run.other.lines[run.there : run.there + run.length]
    first, last = here[0][0], here[-1][0]
    place = f"{main_file(run.other.member)}:{there[0][0]}–{there[-1][0]}"
    whole = "all of the prose, " if run.length == len(body.lines) else ""
    message = f"{whole}lines {first}–{last}{', is' if whole else ' are'} also in {place}"
    skills = min(holders[text] for _, text in here)
    if skills > WIDE and not whole:
        message += f", and in {skills - 2} more skills"
    pair = (body.member.path, run.other.member.path)
    return Clash(body.member.path, Hit(Span(line=first), message), pair, run.other.member.path)


def _scattered(
    body: _Body,
    copied: Container[str],
    named: Container[str],
    earlier: Mapping[str, Sequence[_Body]],
    holders: Mapping[str, int],
) -> Iterator[Clash]:
    """Yield the skill that shares most lines with a body, in any order, if they are a large part of one of the two.

    ``copied`` are lines of passages that are reported already, ``named`` the skills that have those.
    """
    both: dict[str, tuple[_Body, list[str]]] = {}
    for text in body.counts:
        for other in earlier.get(text, ()) if text not in copied and holders[text] <= WIDE else ():
            both.setdefault(other.member.path, (other, []))[1].append(text)
    found = [pair for path, pair in both.items() if path not in named and _is_large_part(body, *pair)]
    if found:
        other, texts = max(found, key=lambda pair: len(pair[1]))
        yield _scattering(body, other, frozenset(texts))


def _is_large_part(body: _Body, other: _Body, texts: Sequence[str]) -> bool:
    if len(texts) < LEAST_LINES or sum(text.count(" ") + 1 for text in texts) < LEAST_WORDS:
        return False
    return any(sum(one.counts[text] for text in texts) >= SHARE * len(one.lines) for one in (body, other))


def _scattering(body: _Body, other: _Body, texts: frozenset[str]) -> Clash:
    here = [line for line, text in body.lines if text in texts]
    there = [line for line, text in other.lines if text in texts]
    place = main_file(other.member)
    message = f"{len(here)} of {len(body.lines)} lines of prose (from line {here[0]}) are also in {place}"
    message += f" (from line {there[0]})"
    if len(here) < SHARE * len(body.lines):  # they are a large part of the other
        message += f", where they are {len(there)} of {len(other.lines)} lines"
    pair = (body.member.path, other.member.path)
    return Clash(body.member.path, Hit(Span(line=here[0]), message), pair, other.member.path)
