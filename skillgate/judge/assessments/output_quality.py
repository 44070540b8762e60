"""Would following the instructions lead to output that is right, complete and usable?

Source: PluginEval method, output quality (three simulated tasks); the anchors are in our own words.
"""

from __future__ import annotations

from skillgate.judge.rubric import Question, Rubric
from skillgate.model.score import Dimension

QUESTION = Question(
    name="output_quality",
    typical_output=2_000,
    rubrics=(
        Rubric(
            dimension=Dimension.OUTPUT_QUALITY,
            task=(
                "Think up three realistic tasks that a user would bring to this skill: a plain one, a demanding one,"
                " and an edge case (odd, missing or broken input). Work each of them through with nothing but these"
                " instructions: what would you do at each step, where would you have to guess, where would you be led"
                " wrong, what would you hand over? Check that examples, commands and names agree with one another."
                " In `reasoning`, name the three tasks and say how each comes out, then weigh them. Rate what the"
                " output would be, not how well the text reads; length earns nothing."
            ),
            anchors=(
                "Following it gives wrong or contradictory output, or there is nothing in it to follow.",
                "Only the simplest task comes out; what the result should look like is open, and the demanding task and"
                " the edge case are left to luck.",
                "The plain task comes out well and the demanding one in parts; the edge case is not thought of.",
                "The plain and the demanding task come out right and in a stated form; the edge case is met in part.",
                "All three come out right, complete and in a stated form: what is hard is shown by examples that hold,"
                " and what goes wrong is foreseen together with what to do then.",
            ),
        ),
    ),
)
