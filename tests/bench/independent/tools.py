"""Answers to the tasks of tool-selection: by jsonschema, and by trying everything."""

from __future__ import annotations

import json
import re
from itertools import permutations
from typing import Any

from jsonschema import Draft202012Validator


def accepting(data: Any) -> list[str]:
    checks = [(tool["name"], Draft202012Validator(tool["parameters"])) for tool in data["tools"]]
    return [name for name, check in checks if check.is_valid(data["arguments"])]


def filling(data: Any) -> dict[str, Any]:
    schema, facts, arguments = data["tool"]["parameters"], data["facts"], {}
    for name, inner in schema["properties"].items():
        texts = [facts[key] for key in [name, *inner.get("x-aliases", [])] if key in facts]
        if texts:
            arguments[name] = _read(texts[0], inner["type"])
            if name not in schema["required"] and "default" in inner and arguments[name] == inner["default"]:
                del arguments[name]
    Draft202012Validator(schema).validate(arguments)  # its error is a ValueError's equal here
    return {"tool": data["tool"]["name"], "arguments": arguments}


def _read(text: str, kind: str) -> Any:
    match kind, text.lower():
        case "boolean", "yes" | "true":
            return True
        case "boolean", "no" | "false":
            return False
        case "integer", _:
            return int(text)
        case "number", _:
            return float(text)
        case _:
            return text


def planning(data: Any) -> list[str]:
    tools = {tool["name"]: tool for tool in data["tools"]}
    for size in range(len(tools) + 1):
        working = []
        for names in permutations(tools, size):
            known = set(data["have"])
            for name in names:
                if not known.issuperset(tools[name]["needs"]):
                    break
                known.update(tools[name]["gives"])
            else:
                if known.issuperset(data["wanted"]):
                    working.append(list(names))
        if working:
            return min(working)
    raise ValueError("impossible")


def reading(data: Any) -> dict[str, Any]:
    """Try every end for every beginning, and step over what was JSON."""
    text, start = data["text"], 0
    while start < len(text):
        for end in range(start + 2, len(text) + 1):
            if text[start] != "{" or text[end - 1] != "}":
                continue
            try:
                found = json.loads(text[start:end])
            except ValueError:
                continue
            start = end - 1
            coded = found.get("arguments")
            arguments = json.loads(coded) if isinstance(coded, str) else coded
            if found.get("name") in data["tools"] and isinstance(arguments, dict):
                return {"tool": found["name"], "arguments": arguments}
            break
        start += 1
    raise ValueError("no call")


def routing(data: Any) -> str:
    stop = {"a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "is", "it", "of", "on", "or", "the", "to"}
    texts = [data["request"], *(tool["description"] for tool in data["tools"])]
    request, *others = ({*re.split("[^a-z]+", text.lower())} - stop - {"with", ""} for text in texts)
    counts = [(-len(request & words), place) for place, words in enumerate(others)]
    most, place = min(counts)
    return str(data["tools"][place]["name"]) if most <= -2 else "none"


SOLVERS = {
    "accepting": accepting,
    "filling": filling,
    "planning": planning,
    "reading": reading,
    "routing": routing,
}
