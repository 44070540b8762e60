"""The YAML at the head of a skill, and what its description says about when the skill is for.

The YAML is found by its delimiter lines, read under limits, and repaired where it can be. A description is cut into
words and marks once, and everything else reads that list, a sentence at a time: trigger phrases, use cases, and how
insistent they are. So the work is linear in the text, whatever the text is.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from skillgate.model.skill import Frontmatter, Problem, Routing, Span, Trigger
from skillgate.model.yaml_bounded import YamlProblem, load_mapping
from skillgate.named_tuple import NamedTuple
from skillgate.skill.language import Token, language_of, sentences_of, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


MAX_NAME_LENGTH = 64


def name_defect(name: str) -> str | None:
    """Return which part of the rule a non-empty name breaks first, None if it breaks none.

    A name has 1 to 64 lower-case letters (of any script, as the specification's text allows), digits and single
    hyphens, none of them at an end.
    """
    folded = unicodedata.normalize("NFKC", name)
    if len(folded) > MAX_NAME_LENGTH:
        return f"is {len(folded)} characters long (maximum {MAX_NAME_LENGTH})"
    if folded != folded.lower():
        return "has capital letters"
    if not all(character.isalnum() or character == "-" for character in folded):
        return "has characters other than letters, digits and hyphens"
    if folded.startswith("-") or folded.endswith("-") or "--" in folded:
        return "has a hyphen at its start or end, or two in a row"
    return None


def same_name(one: str, other: str) -> bool:
    """Compare two names as the specification's validator does: after NFKC."""
    return unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other)


DELIMITER = "---"
_TAB = r"(?m)^([A-Za-z][\w-]*:)[ ]*\t[ \t]*"
_PLAIN = r"([A-Za-z][\w-]*):[ ]+(\S.*?)[ ]*$"
_ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"'}
MAX_QUOTED = 1_500  # characters; what is longer is no hint that somebody forgot to quote
MAX_BYTES = 65_536  # 64 KiB: clients cap the listing at about 1,500 characters, so this is generous
TEXT_KEYS = ("name", "description", "when_to_use", "license", "compatibility")
FLAG_KEYS = ("disable-model-invocation", "user-invocable")


class Split(NamedTuple):
    """A document cut at its frontmatter. ``yaml`` is None if there is none; ``body_line`` counts from 1."""

    yaml: str | None
    body: str
    body_line: int
    problem: Problem | None = None


def split(text: str) -> Split:
    """Cut a document (line ends normalised) at the ``---`` lines that enclose its frontmatter.

    Only a whole line delimits: a description may hold ``---``. Without a closing line nothing is frontmatter, and the
    whole text is body.
    """
    first, newline, rest = text.partition("\n")
    if first.rstrip() != DELIMITER:
        message = "the file does not start with a --- line, so it has no frontmatter"
        return Split(yaml=None, body=text, body_line=1, problem=_problem("frontmatter_missing", message))
    position = 0
    for number, line in enumerate(rest.split("\n"), start=2):
        if line.rstrip() == DELIMITER:
            body = rest[position + len(line) + 1 :]
            return Split(yaml=rest[: max(0, position - 1)], body=body, body_line=number + 1)
        position += len(line) + 1
    message = "the frontmatter opened here has no closing --- line"
    return Split(
        yaml=None, body=rest if newline else "", body_line=2, problem=_problem("frontmatter_unclosed", message)
    )


def parse(source: str) -> tuple[Frontmatter, tuple[Problem, ...]]:
    """Read the YAML between the delimiters; what is wrong with it becomes problems, never an exception."""
    size = len(source.encode())
    if size > MAX_BYTES:
        message = f"the frontmatter is {size:,} bytes long (maximum {MAX_BYTES:,})"
        return Frontmatter(), (_problem("frontmatter_too_large", message),)
    if not source.strip():
        return Frontmatter(), (_problem("frontmatter_invalid", "the frontmatter is empty"),)
    tabs = tuple(_tabs(source))
    try:
        document = load_mapping(re.sub(_TAB, r"\1 ", source) if tabs else source)
    except YamlProblem as problem:
        where = Span(line=problem.line + 1, column=problem.column)
        message = _message(source, problem)
        return Frontmatter(), (*tabs, Problem(rule="frontmatter_invalid", span=where, message=message))
    lines = {key: line + 1 for key, line in document.lines.items()}
    repeated_keys = frozenset(key for key, _ in document.duplicates)
    frontmatter = Frontmatter(values=document.values, lines=lines, valid=True, repeated=repeated_keys)
    repeated = (
        _problem("duplicate_key", f"key {key!r} appears twice; readers keep one or reject the file", line + 1)
        for key, line in document.duplicates
    )
    return frontmatter, (*tabs, *repeated, *_type_problems(frontmatter))


