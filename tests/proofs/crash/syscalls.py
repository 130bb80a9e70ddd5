"""The same promises with a real process and real system calls: killed or failed at each of them by strace."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from team_console.store.backends.yaml.disk import Disk

from tests.proofs.crash.state import PROBE, Broken, State, check_files, read_state
from tests.proofs.crash.stories import STORIES, open_team, send

_TRACED = "write,pwrite64,fsync,ftruncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,openat"
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\(")
_READY, _END = b"ready", "end-here"
STORY_NAMES = ("first send", "send", "receive", "acknowledge", "deliver", "compact", "clear", "attach", "drop folder")
ERRORS = ("ENOSPC", "EIO", "EROFS")


class Point(NamedTuple):
    """The `number`-th call of `name` in a run, counted by strace per name."""

    name: str
    number: int


def has_strace() -> bool:
    """Whether strace is here and may trace."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0


def points(story: str) -> list[Point]:
    """Every traced call of the act, from a run without any fault."""
    with _prepared(story) as root, tempfile.NamedTemporaryFile("r") as log:
        _run(story, root, ["-o", log.name, "-e", f"trace={_TRACED}"])
        return list(_until_mark(log.read().splitlines()))


def judge_point(story: str, point: Point, fault: str) -> str | None:
    """Run the act with `fault` (`KILL` or the name of an errno) at `point`; what is wrong afterwards, if anything."""
    inject = "signal=KILL" if fault == "KILL" else f"error={fault}"
    old, new = _expected(story)
    with _prepared(story) as root:
        options = ["-o", "/dev/null", "-e", f"trace={point.name}"]
        said, errors = _run(story, root, [*options, "-e", f"inject={point.name}:{inject}:when={point.number}"])
        if said.startswith("done") and _is_left(root) and "DROP_UNREADABLE" not in said:
            return f"a file stays in drop/ and nobody was told: said {said!r}"
        try:
            send(PROBE, to="ceo")(open_team(Disk(), root))
            state = read_state(Disk(), root)
            check_files(Disk(), root)
        except (Broken, OSError, LookupError) as error:
            return f"{type(error).__name__}: {error}"
    if "Traceback" in errors:
        return errors[-800:]
    allowed = [new] if said.startswith("done") else [old] if "nothing was changed" in said else [old, new]
    return None if state in allowed else f"said {said!r}, but there is {state}"


def _is_left(root: Path) -> bool:
    """Whether a file waits in drop/: it is taken in by the next turn, so that who leaves it there must say so."""
    return any((root / "drop").glob("*.yaml"))


@cache
def _expected(story: str) -> tuple[State, State]:
    with _prepared(story) as root:
        old = read_state(Disk(), root) if (root / "message-queue.yaml").exists() else ((), (), ())
        if story == "drop folder":
            open_team(Disk(), root).snapshot()
            send(PROBE, to="ceo")(open_team(Disk(), root))
            old = read_state(Disk(), root)
        STORIES[story].act(open_team(Disk(), root))
        return old, read_state(Disk(), root)


@contextlib.contextmanager
def _prepared(name: str) -> Iterator[Path]:
    """A real folder with what was acknowledged before."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        STORIES[name].before(open_team(Disk(), root))
        if name == "drop folder":
            send(1)(open_team(Disk(), root))
            (root / "drop").mkdir()
            text = (root / "message-queue.yaml").read_bytes().partition(b"\n")[2].replace(b"00000001", b"00000007")
            (root / "drop" / "one.yaml").write_bytes(text)
        yield root


def _run(story: str, root: Path, options: list[str]) -> tuple[str, str]:
    """Act in a process that strace attaches to once everything is loaded; what it said, and its errors."""
    command = [sys.executable, "-m", "tests.proofs.crash.syscalls", story, str(root)]
    pipes = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipes, stdout=pipes, stderr=pipes) as actor:
        assert actor.stdout is not None
        actor.stdout.read(len(_READY))
        with subprocess.Popen(["strace", "-p", str(actor.pid), *options], stderr=pipes, stdin=pipes) as tracer:
            assert tracer.stderr is not None
            for line in tracer.stderr:
                if b"attached" in line:
                    break
            said, errors = actor.communicate(b"\n", timeout=60)
            tracer.stderr.read()
    return said.decode(), errors.decode()


def _until_mark(lines: list[str]) -> Iterator[Point]:
    counts = Counter[str]()
    for line in takewhile(lambda line: _END not in line, lines):
        if match := _CALL.match(line):
            counts[match[1]] += 1
            yield Point(match[1], counts[match[1]])


def _act(story: str, root: Path) -> None:
    """The traced process: load everything first, wait for strace, act, then say how it went."""
    from team_console.store.model.errors import TeamError

    with tempfile.TemporaryDirectory() as warm:
        STORIES[story].before(open_team(Disk(), Path(warm)))
        STORIES[story].act(open_team(Disk(), Path(warm)))
    team = open_team(Disk(), root)
    _let_anybody_trace()
    os.write(1, _READY)
    os.read(0, 1)
    try:
        told = STORIES[story].act(team)
        said = f"done, and told {told}" if told else "done"
    except TeamError as error:
        said = error.message
    with contextlib.suppress(OSError):
        os.close(os.open(f"/nowhere/{_END}", os.O_RDONLY))
    os.write(1, said.encode())


def _let_anybody_trace() -> None:
    """Where only parents may trace, let our sibling strace do it too."""
    import ctypes

    set_ptracer, anybody = 0x59616D61, ctypes.c_ulong(-1)
    ctypes.CDLL(None).prctl(set_ptracer, anybody, 0, 0, 0)


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Judge each call of each story under each fault; yield what is wrong."""
    if not has_strace():
        yield "strace is not here or may not trace: nothing was judged"
        return
    for story in (story for story in STORY_NAMES if only in story):
        found = points(story)
        for fault in ("KILL", *ERRORS):
            print(f"{story:16} {fault:8} {len(found):4} calls", flush=True)
            wrong = ((point, judge_point(story, point, fault)) for point in found)
            yield from (f"{story}, {fault} at {point}: {what}" for point, what in wrong if what is not None)


if __name__ == "__main__":
    _act(sys.argv[1], Path(sys.argv[2]))
