"""How alike short texts are: BM25 over the name and description of skills, as a router's lexical stand-in.

It measures how distinct text is among the others; it predicts no activation.

Source: S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", Foundations and Trends
in Information Retrieval 3 (4), 2009, section 3. Their weight of a term falls to 0 and below where half of the documents
hold it. Here it is ln(1 + (N - n + 0.5) / (n + 0.5)), always above 0, since a catalogue may be two skills. In
catalogues large enough to know that such a term is common, it is ignored, as theirs would be.
"""

from __future__ import annotations

import heapq
import math
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from skillgate.model.finding import Assessment


K1 = 1.2  # how soon repeats of a term stop counting: a usual value, Robertson & Zaragoza 2009, section 3.5
B = 0.75  # how much a text's length counts, from 0 to 1: a usual value too

SMALL = 20  # documents up to which also a term that more than half of them hold counts: our choice
WIDEST = 32  # documents that may hold a term for it to lead from one of them to another: keeps a catalogue linear
LONGEST = 60  # letters of a word that is folded: each step copies it, so that endless endings would take for ever

_STOP_WORDS = frozenset(
    "a about above after again all also am an and any are aren't as at be because been before being below between"
    " both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each either else"
    " etc few for from further get had has have having he her here hers him his how however i if in into is isn't it"
    " it's its itself just let like may me might more most must my neither no nor not of off on once one only or other"
    " our out over own per rather same shall she should so some such than that that's the their them then there these"
    " they this those through to too under until up upon us very via was we were what when whenever where whether which"
    " while who whose why will with within without won't would yet you you're your yours".replace("'", "").split()
)


class Match(NamedTuple):
    """One document like the query."""

    key: str
    score: float  # its BM25 score, above 0 and without an upper bound; comparable within one query only
    shared: tuple[str, ...]  # the words it has in common with the query, the one that adds most to the score first


class Likeness(NamedTuple):
    """How alike two documents of an index are."""

    key: str
    share: float  # of the score that each has for its own text, how much the other has for it
    shared: tuple[str, ...]  # the words they have in common, as of :class:`Match`


def terms(text: str) -> tuple[str, ...]:
    """Split text into the terms it is compared by, in order, with repeats.

    A word is a run of letters, marks and digits of any script, in compatibility form and case-folded; apostrophes
    vanish, hyphens and everything else split. English stop words are dropped and ASCII words folded (``files``,
    ``filing`` and ``filed`` are one term, which need not be a word). Scripts written without spaces between words
    (Chinese, Japanese, Korean with them, Thai, Lao, Burmese, Khmer) give their overlapping pairs of characters.
    """
    return tuple(term for term, _ in _terms_and_words(text))


