"""Words, language and prose, in the scripts and shapes that skills are written in."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from skillgate.model.skill import Language
from skillgate.skill.language import language_of, reads_as_prose, sentences_of, word_count

if TYPE_CHECKING:
    from collections.abc import Callable

PROSE = [
    "Run the tests before you commit.",
    "Never commit secrets.",
    "Install dependencies using pip.",
    "Retry transient errors such as timeouts; give up on the permanent ones.",
    "Scan agent skills for security issues before adoption. Detects prompt injection, malicious code, and leaks.",
    "Comprehensive patterns for compiled binaries, assembly code, and program logic of every kind.",
    "Check that every link resolves.",
    "The report lists each file, its size, its owner, its age, its type and the reason for keeping it.",
    "Lancez les tests avant de valider vos modifications.",
    "Führen Sie die Tests aus, bevor Sie etwas einchecken.",
    "Ejecuta las pruebas antes de confirmar los cambios.",
    "Esegui i test prima di salvare le modifiche.",
    "Uruchom testy przed zatwierdzeniem zmian.",
    "Değişiklikleri göndermeden önce testleri çalıştırın.",
    "Voer de tests uit voordat je iets vastlegt.",
    "Kör testerna innan du sparar.",
    "Futtasd le a teszteket, mielőtt elmented.",
    "Запустите тесты перед тем, как сохранить изменения.",
    "提交之前请先运行测试。",
    "运行 npm install --save-dev typescript @types/node 来安装依赖。",
    "コミットする前にテストを実行してください。",
    "커밋하기 전에 테스트를 실행하고 결과를 확인하세요.",
    "รันการทดสอบก่อนที่คุณจะบันทึก",
    "הרץ את הבדיקות לפני שאתה שומר",
]

KEYWORDS = [
    "",
    "output",
    "Output format",
    "input output format returns produces parameters arguments",
    "pdf, docx, xlsx, invoices, receipts",
    "Input. Output. Format. Returns. Produces.",
    "Input output format. Returns produces parameters. Arguments.",
    "use run create build test deploy configure debug",
    "Use. Run. Create. Build.",
    "Keywords: branding, corporate identity, visual identity, styling, brand colors, typography, visual design",
    "Allowed types: feat, fix, ref, perf, docs, test, build, ci, chore, style, meta, license, and revert.",
    "the keyword " * 20,
    "--- | --- | ---",
    "1 2 3 4 5 6 7",
    "ввод вывод формат параметры",
    "输入、输出、格式、返回、参数、结果",
    "입력, 출력, 형식, 반환",
]


@pytest.mark.parametrize("text", PROSE)
def test_instructions_read_as_prose_in_any_language(text: str) -> None:
    assert reads_as_prose(text)


@pytest.mark.parametrize("text", KEYWORDS)
def test_keyword_lists_do_not_however_they_are_dressed(text: str) -> None:
    assert not reads_as_prose(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("  \n\t ", 0),
        ("Run the tests.", 3),
        ("don't re-run well-known | --- | 42 tests", 4),
        ("Ça marche déjà", 3),
        ("运行测试", 2),
        ("运行 npm test 测试", 4),
        ("本", 1),
        ("テストする", 3),
        ("หนังสือ", 4),
        ("테스트를 실행하세요", 2),
        ("запустите тесты", 2),
    ],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert word_count(text) == words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Use for PDF files", Language.ENGLISH),
        ("USE WHEN THE FILE IS A PDF", Language.ENGLISH),
        ("Works with the DE, ES, LA and EL locales", Language.ENGLISH),
        ("The de facto standard for la carte menus and the du jour ones", Language.ENGLISH),
        ("Traite les fichiers et les formulaires pour vous", Language.OTHER),
        ("Gebruik deze skill wanneer de gebruiker een bestand wil omzetten of samenvoegen in een map", Language.OTHER),
        ("Bruk denne når brukeren ber om å lage et dokument", Language.OTHER),
        ("PDF dosyalarını düzenlemek için bir araç", Language.OTHER),
        ("Обрабатывает файлы PDF", Language.OTHER),
        ("处理 PDF 和 Word 文件", Language.OTHER),
        ("PDF を編集します", Language.OTHER),
        ("input output format returns", Language.UNKNOWN),
        ("", Language.UNKNOWN),
        ("42 %", Language.UNKNOWN),
    ],
)
def test_the_language_shows_in_letters_and_function_words(text: str, language: Language) -> None:
    assert language_of(text) is language


def test_sentences_end_where_a_reader_ends_them() -> None:
    text = 'See e.g. SKILL.md of 2.2 (v. 3). Ask "why?" or not! Use:\n- a.\n- b.\n\nDone wrapped\nhere.\n\nEnd。再'
    words = [" ".join(word for word, _, _ in sentence) for sentence in sentences_of(text) if sentence]

    assert words == [
        "see e g skill md of 2 2 ( v",
        "3 )",
        'ask " why " or not',
        "use : ; a ; b",
        "done wrapped here",
        "end",
        "再",
    ]


def test_the_offsets_of_a_word_are_those_of_the_text() -> None:
    text = "Don’t — use «it», when\n* USING it"

    for sentence in sentences_of(text):
        for word, start, end in sentence:
            assert word == ";" or text[start:end].lower().replace("’", "'") == word


@pytest.mark.parametrize("unit", ["use the thing ", "a", ",", " ", ". ", "'", "测试的", "การ", "слово и ", "- a\n"])
@pytest.mark.parametrize("judge", [word_count, language_of, reads_as_prose])
def test_a_megabyte_takes_no_time_to_speak_of(judge: Callable[[str], object], unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()

    judge(text)

    assert time.process_time() - started < 3.0  # 0.3 s in practice; what is quadratic takes hours
