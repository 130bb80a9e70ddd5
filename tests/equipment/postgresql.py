"""A private PostgreSQL server in a folder of the test, started, killed and started again at will."""

from __future__ import annotations

import atexit
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

_ADDRESS = "127.0.0.1"
_BINARIES = Path("/usr/lib/postgresql")
_SETTINGS = """
fsync = off
full_page_writes = off
max_connections = 120
logging_collector = off
log_min_messages = fatal
synchronous_standby_names = 'nobody'
synchronous_commit = local
"""
"""Safe when processes are killed, which is what tests do; a lost machine is PostgreSQL's own to survive."""


@cache
def shared_server(purpose: str = "") -> Server | None:
    """One server per purpose for the tests of this process, stopped at its end; None where none is installed."""
    programs = find_programs()
    if programs is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="team-console-postgresql-"))
    server = Server(folder / "server", programs)
    server.create()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.stop)
    server.start()
    return server


def fresh_database(server: Server) -> str:
    """The location of a new, empty database."""
    name = f"team_{secrets.token_hex(6)}"
    server.execute(f"CREATE DATABASE {name}")
    return server.url(name)


def server_or_skip(purpose: str = "") -> Server:
    """As `shared_server`; skips the test where no server can be had."""
    pytest.importorskip("psycopg")
    server = shared_server(purpose)
    if server is None:
        pytest.skip("no PostgreSQL server is installed")
    return server


def empty_postgresql() -> str:
    """The location of a new database without any tables; skips the test where no server can be had."""
    return fresh_database(server_or_skip())


def new_location(kind: str, folder: Path) -> str:
    """Where a new team of this kind of store may be made: below the folder, or a new database of the server."""
    return empty_postgresql() if kind == "postgresql" else str(folder / ("team" if kind == "yaml" else "team.db"))


def find_programs() -> Path | None:
    """The folder with `initdb` and `postgres`, the newest version where there are several; None without a server."""
    found = shutil.which("initdb")
    if found and shutil.which("postgres", path=str(Path(found).resolve().parent)):
        return Path(found).resolve().parent
    versions = sorted(_BINARIES.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    return versions[-1].parent if versions else None


def free_port() -> int:
    """A port that nothing listens on at the moment."""
    with socket.socket() as probe:
        probe.bind((_ADDRESS, 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class Server:
    """One cluster in `folder`."""

    folder: Path
    programs: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        """Make the cluster, owned by a user the server agrees to run as."""
        self.folder.mkdir(parents=True)
        if os.getuid() == 0:
            for parent in self.folder.parents:
                if parent.is_relative_to(tempfile.gettempdir()) and str(parent) != tempfile.gettempdir():
                    parent.chmod(parent.stat().st_mode | 0o711)
            os.chown(self.folder, *_user())
        data = str(self.folder / "data")
        options = ("-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C")
        subprocess.run(
            [*self._as_user(), str(self.programs / "initdb"), "-D", data, *options],
            check=True,
            capture_output=True,
            cwd="/",
        )
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.write(f"unix_socket_directories = '{self.folder}'\n{_SETTINGS}")

    def start(self, seconds: float = 60.0) -> None:
        """Start it and wait until it answers.

        After a crash the first tries may end at once: processes of the old server are still leaving.
        """
        deadline = time.monotonic() + seconds
        self._launch()
        while not self._answers():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
            if self.process is None or self.process.poll() is not None:
                self._launch()
            time.sleep(0.05)

    def _launch(self) -> None:
        command = [str(self.programs / "postgres"), "-D", str(self.folder / "data"), "-h", _ADDRESS]
        with (self.folder / "log").open("ab") as log:
            words = [*self._as_user(), *command, "-p", str(self.port)]
            self.process = subprocess.Popen(words, stdout=log, stderr=log, cwd="/")

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url("postgres", socket=True), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        """End every process of the server at once, as a crash of its machine would."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.process is not None:
            self.process.wait(30)
        self.process = None

    def stop(self) -> None:
        """Shut it down; connections are cut."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            os.kill(self._postmaster(), signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process = None

    def url(self, database: str, *, socket: bool = False, user: str = "postgres") -> str:
        """The location of a database on this server."""
        if socket:
            return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"
        return f"postgresql://{user}@{_ADDRESS}:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run one statement on its own connection."""
        import psycopg

        with psycopg.connect(self.url(database, socket=True), autocommit=True) as connection:
            connection.execute(statement)

    def _postmaster(self) -> int:
        return int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])

    def pids(self) -> list[int]:
        """Every process of the server."""
        try:
            top = self._postmaster()
        except FileNotFoundError:
            return []
        children = Path(f"/proc/{top}/task/{top}/children").read_text().split()
        return [top, *(int(child) for child in children)]

    def _as_user(self) -> list[str]:
        if os.getuid() != 0:
            return []
        uid, gid = _user()
        return ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]


def _user() -> tuple[int, int]:
    """The user that root runs the server as."""
    users = {entry.pw_name: (entry.pw_uid, entry.pw_gid) for entry in pwd.getpwall()}
    return users.get("postgres") or users["nobody"]
