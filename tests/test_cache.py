"""The cache as a folder on disk: what is given back is what was kept, whatever happened to the files meanwhile."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.cache import DAY_S, Cache, directory
from skillgate.model.skill import digest
from tests.skills import run_python

KEY = digest(b"a skill")
TEXT = '[["e","a"]]\n["light",1]\n["told"]\n["detail"]'


def opened(folder: Path, *, later_s: float = 0.0, most_bytes: int = 1 << 20) -> Cache:
    return Cache(str(folder), now=lambda: time.time() + later_s, most_bytes=most_bytes)


def place(folder: Path, key: str = KEY) -> Path:
    return folder / key[:2] / key[2:]


def kept(folder: Path, text: str = TEXT) -> Path:
    """Keep a text and give its file."""
    opened(folder).put(KEY, text)
    return place(folder)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


@pytest.mark.parametrize(
    "text", ["", "\n", "a\r\nb\r", "\x00\x7f\x85\u2028", "ü日🙂", "\udc80 of a file name", "\ud83d\ude00 in two halves"]
)
def test_a_text_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    opened(tmp_path / "new").put(KEY, text)
    assert opened(tmp_path / "new").get(KEY) == text


def test_a_text_is_found_under_its_own_key_alone(tmp_path: Path) -> None:
    file = kept(tmp_path)
    other = place(tmp_path, digest(b"another"))
    other.parent.mkdir(exist_ok=True)
    other.write_bytes(file.read_bytes())  # a good entry under another's name
    assert opened(tmp_path).get(digest(b"another")) is None
    assert opened(tmp_path).get(digest(b"nobody's")) is None
    assert opened(tmp_path).get(KEY) == TEXT


def test_no_bit_of_an_entry_can_turn(tmp_path: Path) -> None:
    file = kept(tmp_path)
    good, cache = file.read_bytes(), opened(tmp_path)
    for offset, bit in itertools.product(range(len(good)), (1, 0x20, 0x80)):
        file.write_bytes(good[:offset] + bytes([good[offset] ^ bit]) + good[offset + 1 :])
        assert cache.get(KEY) is None, (offset, bit)


def test_nothing_can_be_cut_off_or_added(tmp_path: Path) -> None:
    file = kept(tmp_path)
    good, cache = file.read_bytes(), opened(tmp_path)
    for data in (*(good[:end] for end in range(len(good))), good + b"\n", b"\n" + good, good * 2):
        file.write_bytes(data)
        assert cache.get(KEY) is None, data


@given(st.binary(max_size=200))
def test_no_foreign_bytes_are_an_entry(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / f"foreign-{os.getpid()}"
    file = place(folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    assert opened(folder).get(KEY) is None


def test_a_spoilt_entry_is_written_anew(tmp_path: Path) -> None:
    kept(tmp_path).write_bytes(b"spoilt")
    opened(tmp_path).put(KEY, TEXT)
    assert opened(tmp_path).get(KEY) == TEXT


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_the_place_of_an_entry_is_not_waited_for(tmp_path: Path) -> None:
    file = place(tmp_path)
    file.parent.mkdir()
    os.mkfifo(file)
    assert opened(tmp_path).get(KEY) is None
    reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(file, os.O_WRONLY)  # somebody holds it open and says nothing
    assert opened(tmp_path).get(KEY) is None
    os.close(reader)
    os.close(writer)
    opened(tmp_path).put(KEY, TEXT)
    assert opened(tmp_path).get(KEY) == TEXT


def test_a_directory_in_the_place_of_an_entry_costs_that_entry_alone(tmp_path: Path) -> None:
    (place(tmp_path) / "precious").mkdir(parents=True)
    cache, other = opened(tmp_path), digest(b"other")
    assert cache.get(KEY) is None
    cache.put(KEY, TEXT)
    cache.put(other, TEXT)
    assert cache.failure is not None
    assert str(place(tmp_path)) in cache.failure
    assert (place(tmp_path) / "precious").is_dir()
    assert opened(tmp_path).get(other) == TEXT
    assert len(files(tmp_path)) == 1


@pytest.mark.skipif(os.name == "nt", reason="others cannot be shut out that way here")
def test_an_entry_that_may_not_be_read_is_replaced(tmp_path: Path) -> None:
    file = kept(tmp_path)
    file.write_bytes(b"")
    file.chmod(0)
    assert opened(tmp_path).get(KEY) is None
    opened(tmp_path).put(KEY, TEXT)
    assert opened(tmp_path).get(KEY) == TEXT


@pytest.mark.skipif(os.name == "nt", reason="permissions are others here")
def test_nobody_else_may_look_into_it(tmp_path: Path) -> None:
    assert kept(tmp_path / "deep" / "down").parent.stat().st_mode & 0o077 == 0


def test_a_file_in_the_place_of_the_folder_is_a_failure_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"precious")
    cache = opened(tmp_path / "file")
    assert cache.get(KEY) is None
    cache.put(KEY, TEXT)
    cache.put(digest(b"other"), TEXT)
    cache.close()
    assert cache.failure is not None
    assert cache.failure.startswith("cannot write the cache: ")
    assert (tmp_path / "file").read_bytes() == b"precious"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder in which not even root can make files")
def test_a_folder_that_takes_nothing_is_a_failure_that_is_said() -> None:
    cache = opened(Path("/proc/self/skillgate"))
    cache.put(KEY, TEXT)
    assert cache.failure is not None
    assert opened(Path("/proc/self/skillgate")).get(KEY) is None


@pytest.mark.skipif(os.name == "nt", reason="needs a bound on the size of files")
def test_what_cannot_be_written_whole_leaves_nothing(tmp_path: Path) -> None:
    code = """
