"""Every table of the method in one file: dimension weights, blend, penalty, size bands, effort.

Source of each table: the PluginEval method (evaluation-methodology), sections "Dimension Weights", "Layer Blend
Weights", "Composite Scoring Formula", "Which Dimension to Improve First" and the category norms of its rubrics.
"""

from __future__ import annotations

from skillgate.model.score import Dimension, LayerName

# Per cent, integers that sum to 100: what a dimension is worth in the composite.
WEIGHTS: dict[Dimension, int] = {
    Dimension.TRIGGERING_ACCURACY: 25,
    Dimension.ORCHESTRATION_FITNESS: 20,
    Dimension.OUTPUT_QUALITY: 15,
    Dimension.SCOPE_CALIBRATION: 12,
    Dimension.PROGRESSIVE_DISCLOSURE: 10,
    Dimension.TOKEN_EFFICIENCY: 6,
    Dimension.ROBUSTNESS: 5,
    Dimension.STRUCTURAL_COMPLETENESS: 3,
    Dimension.CODE_TEMPLATE_QUALITY: 2,
    Dimension.ECOSYSTEM_COHERENCE: 2,
}

# Per cent of a dimension that comes from static / judge / Monte Carlo.
_BLEND: dict[Dimension, tuple[int, int, int]] = {
    Dimension.TRIGGERING_ACCURACY: (15, 25, 60),
    Dimension.ORCHESTRATION_FITNESS: (10, 70, 20),
    Dimension.OUTPUT_QUALITY: (0, 40, 60),
    Dimension.SCOPE_CALIBRATION: (30, 55, 15),
    Dimension.PROGRESSIVE_DISCLOSURE: (80, 20, 0),
    Dimension.TOKEN_EFFICIENCY: (40, 10, 50),
    Dimension.ROBUSTNESS: (0, 20, 80),
    Dimension.STRUCTURAL_COMPLETENESS: (90, 10, 0),
    Dimension.CODE_TEMPLATE_QUALITY: (30, 70, 0),
    Dimension.ECOSYSTEM_COHERENCE: (85, 15, 0),
}
BLEND: dict[Dimension, dict[LayerName, int]] = {
    dimension: dict(zip(LayerName, shares, strict=True)) for dimension, shares in _BLEND.items()
}

PENALTY_STEP = 0.05  # per anti-pattern finding
PENALTY_FLOOR = 0.5

# Lines of SKILL.md that suit a category (frontmatter `metadata.category`).
SIZE_BANDS: dict[str, tuple[int, int]] = {
    "reference": (200, 500),
    "workflow": (150, 300),
    "generator": (100, 200),
    "diagnostic": (200, 400),
    "integration": (150, 350),
    "coordination": (100, 200),
}
DEFAULT_BAND = (200, 600)

# Hours of work, roughly, by the method's words for the effort of a fix: they only order advice.
EFFORT: dict[str, float] = {"very low": 0.5, "low": 1.0, "medium": 2.0}
