"""All attacks, by family: a module of this folder each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.judge.attacks import (
    appeals,
    beside,
    closers,
    control_baits,
    fake_json,
    fake_roles,
    frontmatter,
    hidden_unicode,
    languages,
    openers,
    rubric_changed,
    unseen_markdown,
)

if TYPE_CHECKING:
    from tests.judge.attacks.form import Attack

FAMILIES: dict[str, tuple[Attack, ...]] = {
    "openers": openers.ATTACKS,
    "closers": closers.ATTACKS,
    "fake JSON": fake_json.ATTACKS,
    "fake roles": fake_roles.ATTACKS,
    "languages": languages.ATTACKS,
    "hidden Unicode": hidden_unicode.ATTACKS,
    "unseen Markdown": unseen_markdown.ATTACKS,
    "beside the main file": beside.ATTACKS,
    "frontmatter": frontmatter.ATTACKS,
    "appeals": appeals.ATTACKS,
    "rubric changed": rubric_changed.ATTACKS,
    "control baits": control_baits.ATTACKS,
}
ALL = tuple(attack for attacks in FAMILIES.values() for attack in attacks)
