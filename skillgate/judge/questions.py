"""The judge's questions: what each examines in a skill, and the anchors of its ratings.

A rating is an integer from 0 to 10, and a score is a rating ÷ 10. Dimensions and bands are those of the PluginEval
method, with class-balanced F1 in place of plain F1, which favours skills that always trigger. The wording is ours.
"""

from __future__ import annotations

from typing import NamedTuple

from skillgate.model.score import Dimension

HIGHEST = 10
# Lowest and highest rating of each band, and its range of scores.
BANDS = ((0, 1, 0.0, 0.19), (2, 3, 0.20, 0.39), (4, 5, 0.40, 0.59), (6, 7, 0.60, 0.79), (8, 10, 0.80, 1.0))


class Rubric(NamedTuple):
    """How one dimension is rated."""

    dimension: Dimension
    task: str  # what to examine, and how
    anchors: tuple[str, ...]  # descriptions of the five bands, worst first
    needs_code: bool = False  # only for skills with a code block


class Question(NamedTuple):
    """One call to a judge, or with ``rated`` False a dimension that is computed from predictions."""

    name: str  # as in Request.question
    rubrics: tuple[Rubric, ...]
    rated: bool = True
    typical_output: int = 1_200  # tokens of a typical answer, thinking included


# For each dimension: the task, then the anchors of the bands, worst first.
_TEXT = """\
triggering_accuracy
Computed: 2 · hits ÷ (1 + hits + false alarms), hits the share of fitting prompts and false alarms the share of near \
misses for which a model, seeing only names and descriptions, would load the skill.
- Next to no fitting prompt finds the skill: the description does not tell what it is for.
- About one fitting prompt in five finds it.
- About two in five find it and no near miss does, or half of them and half of the near misses.
- About three in five find it, those that only hint at the task being lost; or all do, and nearly every near miss as \
well: a skill that always answers gets 0.67.
- Nearly every fitting prompt finds it, hinted ones too, and few near misses do.

orchestration_fitness
Rate how pure a worker the skill is. Whoever loads it already decides what the whole job is and what comes next; a \
fit skill takes what it is given, does one job and hands back a result. Look for what it says it needs, what it says \
it returns and in what form, and for lines that decide in the caller's place: picking or dispatching other skills or \
agents, planning work outside its own job, running the conversation. Its own steps in order, its own scripts, a \
question asked because input is missing, and a pointer to a related skill for the reader are no faults.
- A script for whoever is in charge, not for a worker: it plans the whole job, sends others to do it or leads the \
conversation, and neither says what goes in nor what comes out.
- There is a worker inside, but routing runs through it: it chooses and calls other skills or agents, or settles for \
its caller what happens next.
- It does its own job, yet a caller could hardly build on it: input has to be guessed, or output is described only in \
passing and in no certain form.
- It says what it needs and what it returns; the form of the result leaves something open, or one small decision that \
is the caller's is made here.
- One job under a contract: what it needs, what it returns, in which form, and what it returns when it cannot finish. \
Nothing in it routes or delegates; it works unchanged under any caller.

output_quality
Think up three realistic tasks that a user would bring to this skill: a plain one, a demanding one, and an edge case \
(odd, missing or broken input). Work each of them through with nothing but these instructions: what would you do at \
each step, where would you have to guess, where would you be led wrong, what would you hand over? Check that \
examples, commands and names agree with one another. In `reasoning`, name the three tasks and say how each comes out, \
then weigh them. Rate what the output would be, not how well the text reads; length earns nothing.
- Following it gives wrong or contradictory output, or there is nothing in it to follow.
- Only the simplest task comes out; what the result should look like is open, and the demanding task and the edge \
case are left to luck.
- The plain task comes out well and the demanding one in parts; the edge case is not thought of.
- The plain and the demanding task come out right and in a stated form; the edge case is met in part.
- All three come out right, complete and in a stated form: what is hard is shown by examples that hold, and what goes \
wrong is foreseen together with what to do then.

scope_calibration
Write down for yourself what the description promises and what somebody who works in this subject would expect of \
such a skill. Then see how much of it is there (breadth), how far each part goes (depth), and what is there that \
belongs to another subject or that any model knows anyway. A reference covers much and explains briefly; a workflow \
goes through one path to its end; a generator is short and exact; a diagnostic names symptoms, causes and cures; an \
integration tells of both ends and of what goes wrong between them. Files in references/ count as part of the skill. \
Neither more lines nor more topics are better in themselves.
- A stub, or a heap: less than half of what it promises is there, or several subjects share one skill and none is \
served.
- A few of the parts that its subject asks for, on the happy path only; or much that is beside it.
- Most parts are there, but one or two that users will need are missing, stay at the surface, or take far more room \
than they deserve.
- One coherent subject, nearly all of it at a fitting depth; a gap or some padding remains.
- Exactly its subject: all that is promised, each part as deep as its use asks for, details where only those who need \
them read them, nothing that could be taken out.

progressive_disclosure
Does the main file hold what every use needs, and send the reader elsewhere for the rest?
- All in one heap, or the core is hidden in files that nothing points at.
- Main file and references are divided without a thought for who needs what.
- The division makes sense, but much detail is loaded at every use, or no pointer says when.
- The main file is what each use needs; a few details or pointers are misplaced.
- Each file is read exactly when it is needed, and the text says when; a short skill that needs no second file \
belongs here too.

token_efficiency
What does each paragraph change in what a capable model would do without it?
- Nearly all of it is known to any model, repeated, or decoration.
- More filler than substance.
- Substance with long stretches of the obvious, or the same said twice.
- Tight, with a few paragraphs that could go.
- Every line earns its place; nothing is said twice.

robustness
What happens when input is missing or odd, a tool fails, or the request lies at the skill's border?
- Instructions break or do harm as soon as something is not as expected.
- Failure is not thought of; the reader is left to improvise.
- One or two failures are named, without what to do then.
- The usual failures are met with what to do; rare ones or the way out at the end are missing.
- Failures are foreseen, told apart and answered, with what to return when it cannot be done; risky steps are checked \
or can be undone.

structural_completeness
Is each part that a reader looks for there and where it is looked for?
- No structure that one could find one's way by.
- Headings are there, but purpose, steps or result are missing.
- Purpose and steps are there; examples, limits or result are thin.
- All parts are there; some stand in the wrong place or are hardly filled.
- Purpose, when to use it and when not, steps, examples, result and limits: all there, filled, in an order that reads \
itself.

code_template_quality
Would the code and templates work when copied, and do they show what the text says?
- Wrong, or dangerous when run.
- Fragments that need much repair, or that contradict the text.
- They work after small repairs; assumptions are not said.
- They work; style, error handling or what to fill in leaves something to wish for.
- They work as they stand, what to fill in is marked, and they show the idiom that one should copy.

ecosystem_coherence
Does it fit among tools, files and other skills: names, paths, prerequisites, where its job ends?
- It names things that cannot be there, or works against what surrounds it.
- Prerequisites and neighbours have to be guessed.
- Some prerequisites are named; where it ends and another begins is unclear.
- Prerequisites and borders are named; some names or conventions are its own without need.
- Prerequisites, versions, borders and related work are named as others name them; a skill that needs nobody and says \
where it ends belongs here too.
"""


