"""Finds the one JSON-RPC reply in what a program wrote, and says precisely what is wrong where there is none."""

from __future__ import annotations

import json
from typing import Any

from skillgate.bench.ports import MAX_WORDS, Reply
from skillgate.model.bench_result import BenchUsage, ErrorKind
from skillgate.model.text import printable

_MOST_TOKENS = 10**15  # more is no count, and more than a database keeps
_SHOWN = 200  # characters of foreign text in a message


class _NotFiniteError(ValueError):
    """NaN or an infinity, which JSON does not have."""


def read_reply(stdout: bytes, number: int = 1, *, exactly: bool = False) -> Reply:
    """Read a reply to a request.

    Lines of any other kind may stand before and after it; a reply over several lines counts where it is all there is.
    Two replies to one request are an error, since either may be forged.

    Args:
        stdout: what the program wrote.
        number: the request's id.
        exactly: whether the reply must have that id; else it may also be null or left out.
    """
    try:
        text = stdout.decode("utf-8")
    except UnicodeDecodeError as error:
        return _broken(f"byte {error.start} of its output is not UTF-8")
    if not text.strip():
        return _broken("it wrote nothing")
    whole, problem = _message(text)
    if whole is not None:
        return _taken(whole, number, exactly=exactly)
    messages = [_message(line) for line in text.split("\n")]
    found = [message for message, _ in messages if message is not None]
    replies = [message for message in found if _answers(message, number, exactly=exactly)]
    if len(replies) > 1:
        return _broken(f"it wrote {len(replies)} replies with id {number}, expected 1")
    if found:
        return _taken(replies[0] if replies else found[-1], number, exactly=exactly)
    problem = next((why for _, why in reversed(messages) if why), problem)
    return _broken(problem or f"there is no JSON-RPC reply in its output: {_quoted(text)}")


def _answers(message: dict[str, Any], number: int, *, exactly: bool) -> bool:
    """Whether a message is a reply to a request, be it a broken one."""
    found = message.get("id")
    is_id = found == number and not isinstance(found, bool)
    return ("result" in message or "error" in message) and (is_id or (found is None and not exactly))


def _message(line: str) -> tuple[dict[str, Any] | None, str]:
    """Give the JSON-RPC message that a line is, or why it is none; ``""`` where it does not look like one."""
    line = line.strip()
    if not (line.startswith("{") and line.endswith("}")):
        return None, ""
    try:
        data = json.loads(line, parse_constant=_refuse)
    except _NotFiniteError as error:
        return None, f"its reply holds {error}, which JSON does not have"
    except json.JSONDecodeError:
        return None, ""
    except RecursionError:
        return None, "its reply is nested too deeply"
    except ValueError:  # of the interpreter, about the digits of a whole number
        return None, "its reply holds a number with too many digits"
    return (data, "") if "jsonrpc" in data else (None, "its output is JSON and no JSON-RPC reply: jsonrpc is missing")


def _taken(data: dict[str, Any], number: int, *, exactly: bool) -> Reply:
    if data["jsonrpc"] != "2.0":
        return _broken(f'its reply has jsonrpc {_quoted(data["jsonrpc"])}, expected "2.0"')
    found = data.get("id")
    if (exactly or found is not None) and (found != number or isinstance(found, bool)):
        return _broken(f"its reply has id {_quoted(found)}, expected {number}")
    if ("result" in data) == ("error" in data):
        return _broken(
            "its reply has both result and error" if "error" in data else "its reply has neither result nor error"
        )
    if "error" in data:
        return _rpc_error(data["error"])
    return Reply(output=data["result"], usage=_usage(data.get("usage")))


def _rpc_error(error: Any) -> Reply:  # noqa: ANN401 - JSON
    code = error.get("code") if isinstance(error, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    told = (
        f"it answered with error {_quoted(code)}: {_quoted(message)}"
        if code is not None
        else f"it answered with an error: {_quoted(message)}"
    )
    return Reply(output=error, kind=ErrorKind.RPC, error=told[:MAX_WORDS], answered=True)


def _usage(data: Any) -> BenchUsage | None:  # noqa: ANN401 - JSON
    """Read tokens that a reply tells; anything that is no count tells nothing."""
    if not isinstance(data, dict):
        return None
    counts = [data.get(name) for name in ("input_tokens", "output_tokens", "total_tokens")]
    read = [
        count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < _MOST_TOKENS else 0
        for count in counts
    ]
    return BenchUsage(input=read[0], output=read[1], total=read[2] or read[0] + read[1]) if any(read) else None


def _broken(why: str) -> Reply:
    return Reply(kind=ErrorKind.PROTOCOL, error=why[:MAX_WORDS], retryable=True, answered=False)


def _quoted(value: Any) -> str:  # noqa: ANN401 - JSON
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = printable(text.strip())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _refuse(word: str) -> Any:  # noqa: ANN401 - JSON
    raise _NotFiniteError(word)
