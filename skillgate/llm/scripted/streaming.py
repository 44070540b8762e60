"""A message as the events of a stream, as the Messages API sends it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate.llm.scripted.outcome import document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.llm.scripted.outcome import Message

_PIECE = 400  # characters of text in one event


def events(message: Message) -> Iterator[bytes]:
    """Give the events one by one, each as it goes over the wire."""
    whole = document(message)
    usage = whole["usage"]
    start = {**whole, "content": [], "stop_reason": None, "stop_details": None, "usage": {**usage, "output_tokens": 1}}
    yield _event("message_start", message=start)
    for index, block in enumerate(whole["content"]):
        yield from _block_events(index, block)
    ended = {name: whole[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield _event("message_delta", delta=ended, usage={"output_tokens": usage["output_tokens"]})
    yield _event("message_stop")


def _block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    if block["type"] == "text":
        whole, kind, field = block["text"], "text_delta", "text"
        empty = {**block, "text": ""}
    else:
        whole, kind, field = json.dumps(block["input"]), "input_json_delta", "partial_json"
        empty = {**block, "input": {}}
    yield _event("content_block_start", index=index, content_block=empty)
    for at in range(0, len(whole), _PIECE):
        yield _event("content_block_delta", index=index, delta={"type": kind, field: whole[at : at + _PIECE]})
    yield _event("content_block_stop", index=index)


def _event(name: str, **data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