def _read(text: str) -> Rubric:
    name, task, *anchors = text.strip().split("\n")
    dimension = Dimension(name)
    bands = tuple(anchor.removeprefix("- ") for anchor in anchors)
    return Rubric(dimension, task, bands, needs_code=dimension is Dimension.CODE_TEMPLATE_QUALITY)


RUBRICS = {rubric.dimension: rubric for rubric in map(_read, _TEXT.split("\n\n"))}
_QUESTIONS = (
    Question("trigger_predictions", (RUBRICS[Dimension.TRIGGERING_ACCURACY],), rated=False),
    Question("orchestration_fitness", (RUBRICS[Dimension.ORCHESTRATION_FITNESS],)),
    Question("output_quality", (RUBRICS[Dimension.OUTPUT_QUALITY],), typical_output=2_000),
    Question("scope_calibration", (RUBRICS[Dimension.SCOPE_CALIBRATION],)),
    # Mostly decided by layer 1 or the simulations.
    Question("other_dimensions", tuple(RUBRICS.values())[4:], typical_output=2_500),
)


def questions() -> tuple[Question, ...]:
    """Return every question, in the order of asking and showing."""
    return _QUESTIONS


def anchors(dimension: Dimension) -> tuple[tuple[float, float, str], ...]:
    """Return the five anchors of a dimension, worst first: lowest score, highest score, description."""
    bands = zip(BANDS, RUBRICS[dimension].anchors, strict=True)
    return tuple((low, high, text) for (_, _, low, high), text in bands)
