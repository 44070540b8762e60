"""The servers of packaged benchmarks: what they answer, who is told of them, and that they end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from collections.abc import Iterator

CALCULATOR = ROOT / "examples/executable/calculator"


class Running(NamedTuple):
    """A server in the foreground of another process, and what it announced."""

    process: subprocess.Popen[str]
    told: Any

    @property
    def url(self) -> str:
        (value,) = self.told["input"].values()
        return str(value["url"])


@contextmanager
def served(word: str, *options: str) -> Iterator[Running]:
    argv = [sys.executable, "-m", "skillgate", "bench", "serve", word, "--json", *options]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Running(process, json.loads(process.stdout.readline()))
        finally:
            process.terminate()
            process.communicate(timeout=120)


@pytest.fixture(scope="module")
def corpus() -> Iterator[str]:
    with served("corpus") as running:
        yield running.url


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    with served("api-integration") as running:  # by the benchmark that needs it
        yield running.url


class Got(NamedTuple):
    status: int
    data: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.data)


def get(url: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> Got:
    request = urllib.request.Request(url, data=body, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return Got(reply.status, reply.read())
    except urllib.error.HTTPError as error:
        with error:
            return Got(error.code, error.read())


def test_documents_are_found_by_their_words_and_read_one_by_one(corpus: str) -> None:
    results = get(f"{corpus}/search?q=quillstone&limit=2").json["results"]
    assert [one["id"] for one in results] == ["quillstone"]
    assert "text" not in results[0]
    assert "brine" in get(f"{corpus}/documents/quillstone").json["text"]
    listed = get(f"{corpus}/documents").json["documents"]
    lines = get(f"{corpus}/corpus.jsonl").data.decode().splitlines()
    assert [one["id"] for one in listed] == [json.loads(line)["id"] for line in lines]
    assert len(listed) == 20


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/search", 400),
        ("/search?q=", 400),
        ("/search?q=a&limit=-1", 400),
        ("/search?q=a&limit=%F0%9F", 400),
        ("/documents/nothing", 404),
        ("/documents/../../etc/passwd", 404),
        ("/elsewhere", 404),
        ("/", 200),
    ],
)
def test_what_the_corpus_does_not_have_is_said_so(corpus: str, path: str, status: int) -> None:
    assert get(corpus + path).status == status


def test_the_corpus_cannot_be_written(corpus: str) -> None:
    assert get(f"{corpus}/documents/quillstone", method="DELETE").status == 405


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("GET", "/parts/p-101", None, {}, 200),
        ("GET", "/parts/p-000", None, {}, 404),
        ("GET", "/parts?page=0", None, {}, 400),
        ("GET", "/status/error", None, {}, 500),
        ("GET", "/status/html", None, {}, 502),
        ("GET", "/status/busy", None, {}, 503),
        ("GET", "/ledger", None, {}, 401),
        ("GET", "/ledger", None, {"Authorization": "Bearer wrong"}, 401),
        ("POST", "/token", b'{"client": "lamplighter", "secret": "no"}', JSON, 401),
        ("POST", "/orders", b'{"part": "p-101", "count": 2}', JSON, 201),
        ("POST", "/orders", b'{"part": "p-103", "count": 1}', JSON, 409),
        ("POST", "/orders", b'{"part": "p-101", "count": true}', JSON, 422),
        ("POST", "/orders", b"{", JSON, 400),
        ("POST", "/orders", b"[" * 100_000, JSON, 400),
        ("POST", "/orders", b"[]", JSON, 400),
        ("POST", "/orders", b"{}", {"Content-Type": "text/plain"}, 415),
        ("POST", "/orders", b"x" * 1_000_001, JSON, 413),
        ("GET", "/orders", None, {}, 405),
        ("DELETE", "/carts/c-9", None, {}, 204),
    ],
)
def test_the_api_answers_by_what_it_is_asked_and_always_the_same(
    api: str, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int
) -> None:
    try:
        first = get(api + path, method=method, body=body, **headers)
    except urllib.error.URLError:
        assert status == 413  # it hangs up on a sender of what it will not read
        return
    assert first.status == status
    assert get(api + path, method=method, body=body, **headers) == first


def test_a_redirect_leads_to_the_thing_and_a_cut_body_is_no_json(api: str) -> None:
    assert get(f"{api}/status/moved").json["name"] == "ash handle"
    with pytest.raises(json.JSONDecodeError):
        get(f"{api}/status/malformed").json  # noqa: B018 - reading it raises


def test_what_is_no_http_ends_its_own_connection_and_no_other(api: str) -> None:
    host, port = api.removeprefix("http://").split(":")
    for words in (
        b"\0\xff\r\n\r\n",
        b"POST /orders HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"",
    ):
        with socket.create_connection((host, int(port)), timeout=10) as raw:
            raw.sendall(words)
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(4096):
                pass
    assert get(f"{api}/parts/p-101").status == 200


def test_it_is_served_on_loopback_alone_until_ctrl_c(tmp_path: Path) -> None:
    with served("corpus") as running:
        variables = running.told["variables"]
        assert variables["SKILLGATE_CORPUS_URL"] == running.url
        assert running.url.startswith("http://127.0.0.1:")
        path = Path(variables["SKILLGATE_CORPUS_PATH"])
        assert path.stat().st_mode & 0o777 == 0o644
        assert get(f"{running.url}/corpus.jsonl").data == path.read_bytes()
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(120) == 130
        assert not path.exists()


def test_it_listens_where_it_is_told_and_not_where_something_else_does(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run(tmp_path, "bench", "serve", "api", "--port", str(port))
        assert done.code == 3
        assert f"127.0.0.1:{port}" in done.err
    with served("api", "--port", str(port)) as running:
        assert running.url == f"http://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nope",), "known: api, corpus"),
        (("../corpus",), "known: api, corpus"),
        (("coding-easy",), "coding-easy needs no server"),
        (("api", "--port", "70000"), "expected a port"),
        (("api", "--port", "-1"), "expected a port"),
    ],
)
def test_what_cannot_be_served_is_refused(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    done = run(tmp_path, "bench", "serve", *words)
    assert (done.code, told in done.err) == (2, True), done.err


def evaluated(cwd: Path, code: str, **changes: Any) -> Any:
    """Evaluate a program on one task of a benchmark that is served; give what it answered."""
    skill(cwd / "s", code)
    benchmark(cwd / "b.json", task(**changes), server="corpus")
    done = run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    (result,) = done.json["reports"][0]["taskResults"]
    assert result["errorKind"] is None, result["error"]
    return result["output"]["value"]


def test_programs_are_told_by_variables_and_by_their_input_and_can_read_the_file(tmp_path: Path) -> None:
    words = "[{k: v for k, v in os.environ.items() if 'CORPUS' in k}, data, open(data['corpus']['path']).read()]"
    variables, data, text = evaluated(tmp_path, "import os\n" + answering(words))
    assert data["corpus"] == {
        "url": variables["SKILLGATE_CORPUS_URL"],
        "path": variables["SKILLGATE_CORPUS_PATH"],
    }
    assert data["n"] == 1
    assert len(text.splitlines()) == 20
    assert not Path(data["corpus"]["path"]).exists()  # the run is over
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(data["corpus"]["url"], timeout=120)


def test_a_plan_names_the_server(tmp_path: Path) -> None:
    words = ("eval", "--skills", str(CALCULATOR), "--benchmark", "web-search-basic", "--dry-run")
    assert "server: corpus, on loopback during the run" in run(tmp_path, *words).out


def test_what_a_task_says_itself_is_not_replaced(tmp_path: Path) -> None:
    data = evaluated(tmp_path, answering("data"), inputData={"corpus": "mine"})
    assert data == {"corpus": "mine"}


def test_two_servers_at_once_are_two() -> None:
    with served("corpus") as one, served("corpus") as other:
        assert one.url != other.url
        assert get(f"{one.url}/documents") == get(f"{other.url}/documents")


def test_a_server_that_is_not_there_is_a_mistake_in_the_benchmark(tmp_path: Path) -> None:
    skill(tmp_path / "s")
    benchmark(tmp_path / "b.json", task(), server="copus")
    for words in (("eval", "--skills", "s", "--benchmark", "./b.json"), ("bench", "validate", "b.json")):
        done = run(tmp_path, *words)
        assert done.code == (2 if words[0] == "eval" else 1)
        assert "server: expected api or corpus" in done.out + done.err


_LIMITED = """\
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
from skillgate.cli.main import entry
sys.argv = ["skillgate", *sys.argv[1:]]
entry()
"""


def test_where_it_cannot_start_nothing_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    skill(tmp_path / "s", answering("1"))
    benchmark(tmp_path / "b.json", task(), server="corpus")
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--format", "csv")
    argv = [sys.executable, "-B", "-c", _LIMITED, *words]  # no file of it may be as large as the corpus
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    (report,) = json.loads(done.stdout)["reports"]
    (result,) = report["taskResults"]
    assert (result["status"], result["errorKind"], result["score"]) == ("skipped", "server", None)
    assert "corpus" in result["error"]
    assert report["summary"]["completionRate"] is None


@pytest.mark.parametrize(("name", "loads"), [("coding-easy", False), ("web-search-basic", True)])
def test_the_server_is_loaded_only_where_a_benchmark_needs_it(tmp_path: Path, name: str, *, loads: bool) -> None:
    code = (
        "import io, sys; from skillgate.cli.main import main; main(sys.argv[1:], stdout=io.StringIO());"
        " print('http.server' in sys.modules, *{'numpy', 'scipy', 'asyncio', 'sqlalchemy'} & set(sys.modules))"
    )
    argv = [sys.executable, "-c", code, "eval", "--skills", str(CALCULATOR), "--benchmark", name, "--dry-run"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(loads)]
