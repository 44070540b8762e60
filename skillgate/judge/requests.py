"""The bodies of the judge's requests.

All requests on one skill begin alike: the common system text, then the fenced skill, marked for the provider's prompt
cache. The question follows as a block of its own, and its first line names it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge import schema, wording
from skillgate.judge.fence import fenced
from skillgate.judge.rubric import BANDS
from skillgate.model.digest import digest
from skillgate.model.exchange import Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.judge.rubric import Rubric
    from skillgate.judge.subject import Dossier, Opinion, Sibling

MAX_TOKENS = 8_192  # thinking included
MOST_FACTS = 80  # lines of what layer 1 measured
MOST_FACT_CHARACTERS = 300
_TOKENS_PER_PREDICTION = 25

GENERATION, PREDICTION = "trigger_prompts", "trigger_predictions"


class Seat(NamedTuple):
    """One judge's place in the panel: its number from 0, and how many before it have the same opinion."""

    number: int
    opinion: Opinion
    sample: int


def seats(opinions: Sequence[Opinion]) -> tuple[Seat, ...]:
    """Number the judges; those with the same model and effort are told apart by their sample."""
    return tuple(Seat(number, opinion, opinions[:number].count(opinion)) for number, opinion in enumerate(opinions))


def assessment(
    dossier: Dossier, shown: str, seat: Seat, *, name: str, rubrics: Sequence[Rubric], subject: str, typical: int
) -> Request:
    """Ask a judge to rate some dimensions.

    Args:
        dossier: the skill.
        shown: its fenced text.
        seat: the judge.
        name: of the question.
        rubrics: of the dimensions to rate.
        subject: of the control item.
        typical: tokens of an answer as a rule.
    """
    parts = (
        wording.RATING,
        *(_rubric(rubric) for rubric in rubrics),
        *_given(dossier),
        wording.CONTROL.format(subject=subject),
    )
    skill = {"type": "text", "text": shown, "cache_control": {"type": "ephemeral"}}
    body = _body(seat.opinion, schema.ASSESSMENTS, skill, _question(name, *parts))
    return Request(
        question=name,
        subject=dossier.path,
        body=body,
        prompt_version=wording.PROMPT_VERSION,
        rubric_version=wording.RUBRIC_VERSION,
        sample=seat.sample,
        prefix=_prefix(seat.opinion, shown),
        check=schema.rates_all([rubric.dimension for rubric in rubrics]),
        typical_output=typical,
    )


def trigger_prompts(dossier: Dossier, shown: str, seat: Seat) -> Request:
    """Ask for prompts that should load the skill, and for near misses.

    It has a schema of its own, so no other request can share a prompt cache with it, and it is not marked for one.
    """
    body = _body(seat.opinion, schema.PROMPTS, {"type": "text", "text": shown}, _question(GENERATION, wording.GENERATE))
    return Request(
        question=GENERATION,
        subject=dossier.path,
        body=body,
        prompt_version=wording.PROMPT_VERSION,
        check=schema.tells_apart,
        typical_output=1_500,
    )


def trigger_predictions(subject: str, listed: Sequence[Sibling], prompts: Sequence[str], seat: Seat) -> Request:
    """Ask a judge which of the listed skills it would load for each prompt.

    Nothing else of any skill is in it, so that only a changed name, description or prompt asks it anew.
    """
    skills = "\n".join(
        _row(number, name=one.name, description=one.description) for number, one in enumerate(listed, start=1)
    )
    typed = "\n".join(_row(number, prompt=prompt) for number, prompt in enumerate(prompts, start=1))
    text = _question(PREDICTION, wording.PREDICT, fenced("skills", skills), fenced("prompts", typed))
    return Request(
        question=PREDICTION,
        subject=subject,
        body=_body(seat.opinion, schema.PREDICTIONS, text),
        prompt_version=wording.PROMPT_VERSION,
        sample=seat.sample,
        check=schema.predicts_all(len(prompts), len(listed)),
        typical_output=500 + _TOKENS_PER_PREDICTION * len(prompts),
    )


def _body(opinion: Opinion, form: Mapping[str, Any], *blocks: Mapping[str, Any]) -> dict[str, Any]:
    output: dict[str, Any] = {"format": {"type": "json_schema", "schema": form}}
    if opinion.effort is not None:
        output["effort"] = opinion.effort
    return {
        "model": opinion.model,
        "max_tokens": MAX_TOKENS,
        "system": [{"type": "text", "text": wording.SYSTEM}],
        "messages": [{"role": "user", "content": list(blocks)}],
        "output_config": output,
    }


def _question(name: str, *parts: str) -> dict[str, str]:
    return {"type": "text", "text": "\n\n".join((f"Question: {name}", *(part.strip("\n") for part in parts)))}


def _rubric(rubric: Rubric) -> str:
    bands = "\n".join(f"- {low}–{high}: {text}" for (low, high, *_), text in zip(BANDS, rubric.anchors, strict=True))
    return f"Dimension {rubric.dimension.value}\n{rubric.task}\n{bands}"


def _given(dossier: Dossier) -> tuple[str, ...]:
    """Hand over what is known of the skill beside its text; fenced, since names in it are the author's."""
    parts = []
    if dossier.category:
        parts += [wording.CATEGORY, fenced("category", dossier.category[:MOST_FACT_CHARACTERS])]
    if dossier.facts:
        lines = "\n".join(" ".join(fact.split())[:MOST_FACT_CHARACTERS] for fact in dossier.facts[:MOST_FACTS])
        parts += [wording.MEASURED, fenced("measurements", lines)]
    return tuple(parts)


def _row(number: int, **values: str) -> str:
    """Write one entry of a list as a line that nothing in it can end."""
    texts = {key: " ".join(value.split()) for key, value in values.items()}
    return json.dumps({"number": number, **texts}, ensure_ascii=False)


def _prefix(opinion: Opinion, shown: str) -> str:
    return digest(opinion.model.encode(), str(opinion.effort).encode(), shown.encode("utf-8", "surrogatepass"))
