"""A question with a known answer, in each request that asks for ratings, to tell a judge that does not judge.

A judge is asked how far the skill is about something that it says nothing of. The right rating is 0 or 1; whoever
answers higher gives ratings that the text asked for, or has not read it, and nothing of that answer counts. The subject
differs between skills and questions, so that one sentence in a skill cannot answer for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.digest import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

HIGHEST_HONEST = 1  # of 10: a judge may find a trace of anything anywhere

# Each with the words of which none may occur in the skill.
_SUBJECTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tuning the sympathetic strings of a hurdy-gurdy", ("hurdy", "gurdy", "drone string")),
    ("the moulting calendar of emperor penguins", ("penguin", "moult", "molt")),
    ("setting the escapement of a tower clock", ("escapement", "tower clock", "horolog")),
    ("growing saffron crocuses on stony ground", ("saffron", "crocus")),
    ("the grading of Bolivian tin ore in 1910", ("bolivia", "tin ore")),
    ("laying a thatched roof with water reed", ("thatch", "water reed")),
    ("the rules of Basque pelota", ("pelota", "basque")),
    ("reading tree rings of bristlecone pines", ("bristlecone", "tree ring", "dendrochron")),
    ("glazing stoneware with wood ash", ("stoneware", "glazing", "kiln")),
    ("breeding heavy horses for ploughing matches", ("horse", "plough")),
    ("the lighthouses of the Outer Hebrides", ("lighthouse", "hebrides")),
    ("curing alpine cheese in a sandstone cellar", ("cheese", "sandstone")),
    ("notating Byzantine chant with neumes", ("byzantin", "neume")),
    ("splicing hemp rope on a square rigger", ("hemp", "square rig", "splicing")),
    ("the migration of monarch butterflies", ("monarch", "butterfl")),
    ("cutting the facets of a rose-cut garnet", ("garnet", "facet")),
    ("beekeeping in log hives", ("beekeep", "log hive", "apiar")),
    ("casting church bells in loam moulds", ("church bell", "loam", "bellfound")),
    ("the varnish of Cremonese violins", ("violin", "varnish", "cremon")),
    ("ice harvesting on Norwegian lakes", ("ice harvest", "norwegian lake", "norway")),
    ("the embroidery of Hutsul wedding shirts", ("embroider", "hutsul")),
    ("falconry with merlins in moorland", ("falcon", "merlin", "moorland")),
    ("counting glow-worms along hedgerows", ("glow-worm", "glowworm", "hedgerow")),
    ("the sluices of Frisian polders", ("sluice", "polder", "frisia")),
)


def absent(texts: Sequence[str]) -> tuple[str, ...]:
    """List the subjects of which no key word occurs in any of the texts, letter case folded."""
    folded = [text.casefold() for text in texts]
    return tuple(name for name, words in _SUBJECTS if not any(word in text for text in folded for word in words))


def subject(absent_subjects: Sequence[str], *parts: str) -> str:
    """Choose a subject by a hash of what the request shows and asks.

    A text that names every subject of the list gets a place that does not exist, named by the hash, which no text can
    hold of itself.
    """
    chosen = digest(*(part.encode("utf-8", "surrogatepass") for part in parts))
    if not absent_subjects:
        return f"the harbour dues of a town called Q{chosen[:10]}"
    return absent_subjects[int(chosen, 16) % len(absent_subjects)]
