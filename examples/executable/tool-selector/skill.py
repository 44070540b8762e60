"""Selects tools, fills in their arguments, plans calls and reads them: one function for each operation."""

import json
import re
import sys

TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
STOP_WORDS = "a an and as at by for from in into is it of on or the to with"
STOP = frozenset(STOP_WORDS.split())


def accepting(data):
    return [tool["name"] for tool in data["tools"] if accepts(tool["parameters"], data["arguments"])]


def accepts(schema, value):
    """Check the keywords that these schemas have."""
    if "type" in schema and not is_of(value, schema["type"]):
        return False
    if "enum" in schema and not any(value == one and type(value) is type(one) for one in schema["enum"]):
        return False
    if isinstance(value, str):
        return schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    if isinstance(value, list):
        return len(value) >= schema.get("minItems", 0) and all(accepts(schema.get("items", {}), one) for one in value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        if not schema.get("additionalProperties", True) and value.keys() - known.keys():
            return False
        fits = all(accepts(known[name], item) for name, item in value.items() if name in known)
        return fits and all(name in value for name in schema.get("required", ()))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    return True


def is_of(value, kind):
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[kind])


def filling(data):
    schema, facts = data["tool"]["parameters"], data["facts"]
    arguments = {}
    for name, inner in schema["properties"].items():
        source = next((key for key in (name, *inner.get("x-aliases", ())) if key in facts), None)
        if source is None:
            if name in schema.get("required", ()):
                raise ValueError(f"there is no fact for {name}")
            continue
        value = converted(facts[source], inner["type"])
        if name in schema.get("required", ()) or value != inner.get("default"):
            arguments[name] = value
    return {"tool": data["tool"]["name"], "arguments": arguments}


def converted(text, kind):
    if kind == "boolean":
        return {"yes": True, "true": True, "no": False, "false": False}[text.lower()]
    if kind == "integer":
        if not re.fullmatch("[+-]?[0-9]+", text):
            raise ValueError(f"{text} is no integer")
        return int(text)
    if kind == "number":
        if not re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", text):
            raise ValueError(f"{text} is no number")
        return float(text)
    return text


def planning(data):
    """Search plans by length; of equal length, in the order of names."""
    plans = [((), frozenset(data["have"]))]
    tools = sorted(data["tools"], key=lambda tool: tool["name"])
    for _ in range(len(tools) + 1):
        done = [names for names, known in plans if set(data["wanted"]) <= known]
        if done:
            return list(done[0])
        plans = [
            ((*names, tool["name"]), known | set(tool["gives"]))
            for names, known in plans
            for tool in tools
            if tool["name"] not in names and set(tool["needs"]) <= known
        ]
    raise ValueError("no plan gives what is wanted")


def reading(data):
    decoder, place = json.JSONDecoder(), 0
    while (place := data["text"].find("{", place)) >= 0:
        try:
            found, place = decoder.raw_decode(data["text"], place)
        except ValueError:
            place += 1
            continue
        call = as_call(found, data["tools"])
        if call:
            return call
    raise ValueError("there is no call")


def as_call(found, tools):
    arguments = found.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    if found.get("name") not in tools or not isinstance(arguments, dict):
        return None
    return {"tool": found["name"], "arguments": arguments}


def routing(data):
    wanted = words(data["request"])
    shared = [len(wanted & words(tool["description"])) for tool in data["tools"]]
    best = max(shared)
    return data["tools"][shared.index(best)]["name"] if best > 1 else "none"


def words(text):
    return set(re.findall("[a-z]+", text.lower())) - STOP


OPERATIONS = {
    "accepting": accepting,
    "filling": filling,
    "planning": planning,
    "reading": reading,
    "routing": routing,
}


def main():
    request = json.load(sys.stdin)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = OPERATIONS[request["params"]["operation"]](request["params"])
    except (KeyError, ValueError) as error:
        reply["error"] = {"code": -32602, "message": f"refused: {error}"}
    print(json.dumps(reply))


main()