def _message(source: str, problem: YamlProblem) -> str:
    """Return what is wrong; where the value of that line would parse in quotes, as ``[number] [title]``, say so too."""
    lines = source.split("\n")
    index = problem.line - 1
    found = re.match(_PLAIN, lines[index]) if 0 <= index < len(lines) else None
    if found is None or len(found[2]) > MAX_QUOTED or (": " not in found[2] and found[2][0] not in "[{*&!%@`"):
        return problem.message
    if problem.message.startswith("more than"):  # a bound, and nothing to do with quotes
        return problem.message
    quoted = f'{found[1]}: "{found[2].translate(_ESCAPES)}"'
    try:
        load_mapping("\n".join([*lines[:index], quoted, *lines[index + 1 :]]))
    except YamlProblem:
        return problem.message
    if problem.message.startswith("mapping values are not allowed"):
        return f"invalid YAML: {found[1]} contains ': '; put the value in quotes"
    return f"{problem.message}; if {found[1]} is a string, put its value in quotes"


def _tabs(source: str) -> Iterator[Problem]:
    """Find tabs between a key and its value: YAML allows them, and some readers do not."""
    for number, line in enumerate(source.split("\n"), start=2):
        found = re.match(_TAB, line) if "\t" in line else None
        if found:
            span = Span(line=number, column=found.end(1) + 1)
            message = "a tab separates the key from its value; some readers reject the file"
            yield Problem(rule="frontmatter_tab", span=span, message=message)


def _type_problems(frontmatter: Frontmatter) -> Iterator[Problem]:
    wanted = dict.fromkeys(TEXT_KEYS, "str") | dict.fromkeys(FLAG_KEYS, "bool")
    for key, wanted_kind in wanted.items():
        value = frontmatter.values.get(key)
        kind = type(value).__name__
        if value is not None and kind != wanted_kind:
            message = f"{key} must be {_KINDS[wanted_kind]}, not {_KINDS.get(kind, kind)}"
            yield _problem("field_type", message, frontmatter.line(key))


_KINDS = {"int": "a number", "float": "a number", "bool": "true or false", "str": "a string"}
_KINDS |= {"list": "a list", "dict": "a mapping", "date": "a date"}


def _problem(rule: str, message: str, line: int = 1) -> Problem:
    return Problem(rule=rule, span=Span(line=line), message=message)


_ENTRY = r"([A-Za-z][\w-]*):(?=\s|$)"
_MARKS = " \t\n|>[]'\"+-"  # of YAML, around a value
_OTHERS = ("metadata", "disable-model-invocation", "paths")  # that points rest on, next to the texts
EXAMPLE = (
    "Does one kind of work on the files that it is given, and says what was done. Use when the user asks for that work."
)


def as_meant(skill: Skill) -> tuple[Skill, bool]:
    """Return the skill with the frontmatter that its author seems to have meant, and whether any of it was found.

    Where neither a name nor a description is found, it has the name of its directory and an example of a description.
    """
    texts = dict(_texts(skill))
    values = {**skill.frontmatter.values, **texts}
    found = bool(values.keys() & {"name", "description"})
    if not found:
        values |= {"name": skill.root.name, "description": EXAMPLE}
    head = Frontmatter(values=values, lines=skill.frontmatter.lines, valid=True)
    return skill._replace(
        frontmatter=head, routing=routing_of(head.text("description"), head.text("when_to_use"))
    ), found