class Index:
    """The texts of a catalogue, inverted: building is linear in their length, a query in the documents of its terms.

    Texts that share a key are separate documents. What a term adds to a document's score is worked out once, so a
    query only adds up; ``postings_read`` counts the pairs of term and document added up so far, a cost without a clock.
    """

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self.postings_read = 0
        self._keys = tuple(key for key, _ in documents)
        self._words: dict[str, str] = {}
        self._counts = tuple(Counter(self._named(text)) for _, text in documents)
        self._weights = _weights(self._counts)
        self._totals = tuple(sum(weights.values()) for weights in self._weights)
        self._postings: dict[str, list[tuple[int, float]]] = {}
        self._documents: dict[str, list[int]] = {}
        for document, weights in enumerate(self._weights):
            self._documents.setdefault(self._keys[document], []).append(document)
            for term, weight in weights.items():
                self._postings.setdefault(term, []).append((document, weight))

    def alike(self, key: str, *, least: float, limit: int = 5) -> tuple[Likeness, ...]:
        """Find at most ``limit`` documents most like the one of a key, by share (``least`` or more), ties by key.

        Only documents that share a term which at most ``WIDEST`` documents hold are looked at, and of these the
        ``limit`` most promising, so that a query costs no more in a large catalogue.
        """
        own = self._documents[key][0]
        scores = self._scores(term for term in self._weights[own] if 1 < len(self._postings[term]) <= WIDEST)
        for document in self._documents[key]:
            scores.pop(document, None)
        bound = min(heapq.nlargest(limit, scores.values()), default=math.inf)
        best = sorted((-score, document) for document, score in scores.items() if score >= bound)
        found = (self._likeness(own, document, least) for _, document in best[:limit])
        return tuple(sorted((one for one in found if one is not None), key=lambda one: (-one.share, one.key)))

    def rival(self, query: str, key: str, among: Collection[str]) -> tuple[float, Match | None]:
        """Return a text's score for one document, 0 or more, and which of the others it is most like, or None.

        Terms that more than ``WIDEST`` documents hold are passed over.
        """
        found = [term for term in dict.fromkeys(terms(query)) if 0 < len(self._postings.get(term, ())) <= WIDEST]
        scores = {self._keys[document]: score for document, score in self._scores(found).items()}
        best = min((other for other in scores if other in among), key=lambda k: (-scores[k], k), default=None)
        if best is None:
            return scores.get(key, 0.0), None
        shared = self._shared(found, self._documents[best][0])
        return scores.get(key, 0.0), Match(key=best, score=scores[best], shared=shared)

    def own_words(self, key: str, *, against: str) -> tuple[str, ...]:
        """Return the words that the document of a key says more than once and another document never says."""
        counts, others = (self._counts[self._documents[one][0]] for one in (key, against))
        return tuple(self._words[term] for term, count in counts.items() if count > 1 and term not in others)

    def rank(self, query: str, *, exclude: str | None = None, limit: int = 5) -> tuple[Match, ...]:
        """Find at most ``limit`` documents most like text: the best first, ties by key, then by place.

        A term counts once however often the query repeats it. Documents that share nothing with it, or have the key
        ``exclude``, are left out; these still count in how rare a term is.
        """
        found = sorted({term for term in terms(query) if term in self._postings})
        scores = self._scores(found)
        for document in self._documents.get(exclude, ()) if exclude is not None else ():
            scores.pop(document, None)
        least = min(heapq.nlargest(limit, scores.values()), default=math.inf)
        best = [document for document, score in scores.items() if score >= least]
        best.sort(key=lambda document: (-scores[document], self._keys[document], document))
        return tuple(
            Match(key=self._keys[document], score=scores[document], shared=self._shared(found, document))
            for document in best[:limit]
        )

    def _likeness(self, one: int, other: int, least: float) -> Likeness | None:
        first, second = self._weights[one], self._weights[other]
        common = [term for term in first if term in second]
        share = min(sum(second[term] for term in common) / self._totals[one], 1.0)
        if share >= least:
            share = min(sum(first[term] for term in common) / self._totals[other], share)
        return None if share < least else Likeness(self._keys[other], share, self._shared(sorted(common), other))

    def _named(self, text: str) -> Iterator[str]:
        """Return the terms of text and keep, of each, the shortest word."""
        for term, word in _terms_and_words(text):
            known = self._words.setdefault(term, word)
            if (len(word), word) < (len(known), known):
                self._words[term] = word
            yield term

    def _shared(self, found: Iterable[str], document: int) -> tuple[str, ...]:
        weights = self._weights[document]
        shared = sorted((term for term in found if term in weights), key=lambda term: (-weights[term], term))
        return tuple(self._words[term] for term in shared)

    def _scores(self, found: Iterable[str]) -> dict[int, float]:
        scores: dict[int, float] = {}
        for term in found:
            postings = self._postings[term]
            self.postings_read += len(postings)
            for document, weight in postings:
                scores[document] = scores.get(document, 0.0) + weight
        return scores


