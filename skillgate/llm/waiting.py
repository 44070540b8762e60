"""The line in which requests wait to be sent: those of earlier layers first, one of each prefix ahead of its like.

A provider keeps the beginning of a prompt once it has read it, and others that begin alike then cost a tenth. Sent all
at once, none would find it kept. So the first goes alone, and the others follow when it was answered. An answer that
came from our own cache has warmed nothing at the provider: then the next in line goes ahead.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from skillgate.model.exchange import Request

Owner = TypeVar("Owner")


class Place(NamedTuple, Generic[Owner]):
    """A request in line.

    Attributes:
        layer, number: those with the lowest go first; no two numbers are equal.
        request: what is asked.
        owner: who waits for the answer.
    """

    layer: int
    number: int
    request: Request
    owner: Owner


class Line(Generic[Owner]):
    """Requests by layer, and among those of one layer as they came."""

    def __init__(self) -> None:
        self._numbers = count()
        self._heap: list[Place[Owner]] = []
        self._warm: set[str] = set()
        self._held: dict[str, list[Place[Owner]]] = {}  # by prefix that is being warmed

    def join(self, request: Request, owner: Owner, layer: int) -> None:
        """Let a request wait."""
        heapq.heappush(self._heap, Place(layer, next(self._numbers), request, owner))

    def next(self, *, before: int) -> Place[Owner] | None:
        """Take the next request that can be sent, None where there is none.

        Args:
            before: a layer; requests of this one and of later ones are dropped.
        """
        if not self.has_next(before=before):
            return None
        place = heapq.heappop(self._heap)
        if place.request.prefix and place.request.prefix not in self._warm:
            self._held[place.request.prefix] = []
        return place

    def has_next(self, *, before: int) -> bool:
        """Say whether :meth:`next` would give a request."""
        while self._heap:
            place = self._heap[0]
            if place.layer < before and place.request.prefix not in self._held:
                return True
            heapq.heappop(self._heap)
            if place.layer < before:
                self._held[place.request.prefix].append(place)
        return False

    def answered(self, request: Request, *, cached: bool) -> None:
        """Let those go on that waited for this request.

        Args:
            request: that :meth:`next` gave.
            cached: whether the answer came from our own cache.
        """
        if request.prefix and not cached:
            self._warm.add(request.prefix)
        for place in self._held.pop(request.prefix, ()):
            heapq.heappush(self._heap, place)