def _texts(skill: Skill) -> Iterator[tuple[str, Any]]:
    """Yield each field that could not be read, with its value."""
    head = skill.frontmatter
    lines = _source(skill.documents[0].text)
    entries = _entries(lines)
    if not head.valid and "description" not in entries:  # it may be what is indented by mistake
        entries = _entries([line.lstrip() for line in lines])
    for key in TEXT_KEYS:
        value = head.values.get(key)
        if key in entries and not isinstance(value, str) and (not head.valid or value is not None):
            yield key, _text(key, entries[key])
    for key in _OTHERS:
        value = None if head.valid or key not in entries else _value(key, entries[key])
        if value is not None:
            yield key, value


def _source(text: str) -> list[str]:
    """Return the lines of the frontmatter; of one that is not closed, those up to a blank line or a heading."""
    cut = split(text.lstrip())
    if cut.yaml is not None:
        return cut.yaml.split("\n")
    if cut.problem is None or cut.problem.rule != "frontmatter_unclosed":
        return []
    lines = cut.body.split("\n")
    end = next((index for index, line in enumerate(lines) if not line.strip() or line.startswith("#")), len(lines))
    return lines[:end]


def _entries(lines: list[str]) -> dict[str, str]:
    """Return the source of each top-level entry, up to the next one; of a repeated key the last."""
    entries: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        match = re.match(_ENTRY, line)
        if match is not None:
            current = entries[match[1]] = []
        current.append(line)
    return {key: "\n".join(found)[:MAX_BYTES] for key, found in entries.items()}


def _value(key: str, source: str) -> object:
    """Return the value of an entry that is YAML alone, None for any other."""
    try:
        return load_mapping(source).values.get(key)
    except YamlProblem:
        return None


def _text(key: str, source: str) -> str:
    value = _value(key, source)
    return value if isinstance(value, str) else " ".join(source[len(key) + 1 :].strip(_MARKS).split())


BREAKS = frozenset(';:,()[]"“”—…|')  # the marks that end a clause
_REACH = 8  # words looked at before a verb, and between a verb and what it waits for

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


class _Stance(Enum):
    """What a phrase turns out to be: an instruction about the skill, its denial, or talk about something else."""

    ACCEPTED = 1
    DENIED = 2
    FOREIGN = 3


