"""What a description says about when its skill is for: trigger phrases, use cases, and how insistently.

The text is cut into words and marks once, and everything else reads that list, a sentence at a time: trigger phrases
and denials in :mod:`skillgate.skill.phrases`, and here the use cases and contexts that stand around them. So the work
is linear in the text, whatever the text is.
"""

from __future__ import annotations

from skillgate.model.routing import Routing
from skillgate.skill.function_words import word_set
from skillgate.skill.language import language_of, sentences_of
from skillgate.skill.phrases import BREAKS, Sentence

_LIMIT = 20_000  # characters; more than ten times what any client shows to its router
_NO_GERUND = word_set(
    "anything everything something nothing string spring during bring thing sting sling swing evening morning ceiling",
    "sibling wedding being",
)
_LEADING = word_set("or and also when whenever if for to then either but the a an even")
_NO_USE_CASE = word_set("etc more similar instead others other on such as so")


def routing_of(description: str, when_to_use: str) -> Routing:
    """Analyse both as a client lists them; the description alone tells the language."""
    routing = analyse(" - ".join(part for part in (description, when_to_use) if part))
    return routing._replace(language=language_of(description)) if description and when_to_use else routing


def analyse(text: str) -> Routing:
    """Find what a description (joined with its ``when_to_use``) says about when to use its skill.

    Only the first 20,000 characters are looked at. Offsets are those of ``text``.
    """
    text = text[:_LIMIT]
    sentences = [Sentence(text, tokens) for tokens in sentences_of(text)]
    use_cases = dict.fromkeys(case for sentence in sentences for case in _use_cases(sentence))
    contexts = (_context(sentence) for sentence in sentences)
    return Routing(
        language=language_of(text),
        triggers=tuple(trigger for sentence in sentences for trigger in sentence.triggers),
        use_cases=tuple(use_cases),
        proactive=any(sentence.is_proactive() for sentence in sentences),
        automatic=any(sentence.is_automatic() for sentence in sentences),
        context=next((context for context in contexts if context), None),
    )


def _use_cases(sentence: Sentence) -> list[str]:
    """List what stands between commas, semicolons and "or" from the first trigger phrase on, where not denied."""
    cases, piece = [], list[int]()
    for at in range(sentence.clause, len(sentence.words)):
        if _separates(sentence, at):
            cases.append(_use_case(sentence, piece))
            piece = []
        elif sentence.words[at] not in BREAKS:
            piece.append(at)
    cases.append(_use_case(sentence, piece))
    return [case for case in cases if case]


def _context(sentence: Sentence) -> str | None:
    """Give the first "when … ing" and its like that is not denied."""
    for at, word in enumerate(sentence.words):
        if word in ("when", "for", "during") and not sentence.denied[at]:
            prefixed = sentence.word(at + 2) == "-" and len(sentence.word(at + 1)) <= 3  # "when re-training"
            last = at + 3 if prefixed else at + 1
            if _is_gerund(sentence.word(last)):
                return " ".join(sentence.written(at, last).replace("*", "").split())
    return None


def _separates(sentence: Sentence, at: int) -> bool:
    word, following = sentence.words[at], sentence.word(at + 1)
    if word == "and":
        return _is_gerund(following) or following in ('"', "“")
    if sentence.denied[at] or not sentence.plain[at] or word in (",", ";", "or"):
        return True
    return word in ('"', "“") and sentence.word(at - 1) in ('"', "”")


def _use_case(sentence: Sentence, piece: list[int]) -> str:
    """Fold the words at these places into a use case; ``""`` where nothing but connecting words is left."""
    while piece and sentence.words[piece[0]] in _LEADING:
        piece = piece[1:]
    if all(sentence.words[at] in _NO_USE_CASE or not sentence.words[at].isalnum() for at in piece):
        return ""
    return " ".join(sentence.written(piece[0], piece[-1]).casefold().split())


def _is_gerund(word: str) -> bool:
    """Tell "building" from "string": what ends in -ing and is a doing."""
    return len(word) > 4 and word.endswith("ing") and word.isalpha() and word not in _NO_GERUND
