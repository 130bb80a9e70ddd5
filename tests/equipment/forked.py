"""Command lines as processes of their own that need no start of an interpreter: forked from one that loaded everything.

A template process imports what verbs import and then only forks: each command line is a real process with its own
pid, files, folder, environment, signals and exit status, after 5 ms instead of 150 (500 with a database library).
What a start itself costs or loads is tested with `subprocess` and `tests.equipment.command_line.COMMAND`.
"""

from __future__ import annotations

import atexit
import faulthandler
import fcntl
import gc
import json
import os
import pkgutil
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import termios
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
_TEMPLATE_SETTINGS = ("PYTHON", "LD_", "TEXTUAL")
"""What an interpreter or a library reads while it starts, which a fork cannot do again."""
SEED = "DELAYS_OF_TESTS"
"""Variable that tells the seed of `tests.delays`."""
_LATER = "PYTHONFAULTHANDLER"
"""What a fork can do again."""
_LEFT_OUT = ("team_console.console.mcp", "team_console.console.demo")
"""What few command lines need, and what takes long to load."""


class Template:
    """The process that forks; started at the first command line, ends with the process that started it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        self.settings = start_settings(environment)
        self._lock = threading.Lock()
        self._owner = os.getpid()
        with theirs:
            command = [sys.executable, "-P", "-m", "tests.equipment.forked", str(theirs.fileno())]
            files = (theirs.fileno(),)
            silent = subprocess.DEVNULL
            self._process = subprocess.Popen(command, pass_fds=files, env=environment, stdin=silent, stdout=silent)
        self._socket = ours
        atexit.register(self.close)

    def start(
        self,
        arguments: Sequence[str],
        *,
        files: tuple[int, int, int],
        folder: Path,
        environment: Mapping[str, str],
        is_terminal: bool = False,
    ) -> Child:
        """Start one command line on its standard files; `is_terminal` when they are the terminal of its own session."""
        told, tell = os.pipe()
        words = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)}
        try:
            self._send({**words, "umask": _umask(), "is_terminal": is_terminal}, [*files, tell])
        finally:
            os.close(tell)
        return Child(arguments, told)

    def close(self) -> None:
        """End the template."""
        if self._owner == os.getpid():
            self._socket.close()
            self._process.wait()

    def _send(self, request: Mapping[str, Any], files: Sequence[int]) -> None:
        body = json.dumps(request).encode()
        with self._lock:
            socket.send_fds(self._socket, [_LENGTH.pack(len(body))], files)
            self._socket.sendall(body)


class Child:
    """A process that the template forked, and that only the template is told the end of."""

    def __init__(self, arguments: Sequence[str], told: int) -> None:
        self._arguments = arguments
        self._told = open(told, "rb", buffering=0)  # noqa: SIM115 - open until the end is told
        self.pid = self._report(None)
        self.status: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status once it has ended, negative for a signal.

        Raises:
            subprocess.TimeoutExpired: It still runs after `timeout` seconds.
        """
        if self.status is None:
            self.status = self._report(timeout)
            self._told.close()
        return self.status

    def _report(self, timeout: float | None) -> int:
        if not select.select([self._told], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(list(self._arguments), timeout or 0.0)
        report: bytes = self._told.read(_REPORT.size)
        assert len(report) == _REPORT.size, "the template process has ended"
        return int(_REPORT.unpack(report)[0])


class ForkedProcess(subprocess.Popen[bytes]):
    """A `subprocess.Popen` of a command line, in all but how it starts and who is told its end."""

    def __init__(self, template: Template, arguments: Sequence[str], **options: Any) -> None:
        self._template = template
        super().__init__(["team-console", *arguments], **options)

    def _execute_child(self, args: Sequence[str], *options: Any) -> None:
        folder, environment = options[4], options[5]
        pipes = options[9:15]
        files = tuple(end if end >= 0 else place for place, end in enumerate((pipes[0], pipes[3], pipes[5])))
        self._child = self._template.start(args[1:], files=files, folder=folder, environment=environment)  # type: ignore[arg-type]
        self.pid, self._child_created = self._child.pid, True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            self.returncode = self._child.wait(timeout)
        return self.returncode

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self._wait(0.0)
        return None


def start_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """What of an environment an interpreter takes in only while it starts."""
    return {
        name: value for name, value in environment.items() if name.startswith(_TEMPLATE_SETTINGS) and name != _LATER
    }


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


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
    for package in ("team_console.store", "team_console.widgets", "team_console.console"):
        found = import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}.", onerror=lambda name: None):
            if not module.name.startswith(_LEFT_OUT):
                with suppress(ModuleNotFoundError):  # the driver for PostgreSQL may not be installed
                    import_module(module.name)
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
    head, files, _, _ = socket.recv_fds(channel, _LENGTH.size, _FILES)
    if not head:
        return False
    body = b""
    while len(body) < _LENGTH.unpack(head)[0]:
        body += channel.recv(_LENGTH.unpack(head)[0] - len(body))
    pid = os.fork()
    if not pid:
        _become(json.loads(body), files, [channel.fileno(), *own, *telling.values()])
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
    if request["is_terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if _LATER in request["environment"]:
        faulthandler.enable()
    status = 1
    try:
        os.chdir(request["folder"])
        os.umask(request["umask"])
        os.environ.clear()
        os.environ.update(request["environment"])
        time.tzset()
        if SEED in os.environ:
            import_module("tests.delays").install_in_child(os.environ)
        sys.argv = [
            "team-console",
            *(os.fsdecode(word.encode("utf-8", "surrogateescape")) for word in request["arguments"]),
        ]
        status = import_module("team_console.console.__main__").command()
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
