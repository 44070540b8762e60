"""Is the skill as broad and as deep as its subject and its kind ask for?

Source: PluginEval method, scope calibration; the anchors are in our own words.
"""

from __future__ import annotations

from skillgate.judge.rubric import Question, Rubric
from skillgate.model.score import Dimension

QUESTION = Question(
    name="scope_calibration",
    rubrics=(
        Rubric(
            dimension=Dimension.SCOPE_CALIBRATION,
            task=(
                "Write down for yourself what the description promises and what somebody who works in this subject"
                " would expect of such a skill. Then see how much of it is there (breadth), how far each part goes"
                " (depth), and what is there that belongs to another subject or that any model knows anyway. A"
                " reference covers much and explains briefly; a workflow goes through one path to its end; a generator"
                " is short and exact; a diagnostic names symptoms, causes and cures; an integration tells of both ends"
                " and of what goes wrong between them. Files in references/ count as part of the skill. Neither more"
                " lines nor more topics are better in themselves."
            ),
            anchors=(
                "A stub, or a heap: less than half of what it promises is there, or several subjects share one skill"
                " and none is served.",
                "A few of the parts that its subject asks for, on the happy path only; or much that is beside it.",
                "Most parts are there, but one or two that users will need are missing, stay at the surface, or take"
                " far more room than they deserve.",
                "One coherent subject, nearly all of it at a fitting depth; a gap or some padding remains.",
                "Exactly its subject: all that is promised, each part as deep as its use asks for, details where only"
                " those who need them read them, nothing that could be taken out.",
            ),
        ),
    ),
)
