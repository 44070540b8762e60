"""Whether a benchmark run asks a model; what asks is loaded only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.errors import IncompleteError
from skillgate.model.benchmark import ScorerName
from skillgate.model.executable import AdapterType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.bench.evaluation.models import Models
    from skillgate.bench.evaluation.running import Plan
    from skillgate.bench.ports import Rules, Surroundings
    from skillgate.bench.request import EvalRequest
    from skillgate.model.executable import Runnable
    from skillgate.session import Session


def with_models(
    skills: Sequence[Runnable],
    rules: Mapping[str, Rules],
    request: EvalRequest,
    session: Session,
    surroundings: Surroundings,
) -> tuple[Models | None, Surroundings]:
    """Connect to models where a prose skill or a judge needs one; where that cannot be, say why not.

    Raises:
        UsageError: an option of models does not fit.
    """
    prose = any(skill.spec.adapter_type is AdapterType.SKILLMD for skill in skills)
    if not prose and not any(rule.scorer is ScorerName.LLM_JUDGE for rule in rules.values()):
        return None, surroundings
    from skillgate.llm.extras import require_packages  # most runs ask no model

    try:
        require_packages()
    except IncompleteError as error:
        session.note(f"what a model has to answer is not measured: {error}")
        return None, surroundings._replace(no_model=str(error))
    from skillgate.bench.evaluation.models import Models
    from skillgate.evaluate.request import ModelOptions

    choice = request.models
    options = ModelOptions(
        record=choice.record, replay=choice.replay, refresh=choice.refresh, keep_answers=choice.cache
    )
    models = Models(session, request.config, options, surroundings.stop)
    found = surroundings._replace(ask=models.ask, model=models.model, judge_model=models.judge_model)
    return models, found


def require_leave(plan: Plan) -> None:
    """Make sure that what the models of a run may cost is wanted.

    Raises:
        UsageError: it is much, and nobody gave a limit or agreed.
    """
    models = plan.models
    if models is not None:
        models.require_leave(lambda: models.forecast(plan.items, plan.adapters, plan.scorers, {}))
