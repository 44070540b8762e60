"""A small calculator that answers one JSON-RPC request: expressions, reversed texts, palindromes."""

import json
import math
import re
import sys
import unicodedata

TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[-+*/()!])")


class Reader:
    """Reads an expression from left to right, by the usual precedence."""

    def __init__(self, text):
        self.tokens = []
        place = 0
        while text[place:].strip():
            found = TOKEN.match(text, place)
            if not found:
                raise ValueError(f"unexpected {text[place:].strip()[0]!r}")
            self.tokens.append(found[1])
            place = found.end()

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def take(self):
        return self.tokens.pop(0) if self.tokens else ""

    def value(self):
        total = self.product()
        while self.peek() in ("+", "-"):
            total = total + self.product() if self.take() == "+" else total - self.product()
        return total

    def product(self):
        total = self.factor()
        while self.peek() in ("*", "/"):
            total = total * self.factor() if self.take() == "*" else total / self.factor()
        return total

    def factor(self):
        word = self.take()
        if word == "-":
            return -self.factor()
        if word == "(":
            found = self.value()
            if self.take() != ")":
                raise ValueError("a parenthesis is not closed")
        else:
            found = float(word) if "." in word else int(word)
        while self.peek() == "!":
            self.take()
            found = math.factorial(found)
        return found


def visible(text):
    """Split a text into what a reader sees as one character."""
    parts = []
    for character in text:
        joins = unicodedata.combining(character) or "\U0001f3fb" <= character <= "\U0001f3ff"
        if parts and joins:
            parts[-1] += character
        else:
            parts.append(character)
    return parts


def answer(data):
    if data.get("operation") == "reverse":
        return "".join(reversed(visible(data["input"])))
    if data.get("operation") == "is_palindrome":
        return visible(data["input"]) == visible(data["input"])[::-1]
    try:
        return Reader(data["expression"]).value()
    except ZeroDivisionError:
        return {"error": {"code": "division_by_zero"}}


def main():
    request = json.load(sys.stdin)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = answer(request["params"])
    except (KeyError, ValueError) as error:
        reply["error"] = {"code": -32602, "message": str(error)}
    print(json.dumps(reply))


main()
