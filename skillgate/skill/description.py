"""What a description says about when its skill is for: trigger phrases, use cases, and how insistently.

The text is cut into words and marks once, and everything else reads that list: a sentence at a time, from left to
right, remembering whether what is being said is denied. So the work is linear in the text, whatever the text is.

A trigger phrase is an instruction verb and what it waits for ("use this skill when", "should be used for", "triggers
on"), "when(ever) the user | you | asked | working", "use proactively", "TRIGGER(S):", "auto-loads when", or a condition
that "use this skill" answers. None is what is negated ("do not use for") or said of something else than the skill
("a library used before 2019", "events trigger on save").
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise

from skillgate.model.routing import Routing, Trigger
from skillgate.skill.language import Token, language_of, sentences_of, word_set

_LIMIT = 20_000  # characters; more than ten times what any client shows to its router
_REACH = 8  # words looked at before a verb, and between a verb and what it waits for

_BREAKS = frozenset(';:,()[]"“”—…|')

_IMPERATIVE = word_set("use apply activate invoke load run trigger")
_THIRD_PERSON = word_set("triggers activates applies loads invokes runs")
_PARTICIPLE = word_set("used applied activated invoked loaded triggered")
_VERBS = _IMPERATIVE | _THIRD_PERSON | _PARTICIPLE | {"using"}
_CALLING = word_set("trigger triggers triggered invoke invokes invoked")
_OBJECT = word_set("this it the skill skills workflow guide agent plugin command tool")
_MANNER = word_set("immediately proactively automatically only also always especially specifically primarily")
_TEMPORAL = word_set("when whenever if before after during while upon anytime any every")  # any, every: with "time"
_AWAITED = _TEMPORAL | {"for", "to", "on"}
_CONDITION = word_set("if when whenever anytime")
_LABEL = word_set("keyword keywords phrase phrases word words term terms condition conditions on when include includes")
_PERSON = word_set("user users user's you you're asked working")

_NOT = word_set("not never cannot nor rarely seldom hardly dont")
_DETERRENT = word_set("avoid skip except stop refrain without no longer")  # these deny a verb; as orders, a clause
_COMPARED = {"instead": "of", "rather": "than"}
_UNFORBIDDEN = word_set("only just hesitate forget skip fail")  # "don't hesitate to use", "not only"
_EXCLUDING = word_set("for when if intended suitable meant recommended use")  # "not for": to the end of the sentence
_OBLIGING = word_set("should must shall")
_MODAL = _OBLIGING | {"can", "will", "may"}
_BE = word_set("be is are get gets")
_AUXILIARY = _MODAL | _BE
_SUPPORT = _AUXILIARY | {"do", "does", "did"}
_FILLER = _AUXILIARY | _MANNER | word_set("please then instead and or but so either just even best do auto ideally")
_READER = word_set("you claude agent agents assistant model codex gemini copilot")
_ITSELF = word_set("skill this it")
_RELATIVE = word_set("that which who how what where why when")
_REMINDER = word_set("sure remember need have forget hesitate fail")  # "be sure to use"
_ADVICE = word_set("consider recommend recommended suggest prefer")  # "consider using this when"
_TELLING = word_set("know knows explain explains describe describes decide decides determine determines define defines")

_NO_GERUND = word_set(
    "anything everything something nothing string spring during bring thing sting sling swing evening morning ceiling",
    "sibling wedding being",
)
_LEADING = word_set("or and also when whenever if for to then either but the a an even")
_NO_USE_CASE = word_set("etc more similar instead others other on such as so")


def analyse(text: str) -> Routing:
    """Find what a description (joined with its ``when_to_use``) says about when to use its skill.

    Only the first 20,000 characters are looked at. Offsets are those of ``text``.
    """
    text = text[:_LIMIT]
    sentences = [_Sentence(text, tokens) for tokens in sentences_of(text)]
    use_cases = dict.fromkeys(case for sentence in sentences for case in sentence.use_cases())
    contexts = (sentence.context() for sentence in sentences)
    return Routing(
        language=language_of(text),
        triggers=tuple(trigger for sentence in sentences for trigger in sentence.triggers),
        use_cases=tuple(use_cases),
        proactive=any(sentence.is_proactive() for sentence in sentences),
        automatic=any(sentence.is_automatic() for sentence in sentences),
        context=next((context for context in contexts if context), None),
    )


class _Stance(Enum):
    """What a phrase turns out to be: an instruction about the skill, its denial, or talk about something else."""

    ACCEPTED = 1
    DENIED = 2
    FOREIGN = 3


class _Sentence:
    """One sentence, read once: its trigger phrases, and which of its words are denied."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.triggers: list[Trigger] = []
        self._text = text
        self._tokens = tokens
        self._words = [word for word, _, _ in tokens]
        self._plain = [True] * len(tokens)  # neither denied nor part of a trigger phrase: what use cases are made of
        self._denied = [False] * len(tokens)
        self._clause = len(tokens)  # where the first trigger phrase starts
        self._condition = -1  # where the first "if", "when", "for" stands that "use this skill" could answer
        self._calls = False
        self._read()

    def use_cases(self) -> list[str]:
        """List what stands between commas, semicolons and "or" from the first trigger phrase on, where not denied."""
        cases, piece = [], list[int]()
        for at in range(self._clause, len(self._words)):
            if self._separates(at):
                cases.append(self._use_case(piece))
                piece = []
            elif self._words[at] not in _BREAKS:
                piece.append(at)
        cases.append(self._use_case(piece))
        return [case for case in cases if case]

    def context(self) -> str | None:
        """Give the first "when … ing" and its like that is not denied."""
        for at, word in enumerate(self._words):
            if word in ("when", "for", "during") and not self._denied[at]:
                prefixed = self._word(at + 2) == "-" and len(self._word(at + 1)) <= 3  # "when re-training"
                last = at + 3 if prefixed else at + 1
                if _is_gerund(self._word(last)):
                    return " ".join(self._text[self._tokens[at][1] : self._tokens[last][2]].replace("*", "").split())
        return None

    def is_proactive(self) -> bool:
        """Tell whether it says "proactively"."""
        return any(word == "proactively" and not self._denied[at] for at, word in enumerate(self._words))

    def is_automatic(self) -> bool:
        """Tell whether it says to use the skill automatically or always, to trigger it or to invoke it."""
        return self._calls or any(self._insists(at) for at in range(len(self._words)) if not self._denied[at])

    def _word(self, at: int) -> str:
        return self._words[at] if 0 <= at < len(self._words) else ""

    def _read(self) -> None:
        denial, done = "", 0
        for at, word in enumerate(self._words):
            if word in _BREAKS and (denial == "clause" or word in ";—"):
                denial = ""
            if self._condition < 0 and (word in _CONDITION or (at == 0 and word in _TEMPORAL | {"for"})):
                self._condition = at
            if at >= done:
                begun = self._denial(at)
                if begun and self._word(at - 1) in _SUPPORT:
                    self._denied[at - 1] = True
                denial = begun or denial
                start, done, stance = self._phrase(at, denied=bool(denial))
                if done and stance is _Stance.DENIED:
                    denial = "sentence"
                elif done and stance is _Stance.ACCEPTED:
                    denial = ""
                    self._accept(start, at, done)
            self._denied[at] = bool(denial)

    def _accept(self, start: int, at: int, end: int) -> None:
        """Record a phrase from ``start`` to ``end`` whose key word stands ``at``."""
        self._calls = self._calls or self._words[at] in _CALLING
        answer = start == self._condition and start < at
        self._plain[start] = False
        while at > start and (not answer or self._words[at - 1] in _FILLER or self._words[at - 1] in _ITSELF):
            at -= 1  # what stands between a condition and its answer are use cases
        self._plain[at:end] = [False] * (end - at)
        self._clause = min(self._clause, start)
        if not (answer and self.triggers):
            first, last = self._tokens[start][1], self._tokens[end - 1][2]
            self.triggers.append(Trigger(phrase=self._text[first:last], start=first, end=last))

    def _phrase(self, at: int, *, denied: bool) -> tuple[int, int, _Stance]:
        """Give start, end and stance of the trigger phrase whose key word stands here; the end is 0 without one."""
        word = self._words[at]
        if word in _VERBS:
            return self._instruction(at, denied=denied)
        if word in _CONDITION or (word == "any" and self._word(at + 1) == "time"):
            person = at + (2 if word == "any" else 1)
            person += self._word(person) in ("the", "a") and self._word(person + 1).startswith("user")
            told = self._word(at - 1) in _TELLING or word == "if"
            if self._word(person) in _PERSON and not told:
                return at, person + 1, _Stance.DENIED if denied else _Stance.ACCEPTED
        return at, 0, _Stance.FOREIGN

    def _instruction(self, at: int, *, denied: bool) -> tuple[int, int, _Stance]:
        end, start = self._label(at) or self._awaited(at), at
        if not end:
            end, start = self._answer(at)
        if not end:
            return at, 0, _Stance.FOREIGN
        stance = self._stance(at, end)
        if denied and stance is _Stance.ACCEPTED and self._word(at - 1) in ("or", "nor"):
            stance = _Stance.DENIED  # "do not use for this or use for that"
        while start == at and stance is _Stance.ACCEPTED and self._word(start - 1) in _AUXILIARY:
            start = at = at - 1
        return start, end, stance

    def _label(self, at: int) -> int:
        """End of "TRIGGERS:", "Trigger keywords:", "Triggers include"."""
        if self._words[at] not in ("trigger", "triggers"):
            return 0
        end = at + 1
        while end < at + 4 and self._word(end) in _LABEL:
            end += 1
        if self._word(end) in (":", "—"):
            return end + 1
        return end if self._word(end - 1) in ("include", "includes") else 0

    def _awaited(self, at: int) -> int:
        """End of what the verb waits for: "use this skill when", "use proactively", "loads on"; 0 where it does not."""
        proactive = self._word(at - 1) == "proactively"
        end = at + 1
        while end <= at + _REACH:
            word = self._word(end)
            if word in _AWAITED:
                return self._awaiting(at, end)
            if word in _OBJECT or word in _MANNER or word in (":", ",", "—") or self._names_skill(end):
                proactive = proactive or word == "proactively"
                end += 1
            else:
                break
        return at + 2 if self._word(at + 1) == "proactively" else self._object(at) if proactive else 0

    def _awaiting(self, at: int, end: int) -> int:
        verb, word, following = self._words[at], self._words[end], self._word(end + 1)
        if word in ("any", "every"):
            return end + 2 if following == "time" else 0
        if word in ("for", "to", "on"):
            loose = verb in _THIRD_PERSON and not (word == "on" and verb != "runs")  # "applies to", "runs on"
            return 0 if loose or following in ("-", "example", "instance", "its", "top") else end + 1
        return end + 1

    def _names_skill(self, at: int) -> bool:
        """Tell whether a word belongs to "the … skill", as in "use the pdf-tools skill when"."""
        words = self._words[at : at + 4]
        return "skill" in words and not any(word in _BREAKS for word in words[: words.index("skill")])

    def _object(self, at: int) -> int:
        """End of "this", "it" or "this skill" after a verb; 0 without one."""
        end = at + 1
        while end <= at + _REACH and (self._word(end) in _OBJECT or self._names_skill(end)):
            end += 1
        closed = self._word(end) in _BREAKS or end == len(self._words)
        return end if end > at + 1 and (closed or self._words[end - 1] == "skill") else 0

    def _answer(self, at: int) -> tuple[int, int]:
        """End and start of a condition answered by "use this skill" or "this skill should be used"; 0 without one."""
        end = at + 1 if self._words[at] in _PARTICIPLE and self._word(at - 1) == "be" else self._object(at)
        if self._words[at] not in ("use", "invoke", "activate") and self._word(end - 1) != "skill":
            end = end if self._words[at] in _PARTICIPLE else 0
        return (0, at) if self._condition < 0 else (end, self._condition)

    def _stance(self, at: int, end: int) -> _Stance:
        """Judge by the words before a verb in its clause who is told what."""
        before, closed = self._before(at)
        if any(_denies(word, following) for word, following in pairwise([*before, self._words[at]])):
            return _Stance.DENIED
        rest = list(before)
        while rest and rest[-1] in _FILLER:
            rest.pop()
        fillers = before[len(rest) :]
        if self._is_instruction(at, end, rest, fillers, opens=closed and not rest):
            return _Stance.ACCEPTED
        return _Stance.FOREIGN

    def _is_instruction(self, at: int, end: int, rest: list[str], fillers: list[str], *, opens: bool) -> bool:
        verb, head = self._words[at], rest[-1] if rest else ""
        apart = opens and self._word(at - len(fillers) - 1) != ","  # "Redis, used for caching" speaks of Redis
        told = any(word in _RELATIVE and before != "skill" for before, word in pairwise(["", *rest]))
        if verb in _PARTICIPLE:
            if self._word(end).isdecimal() and len(self._word(end)) == 4:  # "used before 2019"
                return False
            passive = not _BE.isdisjoint(fillers) and not told
            about = head == "to" or any(word in _ITSELF for word in rest) or not _OBLIGING.isdisjoint(fillers)
            return apart or (passive and (opens or about))
        if verb in _THIRD_PERSON or verb == "using":
            itself = (head in _ITSELF or rest[-2:] == ["skill", "that"]) and not told
            return apart or itself or (verb == "using" and head in _ADVICE)
        if head in _READER:
            return (head == "you" or not _MODAL.isdisjoint(fillers)) and not (rest[-2:-1] and rest[-2] in _RELATIVE)
        if head == "to":
            return bool(rest[-2:-1]) and rest[-2] in _REMINDER
        if head == "for":
            return verb == "use" and self._words[end - 1] in _TEMPORAL  # "intended for use when"
        return opens or (self._word(at + 1) in ("this", "the") and "skill" in self._words[at:end])

    def _before(self, at: int) -> tuple[list[str], bool]:
        """Give the words before a verb in its clause, as far as is looked, and whether that is the whole clause."""
        start = at
        while start > max(0, at - _REACH) and self._words[start - 1] not in _BREAKS:
            start -= 1
        words = self._words[start:at]
        if words[-2:] == ["auto", "-"]:
            words.pop()
        return words, start == 0 or self._words[start - 1] in _BREAKS

    def _denial(self, at: int) -> str:
        """Say how far a denial that starts here reaches: "" for none, the "clause", or the rest of the "sentence"."""
        word, following = self._words[at], self._word(at + 1)
        if not _denies(word, following):
            return ""
        before, closed = self._before(at)
        opens = closed and all(word in _FILLER for word in before)
        if word in _NOT or word.endswith("n't"):
            excludes = following in _EXCLUDING and self._word(at - 1) != "or"
            return "sentence" if opens or excludes else "clause"
        return "sentence" if opens and word in ("avoid", "skip", "except", "refrain", "stop") else ""

    def _insists(self, at: int) -> bool:
        """Tell whether a word orders automatic use: "always use", "use this skill automatically", "invoke this"."""
        word = self._words[at]
        if word == "always":
            return self._word(at + 1) in _IMPERATIVE
        if word in ("trigger", "invoke"):
            return self._word(at + 1) in _ITSELF and self._stance(at, at + 1) is _Stance.ACCEPTED
        if word != "automatically":
            return False
        verb = at - 1
        while verb > at - 4 and self._word(verb) in _OBJECT:
            verb -= 1
        verbs = [place for place in (at + 1, verb) if self._word(place) in _VERBS]
        return any(self._stance(place, place + 1) is _Stance.ACCEPTED for place in verbs)

    def _separates(self, at: int) -> bool:
        word, following = self._words[at], self._word(at + 1)
        if word == "and":
            return _is_gerund(following) or following in ('"', "“")
        if self._denied[at] or not self._plain[at] or word in (",", ";", "or"):
            return True
        return word in ('"', "“") and self._word(at - 1) in ('"', "”")

    def _use_case(self, piece: list[int]) -> str:
        """Fold the words at these places into a use case; ``""`` where nothing but connecting words is left."""
        while piece and self._words[piece[0]] in _LEADING:
            piece = piece[1:]
        if all(self._words[at] in _NO_USE_CASE or not self._words[at].isalnum() for at in piece):
            return ""
        written = self._text[self._tokens[piece[0]][1] : self._tokens[piece[-1]][2]]
        return " ".join(written.casefold().split())


def _denies(word: str, following: str) -> bool:
    """Tell whether a word denies what follows it; "don't hesitate" and "not only" deny nothing."""
    if word in _COMPARED:
        return following == _COMPARED[word]
    return (word in _NOT or word in _DETERRENT or word.endswith("n't")) and following not in _UNFORBIDDEN


def _is_gerund(word: str) -> bool:
    """Tell "building" from "string": what ends in -ing and is a doing."""
    return len(word) > 4 and word.endswith("ing") and word.isalpha() and word not in _NO_GERUND
