"""Makes certificates, reads them, and says what of one holds for what is there now."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode, encode
from skillgate.model.documents import Certificate, CertifiedSkill, Checked, Content
from skillgate.model.layers import JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.model.score import SCHEMA_VERSION, SCORING_VERSION
from skillgate.report.tally import badge_with_errors
from skillgate.report.view import Fold, Item, Items, View, code
from skillgate.scoring.gate import sampled_layers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.documents import CertificateCheck
    from skillgate.model.report import Report, SkillResult

DAYS = 90  # how long a certificate holds unless told otherwise: models and clients change about as often
ATTESTATION = (
    "who made the certificate is not checked here: a file says what its writer wants. The attestation of the workflow"
    " that made it does, where there is one"
)
_UNKNOWN = Content(
    None,
    reason="its report holds no digest of its files: they changed while it was scored, could not all be read, or are"
    " not all that the skill is",
)
_OTHER = "its files were not those that its report says were scored"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_EXAMPLE = "2026-11-22T12:30:00Z"
_MOST_NAMED = 5  # files that a message names


def certificate(
    report: Report, contents: Mapping[str, Content], *, issued: str, expires: str, config_digest: str
) -> Certificate:
    """Make the certificate of a report.

    Args:
        report: with layers.
        contents: what was scored, by shown path; of a skill that is missing there, the report's own digest counts.
        issued: now, in the form that the document has.
        expires: from when on it does not hold any more, in the same form.
        config_digest: of the effective configuration.
    """
    return Certificate(
        depth=report.depth,
        coverage=report.coverage,
        config_digest=config_digest,
        tool=report.tool,
        models=report.models,
        scoring_version=report.scoring_version,
        issued=issued,
        expires=expires,
        skills=tuple(_skill(one, _content(one, contents.get(one.skill.path))) for one in report.results),
    )


def _content(result: SkillResult, listed: Content | None) -> Content:
    """Give what was scored, file by file where that is known; a report that says otherwise is not believed over it."""
    said = result.content
    if listed is None:
        return _UNKNOWN if said is None else Content(said)
    if said is not None and said != listed.digest:
        return listed._replace(reason=_OTHER)
    return listed


def _skill(result: SkillResult, content: Content) -> CertifiedSkill:
    composite, reason = result.composite, _why_not(result, content)
    judged = next((layer for layer in result.layers if isinstance(layer, JudgeLayer)), None)
    simulated = next((layer for layer in result.layers if isinstance(layer, MonteCarloLayer)), None)
    ranked = next((layer for layer in result.layers if isinstance(layer, RankingLayer) and layer.elo), None)
    prompts = {
        "triggering": judged.triggering.digest if judged and judged.triggering else None,
        "sessions": simulated.prompts_digest if simulated else None,
    }
    return CertifiedSkill(
        path=result.skill.path,
        name=result.skill.name,
        certified=reason is None,
        reason=reason,
        content=content,
        composite=composite.score,
        ci_low=composite.ci_low,
        ci_high=composite.ci_high,
        badge=composite.badge,
        errors=result.errors,
        elo=composite.elo,
        provisional=ranked is not None and ranked.provisional,
        dimensions={name: one.score for name, one in result.dimensions.items()},
        judged_by=judged.models if judged else (),
        tested=simulated.model or None if simulated else None,
        graded_by=simulated.grader or None if simulated else None,
        ranked_by=ranked.model or None if ranked else None,
        corpus=ranked.corpus if ranked else None,
        prompts={name: found for name, found in prompts.items() if found},
        gate=result.gate.passed,
    )


def _why_not(result: SkillResult, content: Content) -> str | None:
    """Say why a skill is not certified, None where it is."""
    composite, layers = result.composite, sampled_layers(result)
    made_up = sorted({layer.provider for layer in layers if not layer.live})
    missing = next((layer.reason for layer in layers if layer.reason), None)
    if composite.score is None:
        return composite.reason or "there is no score"
    if not layers:
        return "no model was asked about it"
    if made_up:
        return f"the answers are not a live model's ({', '.join(made_up)}) and say nothing of the skill"
    if composite.badge is None:
        return composite.badge_reason if (composite.badge_reason or "").startswith("no badge") else "no badge"
    if missing is not None:
        return f"not all was measured: {missing}"
    if result.gate.passed is False:
        return "its gate failed"
    return content.reason


def render(document: Certificate) -> str:
    """Write a certificate as JSON, with an indent of two spaces and a final line feed."""
    text = json.dumps(encode(document), indent=2, ensure_ascii=False)
    return text.replace("##[", "\\u0023#[") + "\n"  # a CI runner would take the other for a command


def read(text: str, *, source: str) -> Certificate:
    """Read a certificate.

    Raises:
        UsageError: it is no certificate, or one of a later form; ``source`` names it in the message.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source} is not a certificate, which is JSON: {error}") from None
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind != "certificate":
        raise UsageError(f"{source} is not a certificate: its kind is {kind!r:.60}")
    version = data.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UsageError(f"{source} has schema version {version}; this skillgate reads {SCHEMA_VERSION}")
    try:
        document = decode(Certificate, data)
    except CodecError as error:
        raise UsageError(f"{source} is not a certificate: {error}") from None
    for time in (document.issued, document.expires):
        if not _TIME.fullmatch(time):
            raise UsageError(
                f"{source} is not a certificate: expected a time as in 2026-11-22T12:30:00Z, found {time!r:.60}"
            )
    return document


