"""What a text shows without a model: how many words it has, whether it is English, whether it reads as prose.

Everything here is decided by function words, the small closed class ("the", "when", "pour", "если") that sentences
cannot do without and keyword lists do not have. All of it is linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter

from skillgate.model.skill import Language


def word_set(*lines: str) -> frozenset[str]:
    """Read words, separated by spaces, as a set: a closed class of words in the form it is easiest to read."""
    return frozenset(" ".join(lines).split())


ENGLISH = word_set(
    "the and that this these those when whenever if it its are been you your they them their from with into onto",
    "which what how why where while before after not should must would could have does did only then than but",
    "because unless until without any all each every there here who whose both either neither never always also",
    "just such using whether between through during against about across within instead don doesn isn won user's",
    "our us up out off",
)
# English words that are words of another language as well: they show English only where that language is not seen.
SHARED = word_set(
    "a an as at be by can do for has he i in is it me my no of on or over per so to via was we were will may"
)
PLAIN = ENGLISH | SHARED
OTHER = word_set(
    # French
    "le la les l d des du un une et est sont dans pour avec sur qui que qu ne pas ce cette ces vous votre si ou",
    "où lorsque quand lors afin avant après sans chaque tous toutes aux au il elle nous",
    # German, Dutch
    "der das den dem ein eine einen einem einer und oder ist sind nicht mit für auf von zu zum zur wenn bei aus",
    "nach vor wird werden kann sie diese dieser dieses alle auch durch het een en niet wanneer voor naar deze dit",
    "je zijn als bij wordt worden uit om te moet kunnen altijd",
    # Spanish, Portuguese, Italian, Catalan, Romanian
    "el los las y en de con por para del al lo su sus es son se no más cuando como este esta antes después sin",
    "cada siempre um uma os e o ao do da dos das na nos nas quando ou não com mais você ele ela são seu sua isso",
    "il gli che di non per sono alla della delle nel nella dei una uno ogni dopo prima și să sau pentru cu din",
    "când care",
    # Polish, Czech, Slovak, Croatian
    "w z i na się nie jest są że jeśli lub oraz dla przed po od przez przy gdy kiedy ten ta tego aby czy każdy",
    "zawsze je jsou se si pokud když nebo pro před při ale které který ako keď alebo ili kada koji nakon prije",
    # Turkish, Hungarian, Finnish
    "ve bir bu için ile veya olarak eğer sonra önce olan daha her da ya değil gibi kadar zaman ne az és egy hogy",
    "nem ha vagy van meg ezt mindig ja ei tai että jos kun ovat sekä myös ennen jälkeen aina",
    # Danish, Norwegian, Swedish
    "og det som er ikke til af av på med når hvis den denne dette et eller skal och att är inte för när om ett",
    "detta innan efter alltid å",
    # Indonesian, Vietnamese
    "yang dan untuk dengan dari ini jika ketika atau tidak harus và của cho khi các là được này hoặc nếu không",
    "trước",
) - (ENGLISH | SHARED)
CYRILLIC = word_set(
    "и в на не для с со что если по из к от до при как это этот эту или когда перед после все его их она он мы вы",
    "чтобы только также за о об у бы же без но а нужно та і й що якщо це або коли з із від під як є су је се да",
    "ако када със че когато преди след",
)
# Words that join the items of a list as readily as the clauses of a sentence.
JOINING = word_set("and or et ou und oder y ve veya och og eller и или та або")
# What instructions are made of besides: a sentence that opens with one of these is an order, and terse prose leans on
# the rest. They are too much like keywords to tell a language by.
ORDERS = word_set(
    "add apply ask avoid build call check choose configure confirm consider copy create define describe document",
    "ensure explain extract find fix follow generate get give identify implement include keep let list load look",
    "make measure open prefer prevent provide put read record remove replace report respect return review run",
    "save scan see select send set show skip start state stop store test track treat try update use validate",
    "verify wait write",
)
CONNECTING = word_set(
    "including like more most many some few other another same one two several vs plus e.g i.e next enough",
    "already uses used makes helps means needs need covers requires rather than yet under above below along",
)
# English words of titles and lists of keywords that other languages do not spell so.
TOPICS = word_set(
    "skill skills builder builds best practices tools guide guides guidelines helper helpers writer reviewer runbook",
    "commander engineering engineer patterns principles knowledge workflow workflows checklist checklists standards",
    "rules management analysis security performance reference development developer developers review reviews testing",
    "tests programming design designer architecture deployment database databases network files commands queries code",
    "quality frontend backend server servers library libraries framework frameworks game web mobile cloud app apps",
    "automation integration optimization validation documentation implementation configuration authentication",
    "reader maker runner checker finder creator toolkit handbook playbook release essentials",
)
IDEOGRAPHIC_FUNCTION = frozenset(
    "的了在是不和时時请請将將会會可以这這如当當或用到为為被把从從对對并並就要应應该該与與后後前若来來给給让讓及再先"
)


# Where the letters of scripts without spaces begin and end, end exclusive, in order: Thai and Lao, Tibetan, Burmese,
# Khmer, radicals, ideographic marks, kana, kana extensions, ideographs (three planes of them), half-width kana. Not a
# regular expression: compiling this class costs eight milliseconds at every start.
_SPACELESS = (
    "\u0e01\u0f00\u0f40\u0fbd\u1000\u10a0\u1780\u17d4\u2e80\u2fe0\u3005\u3008\u3041\u3100\u31f0\u3200\u3400\u4dc0"
    "\u4e00\ua000\uf900\ufb00\uff66\uffa0\U00020000\U00040000"
)
_SPACELESS_PER_WORD = 2  # written Chinese has about 1.5 characters a word, Japanese 2, Thai 4
_FEW = 8  # letters that are cheaper to count one by one
_SAMPLE = 20_000  # characters; what text is shows long before that


_MIN_PROSE_WORDS = 3
# Shares of function words. Of 2,064 paragraphs of published skills half stand above 0.33 and 95 % above 0.10; lists of
# keywords stand at 0.
_MIN_SHARE = 0.06
_MIN_SHARE_OF_LIST = 0.07  # where the text is cut into items of three words or fewer
_LIST_CUTS = 0.3  # separators a word
_JOINING_WEIGHT = 0.5
_GERUND = 5  # letters that a word in "ing" must exceed: "thing", "bring" and "using" alone show nothing
_SERIES = 8  # words of a sentence that enumerates phrases, and
_SERIES_PHRASE = 2.5  # how many each phrase must have on average
_LONG = 9  # words; text this long with one function word, however often, is no sentence
_VARIED, _DENSE = 3, 0.25  # so few different function words are stuffing, unless they stand as thick as in a sentence
_GOVERNING = word_set("not never only to don't do should must can will may and or please always then")
_PHRASE = 3  # words between separators that a script without a list of function words must have on average

Token = tuple[str, int, int]  # a word or mark in lower case, with its offsets in the text, end exclusive
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|\n\s*(?:[-*+]\s|•\s|\d{1,3}[.)]\s)?|(?!’)[^\w\s`*#_>~']")
_RUN = re.compile(r"[^\W\d_]\S*")  # from the first letter of a run to its end: one match for each run with a letter
_WORD = re.compile(r"[^\W_](?:\S*[^\W_])?")  # a run without the punctuation at its ends
_CUT = r"[,;.](?=\s)"
_CUT_ANYWHERE = r"[,;.،؛।](?=\s)"  # a class of so many scripts takes long to compile
_END = "\n"
_NARROW = dict(zip("，；：、（）", ",;:,()", strict=True))
_CLOSING = "\"”’')]*`_"


def word_count(text: str) -> int:
    """Count the words of running text in any script.

    A word is a run between white space that holds a letter. In scripts that write no spaces two characters are a
    word, and so is a single one.
    """
    spaceless = _spaceless(text)
    if spaceless:
        text = text.translate(dict.fromkeys(map(ord, spaceless), " "))
    return len(_RUN.findall(text)) + -(-sum(spaceless.values()) // _SPACELESS_PER_WORD)


def language_of(text: str) -> Language:
    """Distinguish English from anything else, by the first 20,000 characters.

    One English function word is enough if no other language shows. Another language must have more than twice as many,
    and at least three if there is any English word. So "de facto" or a list of country codes changes nothing.
    Without any function word a common word of titles shows English: "Incident Commander Skill".
    """
    sample = text[:_SAMPLE]
    latin, foreign = _letters(sample)
    if foreign > latin:
        return Language.OTHER
    words = _words(sample)
    folded = [word.casefold() for word in words]
    english = sum(1 for word in folded if word in ENGLISH)
    shared = sum(1 for word in folded if word in SHARED)
    found = [low for word, low in zip(words, folded, strict=True) if low in OTHER and not _is_code(word)]
    other = len(found)
    if len(set(found)) > 1 and other > 2 * english and other >= (3 if english else shared):
        return Language.OTHER
    if english or shared:
        return Language.ENGLISH
    plain = sample.isascii() and len(set(found)) < 2 and any(word in TOPICS or _is_gerund(word) for word in folded)
    return Language.ENGLISH if plain else Language.UNKNOWN


def reads_as_prose(text: str) -> bool:
    """Return whether a block (a paragraph, a list item, a table row) is sentences, not a list of keywords.

    A text is prose when enough of its words are function words other than "and" and "or", which lists have too; full
    stops prove nothing. For scripts without a list of function words the length of the phrases between commas decides.
    Fragments of fewer than three words are not prose. The first 20,000 characters decide.
    """
    text = text[:_SAMPLE]
    if _is_plainly_english(text):
        return True
    if _spaceless_prose(text):
        return True
    latin, foreign = _letters(text)
    if foreign > latin and not _is_cyrillic(text):
        return len(_words(text)) >= _PHRASE * (1 + _cuts(text)) and not _spaceless(text)
    words = _words(text.casefold())
    if len(words) < _MIN_PROSE_WORDS:
        return False
    if _is_gerund(words[0]) and not any(map(_is_gerund, words[1:3])):
        return True
    if _is_series_of_phrases(text, words):
        return True
    function = [word for word in words if _is_function_word(word)]
    different = len(set(function)) + any(word in JOINING for word in words)
    if len(words) >= _LONG and (different < 2 or (different < _VARIED and len(function) < _DENSE * len(words))):
        return False
    if _cuts(text) >= _LIST_CUTS * len(words):
        return len(function) >= _MIN_SHARE_OF_LIST * len(words)
    joining = sum(1 for word in words if word in JOINING)
    order = words[0] in ORDERS and words[1] not in ORDERS
    return len(function) + joining * _JOINING_WEIGHT + order >= _MIN_SHARE * len(words)


def _is_plainly_english(text: str) -> bool:
    """Check quickly what most blocks are: one English function word in eight, and at least three different ones.

    A short text without commas needs one alone, as it does below.
    """
    words = text.lower().split()
    found = [word for word in words if word in PLAIN]
    if len(words) < _LONG and "," not in text and ";" not in text:
        return bool(found) and len(words) >= _MIN_PROSE_WORDS
    return len(found) * 8 >= len(words) and len(set(found)) >= 3


def _is_gerund(word: str) -> bool:
    """Return whether a word is like "upgrading": such a word makes a list item an activity, not a keyword."""
    return len(word) > _GERUND and word.endswith("ing")


def _is_series_of_phrases(text: str, words: list[str]) -> bool:
    """Return whether a sentence enumerates phrases of several words, joined by "and" or "or"; else it is a list."""
    cuts = _cuts(text)
    joined = any(word in JOINING for word in words)
    return joined and cuts >= 1 and len(words) >= max(_SERIES, _SERIES_PHRASE * (1 + cuts))


def _is_function_word(word: str) -> bool:
    """Return whether a folded word belongs to the frame of a sentence in any language; "and" and "or" do not."""
    return word not in JOINING and (
        word in ENGLISH or word in SHARED or word in CONNECTING or word in OTHER or word in CYRILLIC
    )


def _is_cyrillic(text: str) -> bool:
    """Return whether the text is mostly Cyrillic where it is not Latin."""
    high = [char for char in text if char > "\u02af" and char.isalpha()]
    return 2 * sum(1 for char in high if "\u0400" <= char <= "\u04ff") >= len(high)


def _spaceless_prose(text: str) -> bool:
    """Chinese by its function characters, Japanese by its hiragana, Thai and its like by the length of the phrases.

    Latin names and commands may be between the characters, as in every technical text.
    """
    letters = _spaceless(text)
    total = sum(letters.values())
    if total < 2 * _MIN_PROSE_WORDS:
        return False
    if 2 * sum(count for char, count in letters.items() if char >= "\u2e80") < total:
        return total >= 4 * _PHRASE * (1 + _cuts(text))
    function = sum(n for char, n in letters.items() if char in IDEOGRAPHIC_FUNCTION or "ぁ" <= char <= "ん")
    return function >= max(1, _MIN_SHARE / 2 * total)


def _spaceless(text: str) -> dict[str, int]:
    """Count each letter of the scripts that write no spaces."""
    if text.isascii():
        return {}
    found = [char for char in set(text) if char >= _SPACELESS[0] and bisect_right(_SPACELESS, char) % 2]
    return {char: text.count(char) for char in found} if len(found) < _FEW else _counted(text, found)


def _counted(text: str, wanted: list[str]) -> dict[str, int]:
    counts = Counter(text)
    return {char: counts[char] for char in wanted}


def _cuts(text: str) -> int:
    """Count the places between two words where a list could be cut, in any script, without the end of the text."""
    if text.isascii():
        return len(re.findall(_CUT, text.rstrip()))
    return len(re.findall(_CUT_ANYWHERE, text.rstrip())) + sum(text.count(mark) for mark in "、，；・")


def _letters(text: str) -> tuple[int, int]:
    """Count Latin and other letters; an ideograph or kana counts as three, for two make a word."""
    if text.isascii() or not any(char > "\u02af" and char.isalpha() for char in set(text)):
        return 1, 0
    high = [char for char in text if char > "\u02af" and char.isalpha() and not "\u1e00" <= char <= "\u1eff"]
    latin = sum(1 for char in text if char <= "\u02af" and char.isalpha())
    return latin, len(high) + 2 * sum(1 for char in high if "\u2e80" <= char < "\ua000")


def _words(text: str) -> list[str]:
    """Split text into words without their punctuation; an elided article (l', d') is a separate word."""
    return _WORD.findall(text.replace("’", " ").replace("'", " ").replace("—", " "))


def _is_code(word: str) -> bool:
    """Country and language codes in capitals (DE, ES, LA) are no function words."""
    return len(word) > 1 and word.isupper()


def sentences_of(text: str) -> list[list[Token]]:
    """Cut text into sentences of words and marks.

    A bulleted list belongs to the sentence whose colon opens it, each bullet a ``;``. A dash between spaces is ``—``.
    Markup, and full stops that end nothing ("e.g.", "SKILL.md", "2.2"), are left out. Some sentences may be empty.
    """
    sentences: list[list[Token]] = [[]]
    listing = False
    for match in _TOKEN.finditer(text):
        last = sentences[-1]
        mark = _mark(text, match, last[-1][0] if last else "")
        if match[0][0] == "\n":
            opened = bool(last) and last[-1][0] == ":"
            bullet = bool(match[0].strip())
            if bullet and (opened or listing):
                listing, mark = True, ";"
                if not last and len(sentences) > 1:  # a full stop inside the list
                    sentences.pop()
            elif opened:
                continue
            listing = listing and mark != _END
        if mark == _END or (last and match[0] == "Use" and _opens_unmarked(text, match.end(), last[-1][0])):
            sentences.append([])
        if mark and mark != _END:
            sentences[-1].append((mark, match.start(), match.end()))
    return sentences


def _opens_unmarked(text: str, end: int, before: str) -> bool:
    """Whether "Use when …" begins a sentence although no full stop is before it: "deploys to the cloud Use when …"."""
    following = text[end : end + 10].split()[:1]
    return before.isalnum() and before not in _GOVERNING and following in (["when"], ["whenever"], ["if"])


def _mark(text: str, match: re.Match[str], before: str) -> str:
    """Normalise a token: what ends a sentence, a spaced dash, and ``""`` for a mark that means nothing here."""
    word = _NARROW.get(match[0]) or match[0].lower().replace("’", "'")
    if match[0] in "。！？":
        return _END
    if word[0] == "\n":
        return _END if word.strip() or word.count("\n") > 1 else ""
    if word in ".!?":
        return _END if _ends_sentence(text, match.end(), before) else ""
    if word in "-–—":
        spaced = text[match.start() - 1 : match.start()].isspace() and text[match.end() : match.end() + 1].isspace()
        return "—" if spaced or word != "-" or not match.start() else "-"
    if word == ":" and text[match.end() : match.end() + 1] in ("/", ":"):
        return ""
    return word


def _ends_sentence(text: str, end: int, before: str) -> bool:
    """Return whether a sentence ends here, not an abbreviation, a file name, a number, or a question quoted in it."""
    rest = text[end : end + 8]
    outside = rest.lstrip(_CLOSING)
    if outside and not outside[0].isspace():
        return False
    if before in ("g", "e", "vs", "cf"):  # the last letter of "e.g." and "i.e."
        return False
    goes_on = outside.lstrip()[:1].islower()
    return not (goes_on and (before == "etc" or len(outside) < len(rest)))
