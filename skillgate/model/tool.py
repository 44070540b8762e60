"""Who we are, for reports and links. ``HOMEPAGE`` equals ``[project.urls]`` of pyproject.toml; a test compares them."""

from __future__ import annotations

HOMEPAGE = "https://github.com/OWNER/skillgate"


def rule_url(identifier: str) -> str:
    """Give the documentation page of a rule or anti-pattern."""
    return f"{HOMEPAGE}/blob/main/docs/rules.md#{identifier.lower()}"
