"""When a run ends early: after an outage, or at once for what will not change; and who waits is woken."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("tenacity")
pytest.importorskip("jsonschema")
pytest.importorskip("anthropic")

from skillgate.llm.flow import CircuitBreaker, RetryPolicy
from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Answer, Cause, Reply, Status
from tests.llm.requests import asking, connected, request
from tests.llm.server import ModelServer, message, raw, refusal
from tests.llm.table import GOOD, Table, replying

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.exchange import Request


def test_after_five_failures_in_a_row_nothing_is_sent() -> None:
    with ModelServer(refusal(529, "overloaded_error")) as server:
        provider = connected(server.url)
        asker = asking(provider, breaker=CircuitBreaker())
        answers = [asker.ask(request()) for _ in range(8)]
        provider.close()
    assert [answer.cause for answer in answers] == [Cause.SERVER] * 5 + [Cause.STOPPED] * 3
    assert len(server.seen) == 5 * 4
    assert "5 requests in a row" in answers[5].reason
    assert "529" in answers[5].reason
    assert (answers[5].sent, answers[5].cost_usd) == (0, 0.0)


def test_an_answer_in_between_starts_the_count_anew() -> None:
    fail = [raw(b"", status=501)]
    with ModelServer(*(fail * 4), message("no JSON"), *(fail * 4), message()) as server:
        provider = connected(server.url)
        asker = asking(provider, breaker=CircuitBreaker())
        causes = [asker.ask(request()).cause for _ in range(10)]
        provider.close()
    assert causes == [Cause.SERVER] * 4 + [None] + [Cause.SERVER] * 4 + [None]


@pytest.mark.parametrize(
    "error",
    [
        ProviderError(Cause.CREDENTIALS, "the key was refused", status=401),
        ProviderError(Cause.CREDENTIALS, "there is no key"),
        ProviderError(Cause.BILLING, "unpaid", status=402),
    ],
)
def test_what_will_not_change_ends_the_run_at_once(error: ProviderError) -> None:
    asker = asking(Table(replying(error, GOOD)), breaker=CircuitBreaker())
    first, second = asker.ask(request()), asker.ask(request(model="another"))
    assert (first.cause, second.cause, second.sent) == (error.cause, Cause.STOPPED, 0)
    assert str(error) in second.reason


@pytest.mark.parametrize(
    "error",
    [ProviderError(Cause.MODEL, "no model", status=404), ProviderError(Cause.CREDENTIALS, "not yours", status=403)],
)
def test_a_model_that_is_not_there_ends_only_what_asks_it(error: ProviderError) -> None:
    asker = asking(Table(replying(error, GOOD)), breaker=CircuitBreaker())
    answers = [asker.ask(request(model=model)) for model in ("absent", "absent", "present")]
    assert [answer.cause for answer in answers] == [error.cause, Cause.STOPPED, None]


@pytest.mark.parametrize("cause", [Cause.TOO_LONG, Cause.UNKNOWN])
def test_what_is_about_one_request_alone_ends_nothing(cause: Cause) -> None:
    asker = asking(Table(replying(ProviderError(cause, "this one"))), breaker=CircuitBreaker())
    assert {asker.ask(request()).cause for _ in range(20)} == {cause}


def in_the_background(ask: Callable[[], Answer]) -> tuple[threading.Thread, list[Answer]]:
    found: list[Answer] = []
    thread = threading.Thread(target=lambda: found.append(ask()), daemon=True)
    thread.start()
    return thread, found


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "another"])
def test_who_waits_for_another_try_is_woken_when_the_run_ends(model: str) -> None:
    tried = threading.Event()

    def busy(one: Request) -> Reply:
        if one.body["model"] == "no-key":
            raise ProviderError(Cause.CREDENTIALS, "the key was refused", status=401)
        tried.set()
        raise ProviderError(Cause.RATE, "busy", retry_after_s=60, retryable=True)

    asker = asking(Table(busy), policy=RetryPolicy(), breaker=CircuitBreaker())
    thread, found = in_the_background(lambda: asker.ask(request(model=model)))
    assert tried.wait(120)
    asker.ask(request(model="no-key"))
    thread.join(120)
    assert [(answer.status, answer.cause, answer.sent) for answer in found] == [(Status.ERROR, Cause.STOPPED, 1)]


def test_ctrl_c_ends_a_wait() -> None:
    stop, tried = threading.Event(), threading.Event()

    def busy(_: Request) -> Reply:
        tried.set()
        raise ProviderError(Cause.RATE, "busy", retry_after_s=60, retryable=True)

    asker = asking(Table(busy), policy=RetryPolicy(), breaker=CircuitBreaker(stop=stop))
    thread, found = in_the_background(lambda: asker.ask(request()))
    assert tried.wait(120)
    stop.set()
    thread.join(120)
    assert [answer.cause for answer in found] == [Cause.STOPPED]
    assert asker.ask(request()).reason == "the run was interrupted"


def test_a_wait_for_one_model_goes_on_when_another_is_not_there() -> None:
    breaker = CircuitBreaker()
    breaker.failed(ProviderError(Cause.MODEL, "no model", status=404), "absent")
    breaker.pause(0.01, "present")
    assert breaker.reason("present") is None


def test_many_threads_fail_together_and_each_has_an_answer() -> None:
    with ModelServer(refusal(500, "api_error")) as server:
        provider = connected(server.url)
        asker = asking(provider, breaker=CircuitBreaker())
        running = [in_the_background(lambda: asker.ask(request())) for _ in range(24)]
        for thread, _ in running:
            thread.join(120)
        provider.close()
    answers = [answer for _, found in running for answer in found]
    assert len(answers) == 24
    assert {answer.cause for answer in answers} <= {Cause.SERVER, Cause.STOPPED}
    assert sum(answer.sent for answer in answers) == len(server.seen)
    assert asker.ask(request()).cause is Cause.STOPPED


REFUSED = ProviderError(Cause.REQUEST, "not as it should be", status=400)


def about(subject: str, **changes: Any) -> Request:
    return request(**changes)._replace(subject=subject)


def failing_for(subjects: set[str], error: ProviderError = REFUSED) -> Callable[[Request], Reply]:
    """Fail what is about these, and answer all else."""

    def answer(one: Request) -> Reply:
        if one.subject in subjects:
            raise error
        return GOOD

    return answer


@pytest.mark.parametrize("error", [REFUSED, ProviderError(Cause.REPLY, "no message")])
def test_a_skill_whose_requests_are_refused_ends_its_own_alone(error: ProviderError) -> None:
    asker = asking(Table(failing_for({"hostile"}, error)), breaker=CircuitBreaker())
    causes = [asker.ask(about("hostile")).cause for _ in range(7)]
    assert causes == [error.cause] * 5 + [Cause.STOPPED] * 2
    assert asker.ask(about("harmless")).cause is None
    last = asker.ask(about("hostile"))
    assert (last.cause, last.sent) == (Cause.STOPPED, 0)
    assert "for this skill" in last.reason


def test_a_skill_that_nearly_ends_itself_ends_nobody_with_anothers_single_failure() -> None:
    asker = asking(Table(failing_for({"hostile", "unlucky"})), breaker=CircuitBreaker())
    for _ in range(4):
        asker.ask(about("hostile"))
    asker.ask(about("unlucky"))
    assert asker.ask(about("harmless")).cause is None


def test_an_answer_about_another_skill_does_not_start_a_skills_count_anew() -> None:
    asker = asking(Table(failing_for({"hostile"})), breaker=CircuitBreaker())
    causes = []
    for _ in range(6):
        causes.append(asker.ask(about("hostile")).cause)
        asker.ask(about("harmless"))
    assert causes == [Cause.REQUEST] * 5 + [Cause.STOPPED]


def test_what_is_refused_for_every_skill_ends_the_run() -> None:
    asker = asking(Table(replying(REFUSED)), breaker=CircuitBreaker())
    causes = [asker.ask(about(f"skill-{number}")).cause for number in range(7)]
    assert causes == [Cause.REQUEST] * 5 + [Cause.STOPPED] * 2


def test_an_outage_ends_the_run_whatever_skill_it_met() -> None:
    asker = asking(Table(failing_for({"first"}, ProviderError(Cause.SERVER, "overloaded", status=529))))
    asker.breaker = CircuitBreaker()
    for _ in range(5):
        asker.ask(about("first"))
    assert asker.ask(about("second")).cause is Cause.STOPPED


def test_sessions_that_a_skill_makes_fail_end_no_other_skills() -> None:
    late = ProviderError(Cause.NETWORK, "the session did not end within 600 s", lost=True)
    asker = asking(Table(failing_for({"hostile"}, late)), breaker=CircuitBreaker())
    causes = [asker.ask(about("hostile", runner="agent-sdk")).cause for _ in range(6)]
    assert causes == [Cause.NETWORK] * 5 + [Cause.STOPPED]
    assert asker.ask(about("harmless", runner="agent-sdk")).cause is None


def test_who_waits_about_a_skill_is_woken_when_that_skill_is_stopped() -> None:
    tried = threading.Event()

    def busy(one: Request) -> Reply:
        if one.question == "refused":
            raise REFUSED
        tried.set()
        raise ProviderError(Cause.RATE, "busy", retry_after_s=60, retryable=True)

    asker = asking(Table(busy), policy=RetryPolicy(), breaker=CircuitBreaker())
    thread, found = in_the_background(lambda: asker.ask(about("hostile")))
    assert tried.wait(120)
    for _ in range(5):
        asker.ask(about("hostile", question="refused"))
    thread.join(120)
    assert [(answer.cause, answer.sent) for answer in found] == [(Cause.STOPPED, 1)]
