"""The six dimensions that layer 1 or the simulations decide for the most part, in one call with short anchors.

Source: PluginEval method, the dimensions of its blend table to which a judge contributes; the anchors are ours.
"""

from __future__ import annotations

from skillgate.judge.rubric import Question, Rubric
from skillgate.model.score import Dimension

# Why code_template_quality is not among the assessments of such a skill.
NO_CODE = "there is no code block to judge"

QUESTION = Question(
    name="other_dimensions",
    typical_output=2_500,
    rubrics=(
        Rubric(
            dimension=Dimension.PROGRESSIVE_DISCLOSURE,
            task="Does the main file hold what every use needs, and send the reader elsewhere for the rest?",
            anchors=(
                "All in one heap, or the core is hidden in files that nothing points at.",
                "Main file and references are divided without a thought for who needs what.",
                "The division makes sense, but much detail is loaded at every use, or no pointer says when.",
                "The main file is what each use needs; a few details or pointers are misplaced.",
                "Each file is read exactly when it is needed, and the text says when; a short skill that needs no"
                " second file belongs here too.",
            ),
        ),
        Rubric(
            dimension=Dimension.TOKEN_EFFICIENCY,
            task="What does each paragraph change in what a capable model would do without it?",
            anchors=(
                "Nearly all of it is known to any model, repeated, or decoration.",
                "More filler than substance.",
                "Substance with long stretches of the obvious, or the same said twice.",
                "Tight, with a few paragraphs that could go.",
                "Every line earns its place; nothing is said twice.",
            ),
        ),
        Rubric(
            dimension=Dimension.ROBUSTNESS,
            task="What happens when input is missing or odd, a tool fails, or the request lies at the skill's border?",
            anchors=(
                "Instructions break or do harm as soon as something is not as expected.",
                "Failure is not thought of; the reader is left to improvise.",
                "One or two failures are named, without what to do then.",
                "The usual failures are met with what to do; rare ones or the way out at the end are missing.",
                "Failures are foreseen, told apart and answered, with what to return when it cannot be done; risky"
                " steps are checked or can be undone.",
            ),
        ),
        Rubric(
            dimension=Dimension.STRUCTURAL_COMPLETENESS,
            task="Is each part that a reader looks for there and where it is looked for?",
            anchors=(
                "No structure that one could find one's way by.",
                "Headings are there, but purpose, steps or result are missing.",
                "Purpose and steps are there; examples, limits or result are thin.",
                "All parts are there; some stand in the wrong place or are hardly filled.",
                "Purpose, when to use it and when not, steps, examples, result and limits: all there, filled, in an"
                " order that reads itself.",
            ),
        ),
        Rubric(
            dimension=Dimension.CODE_TEMPLATE_QUALITY,
            task="Would the code and templates work when copied, and do they show what the text says?",
            needs_code=True,
            anchors=(
                "Wrong, or dangerous when run.",
                "Fragments that need much repair, or that contradict the text.",
                "They work after small repairs; assumptions are not said.",
                "They work; style, error handling or what to fill in leaves something to wish for.",
                "They work as they stand, what to fill in is marked, and they show the idiom that one should copy.",
            ),
        ),
        Rubric(
            dimension=Dimension.ECOSYSTEM_COHERENCE,
            task="Does it fit among tools, files and other skills: names, paths, prerequisites, where its job ends?",
            anchors=(
                "It names things that cannot be there, or works against what surrounds it.",
                "Prerequisites and neighbours have to be guessed.",
                "Some prerequisites are named; where it ends and another begins is unclear.",
                "Prerequisites and borders are named; some names or conventions are its own without need.",
                "Prerequisites, versions, borders and related work are named as others name them; a skill that needs"
                " nobody and says where it ends belongs here too.",
            ),
        ),
    ),
)
