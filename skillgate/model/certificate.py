"""The certificate: what a run said of which bytes, by whom, and until when.

It is a statement, not a proof: who made it is for the attestation of the workflow that wrote it to say. Field types are
imported at run time because the codec reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from skillgate.model.documents import Header
from skillgate.model.judging import Count, Points, Ratio
from skillgate.model.report import Tool
from skillgate.model.score import SCHEMA_VERSION, Badge, Dimension


class Content(NamedTuple):
    """All files of a skill's directory but those that git ignores.

    Attributes:
        digest: SHA-256 over ``files``, as ``sha256:`` and 64 hexadecimal digits; None with ``reason``.
        files: by path relative to the skill's directory: ``sha256:`` and the digest of a file, or ``link:`` and where
            a symbolic link says it leads. Other kinds of files are ``other``. Empty where only the digest is known, as
            of shards that were joined.
        reason: why there is no digest, or why it does not cover all that the skill is.
    """

    digest: str | None
    files: Mapping[str, str] = MappingProxyType({})
    reason: str | None = None


class CertifiedSkill(NamedTuple):
    """One skill of a certificate.

    Attributes:
        path: its directory as shown in the run, with ``/``.
        certified: whether the certificate vouches for the badge; where not, ``reason`` says why.
        content: what was scored.
        composite, ci_low, ci_high: 0–100, None where not measured.
        badge: None below the least badge, or where there can be none.
        errors: how many errors stand beside the badge.
        elo: None without a ranking.
        provisional: whether chance alone may have given the Elo that the badge asks for.
        dimensions: blended scores; None where not measured.
        judged_by: each judge's model, in their order.
        tested: the model that sessions were simulated with, None without.
        graded_by: the model that graded their answers, None without.
        ranked_by: the model that judged matches, None without.
        corpus: the digest of the ratings that it was ranked against, None without.
        prompts: digests of what was asked: ``triggering`` and ``sessions``, as far as there are any.
        gate: whether it passed its gate; None where none was asked for.
    """

    path: str
    name: str
    certified: bool
    content: Content
    composite: Points | None
    badge: Badge | None
    reason: str | None = None
    ci_low: Points | None = None
    ci_high: Points | None = None
    elo: float | None = None
    provisional: bool = False
    dimensions: Mapping[Dimension, Ratio | None] = MappingProxyType({})
    judged_by: tuple[str, ...] = ()
    tested: str | None = None
    graded_by: str | None = None
    ranked_by: str | None = None
    corpus: str | None = None
    prompts: Mapping[str, str] = MappingProxyType({})
    gate: bool | None = None
    errors: Count = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate(Header):
    """The document; it holds from ``issued`` up to ``expires``.

    Both are UTC, to the second, in the one form ``2026-11-22T12:30:00Z``: as texts they stand in the order of time.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "certificate")

    issued: str
    expires: str
    skills: tuple[CertifiedSkill, ...]


class Checked(NamedTuple):
    """What is left of one skill's certificate: all that holds now, and all that does not, each in words."""

    path: str
    name: str
    holds: tuple[str, ...]
    fails: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateCheck:
    """What ``certificate verify --json`` prints; ``holds`` where nothing at all fails."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "certificate-check")

    tool: Tool
    certificate: str
    issued: str
    expires: str
    holds: bool
    skills: tuple[Checked, ...]
    note: str
    schema_version: int = SCHEMA_VERSION
