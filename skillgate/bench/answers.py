"""Read a skill's answer: the JSON-RPC reply, the part to score, its text. Secrets are masked."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from skillgate.bench.ports import MAX_WORDS, Refusal, Reply
from skillgate.format import printable
from skillgate.model.bench import BenchUsage, ErrorKind, Output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.benchmark import Evaluator

WRAPPERS = ("result", "output", "answer")
OUTPUT = "output"  # the scope that is the whole answer
MASK = "[redacted]"
LIMIT = 16_384  # bytes of an answer in a report, as JSON
_SHORTEST = 4  # characters of a secret; shorter values occur in text by chance
_MOST_TOKENS = 10**15  # larger values are invalid, and do not fit a database
_BLOCK = re.compile(r"^ {0,3}```[ \t]*([\w-]*)[ \t]*\n(.*?)^ {0,3}```[ \t]*$", re.MULTILINE | re.DOTALL)


class MissingPartError(LookupError):
    """The answer has no value at the pointer."""


class _NotFiniteError(ValueError):
    """NaN or an infinity, which JSON does not have."""


class HttpAnswer(dict[str, Any]):
    """The answer of an HTTP API: ``status``, ``headers`` and ``body``."""


def part(output: Any, evaluator: Evaluator) -> Any:  # noqa: ANN401 - JSON
    """Return the value to score: at the evaluator's path; without a path, a body or the only value of a wrapper object.

    In scope ``output`` the wrapper is scored too.

    Raises:
        MissingPartError: There is no value at the path.
    """
    if evaluator.path is not None:
        return at(output, evaluator.path)
    if isinstance(output, HttpAnswer):
        return output["body"]
    if isinstance(output, dict) and len(output) == 1 and evaluator.scope != OUTPUT:
        (key,) = output
        return output[key] if key in WRAPPERS else output
    return output


def scalar_part(found: Any, evaluator: Evaluator) -> Any:  # noqa: ANN401 - JSON
    """Return the part to compare with a scalar: of an object with several keys, the value of its only wrapper key."""
    keys = [key for key in WRAPPERS if key in found] if isinstance(found, dict) and evaluator.path is None else []
    return found[keys[0]] if len(keys) == 1 else found


def at(value: Any, pointer: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value at a JSON pointer (RFC 6901).

    Raises:
        MissingPartError: There is none; the text is the pointer, with a hint if it misses all parts of an HTTP answer.
    """
    steps = steps_of(pointer)
    is_outside = isinstance(value, HttpAnswer) and steps[:1] and steps[0] not in value
    hint = " (an HTTP answer has /status, /headers and /body)" if is_outside else ""
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise MissingPartError(pointer + hint)
    return value


def steps_of(pointer: str) -> list[str]:
    """Split a JSON pointer into its steps; raise ValueError if it is not one."""
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise ValueError(f"expected a JSON pointer such as /result/0, found {pointer[:80]!r}")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]


def joined(pointer: str, *steps: str | int) -> str:
    """Add steps to a pointer."""
    return pointer + "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def scalar_text(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Return a scalar's text: 25.0 is ``25``, true is ``true``; None for lists and objects."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return json.dumps(value) if value is None or isinstance(value, bool | int | float) else None


def searched(value: Any, scope: str) -> str:  # noqa: ANN401 - JSON
    """Return the text to search.

    In scope ``values`` a value's scalars, one per line; in ``json`` the value as JSON; in ``output`` both, with compact
    JSON.
    """
    values = "\n".join(_leaves(value))
    if scope == "values" or isinstance(value, str):
        return values
    if scope == "json":
        return json.dumps(value, ensure_ascii=False)
    return f"{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n{values}"


def _leaves(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict | list):
            stack.extend(reversed(one.values() if isinstance(one, dict) else one))
        else:
            yield scalar_text(one) or ""


def folded(text: str, *, case_sensitive: bool, normalize: bool) -> str:
    """Return text normalized for comparison."""
    text = unicodedata.normalize("NFC", text) if normalize else text
    return text if case_sensitive else text.casefold()


def shown(value: Any) -> str:  # noqa: ANN401 - JSON
    """Return a value as short JSON, for a reason."""
    return _short(json.dumps(value, ensure_ascii=False, default=str), 120)


def _short(text: str, most: int) -> str:
    text = printable(text)
    return text if len(text) <= most else f"{text[:most]}…"


def read_answer(text: str) -> Any:  # noqa: ANN401 - JSON
    """Read a model's last message.

    Returns:
        The JSON value of the whole text; else of its only code block, if unmarked or marked as JSON; else the
        stripped text.
    """
    text = text.strip()
    blocks = _BLOCK.findall(text)
    candidates = [text]
    if len(blocks) == 1 and blocks[0][0].lower() in ("", "json"):
        candidates.append(blocks[0][1])
    for candidate in candidates:
        try:
            return strict_json(candidate)
        except (ValueError, RecursionError):
            continue
    return text


def strict_json(text: str) -> Any:  # noqa: ANN401 - JSON
    """Parse JSON; raise ValueError if it is not valid, also for NaN and infinities."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(word: str) -> Any:  # noqa: ANN401 - JSON
    raise _NotFiniteError(word)


def redacted(reply: Reply, secrets: Sequence[str]) -> Reply:
    """Return a reply with masked secrets: a server may echo what it was sent."""
    hidden = [secret for secret in secrets if len(secret) >= _SHORTEST]
    if not hidden:
        return reply
    refusal = reply.refusal
    if refusal is not None:
        refusal = refusal._replace(text=without(refusal.text, hidden), answer=without(refusal.answer, hidden))
    return reply._replace(output=without(reply.output, hidden), error=without(reply.error, hidden), refusal=refusal)


def without(value: Any, secrets: Sequence[str]) -> Any:  # noqa: ANN401 - JSON
    """Return JSON with masked secrets, also in keys."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, list):
        return [without(item, secrets) for item in value]
    if isinstance(value, dict):
        return {without(key, secrets): without(item, secrets) for key, item in value.items()}
    return value


