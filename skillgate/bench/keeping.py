"""What of an answer a report keeps: all of a small one, the beginning of a large one with its size and digest."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from skillgate.model.bench_result import Output

LIMIT = 16_384  # bytes of an answer, written as JSON, that a report holds


def kept(value: Any) -> Output:  # noqa: ANN401 - any JSON
    """Give an answer the form in which a report holds it."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(data) <= LIMIT:
        return Output(value=value, size_bytes=len(data))
    return Output(
        value=data[:LIMIT].decode("utf-8", "ignore"),
        size_bytes=len(data),
        truncated=True,
        sha256=hashlib.sha256(data).hexdigest(),
    )
