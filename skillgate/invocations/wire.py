"""Count the fields of an encoded protobuf message, before anything is built of it.

Two bytes are an empty message, which takes a hundred times as much memory once it is parsed. Field numbers and types
come from the descriptors of the protocol's own package.

Source: the Protocol Buffers documentation, encoding.
"""

from __future__ import annotations

from functools import cache
from typing import Any

DEEPEST = 100
"""Maximum nesting, as in protobuf's own parsers."""
_PACKED = object()  # in place of a message: a list of numbers, of one byte each or more


def count_fields(body: bytes, descriptor: Any, *, most: int) -> int:  # noqa: ANN401 - protobuf's descriptors
    """Return how many fields a message has, those of messages in it included; stop at the first beyond ``most``.

    Raises:
        ValueError: it is not a message of this type, or nested too deeply.
    """
    count = at = 0
    unfinished = [(_nested(descriptor), len(body))]
    while unfinished and count <= most:
        nested, end = unfinished[-1]
        if at == end:
            unfinished.pop()
            continue
        count += 1
        key, at = _number(body, at)
        kind = key & 7
        if kind == 2:  # of a given length
            size, at = _number(body, at)
            inner = nested.get(key >> 3)
            if inner is None or inner is _PACKED:
                count += size if inner is _PACKED else 0
                at += size
            elif at + size <= end and len(unfinished) < DEEPEST:
                unfinished.append((_nested(inner), at + size))
            else:
                raise ValueError("cut off, or nested too deeply")
        elif kind == 0:
            _, at = _number(body, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError("a group, which no current message has")
        if at > end or not 8 <= key < 2**32:
            raise ValueError("cut off, or an invalid number of a field")
    return count


@cache
def _nested(descriptor: Any) -> dict[int, Any]:  # noqa: ANN401
    """Return the fields that are no texts, by number: the type of a message, or _PACKED."""
    fields = descriptor.fields_by_number.items()
    return {number: field.message_type or _PACKED for number, field in fields if field.cpp_type != field.CPPTYPE_STRING}


def _number(body: bytes, at: int) -> tuple[int, int]:
    """Read a number of one byte to ten; return it and where it ends."""
    value = 0
    for place in range(10):
        if at + place >= len(body):
            break
        byte = body[at + place]
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at + place + 1
    raise ValueError("a number without an end")
