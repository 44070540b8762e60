"""Chooses a tool for an instruction and fills in its arguments: by the words of both and the types of the schema."""

import json
import re
import sys

WORD = re.compile(r"[a-z]+")
STOP_WORDS = "a an and as at be by for from how in into is it its of on or the to what which whether with"
STOP = frozenset(STOP_WORDS.split())
NUMBER = r"-?\d+(?:\.\d+)?"
ENOUGH = 2  # words that an instruction and a tool have to share
NO = re.compile(r"\b(off|not|no|never|without)\b|n't\b")


def stem(word):
    for ending in ("ing", "es", "s", "e"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)]
    return word


def words(text):
    return [stem(word) for word in WORD.findall(text.lower().replace("_", " ")) if word not in STOP]


def closeness(instruction, tool):
    """Count the words that an instruction shares with a tool; those of its name and description count double."""
    said = set(words(re.sub(r'"[^"]*"', " ", instruction)))
    about = set(words(f"{tool['name']} {tool['description']}"))
    details = set()
    for name, schema in tool["parameters"]["properties"].items():
        details |= set(words(f"{name} {schema.get('description', '')}")) | {
            stem(value.lower()) for value in schema.get("enum", ())
        }
    return 2 * len(said & about) + len(said & (details - about))


def fits(instruction, tool):
    arguments = filled(instruction, tool)
    return all(name in arguments for name in tool["parameters"].get("required", ()))


class Reader:
    """What of an instruction has not been used for an argument yet."""

    def __init__(self, instruction):
        self.quoted = re.findall(r'"([^"]*)"', instruction)
        self.rest = re.sub(r'"[^"]*"', " ", instruction)

    def take(self, pattern):
        found = re.search(pattern, self.rest)
        if found is None:
            return None
        self.rest = self.rest[: found.start()] + " " + self.rest[found.end() :]
        return found[0]

    def number(self, name, schema):
        """Take the number nearest to one of the parameter's words."""
        wanted = set(words(f"{name} {schema.get('description', '')}"))
        places = [found.start() for found in re.finditer(r"[A-Za-z]+", self.rest) if set(words(found[0])) & wanted]
        numbers = list(re.finditer(rf"(?<![\w.-]){NUMBER}(?!\w)", self.rest))
        if not numbers or not places:
            return None
        best = min(numbers, key=lambda found: min(abs(found.start() - place) for place in places))
        self.rest = self.rest[: best.start()] + " " + self.rest[best.end() :]
        return float(best[0]) if schema["type"] == "number" else int(float(best[0]))

    def choice(self, values):
        """Take the value that comes first."""
        found = self.take(r"(?i)\b(?:" + "|".join(re.escape(value) for value in values) + r")\b")
        return next((value for value in values if found and value.lower() == found.lower()), None)

    def text(self, schema):
        if schema.get("format") == "email":
            return self.take(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
        if schema.get("format") == "date":
            return self.take(r"\b\d{4}-\d{2}-\d{2}\b")
        return self.quoted.pop(0) if self.quoted else None

    def flag(self, name):
        """Read a yes or no: a word for it, said or denied."""
        clause = next((part for part in re.split(r"[,;]|\band\b", self.rest) if _speaks_of(part, name)), None)
        if clause is None:
            return None
        return not NO.search(clause.lower())


def _speaks_of(clause, name):
    said = {"on", "off"} if name == "on" else {name}
    return bool(set(re.findall(r"[a-z]+", clause.lower())) & said)


def filled(instruction, tool):
    """Fill in what the instruction gives, the most particular types first."""
    reader = Reader(instruction)
    found = {}
    schemas = tool["parameters"]["properties"]

    def particular(item):
        schema = item[1]
        return ("enum" not in schema, "format" not in schema, schema["type"] not in ("number", "integer"))

    for name, schema in sorted(schemas.items(), key=particular):
        kind = schema["type"]
        if "enum" in schema:
            value = reader.choice(schema["enum"])
        elif kind in ("number", "integer"):
            value = reader.number(name, schema)
        elif kind == "boolean":
            value = reader.flag(name)
        elif kind == "array":
            value, reader.quoted = reader.quoted or None, []
        else:
            value = reader.text(schema)
        if value is not None:
            found[name] = value
    return found


def answer(instruction, tools):
    ranked = sorted(tools, key=lambda tool: closeness(instruction, tool), reverse=True)
    for tool in ranked:
        if closeness(instruction, tool) >= ENOUGH and fits(instruction, tool):
            return {"tool": tool["name"], "arguments": filled(instruction, tool)}
    return {"tool": None, "arguments": {}}


def main():
    request = json.load(sys.stdin)
    data = request["params"]
    result = answer(data["instruction"], data["tools"])
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))


main()