def _weights(counts: Sequence[Counter[str]]) -> tuple[dict[str, float], ...]:
    """Work out what each term of each document adds to a score: idf · f · (k1 + 1) / (f + k1 · (1 - b + b · l / l̄))."""
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / max(1, len(lengths))
    holders = Counter(term for count in counts for term in count)
    common = len(counts) / 2 if len(counts) > SMALL else math.inf
    rarity = {term: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for term, n in holders.items() if n <= common}
    weights = []
    for count, length in zip(counts, lengths, strict=True):
        damping = K1 * (1 - B + B * length / mean) if mean else K1
        weights.append(
            {term: rarity[term] * f * (K1 + 1) / (f + damping) for term, f in count.items() if term in rarity}
        )
    return tuple(weights)


class _Separators(dict[int, int | str | None]):
    """A table for ``str.translate`` that fills itself: characters of words stay, apostrophes go, others are spaces."""

    def __missing__(self, code: int) -> int | str | None:
        character = chr(code)
        keep = character.isalnum() or unicodedata.category(character).startswith("M")
        self[code] = code if keep else " "
        return self[code]


_SEPARATORS = _Separators({ord("'"): None, ord("’"): None})


def _terms_and_words(text: str) -> Iterator[tuple[str, str]]:
    """Return the terms of text, each with the word it stands for."""
    for run in unicodedata.normalize("NFKC", text).casefold().translate(_SEPARATORS).split():
        if run.isascii():
            if run not in _STOP_WORDS:
                yield _folded(run), run
            continue
        for unspaced, characters in groupby(run, _is_unspaced):
            part = "".join(characters)
            if unspaced and len(part) > 1:
                yield from ((first + second, first + second) for first, second in pairwise(part))
            elif part not in _STOP_WORDS:
                yield (_folded(part) if part.isascii() else part), part


_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # the ideographic repeat mark, closing mark and zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x9FFF),  # Chinese characters
    (0xAC00, 0xD7AF),  # Hangul
    (0xF900, 0xFAFF),  # Chinese characters, compatibility
    (0x20000, 0x3FFFF),  # Chinese characters, the rarer ones
)


def _is_unspaced(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _UNSPACED)


@lru_cache(maxsize=50_000)
def _folded(word: str) -> str:
    """Fold an ASCII word: a plural's s, then -ing, -ed, a doubled last consonant, -e and -y until nothing changes.

    Only agreement matters (``parse``, ``parses``, ``parsed`` and ``parsing`` all give ``pars``), so the rules are few
    and have no exceptions. Words of at most three letters keep their s. A word with digits stays as it is, as does one
    that is longer than any word.
    """
    if len(word) > LONGEST or not word.isalpha():
        return word
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "sis")):
        word = word[:-1]
    while (shorter := _shortened(word)) != word:
        word = shorter
    return word


def _shortened(word: str) -> str:
    for ending in ("ing", "ed") if word.endswith(("ing", "ed")) else ():
        stem = word.removesuffix(ending)
        if stem != word and not word.endswith("eed") and _is_stem(stem):
            doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] in "bdgmnprt"
            return stem[:-1] if doubled else stem
    if word.endswith("e") and _is_stem(word[:-1]):
        return word[:-1]
    if len(word) > 2 and word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word


def _is_stem(letters: str) -> bool:
    return len(letters) > 1 and any(vowel in letters for vowel in "aeiouy")


SIMILAR = 0.6  # of a description's own BM25 score: nearer than that, two skills say nearly the same


def nearest(judged: Sequence[tuple[str, Assessment]]) -> dict[str, str]:
    """Return the nearest neighbour's shown path by shown path, for those that are short and have one."""
    short = [path for path, facts in judged if facts.short]
    if len(judged) < 2 or not short:
        return {}
    texts = {path: f"{facts.listing.name} {facts.listing.description}" for path, facts in judged}
    index = Index(tuple(texts.items()))
    found = {}
    for key in short:
        matches = index.rank(texts[key], limit=2)
        own = next((match.score for match in matches if match.key == key), 0.0)
        other = next((match for match in matches if match.key != key), None)
        if other is not None and own and other.score >= SIMILAR * own:
            found[key] = other.key
    return found
