"""A PostgreSQL server of the tests' own, where its programs are installed, and stores in both kinds of databases."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD = "pa:ss w@rd/1"


class Server(NamedTuple):
    """A running server: its socket's directory and its port on loopback, where it asks for a password."""

    folder: str
    port: int

    def url(self, database: str) -> str:
        """Give the address of a database, by the socket."""
        return f"postgresql://keeper@/{database}?host={self.folder}&port={self.port}"

    def create(self) -> str:
        """Make an empty database; give its address."""
        import psycopg

        name = f"t{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)


def _programs() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    found = [folder for folder in folders if (folder / "initdb").is_file() and (folder / "pg_ctl").is_file()]
    on_path = shutil.which("initdb")
    return found[-1] if found else Path(on_path).parent if on_path and shutil.which("pg_ctl") else None


def _user() -> str | None:
    """Name whom the server runs as where we are root, which it refuses; None for ourselves."""
    if os.geteuid():
        return None
    import pwd  # where there is a root user there is a list of users

    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("PostgreSQL does not run as root, and there is no other user")


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    user = _user()
    folder = Path(tempfile.mkdtemp(prefix="sgpg-", dir="/tmp"))  # short: a socket's path has 107 bytes
    try:
        (folder / "password").write_text(PASSWORD, encoding="utf-8")
        if user is not None:
            for path in (folder, folder / "password"):
                shutil.chown(path, user)
        port, data = _free_port(), str(folder / "data")

        def call(program: str, *words: str) -> None:
            with (folder / "said").open("ab") as said:
                done = subprocess.run(
                    [str(programs / program), *words], cwd=folder, user=user, stdout=said, stderr=said, check=False
                )
            assert done.returncode == 0, (folder / "said").read_text()

        auth = ("--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={folder / 'password'}")
        call("initdb", "-D", data, "-U", "keeper", "-E", "UTF8", "--no-locale", "--no-sync", *auth)
        options = f"-k {folder} -p {port} -c listen_addresses=127.0.0.1 -c max_connections=60"
        call("pg_ctl", "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield Server(str(folder), port)
        finally:
            call("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store may be made, as an option names it."""
    if request.param == "sqlite":
        return str(tmp_path / "results" / "store.db")
    server: Server = request.getfixturevalue("postgres")
    return server.create()