def read_reply(stdout: bytes, number: int = 1, *, exactly: bool = False) -> Reply:
    """Read the JSON-RPC reply to a request from a program's output, or explain why there is none.

    Other lines may come before and after the reply. A reply may span several lines if there is nothing else.
    Two replies to one request are an error, since either may be forged.

    Args:
        stdout: The program's output.
        number: The request's id.
        exactly: Whether the reply must have that id; otherwise the id may be null or missing.
    """
    try:
        text = stdout.decode("utf-8")
    except UnicodeDecodeError as error:
        return _broken(f"byte {error.start} of its output is not UTF-8")
    if not text.strip():
        return _broken("it wrote nothing")
    whole, problem = _message(text)
    if whole is not None:
        return _reply_of(whole, number, exactly=exactly)
    lines = [_message(line) for line in text.split("\n")]
    messages = [message for message, _ in lines if message is not None]
    replies = [message for message in messages if _is_reply(message, number, exactly=exactly)]
    if len(replies) > 1:
        return _broken(f"it wrote {len(replies)} replies with id {number}, expected 1")
    if messages:
        return _reply_of(replies[0] if replies else messages[-1], number, exactly=exactly)
    problem = next((why for _, why in reversed(lines) if why), problem)
    return _broken(problem or f"there is no JSON-RPC reply in its output: {_quoted(text)}")


def _is_reply(message: dict[str, Any], number: int, *, exactly: bool) -> bool:
    """Whether a message is a reply to the request, even a malformed one."""
    return ("result" in message or "error" in message) and _has_id(message, number, exactly=exactly)


def _has_id(message: dict[str, Any], number: int, *, exactly: bool) -> bool:
    found = message.get("id")
    return (found == number and not isinstance(found, bool)) or (found is None and not exactly)


def _message(line: str) -> tuple[dict[str, Any] | None, str]:
    """Return a line's JSON-RPC message, or why it is invalid; ``""`` if it does not look like one."""
    line = line.strip()
    if not (line.startswith("{") and line.endswith("}")):
        return None, ""
    try:
        data = strict_json(line)
    except _NotFiniteError as error:
        return None, f"its reply contains {error}, which is not valid JSON"
    except json.JSONDecodeError:
        return None, ""
    except RecursionError:
        return None, "its reply is nested too deeply"
    except ValueError:  # the interpreter's limit on the digits of an integer
        return None, "its reply contains a number with too many digits"
    return (data, "") if "jsonrpc" in data else (None, "its output is JSON but no JSON-RPC reply: jsonrpc is missing")


def _reply_of(data: dict[str, Any], number: int, *, exactly: bool) -> Reply:
    if data["jsonrpc"] != "2.0":
        return _broken(f'its reply has jsonrpc {_quoted(data["jsonrpc"])}, expected "2.0"')
    if not _has_id(data, number, exactly=exactly):
        return _broken(f"its reply has id {_quoted(data.get('id'))}, expected {number}")
    if ("result" in data) == ("error" in data):
        both = "both result and error" if "error" in data else "neither result nor error"
        return _broken(f"its reply has {both}")
    if "error" in data:
        return _rpc_error(data["error"])
    return Reply(output=data["result"], usage=_usage(data.get("usage")))


def _rpc_error(error: Any) -> Reply:  # noqa: ANN401 - JSON
    code = error.get("code") if isinstance(error, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    kind = "an error" if code is None else f"error {_quoted(code)}"
    text = f"it answered with {kind}: {_quoted(message)}"
    return Reply(output=error, kind=ErrorKind.RPC, error=text[:MAX_WORDS], refusal=rpc_refusal(error))


def rpc_refusal(error: Any) -> Refusal:  # noqa: ANN401 - JSON
    """Return the refusal in a JSON-RPC error: its code, and its message and data as text."""
    if not isinstance(error, dict):
        return Refusal(None, searched(error, "json"))
    code = error.get("code")
    texts = (searched(error[key], "json") for key in ("message", "data") if error.get(key) is not None)
    return Refusal(code if isinstance(code, int) and not isinstance(code, bool) else None, "\n".join(texts))


def _usage(data: Any) -> BenchUsage | None:  # noqa: ANN401 - JSON
    """Read the token counts of a reply; invalid counts are 0."""
    if not isinstance(data, dict):
        return None
    counts = [data.get(name) for name in ("input_tokens", "output_tokens", "total_tokens")]
    used, answered, total = (
        count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < _MOST_TOKENS else 0
        for count in counts
    )
    if not (used or answered or total):
        return None
    return BenchUsage(input=used, output=answered, total=total or used + answered)


def _broken(why: str) -> Reply:
    return Reply(kind=ErrorKind.PROTOCOL, error=why[:MAX_WORDS], retryable=True, answered=False)


def _quoted(value: Any) -> str:  # noqa: ANN401 - JSON
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _short(text.strip(), 200)


def bounded_output(value: Any) -> Output:  # noqa: ANN401 - any JSON
    """Return an answer for a report: a small one complete, a large one as its beginning, size and digest."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(data) <= LIMIT:
        return Output(value=value, size_bytes=len(data))
    start, sha256 = data[:LIMIT].decode("utf-8", "ignore"), hashlib.sha256(data).hexdigest()
    return Output(value=start, size_bytes=len(data), truncated=True, sha256=sha256)
