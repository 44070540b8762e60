"""A recording: what one run was answered, another run is answered, without a model."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("anthropic")
pytest.importorskip("tenacity")

from skillgate.errors import UsageError
from skillgate.llm.port import Connection
from skillgate.llm.prices import Budget
from skillgate.llm.providers import replay
from skillgate.llm.providers.replay import Recorder, read
from skillgate.model.exchange import Answer, Cause, Reply, Status, Tokens
from tests.llm.requests import KEY, SKILL, asking, connected, request
from tests.llm.server import ModelServer, echo_headers, message, refusal

if TYPE_CHECKING:
    from pathlib import Path

FILE = "run.jsonl"


def recorder(folder: Path) -> Recorder:
    return Recorder(FILE, cwd=str(folder), now=lambda: 1_800_000_000.0)


def replayed(folder: Path) -> replay.Replay:
    return replay.connect(Connection({}, file=FILE, cwd=str(folder)))


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / FILE).read_text().splitlines()]


def test_a_run_replays_as_it_was_answered(tmp_path: Path) -> None:
    asked = [request(question=name) for name in ("good", "refused", "cut", "wrong", "failed")]
    behaviours = (
        message(),
        message(stop_reason="refusal"),
        message(stop_reason="max_tokens"),
        message("no"),
        refusal(400, "invalid_request_error", "no such thing"),
    )
    record = recorder(tmp_path)
    with ModelServer(*behaviours) as server:
        provider = connected(server.url)
        asker = asking(provider, recorder=record)
        first = [asker.ask(one) for one in asked]
        provider.close()
    record.close()
    again = asking(replayed(tmp_path), budget=Budget(free=True))
    second = [again.ask(one) for one in asked]
    assert [answer.status.value for answer in first] == ["ok", "refused", "truncated", "invalid", "error"]
    assert [(one.status, one.value, one.reply, one.cause) for one in second] == [
        (one.status, one.value, one.reply, one.cause) for one in first
    ]
    assert [one.cost_usd for one in second] == [0.0] * 5
    assert "no such thing" in second[4].reason


def test_a_replay_is_never_live(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("")
    provider = replayed(tmp_path)
    assert (provider.name, provider.live) == ("replay", False)


def test_what_is_not_recorded_is_unknown(tmp_path: Path) -> None:
    record = recorder(tmp_path)
    record.record(request(), good(), replay.Replay({}, ""))
    record.close()
    asker = asking(replayed(tmp_path))
    assert asker.ask(request()).status is Status.OK
    for other in (
        request(max_tokens=8193),
        request(model="another"),
        request()._replace(sample=1),
        request()._replace(prompt_version="2"),
        request()._replace(rubric_version="2"),
    ):
        answer = asker.ask(other)
        assert (answer.status, answer.cause, answer.sent) == (Status.ERROR, Cause.UNKNOWN, 1)
        assert "holds no answer" in answer.reason


def good(text: str = '{"score": 7}') -> Answer:
    reply = Reply(({"type": "text", "text": text},), "end_turn", Tokens(1, 2, 3, 4), "m", "r")
    return Answer(Status.OK, {"score": 7}, reply, sent=1)


def test_a_line_says_what_it_is_and_holds_neither_skill_nor_key(tmp_path: Path) -> None:
    record = recorder(tmp_path)
    with ModelServer(message(), echo_headers(400), echo_headers(401)) as server:
        provider = connected(server.url)
        asker = asking(provider, recorder=record)
        for name in ("a", "b", "c"):
            asker.ask(request(question=name))
        provider.close()
    record.close()
    text = (tmp_path / FILE).read_text()
    assert SKILL not in text
    assert KEY[:12] not in text
    first, second, third = lines(tmp_path)
    assert {name: first[name] for name in ("question", "subject", "provider", "live", "model", "date", "status")} == {
        "question": "a",
        "subject": "skills/a",
        "provider": "anthropic",
        "live": True,
        "model": "claude-sonnet-5-5",
        "date": "2027-01-15T08:00:00+00:00",
        "status": "ok",
    }
    assert (second["error"]["cause"], third["error"]["cause"]) == ("request", "credentials")


def test_what_no_provider_said_is_not_recorded(tmp_path: Path) -> None:
    record = recorder(tmp_path)
    with ModelServer(message()) as server:
        provider = connected(server.url)
        asking(provider, budget=Budget(max_calls=0), recorder=record).ask(request())
        stopped = asking(provider, recorder=record)
        stopped.breaker.trip("enough")
        stopped.ask(request())
        provider.close()
    record.close()
    assert lines(tmp_path) == []


def test_the_last_answer_to_a_request_counts(tmp_path: Path) -> None:
    record = recorder(tmp_path)
    for text in ("old", "new"):
        record.record(request(), good(text), replay.Replay({}, ""))
    record.close()
    assert replayed(tmp_path).send(request(), timeout_s=1).text == "new"


def test_a_record_whose_counts_cannot_be_is_none(tmp_path: Path) -> None:
    record = recorder(tmp_path)
    record.record(request(), good(), replay.Replay({}, ""))
    record.close()
    (line,) = lines(tmp_path)
    line["reply"]["tokens"] = [10**400, 1, 0, 0]
    (tmp_path / FILE).write_text(json.dumps(line))
    with pytest.raises(UsageError, match="neither a reply nor an error"):
        replayed(tmp_path)


def test_runs_append_and_recordings_differ_by_what_they_hold(tmp_path: Path) -> None:
    digests = set()
    for number in range(3):
        record = recorder(tmp_path)
        record.record(request(question=str(number)), good(), replay.Replay({}, ""))
        record.close()
        digests.add(replayed(tmp_path).endpoint)
    assert len(lines(tmp_path)) == len(digests) == 3


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    record = recorder(tmp_path)
    text = "x" * 20_000

    def write(number: int) -> None:
        for sample in range(20):
            asked = request(question=str(number))._replace(sample=sample)
            record.record(asked, good(text), replay.Replay({}, ""))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    record.close()
    recorded, _ = read(FILE, cwd=str(tmp_path))
    assert record.failure is None
    assert len(recorded) == 160


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b'{"format": 1, "requ')
    record = recorder(tmp_path)
    record.record(request(), good(), replay.Replay({}, ""))
    record.close()
    _, whole = (tmp_path / FILE).read_text().splitlines()
    assert json.loads(whole)["question"] == "output_quality"
    with pytest.raises(UsageError, match=r"run\.jsonl:1: not a line of JSON"):
        replayed(tmp_path)


def test_what_comes_after_the_end_is_written_nowhere(tmp_path: Path) -> None:
    record = recorder(tmp_path)
    record.close()
    with (tmp_path / "another").open("wb"):  # takes the number that was freed
        record.record(request(), good(), replay.Replay({}, ""))
    record.close()
    assert record.failure is None
    assert (tmp_path / FILE).read_bytes() == (tmp_path / "another").read_bytes() == b""


def changed(**fields: Any) -> bytes:
    base = {"format": 1, "request": "ab", "error": {"cause": "server", "reason": "x"}}
    return json.dumps({**base, **fields}).encode()


REPLY = {
    "content": [],
    "stop_reason": "end_turn",
    "tokens": [1, 2, 3, 4],
    "model": "m",
    "request_id": "",
    "category": "",
}


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"7",
        b"\xff",
        b"[" * 100_000,
        b"{}",
        changed(request=7),
        changed(format=2),
        changed(error={"cause": "nobody", "reason": "x"}),
        changed(error={"cause": "server", "reason": 7}),
        changed(error=None),
        changed(reply=None),
        changed(reply={**REPLY, "content": [7]}),
        changed(reply={**REPLY, "tokens": [1, 2, 3, "x"]}),
        changed(reply={**REPLY, "tokens": [1, 2, 3, -4]}),
        changed(reply={**REPLY, "tokens": 5}),
        changed(reply={**REPLY, "model": None}),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: bytes) -> None:
    (tmp_path / FILE).write_bytes(changed() + b"\n\n" + line + b"\n")
    with pytest.raises(UsageError, match=r"--replay: run\.jsonl:3: "):
        replayed(tmp_path)


def test_a_recording_that_cannot_be_read_or_written_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--replay FILE"):
        replay.connect(Connection({}))
    with pytest.raises(UsageError, match=r"--replay: run\.jsonl cannot be read"):
        replayed(tmp_path)
    with pytest.raises(UsageError, match=r"--record: .* cannot be written"):
        recorder(tmp_path / "absent")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
def test_a_full_disk_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / FILE).symlink_to("/dev/full")
    record = recorder(tmp_path)
    with ModelServer(message()) as server:
        provider = connected(server.url)
        answer = asking(provider, recorder=record).ask(request())
        provider.close()
    record.close()
    assert answer.status is Status.OK
    assert record.failure is not None
    assert "cannot be written" in record.failure


def test_a_large_recording_is_read_soon(tmp_path: Path) -> None:
    record = recorder(tmp_path)
    for sample in range(2_000):
        record.record(request()._replace(sample=sample), good("x" * 3_000), replay.Replay({}, ""))
    record.close()
    began = time.process_time()
    recorded, _ = read(FILE, cwd=str(tmp_path))
    assert len(recorded) == 2_000
    assert time.process_time() - began < 5.0
