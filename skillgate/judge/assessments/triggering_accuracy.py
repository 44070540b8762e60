"""Would a model load the skill for what it is meant for, and for nothing else?

No judge rates this. Each predicts, from names and descriptions alone, which skill it would load for ten prompts whose
labels it does not know; the score is the class-balanced F1 of the predictions.

Source: PluginEval method, triggering accuracy; balanced F1 in place of plain F1, which favours skills that always fire.
"""

from __future__ import annotations

from skillgate.judge.rubric import Question, Rubric
from skillgate.model.score import Dimension

QUESTION = Question(
    name="trigger_predictions",
    asked=False,
    rubrics=(
        Rubric(
            dimension=Dimension.TRIGGERING_ACCURACY,
            task=(
                "Computed: 2 · hits ÷ (1 + hits + false alarms), hits the share of fitting prompts and false alarms the"
                " share of near misses for which a model, seeing only names and descriptions, would load the skill."
            ),
            anchors=(
                "Next to no fitting prompt finds the skill: the description does not tell what it is for.",
                "About one fitting prompt in five finds it.",
                "About two in five find it and no near miss does, or half of them and half of the near misses.",
                "About three in five find it, those that only hint at the task being lost; or all do, and nearly every"
                " near miss as well: a skill that always answers gets 0.67.",
                "Nearly every fitting prompt finds it, hinted ones too, and few near misses do.",
            ),
        ),
    ),
)
