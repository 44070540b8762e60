"""Child processes that hear Ctrl-C wherever the tests themselves run."""

from __future__ import annotations

import signal


def hear_ctrl_c() -> None:
    """Undo that a shell lets what it runs in the background ignore Ctrl-C; for ``preexec_fn``."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
