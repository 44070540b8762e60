"""What of a skill a judge is shown: all of it, or, where a model cannot take that, its main file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillgate.judge.asking import ask
from skillgate.judge.document import Shown, shown
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.judge.subject import Dossier, Passage
    from skillgate.model.exchange import Answer, Request, Steps
    from skillgate.model.judging import Cut


class Readings:
    """A skill's text as it is shown, whole or in part, each made once and only when it is needed."""

    def __init__(self, dossier: Dossier, most_characters: int, without: Sequence[Passage] = ()) -> None:
        """Take the skill, the characters that one request may hold of it, and the passages to leave out."""
        self._dossier = dossier
        self._most = most_characters
        self._without = tuple(without)

    @cached_property
    def whole(self) -> Shown:
        """Every page."""
        return shown(self._dossier, most_characters=self._most, without=self._without)

    @cached_property
    def main(self) -> Shown:
        """The main file alone."""
        return shown(self._dossier, most_characters=self._most, without=self._without, main_only=True)

    def asked(
        self, request: Callable[[str], Request], ask: Callable[[Request], Steps[Answer]] = ask
    ) -> Steps[tuple[tuple[Answer, ...], tuple[Cut, ...]]]:
        """Ask about the whole skill; where that is beyond the model's context, about the main file alone.

        Args:
            request: makes the request from the text to be shown.
            ask: sends it, and what else it takes to get an answer.

        Returns:
            The answers, of which the last counts, and what its request left out.
        """
        answer = yield from ask(request(self.whole.text))
        if answer.cause is not Cause.TOO_LONG or len(self._dossier.pages) < 2:
            return (answer,), self.whole.cut
        again = yield from ask(request(self.main.text))
        return (answer, again), self.main.cut
