"""The repairs of ``check --fix``: each replaces a few characters of a line and touches no prose.

A safe one adds or removes no line. Those that may change what the author meant are unsafe, and only made on request.

:func:`plan` says what would change, :func:`diff` shows it, and :func:`apply` lets a door write it.
"""

from __future__ import annotations

from skillgate.fixes.patch import diff
from skillgate.fixes.plan import Change, Disk, Place, Result, apply, plan

__all__ = ["Change", "Disk", "Place", "Result", "apply", "diff", "plan"]
