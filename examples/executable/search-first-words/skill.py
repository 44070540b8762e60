"""A search that is bad on purpose: it quotes the documents that hold the question's first word, whatever that is."""
# ruff: noqa: S310

import json
import sys
import urllib.request


def main():
    request = json.load(sys.stdin)
    data = request["params"]
    with urllib.request.urlopen(data["corpus"]["url"] + "/corpus.jsonl", timeout=5) as reply:
        documents = [json.loads(line) for line in reply.read().decode().splitlines()]
    first = data["query"].split()[0].casefold()
    found = [document for document in documents if first in document["text"].casefold()] or documents[::-1]
    result = {"result": found[0]["text"], "source": found[0]["url"]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))


main()
