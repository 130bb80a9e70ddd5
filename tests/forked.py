"""Command lines as processes of their own that need no start of an interpreter: forked from one that loaded everything.

A template process imports what verbs import and then only forks: each command line is a real process with its own
pid, files, folder, environment, signals and exit status, after 5 ms instead of 150 (500 with a database library).
What a start itself costs or loads is tested with `subprocess` and `tests.conftest.COMMAND`.
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import pkgutil
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

_LENGTH = struct.Struct("<I")
_FILES = 4
"""Standard input, output, error, and the pipe that tells the pid and then the exit status."""
_REPORT = struct.Struct("<i")
_TEMPLATE_SETTINGS = ("PYTHON", "LD_")
"""What an interpreter reads while it starts, which a fork cannot do again."""


_SILENT: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}


class Template:
    """The process that forks; started at the first command line, ends with the process that started it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        self.settings = start_settings(environment)
        self._lock = threading.Lock()
        self._owner = os.getpid()
        with theirs:
            command = [sys.executable, "-P", "-m", "tests.forked", str(theirs.fileno())]
            files = (theirs.fileno(),)
            self._process = subprocess.Popen(command, pass_fds=files, env=dict(environment), **_SILENT)
        self._socket = ours
        atexit.register(self.close)

    def run(
        self, arguments: Sequence[str], *, data: bytes, folder: Path, environment: Mapping[str, str], timeout: float
    ) -> tuple[int, bytes, bytes]:
        """Run one command line to its end; returns exit status (negative for a signal), output, error output.

        Raises:
            subprocess.TimeoutExpired: It was killed after `timeout` seconds.
        """
        told, tell = os.pipe()
        # Files take any amount in and out without somebody who reads them meanwhile.
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
            given.write(data)
            given.seek(0)
            request = {
                **{"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)},
                **{"umask": _umask()},
            }
            try:
                self._send(request, [given.fileno(), out.fileno(), error.fileno(), tell])
            finally:
                os.close(tell)
            status = _ended(told, timeout, arguments)
            return status, _content(out), _content(error)

    def close(self) -> None:
        """End the template."""
        if self._owner == os.getpid():
            self._socket.close()
            self._process.wait()

    def _send(self, request: Mapping[str, Any], files: Sequence[int]) -> None:
        body = json.dumps(request).encode()
        with self._lock:
            self._socket.sendmsg([_LENGTH.pack(len(body))], [_rights(files)])
            self._socket.sendall(body)


def start_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """What of an environment an interpreter takes in only while it starts."""
    return {name: value for name, value in environment.items() if name.startswith(_TEMPLATE_SETTINGS)}


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _rights(files: Sequence[int]) -> tuple[int, int, bytes]:
    return socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files).tobytes()


def _ended(told: int, timeout: float, arguments: Sequence[str]) -> int:
    with open(told, "rb", buffering=0) as pipe:
        pid = _REPORT.unpack(_exactly(pipe, None, arguments))[0]
        try:
            return int(_REPORT.unpack(_exactly(pipe, timeout, arguments))[0])
        except subprocess.TimeoutExpired:
            os.kill(pid, signal.SIGKILL)
            raise


def _exactly(pipe: Any, timeout: float | None, arguments: Sequence[str]) -> bytes:
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        if not selector.select(timeout):
            raise subprocess.TimeoutExpired(list(arguments), timeout or 0.0)
    report: bytes = pipe.read(_REPORT.size)
    assert len(report) == _REPORT.size, "the template process has ended"
    return report


def _content(file: Any) -> bytes:
    file.seek(0)
    content: bytes = file.read()
    return content


def serve(channel: socket.socket) -> None:
    """Fork for each request until the other side is closed; tell each child's pid, and its status when it ended."""
    _load()
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    telling: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(channel, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if wake in ready:
                os.read(wake, 4096)
                _reap(telling)
            if channel in ready and not _fork(channel, telling, (wake, woken)):
                return


def _load() -> None:
    """Import all that verbs import, here and inside functions, so that children share it."""
    for package in ("team_console.console.cli", "team_console.store"):
        found = import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            import_module(module.name)
    for driver in ("sqlalchemy.dialects.sqlite", "sqlalchemy.dialects.postgresql.psycopg", "psycopg"):
        with suppress(ImportError):
            import_module(driver)
    gc.collect()
    gc.freeze()


def _reap(telling: dict[int, int]) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            pid, status = ended
            _tell(telling.pop(pid), os.waitstatus_to_exitcode(status))


def _tell(pipe: int, status: int) -> None:
    with suppress(BrokenPipeError):
        os.write(pipe, _REPORT.pack(status))
    os.close(pipe)


def _fork(channel: socket.socket, telling: dict[int, int], own: Sequence[int]) -> bool:
    """Start what is asked for; False when nobody will ask any more."""
    head, rights, _, _ = channel.recvmsg(_LENGTH.size, socket.CMSG_SPACE(_FILES * array.array("i").itemsize))
    if not head:
        return False
    files = array.array("i")
    files.frombytes(rights[0][2])
    body = b""
    while len(body) < _LENGTH.unpack(head)[0]:
        body += channel.recv(_LENGTH.unpack(head)[0] - len(body))
    pid = os.fork()
    if not pid:
        _become(json.loads(body), list(files), [channel.fileno(), *own, *telling.values()])
    for file in files[:-1]:
        os.close(file)
    telling[pid] = files[-1]
    with suppress(BrokenPipeError):
        os.write(files[-1], _REPORT.pack(pid))
    return True


def _become(request: Mapping[str, Any], files: Sequence[int], foreign: Sequence[int]) -> NoReturn:
    """Be the command line: its files, folder, environment and arguments instead of the template's."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for place, file in enumerate(files[:3]):
        os.dup2(file, place)
    for file in (*files, *foreign):
        os.close(file)
    status = 1
    try:
        os.chdir(request["folder"])
        os.umask(request["umask"])
        os.environ.clear()
        os.environ.update(request["environment"])
        time.tzset()
        sys.argv = [
            "team-console",
            *(os.fsdecode(word.encode("utf-8", "surrogateescape")) for word in request["arguments"]),
        ]
        status = import_module("team_console.console.__main__").main()
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