import resource, sys, time
from skillgate.cache import Cache
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))  # as on a disk that fills up half way
cache = Cache(sys.argv[1], now=time.time)
cache.put("0" * 32, "x" * 100_000)
cache.put("1" * 32, "fits")
cache.close()
print(cache.failure, cache.get("0" * 32), cache.get("1" * 32))
"""
    done = run_python(code, tmp_path / "cache", cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout.endswith(" None fits\n")
    assert done.stdout.startswith("cannot write the cache: ")
    assert files(tmp_path / "cache") == {str(Path("11", "1" * 30))}


def test_a_writer_that_is_killed_leaves_nothing_that_is_read(tmp_path: Path) -> None:
    code = """
import sys, time
from skillgate.cache import Cache
cache = Cache(sys.argv[1], now=time.time)
print("ready", flush=True)
while True:
    for digit in "0123456789abcdef":
        cache.put(digit * 32, digit * 2_000_000)
"""
    folder = tmp_path / "cache"
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            while not place(folder, "1" * 32).exists():
                assert writer.poll() is None
            writer.kill()
        for digit in "0123456789abcdef":
            assert opened(folder).get(digit * 32) in (None, digit * 2_000_000)
    (folder / "00" / f"{'0' * 30}.0123456789abcdef.part").write_bytes(b"half of it")
    cache = opened(folder, later_s=2 * DAY_S, most_bytes=1 << 30)
    cache.put(KEY, TEXT)
    cache.close()
    assert not {name for name in files(folder) if name.endswith(".part")}
    assert opened(folder).get("0" * 32) == "0" * 2_000_000


def test_processes_that_write_the_same_at_once_disturb_no_reader(tmp_path: Path) -> None:
    code = """
import sys, time
from skillgate.cache import Cache
cache = Cache(sys.argv[1], now=time.time)
seen = set()
for _ in range(300):
    cache.put("a" * 32, "same" * 5_000)
    seen.add(cache.get("a" * 32))
