"""Answers a question from a small corpus: ranks its sentences by BM25 and quotes the best, with their source."""
# ruff: noqa: PTH123, S310

import json
import math
import os
import re
import sys
import urllib.request

WORD = re.compile(r"[^\W_]+")
# Words that a question is made of and that say nothing of its subject.
STOP_WORDS = """
    a about against an and any are as at be been by did do does for from had has have how in into is it its many much
    of off on one or somebody that the their them there they this to was were what when where which who whom whose
    why will with
"""
STOP = frozenset(STOP_WORDS.split())
K1, B = 1.5, 0.75


def stem(word):
    """Cut the endings that differ between a question and its answer."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word


def words(text):
    return [stem(word) for word in WORD.findall(text.casefold().replace("'s", "")) if word not in STOP]


def corpus(place):
    """Read the documents from the file, or from the server where there is no file to read."""
    path = place.get("path") or os.environ.get("SKILLGATE_CORPUS_PATH", "")
    if os.access(path, os.R_OK):
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    url = place.get("url") or os.environ["SKILLGATE_CORPUS_URL"]
    with urllib.request.urlopen(f"{url}/corpus.jsonl", timeout=5) as reply:
        return [json.loads(line) for line in reply.read().decode().splitlines()]


class Ranking:
    """BM25 over sentences; each sentence also counts, less, for the title above it."""

    def __init__(self, documents):
        self.rows = []
        for document in documents:
            for sentence in re.split(r"(?<=[.!?])\s+", document["text"]):
                self.rows.append((document, sentence, words(sentence), words(document["title"])))
        self.mean = sum(len(row[2]) for row in self.rows) / len(self.rows)
        self.holds = {}
        for _, _, body, title in self.rows:
            for word in {*body, *title}:
                self.holds[word] = self.holds.get(word, 0) + 1

    def rarity(self, word):
        count = self.holds.get(word, 0)
        return math.log(1 + (len(self.rows) - count + 0.5) / (count + 0.5))

    def score(self, row, wanted):
        total = 0.0
        for word in wanted:
            count = row[2].count(word) + 0.5 * (word in row[3])
            length = 1 - B + B * len(row[2]) / self.mean
            total += self.rarity(word) * count * (K1 + 1) / (count + K1 * length)
        return total

    def best(self, wanted, most):
        scored = sorted(((self.score(row, wanted), -place) for place, row in enumerate(self.rows)), reverse=True)
        return [(score, self.rows[-place]) for score, place in scored[:most] if score > 0]


def known_share(ranking, wanted):
    """Say how much of what a question asks about the corpus has ever heard of, rare words counting more."""
    whole = sum(ranking.rarity(word) for word in wanted)
    return sum(ranking.rarity(word) for word in wanted if word in ranking.holds) / whole if whole else 0.0


def answer(query, documents):
    ranking = Ranking(documents)
    wanted = list(dict.fromkeys(words(query)))
    if known_share(ranking, wanted) < 0.5:
        return {"result": "no results", "source": None}
    found = ranking.best(wanted, 3)
    quoted = [row[1] for _, row in found[:2]]
    # What the first find names may be explained elsewhere: look once more for the names that it brought.
    names = [stem(name.casefold()) for name in re.findall(r"\b[A-Z][a-z]+\b", " ".join(quoted))]
    more = ranking.best(list(dict.fromkeys([*wanted, *(name for name in names if name not in STOP)])), 4)
    for _, row in more:
        if row[1] not in quoted:
            quoted.append(row[1])
    return {"result": " ".join(quoted)[:600], "source": found[0][1][0]["url"]}


def main():
    request = json.load(sys.stdin)
    data = request["params"]
    result = answer(data["query"], corpus(data.get("corpus", {})))
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))


main()
