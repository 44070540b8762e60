"""Terms and BM25: what folds together, what ranks first, and what a query costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.skill.similarity import LONGEST, WIDEST, Index, Match, terms


def keys(matches: tuple[Match, ...]) -> tuple[str, ...]:
    return tuple(match.key for match in matches)


@pytest.mark.parametrize(
    "forms",
    [
        "file files filed filing",
        "parse parses parsed parsing",
        "use uses used using",
        "run runs running",
        "apply applies applied applying",
        "add adds added adding",
        "class classes",
        "query queries querying",
        "call calls called calling",
        "status statuses",
        "API APIs",
    ],
)
def test_the_forms_of_a_word_are_one_term(forms: str) -> None:
    assert len(terms(forms)) == len(forms.split())
    assert len(set(terms(forms))) == 1


@pytest.mark.parametrize("words", ["string thing bring", "need speed feed seed", "css aws dns", "run ruin rain"])
def test_other_words_stay_apart(words: str) -> None:
    assert len(set(terms(words))) == len(words.split())


def test_hyphens_and_underscores_split_and_stop_words_go() -> None:
    assert terms("The pdf-form_v2, and when it's NOT a pdf") == ("pdf", "form", "v2", "pdf")


def test_a_possessive_is_its_word() -> None:
    assert terms("user's user’s users") == ("user", "user", "user")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("文件处理", ("文件", "件处", "处理")),
        ("処理する", ("処理", "理す", "する")),
        ("字", ("字",)),
        ("使用PDF文件", ("使用", "pdf", "文件")),
        ("한국어", ("한국", "국어")),
        ("हिन्दी भाषा", ("हिन्दी", "भाषा")),
        ("STRASSE Straße ПРИВЕТ", ("strass", "strass", "привет")),
        ("ＰＤＦ", ("pdf",)),
        ("e\u0301tude \u00e9tude", ("\u00e9tude", "\u00e9tude")),
    ],
)
def test_every_script_gives_terms(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


@given(st.text())
def test_any_text_gives_the_same_terms_whatever_its_case_and_punctuation(text: str) -> None:
    assert all(terms(text))
    assert terms(f"...{text}!!!") == terms(text)
    assert terms(f"{text} -- {text}") == terms(text) * 2


def test_the_score_is_bm25_worked_out_by_hand() -> None:
    index = Index([("a", "pdf pdf form"), ("b", "pdf"), ("c", "sheet chart")])
    # N = 3, mean length 2; "pdf" stands in two documents, twice in the one of length 3, once in the one of length 1:
    # a: ln(1 + 1.5 / 2.5) · 2 · 2.2 / (2 + 1.2 · (0.25 + 0.75 · 3 / 2)) = 0.470004 · 4.4 / 3.65
    # b: ln(1 + 1.5 / 2.5) · 1 · 2.2 / (1 + 1.2 · (0.25 + 0.75 · 1 / 2)) = 0.470004 · 2.2 / 1.75
    matches = index.rank("pdf")
    assert keys(matches) == ("b", "a")
    assert [match.score for match in matches] == pytest.approx([0.590862, 0.566580], abs=1e-6)


def test_a_rare_word_outweighs_a_common_one_and_is_named_first() -> None:
    index = Index([("x", "convert file"), ("y", "merge file"), ("z", "split file"), ("w", "convert image")])
    (first, *_) = index.rank("convert the merged files")
    assert first.key == "y"
    assert first.shared == ("merge", "file")


def test_shared_words_are_words_and_not_their_folded_forms() -> None:
    index = Index([("a", "parsing files"), ("b", "parses a file")])
    assert index.rank("parsed filing", limit=1)[0].shared == ("file", "parses")


def test_ties_go_by_key_whatever_the_order_given() -> None:
    documents = [("c", "pdf form"), ("a", "pdf form"), ("b", "pdf form")]
    assert keys(Index(documents).rank("form")) == ("a", "b", "c")
    assert Index(documents[::-1]).rank("form", limit=2) == Index(documents).rank("form", limit=2)


def test_two_skills_with_one_description_find_each_other() -> None:
    text = "Extract tables from PDF files. Use when the user asks for tables."
    index = Index([("a", text), ("b", text)])
    (match,) = index.rank(text, exclude="a")
    assert match.key == "b"
    assert {"pdf", "tables", "extract"} <= set(match.shared)


def test_documents_of_one_key_stay_apart_and_are_left_out_together() -> None:
    index = Index([("twin", "pdf form"), ("twin", "pdf"), ("other", "pdf sheet")])
    assert keys(index.rank("pdf")) == ("twin", "other", "twin")
    assert keys(index.rank("pdf", exclude="twin")) == ("other",)


def test_repeating_a_word_in_the_query_changes_nothing() -> None:
    index = Index([("a", "pdf form"), ("b", "sheet")])
    assert index.rank("pdf pdf pdf sheet") == index.rank("sheet pdf")


@pytest.mark.parametrize("query", ["", "the and of", "unheard", "…!?"])
def test_a_query_without_a_known_term_finds_nothing(query: str) -> None:
    assert Index([("a", "pdf form"), ("b", "")]).rank(query) == ()


def test_an_empty_index_and_empty_documents_find_nothing() -> None:
    assert Index([]).rank("pdf") == ()
    assert Index([("a", ""), ("b", "the")]).rank("pdf") == ()


def test_limit_keeps_the_best() -> None:
    index = Index([(f"k{number}", "pdf " + "word " * number) for number in range(9)])
    everything = index.rank("pdf", limit=100)
    assert [len(index.rank("pdf", limit=limit)) for limit in (0, 1, 5, 9, 10)] == [0, 1, 5, 9, 9]
    assert index.rank("pdf") == everything[:5]
    assert list(everything) == sorted(everything, key=lambda match: (-match.score, match.key))


def test_what_most_of_a_large_catalogue_says_makes_no_pair() -> None:
    index = Index([(f"k{number}", f"agent topic{number}") for number in range(30)])
    assert index.rank("agent") == ()
    assert keys(index.rank("agent topic7")) == ("k7",)


def test_ranking_all_of_5000_documents_reads_only_the_postings_they_share() -> None:
    # Each document holds one word of all, one of its group of ten, and three of its own.
    texts = [f"agent group{number // 10} a{number} b{number} c{number}" for number in range(5_000)]
    index = Index([(f"k{number:04}", text) for number, text in enumerate(texts)])
    found = [index.rank(text, exclude=f"k{number:04}") for number, text in enumerate(texts)]
    assert index.postings_read == 5_000 * (10 + 3)
    assert keys(found[1234]) == ("k1230", "k1231", "k1232", "k1233", "k1235")
    assert all(match.shared == (f"group{number // 10}",) for number in range(5_000) for match in found[number])


def test_a_run_of_letters_that_no_word_has_is_left_as_it_is() -> None:
    endless = "ed" * 1_000_000
    assert terms(endless) == (endless,)
    assert terms("x" * (LONGEST - 3) + "ing") == ("x" * (LONGEST - 3) + "ing",)
    assert terms("a" * (LONGEST - 3) + "ing") == ("a" * (LONGEST - 3),)


def test_likeness_is_the_smaller_share_of_the_two_own_scores() -> None:
    index = Index([("a", "pdf form"), ("b", "pdf form sheet chart"), ("c", "image")])
    ((key, share, shared),) = index.alike("a", least=0.0)
    assert (key, shared) == ("b", ("form", "pdf"))
    # N = 3, mean length 7 / 3, each term once. A term of a, two words long, is damped by 1.2 · (0.25 + 0.75 · 6 / 7),
    # one of b by 1.2 · (0.25 + 0.75 · 12 / 7): a shared one weighs 0.470004 · 2.2 / 2.071429 = 0.499178 in a and
    # 0.470004 · 2.2 / 2.842857 = 0.363722 in b, one that only b has 0.980829 · 2.2 / 2.842857 = 0.759036.
    assert share == pytest.approx(2 * 0.499178 / (2 * 0.363722 + 2 * 0.759036), abs=1e-5)
    assert index.alike("b", least=0.0)[0].share == pytest.approx(share)
    assert index.alike("a", least=0.9) == ()


def test_the_same_text_is_wholly_alike_and_an_empty_one_like_none() -> None:
    index = Index([("a", "pdf form"), ("b", "form pdf"), ("c", "sheet"), ("d", "")])
    (twin,) = index.alike("a", least=0.3)
    assert twin.key == "b"
    assert twin.share == pytest.approx(1.0)
    assert index.alike("c", least=0.0) == index.alike("d", least=0.0) == ()


def test_a_rival_is_sought_among_those_given() -> None:
    index = Index([("own", "pdf form"), ("near", "pdf form sheet"), ("far", "pdf"), ("none", "image")])
    own, rival = index.rival("filling a pdf form", "own", {"far", "none"})
    assert rival is not None
    assert (rival.key, rival.shared) == ("far", ("pdf",))
    assert own > rival.score > 0
    assert index.rival("pdf", "none", {"none"}) == (0.0, None)
    assert index.rival("unheard", "own", {"far"}) == (0.0, None)


def test_what_many_say_leads_from_none_of_them_to_another() -> None:
    few = [(f"k{number:03}", f"agent topic{number}") for number in range(WIDEST)]
    others = [(f"x{number:03}", f"thing{number}") for number in range(2 * WIDEST)]
    assert len(Index([*few, *others]).alike("k000", least=0.0, limit=WIDEST)) == WIDEST - 1
    assert Index([*few, ("more", "agent"), *others]).alike("k000", least=0.0) == ()


def test_likeness_of_all_of_5000_documents_reads_few_postings_of_each() -> None:
    texts = [f"common group{number // 200} team{number // 10} a{number} b{number}" for number in range(5_000)]
    index = Index([(f"k{number:04}", text) for number, text in enumerate(texts)])
    found = [index.alike(f"k{number:04}", least=0.1) for number in range(5_000)]
    assert index.postings_read == 5_000 * 10
    assert {len(alike) for alike in found} == {5}


def test_own_words_are_those_said_twice_that_the_other_never_says() -> None:
    index = Index([("a", "PayPal: adds paypal payments and payment forms"), ("b", "stripe payments for Stripe forms")])
    assert index.own_words("a", against="b") == ("paypal",)
    assert index.own_words("b", against="a") == ("stripe",)
    assert index.own_words("a", against="a") == ()