def check(document: Certificate, skill: CertifiedSkill, now: Content, *, today: str, tomorrow: str) -> Checked:
    """Say what of one skill's certificate holds.

    Args:
        document: the certificate.
        skill: one of its skills.
        now: what is there now.
        today: now, in the form that the document has.
        tomorrow: a day later, in the same form: clocks may differ by so much.
    """
    said = (_vouched(skill), _same(skill.content, now), _in_time(document, today, tomorrow), _same_scale(document))
    holds = tuple(words for is_held, words in said if is_held)
    return Checked(skill.path, skill.name, holds, tuple(words for is_held, words in said if not is_held))


def _vouched(skill: CertifiedSkill) -> tuple[bool, str]:
    if not skill.certified or skill.badge is None or skill.composite is None:
        return False, f"it was not certified: {skill.reason or 'no reason is given'}"
    elo = "" if skill.elo is None else f", Elo {skill.elo:.0f}{' (provisional)' * skill.provisional}"
    return True, f"certified {badge_with_errors(skill.badge, skill.errors)}, {skill.composite:.2f} points{elo}"


def _same(then: Content, now: Content) -> tuple[bool, str]:
    if then.digest is None:
        return False, f"the certificate holds no digest of its files: {then.reason}"
    if now.digest is None:
        return False, f"its files cannot be compared: {now.reason}"
    if now.digest == then.digest:
        return True, "its file is as it was" if len(now.files) == 1 else f"its {len(now.files)} files are as they were"
    if not then.files:
        return False, "its files are others; which, a certificate of joined shards does not say"
    moved = [
        path for path in sorted(then.files.keys() | now.files.keys()) if then.files.get(path) != now.files.get(path)
    ]
    named = [f"{path} ({_what(path, then, now)})" for path in moved[:_MOST_NAMED]]
    more = f" and {len(moved) - _MOST_NAMED} more" if len(moved) > _MOST_NAMED else ""
    return False, f"its files are others: {', '.join(named) or 'the list and its digest do not agree'}{more}"


def _what(path: str, then: Content, now: Content) -> str:
    return "new" if path not in then.files else "gone" if path not in now.files else "changed"


def _in_time(document: Certificate, today: str, tomorrow: str) -> tuple[bool, str]:
    if today >= document.expires:
        return False, f"it expired on {document.expires[:10]}"
    if document.issued > tomorrow:
        return False, f"it was issued in the future, on {document.issued[:10]}"
    return True, f"it holds until {document.expires[:10]}"


def _same_scale(document: Certificate) -> tuple[bool, str]:
    then = document.scoring_version
    if then != SCORING_VERSION:
        return False, f"its scoring version is {then}, that of this skillgate {SCORING_VERSION}: other numbers"
    return True, f"its scoring version is {then}, as of this skillgate"


def view(checked: CertificateCheck) -> View:
    """Build what a check of a certificate found: of each skill what does not hold, then what does."""
    folds = []
    for one in checked.skills:
        items = [Item(words, "✗", "poor") for words in one.fails] + [Item(words, "✓", "good") for words in one.holds]
        said = code(one.path), f": {'does not hold' if one.fails else 'holds'}"
        folds.append(Fold(said, (Items(tuple(items)),), open=True, mark="fail" if one.fails else "pass"))
    return View(
        f"The certificate {'holds' if checked.holds else 'does not hold'}",
        "pass" if checked.holds else "fail",
        f"{checked.certificate} · issued {checked.issued} · expires {checked.expires}",
        notes=(checked.note or ATTESTATION,),
        blocks=tuple(folds),
    )