cache.close()
print(cache.failure, seen == {"same" * 5_000})
"""
    argv = [sys.executable, "-c", code, str(tmp_path / "cache")]
    runs = [subprocess.Popen(argv, stdout=subprocess.PIPE, encoding="utf-8") for _ in range(8)]
    assert {run.communicate(timeout=120)[0] for run in runs} == {"None True\n"}
    assert files(tmp_path / "cache") == {str(Path("aa", "a" * 30)), "checked"}


def fill(folder: Path, count: int, size: int) -> list[str]:
    """Keep so many texts, each older than the next by an hour; give their keys, the oldest first."""
    keys = [digest(str(number).encode()) for number in range(count)]
    for number, key in enumerate(keys):
        opened(folder).put(key, "x" * size)
        at = time.time() - (count - number) * 3600
        os.utime(place(folder, key), (at, at))
    return keys


def left(folder: Path, keys: list[str]) -> list[bool]:
    return [place(folder, key).exists() for key in keys]


def test_above_the_most_the_oldest_go(tmp_path: Path) -> None:
    keys = fill(tmp_path, 10, 1_000)
    cache = opened(tmp_path, most_bytes=8_000)
    cache.put(KEY, "x" * 1_000)
    cache.close()
    assert left(tmp_path, keys) == [False] * 6 + [True] * 4  # with the new one 5 × 1,033 bytes: below 75 % of 8,000
    assert opened(tmp_path).get(KEY) is not None


def test_what_is_used_does_not_grow_old(tmp_path: Path) -> None:
    keys = fill(tmp_path, 30, 1_000)
    assert opened(tmp_path).get(keys[0]) is not None
    cache = opened(tmp_path, most_bytes=8_000)
    cache.put(KEY, "")
    cache.close()
    assert left(tmp_path, keys[:3]) == [True, False, False]


def test_one_look_a_day(tmp_path: Path) -> None:
    def later(days: float) -> list[bool]:
        keys = fill(tmp_path, 3, 100)
        cache = opened(tmp_path, later_s=days * DAY_S, most_bytes=150)
        cache.put(KEY, "")
        cache.close()
        return left(tmp_path, keys)

    assert later(0) == [False, False, False]
    assert later(0.9) == [True, True, True]
    assert later(1.1) == [False, False, False]
    os.utime(tmp_path / "checked", (time.time() + 90 * DAY_S,) * 2)  # a clock that was wrong once
    assert later(0) == [False, False, False]


def test_a_run_that_wrote_nothing_looks_at_nothing(tmp_path: Path) -> None:
    keys = fill(tmp_path, 3, 100)
    cache = opened(tmp_path, most_bytes=10)
    assert cache.get(keys[0]) is not None
    cache.close()
    assert all(left(tmp_path, keys))
    assert not (tmp_path / "checked").exists()


def test_only_what_bears_the_name_of_an_entry_is_ever_removed(tmp_path: Path) -> None:
    precious, folder = tmp_path / "precious", tmp_path / "cache"
    hexadecimal = "0123456789abcdef0123456789abcd"
    (precious / "ab").mkdir(parents=True)
    (precious / "ab" / hexadecimal).write_bytes(b"x" * 5_000)
    folder.mkdir()
    others = [
        *(
            "README.md",
            "checked.txt",
            "ab/notes",
            "ab/" + "a" * 29,
            "ab/" + "a" * 31,
            "ab/" + "A" * 30,
            "ab/" + "g" * 30,
        ),
        *("AB/" + hexadecimal, "a/" + hexadecimal, "abc/" + hexadecimal, "xy/" + hexadecimal, "0x/" + hexadecimal),
        *(f"ab/{hexadecimal}.txt", f"ab/{hexadecimal}.part", f"ab/{hexadecimal}.0123.part", f"ab/cd/{hexadecimal}"),
        f"ab/{hexadecimal}/{hexadecimal}",
    ]
    for name in others:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x" * 5_000)
        os.utime(folder / name, (0, 0))
    linked = []
    if os.name != "nt":
        (folder / "cd").symlink_to(precious / "ab", target_is_directory=True)
        (folder / "ef").mkdir()
        (folder / "ef" / hexadecimal).symlink_to(precious / "ab" / hexadecimal)
        linked = ["cd", f"ef/{hexadecimal}"]
    keys = fill(folder, 3, 5_000)
    cache = opened(folder, most_bytes=100)
    cache.put(KEY, "x")
    cache.close()
    assert left(folder, keys) == [False, False, False]
    ours = {str(place(folder).relative_to(folder)), "checked"}
    assert {name.replace(os.sep, "/") for name in files(folder)} - {name.replace(os.sep, "/") for name in ours} == {
        *others,
        *linked,
    }
    assert (precious / "ab" / hexadecimal).read_bytes() == b"x" * 5_000


@pytest.mark.parametrize("content", [b"precious", b""])
def test_a_file_of_the_name_of_the_daily_mark_is_not_written_to(tmp_path: Path, content: bytes) -> None:
    folder, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.write_bytes(content)
    try:
        (folder / "checked").symlink_to(elsewhere)
    except (OSError, NotImplementedError):
        (folder / "checked").write_bytes(content)
    os.utime(folder / "checked", (0, 0))
    keys = fill(folder, 3, 100)
    cache = opened(folder, most_bytes=10)
    cache.put(KEY, "")
    cache.close()
    assert not any(left(folder, keys))
    assert (folder / "checked").read_bytes() == content


@pytest.mark.skipif(os.name == "nt", reason="the variables are others here")
@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/skillgate/static"),
        ({"HOME": "/h"}, "/h/.cache/skillgate/static"),
        ({"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/skillgate/static"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/skillgate/static"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "relative"}, ""),
        ({}, ""),
    ],
)
def test_it_lies_where_the_system_keeps_caches(environ: dict[str, str], expected: str) -> None:
    assert directory(environ) == expected