class Sentence:
    """One sentence, read once.

    Attributes:
        words: its words and marks in lower case; ``denied`` and ``plain`` have an item for each.
        plain: whether the word is no part of a trigger phrase, so that use cases may be made of it.
        clause: where the first trigger phrase starts; the number of words without one.
    """

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.triggers: list[Trigger] = []
        self.words = [word for word, _, _ in tokens]
        self.denied = [False] * len(tokens)
        self.plain = [True] * len(tokens)
        self.clause = len(tokens)
        self._text = text
        self._tokens = tokens
        self._condition = -1  # where the first "if", "when", "for" stands that "use this skill" could answer
        self._calls = False
        self._read()

    def is_proactive(self) -> bool:
        """Return whether it says "proactively"."""
        return any(word == "proactively" and not self.denied[at] for at, word in enumerate(self.words))

    def is_automatic(self) -> bool:
        """Return whether it says to use the skill automatically or always, to trigger it or to invoke it."""
        return self._calls or any(self._insists(at) for at in range(len(self.words)) if not self.denied[at])

    def word(self, at: int) -> str:
        """Return the word or mark at a place; ``""`` if the sentence has none."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def written(self, first: int, last: int) -> str:
        """Return the text from one word to another, both included, as written."""
        return self._text[self._tokens[first][1] : self._tokens[last][2]]

    def _read(self) -> None:
        denial, done = "", 0
        for at, word in enumerate(self.words):
            if word in BREAKS and (denial == "clause" or word in ";—"):
                denial = ""
            if self._condition < 0 and (word in _CONDITION or (at == 0 and word in _TEMPORAL | {"for"})):
                self._condition = at
            if at >= done:
                begun = self._denial(at)
                if begun and self.word(at - 1) in _SUPPORT:
                    self.denied[at - 1] = True
                denial = begun or denial
                start, done, stance = self._phrase(at, denied=bool(denial))
                if done and stance is _Stance.DENIED:
                    denial = "sentence"
                elif done and stance is _Stance.ACCEPTED:
                    denial = ""
                    self._accept(start, at, done)
            self.denied[at] = bool(denial)

    def _accept(self, start: int, at: int, end: int) -> None:
        """Record a phrase from ``start`` to ``end`` with its key word at ``at``."""
        self._calls = self._calls or self.words[at] in _CALLING
        answer = start == self._condition and start < at
        self.plain[start] = False
        while at > start and (not answer or self.words[at - 1] in _FILLER or self.words[at - 1] in _ITSELF):
            at -= 1  # the words between a condition and its answer are use cases
        self.plain[at:end] = [False] * (end - at)
        self.clause = min(self.clause, start)
        if not (answer and self.triggers):
            first, last = self._tokens[start][1], self._tokens[end - 1][2]
            self.triggers.append(Trigger(phrase=self._text[first:last], start=first, end=last))

    def _phrase(self, at: int, *, denied: bool) -> tuple[int, int, _Stance]:
        """Return start, end and stance of the trigger phrase that has its key word here; the end is 0 without one."""
        word = self.words[at]
        if word in _VERBS:
            return self._instruction(at, denied=denied)
        if word in _CONDITION or (word == "any" and self.word(at + 1) == "time"):
            person = at + (2 if word == "any" else 1)
            person += self.word(person) in ("the", "a") and self.word(person + 1).startswith("user")
            is_reported = self.word(at - 1) in _TELLING or word == "if"
            if self.word(person) in _PERSON and not is_reported:
                return at, person + 1, _Stance.DENIED if denied else _Stance.ACCEPTED
        return at, 0, _Stance.FOREIGN

    def _instruction(self, at: int, *, denied: bool) -> tuple[int, int, _Stance]:
        end, start = self._label(at) or self._awaited(at), at
        if not end:
            end, start = self._answer(at)
        if not end:
            return at, 0, _Stance.FOREIGN
        stance = self._stance(at, end)
        if denied and stance is _Stance.ACCEPTED and self.word(at - 1) in ("or", "nor"):
            stance = _Stance.DENIED  # "do not use for this or use for that"
        while start == at and stance is _Stance.ACCEPTED and self.word(start - 1) in _AUXILIARY:
            start = at = at - 1
        return start, end, stance

    def _label(self, at: int) -> int:
        """End of "TRIGGERS:", "Trigger keywords:", "Triggers include"."""
        if self.words[at] not in ("trigger", "triggers"):
            return 0
        end = at + 1
        while end < at + 4 and self.word(end) in _LABEL:
            end += 1
        if self.word(end) in (":", "—"):
            return end + 1
        return end if self.word(end - 1) in ("include", "includes") else 0

    def _awaited(self, at: int) -> int:
        """End of what the verb waits for: "use this skill when", "use proactively", "loads on"; 0 where it does not."""
        proactive = self.word(at - 1) == "proactively"
        end = at + 1
        while end <= at + _REACH:
            word = self.word(end)
            if word in _AWAITED:
                return self._awaiting(at, end)
            joined = word == "and" and self.word(end + 1) in _MANNER
            if joined or word in _OBJECT or word in _MANNER or word in (":", ",", "—") or self._names_skill(end):
                proactive = proactive or word == "proactively"
                end += 1
            else:
                break
        return at + 2 if self.word(at + 1) == "proactively" else self._object(at) if proactive else 0

    def _awaiting(self, at: int, end: int) -> int:
        verb, word, following = self.words[at], self.words[end], self.word(end + 1)
        if word in ("any", "every"):
            return end + 2 if following == "time" else 0
        if word in ("for", "to", "on"):
            loose = verb in _THIRD_PERSON and not (word == "on" and verb != "runs")  # "applies to", "runs on"
            return 0 if loose or following in ("-", "example", "instance", "its", "top") else end + 1
        return end + 1

    def _names_skill(self, at: int) -> bool:
        """Return whether a word belongs to "the … skill", as in "use the pdf-tools skill when"."""
        words = self.words[at : at + 4]
        return "skill" in words and not any(word in BREAKS for word in words[: words.index("skill")])

    def _object(self, at: int) -> int:
        """End of "this", "it" or "this skill" after a verb; 0 without one."""
        end = at + 1
        while end <= at + _REACH and (self.word(end) in _OBJECT or self._names_skill(end)):
            end += 1
        closed = self.word(end) in BREAKS or end == len(self.words)
        return end if end > at + 1 and (closed or self.words[end - 1] == "skill") else 0

    def _answer(self, at: int) -> tuple[int, int]:
        """End and start of a condition answered by "use this skill" or "this skill should be used"; 0 without one."""
        end = at + 1 if self.words[at] in _PARTICIPLE and self.word(at - 1) == "be" else self._object(at)
        if self.words[at] not in ("use", "invoke", "activate") and self.word(end - 1) != "skill":
            end = end if self.words[at] in _PARTICIPLE else 0
        return (0, at) if self._condition < 0 else (end, self._condition)

    def _stance(self, at: int, end: int) -> _Stance:
        """Judge by the words before a verb in its clause who is addressed."""
        before, closed = self._before(at)
        if any(_denies(word, following) for word, following in pairwise([*before, self.words[at]])):
            return _Stance.DENIED
        rest = list(before)
        while rest and rest[-1] in _FILLER:
            rest.pop()
        fillers = before[len(rest) :]
        if self._is_instruction(at, end, rest, fillers, opens=closed and not rest):
            return _Stance.ACCEPTED
        return _Stance.FOREIGN

    def _is_instruction(self, at: int, end: int, rest: list[str], fillers: list[str], *, opens: bool) -> bool:
        verb, head = self.words[at], rest[-1] if rest else ""
        apart = opens and self.word(at - len(fillers) - 1) != ","  # "Redis, used for caching" speaks of Redis
        is_relative = any(word in _RELATIVE and before != "skill" for before, word in pairwise(["", *rest]))
        if verb in _PARTICIPLE:
            if self.word(end).isdecimal() and len(self.word(end)) == 4:  # "used before 2019"
                return False
            passive = not _BE.isdisjoint(fillers) and not is_relative
            about = head == "to" or any(word in _ITSELF for word in rest) or not _OBLIGING.isdisjoint(fillers)
            return apart or (passive and (opens or about))
        if verb in _THIRD_PERSON or verb == "using":
            itself = (head in _ITSELF or rest[-2:] == ["skill", "that"]) and not is_relative
            return apart or itself or (verb == "using" and head in _ADVICE)
        if head in _READER:
            return (head == "you" or not _MODAL.isdisjoint(fillers)) and not (rest[-2:-1] and rest[-2] in _RELATIVE)
        if head == "to":
            return bool(rest[-2:-1]) and rest[-2] in _REMINDER
        if head == "for":
            return verb == "use" and self.words[end - 1] in _TEMPORAL  # "intended for use when"
        return opens or (self.word(at + 1) in ("this", "the") and "skill" in self.words[at:end])

    def _before(self, at: int) -> tuple[list[str], bool]:
        """Return the words before a verb in its clause, as far as is looked, and whether that is the whole clause."""
        start = at
        while start > max(0, at - _REACH) and self.words[start - 1] not in BREAKS:
            start -= 1
        words = self.words[start:at]
        if words[-2:] == ["auto", "-"]:
            words.pop()
        return words, start == 0 or self.words[start - 1] in BREAKS

    def _denial(self, at: int) -> str:
        """Return how far a denial that starts here reaches: "" for none, the "clause", or else the "sentence"."""
        word, following = self.words[at], self.word(at + 1)
        if not _denies(word, following):
            return ""
        before, closed = self._before(at)
        opens = closed and all(word in _FILLER for word in before)
        if word in _NOT or word.endswith("n't"):
            excludes = following in _EXCLUDING and self.word(at - 1) != "or"
            return "sentence" if opens or excludes else "clause"
        return "sentence" if opens and word in ("avoid", "skip", "except", "refrain", "stop") else ""

    def _insists(self, at: int) -> bool:
        """Return whether a word orders automatic use: "always use", "use this skill automatically", "invoke this"."""
        word = self.words[at]
        if word == "always":
            return self.word(at + 1) in _IMPERATIVE
        if word in ("trigger", "invoke"):
            return self.word(at + 1) in _ITSELF and self._stance(at, at + 1) is _Stance.ACCEPTED
        if word != "automatically":
            return False
        verb = at - 1
        while verb > at - 6 and (self.word(verb) in _OBJECT or self.word(verb) in _MANNER or self.word(verb) == "and"):
            verb -= 1
        verbs = [place for place in (at + 1, verb) if self.word(place) in _VERBS]
        return any(self._stance(place, place + 1) is _Stance.ACCEPTED for place in verbs)


def _denies(word: str, following: str) -> bool:
    """Return whether a word denies what follows it; "don't hesitate" and "not only" deny nothing."""
    if word in _COMPARED:
        return following == _COMPARED[word]
    return (word in _NOT or word in _DETERRENT or word.endswith("n't")) and following not in _UNFORBIDDEN


_LIMIT = 20_000  # characters; more than ten times what any client shows to its router
_NO_GERUND = word_set(
    "anything nothing string spring during bring thing sting sling swing being evening morning ceiling sibling wedding",
    "everything something",
)
_LEADING = word_set("or and also when whenever if for to then either but the a an even")
_NO_USE_CASE = word_set("etc more similar instead others other on such as so")


def routing_of(description: str, when_to_use: str) -> Routing:
    """Analyse both as a client lists them; the description alone decides the language."""
    routing = analyse(" - ".join(part for part in (description, when_to_use) if part))
    return routing._replace(language=language_of(description)) if description and when_to_use else routing


def analyse(text: str) -> Routing:
    """Find what a description (joined with its ``when_to_use``) says about when to use its skill.

    Only the first 20,000 characters are looked at. Offsets are those of ``text``.
    """
    text = text[:_LIMIT]
    sentences = [Sentence(text, tokens) for tokens in sentences_of(text)]
    use_cases = dict.fromkeys(case for sentence in sentences for case in _use_cases(sentence))
    contexts = (_context(sentence) for sentence in sentences)
    return Routing(
        language=language_of(text),
        triggers=tuple(trigger for sentence in sentences for trigger in sentence.triggers),
        use_cases=tuple(use_cases),
        proactive=any(sentence.is_proactive() for sentence in sentences),
        automatic=any(sentence.is_automatic() for sentence in sentences),
        context=next((context for context in contexts if context), None),
    )


def _use_cases(sentence: Sentence) -> list[str]:
    """List the words between commas, semicolons and "or" from the first trigger phrase on, where not denied."""
    cases, piece = [], list[int]()
    for at in range(sentence.clause, len(sentence.words)):
        if _separates(sentence, at):
            cases.append(_use_case(sentence, piece))
            piece = []
        elif sentence.words[at] not in BREAKS:
            piece.append(at)
    cases.append(_use_case(sentence, piece))
    return [case for case in cases if case]


def _context(sentence: Sentence) -> str | None:
    """Return the first "when … ing" and its like that is not denied."""
    for at, word in enumerate(sentence.words):
        if word in ("when", "for", "during") and not sentence.denied[at]:
            prefixed = sentence.word(at + 2) == "-" and len(sentence.word(at + 1)) <= 3  # "when re-training"
            last = at + 3 if prefixed else at + 1
            if _is_gerund(sentence.word(last)):
                return " ".join(sentence.written(at, last).replace("*", "").split())
    return None


def _separates(sentence: Sentence, at: int) -> bool:
    word, following = sentence.words[at], sentence.word(at + 1)
    if word == "and":
        return _is_gerund(following) or following in ('"', "“")
    if sentence.denied[at] or not sentence.plain[at] or word in (",", ";", "or"):
        return True
    return word in ('"', "“") and sentence.word(at - 1) in ('"', "”")


def _use_case(sentence: Sentence, piece: list[int]) -> str:
    """Fold the words at these places into a use case; ``""`` if nothing but connecting words is left."""
    while piece and sentence.words[piece[0]] in _LEADING:
        piece = piece[1:]
    if all(sentence.words[at] in _NO_USE_CASE or not sentence.words[at].isalnum() for at in piece):
        return ""
    return " ".join(sentence.written(piece[0], piece[-1]).casefold().split())


def _is_gerund(word: str) -> bool:
    """Return whether a word ends in -ing and is an activity: "building", not "string"."""
    return len(word) > 4 and word.endswith("ing") and word.isalpha() and word not in _NO_GERUND
