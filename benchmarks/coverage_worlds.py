"""Worlds to test intervals in: grades, paired differences, skills in sessions, and judges."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillgate.model.layers import (
    COMPLETED,
    FAILED,
    Arm,
    Assessment,
    Estimate,
    JudgeLayer,
    LiftTask,
    MonteCarloLayer,
    Simulation,
    Triggering,
    TriggerPrompt,
)
from skillgate.model.score import Dimension
from skillgate.montecarlo.measures import measured
from skillgate.scoring.sampled import composite_interval, composites, intervals
from skillgate.stats.intervals import balanced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Rng = np.random.Generator
    Cells = list[tuple[float, float]]


def _steps(values: Array) -> Array:
    """Round to the scale of grades."""
    return np.clip(np.rint(10 * values) / 10, 0.0, 1.0)


GRADES: Mapping[str, Callable[[Rng, int], Array]] = {
    "about 0.75": lambda rng, n: _steps(rng.normal(0.75, 0.12, n)),
    "mostly 0.9 and 1": lambda rng, n: _steps(rng.beta(9, 1, n)),
    "good, one in twenty is 0": lambda rng, n: np.where(rng.random(n) < 0.05, 0.0, _steps(rng.normal(0.85, 0.08, n))),
    "0.9, one in fifty is 0": lambda rng, n: np.where(rng.random(n) < 0.02, 0.0, 0.9),
    "0.9 or 0.2": lambda rng, n: np.where(rng.random(n) < 0.3, 0.2, 0.9),
    "all or nothing": lambda rng, n: (rng.random(n) < 0.5).astype(np.float64),
}


def _outcomes(rng: Rng, groups: int, each: int, won: float, lost: float) -> Array:
    """Draw −1, 0 or 1, alike on one prompt in two of three units."""
    first = rng.random((groups, 1))
    drawn = np.where(rng.random((groups, each)) < 2 / 3, first, rng.random((groups, each)))
    return np.where(drawn < won, 1.0, np.where(drawn < won + lost, -1.0, 0.0))


PAIRS: Mapping[str, Callable[[Rng, int, int], Array]] = {
    "a prompt's own, and noise": lambda rng, groups, each: np.clip(
        rng.normal(0.1, 0.2, (groups, 1)) + rng.normal(0, 0.15, (groups, each)), -1, 1
    ),
    "skewed": lambda rng, groups, each: np.clip(
        rng.exponential(0.15, (groups, 1)) + rng.normal(0, 0.05, (groups, each)), -1, 1
    ),
    "won 3 of 10, lost 1": lambda rng, groups, each: _outcomes(rng, groups, each, 0.3, 0.1),
    "won 1 of 10, lost 1": lambda rng, groups, each: _outcomes(rng, groups, each, 0.1, 0.1),
    "won 1 of 50": lambda rng, groups, each: _outcomes(rng, groups, each, 0.02, 0.0),
    "nothing differs": lambda rng, groups, each: _outcomes(rng, groups, each, 0.0, 0.0),
}


def _met(rng: Rng, tasks: int, gain: float) -> tuple[Array, Array]:
    """Draw which share of three expectations each arm meets; tasks differ in how easy they are."""
    ease = rng.uniform(0.2, 0.8 - gain, tasks)
    return rng.binomial(3, ease + gain, tasks) / 3, rng.binomial(3, ease, tasks) / 3


def _graded(rng: Rng, tasks: int, gain: float, fails: float) -> tuple[Array, Array]:
    """Draw grades of both arms; a task that fails scores 0."""
    ease = rng.normal(0.6, 0.15, tasks)
    arms = [_steps(ease + more + rng.normal(0, 0.1, tasks)) for more in (gain, 0.0)]
    one, two = (np.where(rng.random(tasks) < fails, 0.0, arm) for arm in arms)
    return one, two


# Scores with the skill and without it, of so many tasks.
LIFTS: Mapping[str, Callable[[Rng, int], tuple[Array, Array]]] = {
    "three expectations, 0.2 gained": lambda rng, tasks: _met(rng, tasks, 0.2),
    "three expectations, nothing gained": lambda rng, tasks: _met(rng, tasks, 0.0),
    "grades, 0.15 gained": lambda rng, tasks: _graded(rng, tasks, 0.15, 0.0),
    "grades, 0.15 gained, one in twenty fails": lambda rng, tasks: _graded(rng, tasks, 0.15, 0.05),
    "hardly ever without the skill": lambda rng, tasks: (
        (rng.random(tasks) < 0.9).astype(np.float64),
        (rng.random(tasks) < 0.05).astype(np.float64),
    ),
}


def lift_tasks(with_skill: Array, without_skill: Array) -> tuple[LiftTask, ...]:
    """Make tasks with other prompts out of the scores of both arms."""
    scores = zip(with_skill.tolist(), without_skill.tolist(), strict=True)
    return tuple(
        LiftTask(f"task {number}", f"task {number}", Arm(COMPLETED, one), Arm(COMPLETED, two))
        for number, (one, two) in enumerate(scores)
    )


# Of ratings by several judges: by how much the judges differ, beside rounding to tenths.
JUDGES: Mapping[str, Callable[[Rng, int], Array]] = {
    "judges 0.03 apart": lambda rng, n: _steps(rng.normal(0.72, 0.03, n)),
    "judges 0.08 apart": lambda rng, n: _steps(rng.normal(0.72, 0.08, n)),
    "judges 0.15 apart": lambda rng, n: _steps(rng.normal(0.72, 0.15, n)),
    "judges 0.08 apart, near the top": lambda rng, n: _steps(rng.normal(0.93, 0.08, n)),
}


def marks(rng: Rng, items: int, noise: float) -> Array:
    """Draw the marks of two raters from 0 to 10 who see the same and err alike, shape (items, 2)."""
    seen = rng.normal(6.5, 1.8, (items, 1))
    return np.clip(np.rint(seen + rng.normal(0, noise, (items, 2))), 0, 10)


class Skill(NamedTuple):
    """How a skill does in sessions: rates, grades when it was loaded, and tokens that it adds (lognormal)."""

    loads: float
    misfires: float
    fails: float
    grades: str
    tokens: float
    delivers: float
    covers: float


SKILLS = (
    Skill(0.9, 0.1, 0.04, "about 0.75", 2_000, 0.9, 0.85),
    Skill(0.98, 0.02, 0.0, "mostly 0.9 and 1", 900, 1.0, 0.97),
    Skill(0.6, 0.3, 0.15, "good, one in twenty is 0", 5_000, 0.7, 0.6),
    Skill(0.8, 0.0, 0.08, "0.9 or 0.2", 3_500, 0.5, 0.9),
)
SESSIONS = ((50, 10), (15, 5))
_SPREAD = 0.35  # of the logarithm of tokens


def sessions(skill: Skill, fits: int, near: int, rng: Rng) -> tuple[Simulation, ...]:
    """Simulate the sessions themselves."""
    return tuple(_session(skill, index < fits, index, rng) for index in range(fits + near))


def _session(skill: Skill, should: bool, index: int, rng: Rng) -> Simulation:
    activated = bool(rng.random() < (skill.loads if should else skill.misfires))
    if rng.random() < skill.fails:
        return Simulation(f"prompt {index}", should, "direct", FAILED, activated=activated)
    return Simulation(
        prompt=f"prompt {index}",
        should_trigger=should,
        style="direct" if index % 2 else "indirect",
        outcome=COMPLETED,
        activated=activated,
        quality=float(GRADES[skill.grades](rng, 1)[0]),
        tokens=int(rng.lognormal(np.log(skill.tokens), _SPREAD)) if activated else None,
        delivers=bool(rng.random() < skill.delivers),
        covers=bool(rng.random() < skill.covers) if should else None,
    )


def truth(skill: Skill) -> dict[str, float]:
    """Give what the measures of a skill truly are."""
    grades = GRADES[skill.grades](np.random.default_rng(77), 1_000_000)
    return {
        "f1": balanced(skill.loads, skill.misfires),
        "activation_rate": skill.loads,
        "failure_rate": skill.fails,
        "quality": float(grades.mean()),
        "quality_cv": float(grades.std() / grades.mean()),
        "tokens": skill.tokens,
        "efficiency": max(0.0, 1 - skill.tokens / 8_000),
        "orchestration": skill.delivers,
        "scope": skill.covers,
    }


def skill_cells(repetitions: int) -> dict[str, Cells]:
    """Give coverage and mean half-width of every measure, for each skill and number of sessions."""
    cells: dict[str, Cells] = {}
    for seed, (skill, (fits, near)) in enumerate(product(SKILLS, SESSIONS)):
        rng, true = np.random.default_rng(seed), truth(skill)
        held: dict[str, list[tuple[bool, float]]] = {name: [] for name in true}
        for index in range(repetitions):
            runs = sessions(skill, fits, near, rng)
            found = measured(runs, simulations=fits, near_misses=near, seed=index).measures
            for name, value in true.items():
                low, high = found[name].ci_low, found[name].ci_high
                if low is not None and high is not None:
                    held[name].append((low <= value + 1e-6 and value <= high + 1e-6, (high - low) / 2))
        for name, given in held.items():
            inside, widths = zip(*given, strict=True)
            cells.setdefault(name, []).append((float(np.mean(inside)), float(np.mean(widths))))
    return cells


STATIC: dict[Dimension, float | None] = {
    name: None if name in (Dimension.OUTPUT_QUALITY, Dimension.ROBUSTNESS) else 0.8 for name in Dimension
}
# Of each world: the skill, the sessions, how many judges there are, and by how much each is mild or strict throughout.
BENCHES = ((2, 0.05), (3, 0.05), (5, 0.08))
COMPOSITES = tuple(product(SKILLS, SESSIONS, BENCHES))
_CENTRE = 0.72
_OWN = 0.05  # noise of one rating
_RIGHT = 0.9  # of predictions on trigger prompts


def judged_cells(repetitions: int) -> Cells:
    """Give coverage and mean half-width of the composite that judges alone give."""
    cells = []
    true = float(composites(STATIC, _true_judgement(), 1))
    for seed, (judges, mildness) in enumerate(BENCHES):
        rng, held = np.random.default_rng(seed), []
        for index in range(repetitions):
            ends, _ = composite_interval(STATIC, _judged(judges, mildness, rng), 1, index)
            if ends is not None:
                held.append((ends[0] <= true <= ends[1], (ends[1] - ends[0]) / 2))
        inside, widths = zip(*held, strict=True)
        cells.append((float(np.mean(inside)), float(np.mean(widths))))
    return cells


def composite_cells(repetitions: int) -> Cells:
    """Give coverage and mean half-width of the composite in each world."""
    return [_composite_cell(world, repetitions, seed) for seed, world in enumerate(COMPOSITES)]


def _composite_cell(
    world: tuple[Skill, tuple[int, int], tuple[int, float]], repetitions: int, seed: int
) -> tuple[float, float]:
    skill, (fits, near), (judges, mildness) = world
    rng, true = np.random.default_rng(seed), _true_composite(skill)
    held = []
    for index in range(repetitions):
        runs = sessions(skill, fits, near, rng)
        found = measured(runs, simulations=fits, near_misses=near, seed=index)
        layer = MonteCarloLayer(0, fits, 0, 0, 0, None, scores=found.scores, runs=runs, near_misses=near)
        ends = intervals(STATIC, (_judged(judges, mildness, rng), layer), 1, index).composite
        # Near misses or grades that say too little: then there is no composite whose interval could be wrong.
        if ends is not None and all(item.value is not None for item in found.scores.values()):
            held.append((ends[0] <= true <= ends[1], (ends[1] - ends[0]) / 2))
    inside, widths = zip(*held, strict=True)
    return float(np.mean(inside)), float(np.mean(widths))


def _true_composite(skill: Skill) -> float:
    true = truth(skill)
    sessions_say = {
        Dimension.TRIGGERING_ACCURACY: true["f1"],
        Dimension.OUTPUT_QUALITY: true["quality"],
        Dimension.ROBUSTNESS: 1 - true["failure_rate"],
        Dimension.TOKEN_EFFICIENCY: true["efficiency"],
        Dimension.ORCHESTRATION_FITNESS: true["orchestration"],
        Dimension.SCOPE_CALIBRATION: true["scope"],
    }
    said = {name: np.asarray(value) for name, value in sessions_say.items()}
    return float(composites(STATIC, _true_judgement(), 1, said))


def _true_judgement() -> dict[Dimension, Array]:
    judged: dict[Dimension, Array] = {name: np.asarray(_CENTRE) for name in Dimension}
    judged[Dimension.TRIGGERING_ACCURACY] = np.asarray(balanced(_RIGHT, 1 - _RIGHT))
    return judged


def _judged(judges: int, mildness: float, rng: Rng) -> JudgeLayer:
    mild = rng.normal(0, mildness, judges)
    assessments: dict[Dimension, Assessment] = {}
    for name in Dimension:
        if name is not Dimension.TRIGGERING_ACCURACY:
            ratings = np.rint(10 * _steps(_CENTRE + mild + rng.normal(0, _OWN, judges))).astype(int)
            assessments[name] = Assessment(float(ratings.mean()) / 10, ratings=tuple(ratings.tolist()))
    prompts = tuple(
        TriggerPrompt(f"{kind} {index}", kind, predicted=(bool((rng.random() < _RIGHT) == kind),) * judges)
        for kind in (True, False)
        for index in range(5)
    )
    rates = [
        float(np.mean([bool(one.predicted[0]) for one in prompts if one.should_trigger is kind]))
        for kind in (True, False)
    ]
    assessments[Dimension.TRIGGERING_ACCURACY] = Assessment(balanced(rates[0], rates[1]))
    nothing = Estimate(None)
    triggering = Triggering(nothing, nothing, nothing, nothing, prompts=prompts, digest="prompts")
    return JudgeLayer(0, judges, None, assessments=assessments, triggering=triggering)
