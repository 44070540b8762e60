"""Reports of certify hold which files were scored, and joined shards are certified by what their reports hold."""

from __future__ import annotations

import io
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.evaluation.certify import content_of
from skillgate.llm.demo_server import DemoServer, Options
from skillgate.llm.providers.scripted import Engine
from skillgate.llm.scripted.rules import parse
from tests.cli.running import commit
from tests.cli.running import run as plain
from tests.cli.test_certify_shards import CERTIFY, merged, sharded, skills
from tests.standard.asking import Model, run, write_skill

pytest.importorskip("numpy")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ASK = (*CERTIFY[:2], *CERTIFY[4:])  # of a model that listens


class _Noticing(io.StringIO):
    """A record of what a model is asked that does something as soon as it is."""

    def __init__(self, then: Callable[[], object]) -> None:
        super().__init__()
        self._then = then

    def write(self, text: str) -> int:
        """Record, and do it."""
        self._then()
        return super().write(text)


@contextmanager
def model(then: Callable[[], object]) -> Iterator[Model]:
    """Let a scripted model listen, which does something whenever it is asked."""
    record = _Noticing(then)
    with DemoServer(Engine(parse(b"rules: []", "rules")), Options(record=record)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Model(server, record)
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()


def contents(document: Any) -> dict[str, str | None]:
    """Give the digest of each skill of a report."""
    return {one["skill"]["path"]: one["content"] for one in document.get("results", [document])}


def live(base: Path, of: int) -> None:
    """Make the parts say that a live model gave the answers."""
    for part in range(1, of + 1):
        place = base / f"{part}.json"
        place.write_text(place.read_text().replace('"live": false', '"live": true'))


def test_every_report_holds_the_digest_of_the_files_that_were_scored(tmp_path: Path) -> None:
    skills(tmp_path, "ants")
    write_skill(tmp_path / "skills", "links")
    (tmp_path / "skills/links/out.md").symlink_to("../../elsewhere.md")
    places = ("skills/ants", "skills/more/ants-again")
    known = {path: content_of(str(tmp_path / path)).digest for path in places}
    whole = contents(plain(tmp_path, *CERTIFY, "--json").json)
    assert whole == {**known, "skills/broken": None, "skills/links": None}  # of which there is no certificate
    alone = plain(tmp_path, "certify", "skills/ants", *CERTIFY[2:], "--json").json
    assert contents(alone) == {"skills/ants": known["skills/ants"]}
    scored = plain(tmp_path, "score", "skills", "--provider", "scripted", "--depth", "standard", "--json").json
    assert set(contents(scored).values()) == {None}


def test_joined_shards_are_certified_by_the_digests_of_their_reports_and_no_skill_is_read(tmp_path: Path) -> None:
    skills(tmp_path, "ants", "bees")
    sharded(tmp_path, 3)
    live(tmp_path, 3)
    then = {path: content_of(str(tmp_path / path)).digest for path in ("skills/ants", "skills/bees")}
    (tmp_path / "skills/bees/new.py").write_text("print()\n")  # nobody sees it at joining
    words = ("--certificate", "c.json", "--certificate-days", "7")
    done = merged(tmp_path, 3, *words)
    document = json.loads((tmp_path / "c.json").read_text())
    found = {one["path"]: one for one in document["skills"]}
    assert {path: found[path]["content"]["digest"] for path in then} == then
    assert document["config_digest"] == done.json["config_digest"]
    certified = sum(one["certified"] for one in found.values())
    assert f"wrote c.json: {certified} of {len(found)} skills certified" in done.err
    (tmp_path / "skills").rename(tmp_path / "gone")
    again = merged(tmp_path, 3, *words)
    assert (again.code, again.out) == (done.code, done.out)
    (tmp_path / "gone").rename(tmp_path / "skills")
    ants = plain(tmp_path, "certificate", "verify", "c.json", "skills/ants", "--json").json["skills"][0]
    bees = plain(tmp_path, "certificate", "verify", "c.json", "skills/bees", "--json").json["skills"][0]
    assert "its file is as it was" in ants["holds"]
    assert bool(ants["fails"]) is not found["skills/ants"]["certified"]
    assert "its files are others; which, a certificate of joined shards does not say" in bees["fails"]


def test_the_certificate_of_joined_shards_says_of_skills_what_that_of_the_whole_run_says(tmp_path: Path) -> None:
    skills(tmp_path)
    plain(tmp_path, *CERTIFY, "--certificate", "whole.json", "--json")
    sharded(tmp_path, 4)
    merged(tmp_path, 4, "--certificate", "joined.json")
    whole, together = (json.loads((tmp_path / name).read_text()) for name in ("whole.json", "joined.json"))
    for document in (whole, together):
        for skill in document["skills"]:
            if skill["path"] != "skills/broken":  # of which neither certifies anything
                skill["content"]["files"] = {}
            else:
                del skill["content"]
        del document["issued"], document["expires"]
    assert together == whole


def test_files_that_changed_while_they_were_scored_have_no_digest_and_no_certificate(tmp_path: Path) -> None:
    pytest.importorskip("anthropic")
    place = write_skill(tmp_path / "skills", "ants")
    write_skill(tmp_path / "skills", "bees")
    with model(lambda: (place / "late.py").write_text("print()\n")) as asked:
        for part in ("1/2", "2/2"):
            (place / "late.py").unlink(missing_ok=True)
            done = run(tmp_path, *ASK, "--shard", part, "--output-file", f"{part[0]}.json", at=asked)
            moved = "skills/ants: its files changed while it was scored; it cannot be certified"
            assert (moved in done.err) is (part == "1/2")
    together = merged(tmp_path, 2, "--certificate", "c.json")
    assert contents(together.json) == {
        "skills/ants": None,
        "skills/bees": content_of(str(tmp_path / "skills/bees")).digest,
    }
    live(tmp_path, 2)
    merged(tmp_path, 2, "--certificate", "c.json")
    ants = json.loads((tmp_path / "c.json").read_text())["skills"][0]
    assert (ants["certified"], ants["content"]["digest"]) == (False, None)
    assert "its report holds no digest of its files" in ants["content"]["reason"]


def test_where_git_cannot_say_which_files_a_skill_has_there_are_only_no_digests(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "ants")
    commit(tmp_path)
    (tmp_path / ".git/config").write_text("[broken\n")
    done = plain(tmp_path, *CERTIFY, "--json")
    assert (done.code, contents(done.json)) == (0, {"skills/ants": None})
    asked = plain(tmp_path, *CERTIFY, "--certificate", "c.json", "--json")
    assert (asked.code, asked.out, "git cannot list the files of a skill" in asked.err) == (3, "", True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--certificate", "none/c.json"), "directory none does not exist"),
        (("--certificate", "skills/ants/SKILL.md"), "main file of a skill"),
        (("--certificate", "skills/ants/c.json"), "is inside the skill skills/ants"),
        (
            ("--certificate", "c.json", "--output-file", "skills/ants/all.json"),
            "is inside the skill skills/ants",
        ),
        (("--certificate", "link.json"), "is a symbolic link"),
        (("--certificate-days", "0"), "number of days"),
        (("--certificate-days", "5"), "needs --certificate FILE"),
    ],
)
def test_a_certificate_that_cannot_be_written_is_refused_and_nothing_is_written(
    tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    write_skill(tmp_path / "skills", "ants")
    sharded(tmp_path, 1)
    (tmp_path / "link.json").symlink_to(tmp_path / "target")
    done = merged(tmp_path, 1, *words, "--badges", "badges")
    assert (done.code, done.out, says in done.err) == (2, "", True)
    assert not (tmp_path / "badges").exists()
