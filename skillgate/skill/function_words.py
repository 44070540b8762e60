"""Function words: the small closed classes ("the", "when", "pour", "если") that sentences cannot do without."""

from __future__ import annotations


def word_set(*lines: str) -> frozenset[str]:
    """Read words, separated by blanks, as a set: a closed class of words in the form it is easiest to read."""
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
    "a an as at be by can do for has he i in is it me my no of on or over per so to via was we were will may",
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
JOINING = word_set(
    "and or et ou und oder y ve veya och og eller и или та або",
)
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
IDEOGRAPHIC_FUNCTION = frozenset(
    "的了在是不和时時请請将將会會可以这這如当當或用到为為被把从從对對并並就要应應该該与與后後前若来來给給让讓及再先"
)
