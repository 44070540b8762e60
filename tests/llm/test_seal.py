"""What signs kept answers: where its key comes from, and what a mark holds for."""

from __future__ import annotations

import pytest

from skillgate.errors import UsageError
from skillgate.llm.answers import MIN_CHARACTERS, VARIABLE, Seal, seal_of

SECRET = "sk-ant-0123456789abcdef0123456789abcdef"
OWN = {VARIABLE: SECRET}
API = {"ANTHROPIC_API_KEY": SECRET}


def mark(environ: dict[str, str], provider: str = "anthropic", variable: str = "OPENAI_API_KEY") -> str | None:
    seal = seal_of(environ, provider, variable)
    return None if seal is None else seal.mark(b"a", b"b")


def test_a_mark_holds_for_its_parts_and_key_alone() -> None:
    seal = Seal(b"k" * 32)
    good = seal.mark(b"ab", b"c")
    assert seal.fits(good, b"ab", b"c")
    for parts in ((b"a", b"bc"), (b"abc",), (b"ab", b"c", b""), (b"ab",), (b"c", b"ab")):
        assert not seal.fits(good, *parts)
    for wrong in ("", good[:-1], f"{good}0", good.upper(), "ü\udc80", "0" * 64):
        assert not seal.fits(wrong, b"ab", b"c")
    assert not Seal(b"l" * 32).fits(good, b"ab", b"c")


def test_the_key_of_the_cache_comes_first_and_one_secret_gives_two_keys() -> None:
    assert mark({**API, **OWN}) == mark(OWN) == mark(OWN, "scripted")
    assert mark(OWN) != mark(API)
    assert mark({**API, VARIABLE: "  "}) == mark(API)


def test_an_api_key_signs_for_the_provider_that_takes_it() -> None:
    assert mark(API) == mark(API, "batch") is not None
    assert mark({"OPENAI_API_KEY": SECRET}, "openai-compatible") == mark(API)
    assert mark({"GATEWAY": SECRET}, "openai-compatible", "GATEWAY") == mark(API)
    for provider in ("scripted", "replay", "openai-compatible"):
        assert mark(API, provider) is None


@pytest.mark.parametrize("environ", [
    {},
    {"ANTHROPIC_API_KEY": ""},
    {"ANTHROPIC_API_KEY": "demo"},
    {"ANTHROPIC_AUTH_TOKEN": SECRET},
    {"AWS_BEARER_TOKEN_BEDROCK": SECRET},
])  # fmt: skip
def test_what_is_no_static_key_or_could_be_guessed_signs_nothing(environ: dict[str, str]) -> None:
    assert mark(environ) is None


def test_a_short_key_of_the_cache_is_an_error_that_does_not_repeat_it() -> None:
    with pytest.raises(UsageError, match=VARIABLE) as error:
        seal_of({VARIABLE: "tiger" * 3, **API}, "anthropic", "OPENAI_API_KEY")
    assert "tiger" not in str(error.value)
    assert seal_of({VARIABLE: "x" * MIN_CHARACTERS}, "replay", "") is not None


def test_keys_are_derived_as_rfc_5869_says() -> None:
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(SHA256(), 32, b"skillgate kept answers 1", b"api key").derive(SECRET.encode())
    assert Seal(derived).mark(b"a", b"b") == mark(API)
