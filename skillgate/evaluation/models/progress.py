"""What a long run says of itself while it goes on: a line that is drawn anew, or lines of their own in a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.evaluation.models.setup import ModelSetup
    from skillgate.llm.port import Progress
    from skillgate.session import Session

LOG_S = 15.0  # between two lines where there is no terminal
WATCH_S = 0.2  # between two drawings of the progress
_BAR = 20  # characters
_PER_PROMPTS = 25  # prompts that one request writes
_PER_SESSION = 3.9  # requests of a session that loads the skill: two turns or a little more, and two grades
_PER_NEAR_MISS = 1.3  # most load nothing, and are not graded
_LIFT = 50  # requests for ten tasks in two arms


def expected_calls(setup: ModelSetup, skills: int) -> int:
    """Give about how many answers a run takes, for the time that is left; what is kept counts too."""
    judges = len(setup.panel.opinions)
    one = 1.0 + 5 * judges
    if setup.plan is not None:
        plan = setup.plan("")
        one += -(-plan.simulations // _PER_PROMPTS) + (plan.near_misses > 0)
        one += _PER_SESSION * plan.simulations + _PER_NEAR_MISS * plan.near_misses
    if setup.contest is not None and setup.contest.arena is not None and setup.contest.corpus is not None:
        one += 2 * min(setup.contest.arena.opponents, len(setup.contest.corpus.members))
    return round(skills * (one + _LIFT * setup.lift))


def watching(session: Session, skills: int, expected: int) -> Callable[[Progress], None] | None:
    """Draw a line on stderr where somebody is looking."""
    if session.quiet:
        return None
    if not session.stderr.isatty():
        return _log(session, skills, expected) if session.verbose else None
    drawn = [-WATCH_S]

    def show(now: Progress) -> None:
        if now.elapsed_s - drawn[0] < WATCH_S and now.layers_done < now.layers:
            return
        drawn[0] = now.elapsed_s
        session.show_progress("\r" + progress_line(now, skills, expected).ljust(99)[:99])

    return show


def clear(session: Session) -> None:
    """Take the line away."""
    session.show_progress("\r" + " " * 99 + "\r")


def _log(session: Session, skills: int, expected: int) -> Callable[[Progress], None]:
    """Say it in lines of their own, where nobody looks at a terminal, so that a long run does not look dead."""
    told = [0.0]

    def say(now: Progress) -> None:
        if now.elapsed_s - told[0] >= LOG_S or (now.layers_done == now.layers and told[0] != float("inf")):
            told[0] = now.elapsed_s if now.layers_done < now.layers else float("inf")
            session.detail(progress_line(now, skills, expected))

    return say


def progress_line(now: Progress, skills: int, expected: int = 0) -> str:
    """Say how far a run is: skills, calls, cost, and how long the rest takes if it goes on like this.

    Args:
        now: how far it is.
        skills: how many there are.
        expected: about how many answers all of it takes, 0 where nobody knows.
    """
    cost = "cost unknown" if now.cost_usd is None else f"${now.cost_usd:.2f}"
    failed = f" · {now.failed} failed" if now.failed else ""
    done = now.layers_done / skills if skills else 1.0
    share = done if done == 1.0 or not expected else max(done, min(0.99, now.calls / expected))
    told = f"{_bar(share)} {now.layers_done} of {skills} · {now.calls} answers, {now.cached} kept{failed} · {cost}"
    asked = now.calls - now.cached
    if not 0 < share < 1 or not asked:
        return told
    # Kept answers take no time, so only those that were asked for tell how long the others take.
    left = max(expected - now.calls, 1) if expected else asked / share - asked
    seconds = int(now.elapsed_s / asked * left)
    return f"{told} · about {seconds // 60}:{seconds % 60:02d} left"


def _bar(share: float) -> str:
    full = int(share * _BAR)
    return "█" * full + "░" * (_BAR - full)
