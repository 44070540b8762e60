"""The shell of every HTML page: templates that escape what they are given, and a policy that lets nothing run.

The one keeper of Jinja2. Whatever text a template shows comes through :func:`shown`: on one line, bounded, with nothing
invisible in it, and escaped after that. No code marks a text as safe; what is markup is a template's own.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from skillgate.errors import UsageError
from skillgate.model.finding import HOMEPAGE
from skillgate.model.score import Badge, Grade
from skillgate.report.findings import bounded
from skillgate.report.html_numbers import FILTERS
from skillgate.report.html_parts import Some

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ModuleNotFoundError as missing:
    raise UsageError('HTML needs Jinja2: pip install "skillgate-action[report]" (or [action])') from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LIMIT = 3_000_000  # bytes of a page: what opens at once on a telephone, and 280 skills with all their evidence
_STYLE = "page.css"


class Macro(Protocol):
    """A template's macro: what it gives is markup, made of escaped texts."""

    def __call__(self, *values: object) -> Markup:
        """Render."""


def render(template: str, **values: object) -> str:
    """Render a page; every page has ``policy`` and ``homepage`` too.

    Args:
        template: a file of ``templates`` that extends ``shell.html.j2``.
        values: what it shows. A name that it uses and is not there is an error, never an empty text.
    """
    text = _environment().get_template(template).render(policy=policy(), homepage=HOMEPAGE, **values)
    return text if text.endswith("\n") else f"{text}\n"


def macro(template: str, name: str) -> Macro:
    """Give one macro of a template, to render a part of a page by itself."""
    return cast("Macro", getattr(_environment().get_template(template).module, name))


def render_within(
    template: str,
    parts: Iterable[Markup],
    total: int,
    page: Callable[[int], object],
    *,
    limit: int = LIMIT,
    **values: object,
) -> str:
    """Render a page with as many of its parts, from the front, as keep it below ``limit`` bytes.

    Args:
        template: shows ``page`` and ``parts``, a :class:`~skillgate.report.html_parts.Some`.
        parts: rendered by :func:`macro`, one after the other as they are asked for.
        total: how many there would be.
        page: gives all else, for the number of parts that are shown; the fewer, the shorter.
        limit: bytes.
        values: see :func:`render`.
    """
    frame = render(template, page=page(total), parts=Some((), total), **values)
    taken = _fitting(parts, limit - len(frame.encode()))
    return render(template, page=page(len(taken)), parts=Some(taken, total - len(taken)), **values)


def _fitting(parts: Iterable[Markup], room: int) -> tuple[Markup, ...]:
    taken = []
    for part in parts:
        room -= len(part.encode()) + 1
        if room < 0:
            break
        taken.append(part)
    return tuple(taken)


@cache
def policy() -> str:
    """Give the content security policy: nothing is loaded, run or sent; the page's own style is known by its hash."""
    style = _environment().get_template(_STYLE).render()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src 'none'; base-uri 'none'; form-action 'none'"


def shown(value: object) -> object:
    """Make a value fit to stand in a page, before it is escaped: no number is a dash, a text is inert and bounded."""
    if value is None:
        return "—"
    return bounded(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("skillgate.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(FILTERS)
    environment.globals.update(grades=tuple(Grade), badges=tuple(Badge))
    return environment
