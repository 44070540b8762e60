"""Is the skill a worker that any caller can build on, or does it want to run the show itself?

Source: PluginEval method, orchestration fitness; the anchors are in our own words.
"""

from __future__ import annotations

from skillgate.judge.rubric import Question, Rubric
from skillgate.model.score import Dimension

QUESTION = Question(
    name="orchestration_fitness",
    rubrics=(
        Rubric(
            dimension=Dimension.ORCHESTRATION_FITNESS,
            task=(
                "Rate how pure a worker the skill is. Whoever loads it already decides what the whole job is and what"
                " comes next; a fit skill takes what it is given, does one job and hands back a result. Look for what"
                " it says it needs, what it says it returns and in what form, and for lines that decide in the caller's"
                " place: picking or dispatching other skills or agents, planning work outside its own job, running the"
                " conversation. Its own steps in order, its own scripts, a question asked because input is missing, and"
                " a pointer to a related skill for the reader are no faults."
            ),
            anchors=(
                "A script for whoever is in charge, not for a worker: it plans the whole job, sends others to do it or"
                " leads the conversation, and neither says what goes in nor what comes out.",
                "There is a worker inside, but routing runs through it: it chooses and calls other skills or agents, or"
                " settles for its caller what happens next.",
                "It does its own job, yet a caller could hardly build on it: input has to be guessed, or output is"
                " described only in passing and in no certain form.",
                "It says what it needs and what it returns; the form of the result leaves something open, or one small"
                " decision that is the caller's is made here.",
                "One job under a contract: what it needs, what it returns, in which form, and what it returns when it"
                " cannot finish. Nothing in it routes or delegates; it works unchanged under any caller.",
            ),
        ),
    ),
)
