"""What is masked in texts that are sent to a model, also where they are shortened."""

from __future__ import annotations

import pytest

from skillgate.invocations.masking import MOST, beginning_of, end_of, hidden

KEY = "ghp_" + "R7kQ2mZx9LpW4vTn8BsY3cHd6JfG1aUe5NqK"
PEM = f"-----BEGIN PRIVATE KEY-----\n{'kD8xQ2vLr7mZp4Wn9Tb3' * 60}\n-----END PRIVATE KEY-----"
MASKED = (
    ("The password is hunter2", "The password is …"),
    ("the password for the admin account is hunter2, really", "the password for the admin account is …, really"),
    ("pwd: hunter2", "pwd: …"),
    ("my passphrase is 'correct horse battery'", "my passphrase is '…'"),
    ("I changed the password to s3same!", "I changed the password to …"),
    ("Das Passwort lautet geheim7", "Das Passwort lautet …"),
    ("DB_PASSWORD=hunter2 make", "DB_PASSWORD=… make"),
    ('{"api_key": "abc def"}', '{"api_key": "…"}'),
    ("mysql --password hunter2 db", "mysql --password … db"),
    ("curl -u bob:hunter2 https://x", "curl -u bob:… https://x"),
    ("postgres://bob:hunter2@db/x", "postgres://bob:…@db/x"),
    ("Authorization: Bearer abc.def-123", "Authorization: Bearer …"),
    ("use Zk3vQ9xLr7mTp4Wn8Tb2YcHd", "use …"),
    ("/root/notes and /root, /root.", "~/notes and ~, ~."),
    ("/home/bob.m/x C:\\Users\\bob.m\\x /Users/bob.m", "~/x ~\\x ~"),
)
UNCHANGED = (
    "The password is wrong.",
    "The token is expired, so the password was not changed.",
    "passwords are stored in /etc/root and src/root/x, not in /rooted",
    "See src/components/with/a/rather/long/path2/Name.py",
    "There is no secret; the key is to read it.",
)


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_secrets_and_places_are_masked(text: str, expected: str) -> None:
    assert hidden(text) == expected


@pytest.mark.parametrize("text", UNCHANGED)
def test_ordinary_sentences_are_sent_as_they_are(text: str) -> None:
    assert hidden(text) == text


SECRETS = (KEY[4:], PEM[28:90], "hunter2", "correct horse battery", "s3same!", "geheim7", "abc def", "abc.def-123")
PIECES = {one[at : at + 4] for one in (*SECRETS, "Zk3vQ9xLr7mTp4Wn8Tb2YcHd", "bob.m") for at in range(len(one) - 3)}


@pytest.mark.parametrize("text", [KEY, PEM, *(text for text, _ in MASKED)], ids=lambda text: text[:12])
def test_nothing_that_is_masked_is_cut_in_two(text: str) -> None:
    for place in range(0, len(text) + 2, max(1, len(text) // 60)):
        filled = ("wo " * MOST)[: MOST - place - 1]
        for shown in (beginning_of(f"{filled} {text} {filled * 2}"), end_of(f"{filled * 2} {text} {filled}")):
            assert len(shown) <= MOST
            masked = hidden(shown)
            assert not [piece for piece in PIECES if piece in masked], place


def test_two_keys_at_the_limit_are_both_masked() -> None:
    text = "x " * 1_000 + KEY + PEM * 2 + "word " * 900
    assert hidden(end_of(text)).strip("ord ").count("word") >= 790
    assert "kD8x" not in hidden(end_of(text))
    assert "kD8x" not in hidden(beginning_of("word " * 790 + PEM * 2 + KEY + " x" * 9_000))
