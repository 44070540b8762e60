"""The room of repairs: each file mends the finding that it is named after, where there is one right way to.

:func:`~skillgate.fixes._plan.plan` says what would change, :func:`~skillgate.fixes._patch.diff` shows it, and
:func:`~skillgate.fixes._plan.apply` lets a door write it. A repair replaces a few characters of a line; none adds or
takes away a line, and none touches prose.
"""

from __future__ import annotations

from skillgate.fixes._page import Change, Result
from skillgate.fixes._patch import diff
from skillgate.fixes._plan import Disk, apply, plan

__all__ = ["Change", "Disk", "Result", "apply", "diff", "plan"]
