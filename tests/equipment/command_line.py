"""The command line as a process, in an environment that decides nothing."""

from __future__ import annotations

import functools
import json
import os
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import IO, Any, NamedTuple

import pytest

from tests.equipment.forked import ForkedProcess, Template, start_settings

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-P", "-m", "team_console.console")

_OURS = ("TEAM_CONSOLE_", "CLAUDE", "CODEX")


def leave_home() -> str:
    """Make an empty home for this process and its children, so that nobody's own settings decide a test; its path.

    Git needs what its user has allowed to read a checkout of somebody else, and real clients lie in the user's cache.
    """
    mine = Path.home()
    os.environ.setdefault("GIT_CONFIG_GLOBAL", str(mine / ".gitconfig"))
    os.environ.setdefault("XDG_CACHE_HOME", str(mine / ".cache"))
    for name in [name for name in os.environ if name.startswith((*_OURS, "XDG_CONFIG_", "XDG_STATE_"))]:
        del os.environ[name]
    os.environ["HOME"] = mkdtemp(prefix="home-of-tests-")
    return os.environ["HOME"]


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without what would change the command line's defaults, able to find the code.

    A size in it, as pytest's workers inherit, would count for more than the size of a test's terminal.
    """
    ours = (*_OURS, "PYTHON", "COLUMNS", "LINES")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    # A copy of the sources has its packages below src/ (tests/proofs/mutants): those count, not the installed ones.
    sources = os.pathsep.join(str(path) for path in (ROOT / "src", ROOT) if path.is_dir())
    return {**kept, "PYTHONPATH": sources, "PYTHONUTF8": "1", **more}


_PACKAGES = {
    "ssh-keygen": "openssh-client",
    "chattr": "e2fsprogs",
    "mke2fs": "e2fsprogs",
    "tmux": "tmux",
    "strace": "strace",
    "initdb": "postgresql",
    "setpriv": "util-linux",
    "unshare": "util-linux",
}
"""Debian's package of each program that a test may need."""


def needs(*programs: str) -> None:
    """Skip the test that is running, or the module that is imported, where one of these programs is missing."""
    for program in programs:
        if shutil.which(program) is None:
            package = _PACKAGES.get(program, program)
            pytest.skip(f"{program} is not installed (Debian: apt install {package})", allow_module_level=True)


DECIDING = ("approve", "reject", "answer", "shutdown", "sendmessage")
"""Verbs that off a terminal want to know who decides."""


def named(arguments: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    """The arguments as the lead's own, where a test decides without saying for whom."""
    decides = any(word in DECIDING for word in arguments[:3]) and "TEAM_CONSOLE_AS" not in environment
    return arguments if not decides or "--as" in arguments else ("--as", "ceo", *arguments)


def words_of(line: str, *arguments: str) -> list[str]:
    """The words of a line, where it has several, and the arguments behind it."""
    return [*(shlex.split(line) if " " in line else [line] * bool(line)), *arguments]


@functools.cache
def template() -> Template:
    """The process that command lines of this test process are forked from."""
    return Template(clean_environment())


def started(*arguments: str, folder: Path, environment: Mapping[str, str], **options: Any) -> subprocess.Popen[bytes]:
    """A command line that was started; forked from the template, except with settings of Python."""
    if template().settings == start_settings(environment):
        return ForkedProcess(template(), arguments, cwd=folder, env=environment, **options)
    return subprocess.Popen([*COMMAND, *arguments], cwd=folder, env=environment, **options)


class Result(NamedTuple):
    """What a command line left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON value."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs `team-console` as a process, on one team unless the arguments name another."""

    folder: Path

    def __call__(
        self,
        line: str = "",
        *arguments: str,
        stdin: str | bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = 60.0,
    ) -> Result:
        """Run a line as one writes it in a shell, and further arguments as they are, to its end.

        It is forked from a process that has loaded the code, except with settings of Python.
        """
        words = named(words_of(line, *arguments), env or {})
        # Files take any amount in and out without somebody who reads them meanwhile.
        with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as error:
            given.write(stdin.encode() if isinstance(stdin, str) else stdin)
            given.seek(0)
            files = {"stdin": given, "stdout": out, "stderr": error}
            process = started(*words, folder=self.folder, environment=clean_environment(**(env or {})), **files)
            try:
                status = process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            return Result(status, *(_content(file) for file in (out, error)))

    def ok(self, line: str, *arguments: str, stdin: str | bytes = b"") -> Result:
        """Run it; it must succeed."""
        result = self(line, *arguments, stdin=stdin)
        assert result.status == 0, result
        return result

    @contextmanager
    def running(
        self, line: str, *arguments: str, env: Mapping[str, str] | None = None
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start it, with pipes on both outputs; what still runs at the end of the block is killed."""
        words = named(words_of(line, *arguments), env or {})
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with started(*words, folder=self.folder, environment=clean_environment(**(env or {})), **pipes) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()


def _content(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def next_line(stream: IO[bytes] | None, *, patience: float = 60.0) -> str:
    """The next line of a running process, taken byte by byte so that nothing waits in a buffer of ours."""
    assert stream is not None
    line, end = b"", time.monotonic() + patience
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"no whole line came in {patience} s, only {line!r}"
        byte = os.read(stream.fileno(), 1)
        if not byte:
            break
        line += byte
    return line.decode().rstrip("\n")
