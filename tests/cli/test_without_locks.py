"""A file system without locks, as some network mounts are: said at once, and nobody else is blamed for it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine, Result, needs

pytestmark = pytest.mark.slow

MOST_TRIES = 30
"""Of one command to have a lock; a program that waits for one tries a hundred times."""
SHIM = """
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <fcntl.h>
#include <dlfcn.h>
#include <unistd.h>
static int refuse(void) { write(open(TRIES, O_WRONLY | O_APPEND), ".", 1); errno = ENOLCK; return -1; }
int flock(int fd, int how) { return refuse(); }
static int refused(int fd, int what, void *given, const char *name) {
    if (what == F_SETLK || what == F_SETLKW || what == F_OFD_SETLK) return refuse();
    int (*real)(int, int, ...) = dlsym(RTLD_NEXT, name);
    return real(fd, what, given);
}
int fcntl(int fd, int what, ...) { va_list all; va_start(all, what); void *p = va_arg(all, void *); va_end(all);
    return refused(fd, what, p, "fcntl"); }
int fcntl64(int fd, int what, ...) { va_list all; va_start(all, what); void *p = va_arg(all, void *); va_end(all);
    return refused(fd, what, p, "fcntl64"); }
"""


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment in which no lock can be had."""
    needs("cc")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    library, tries = folder / "shim.so", folder / "tries"
    told = f'-DTRIES="{tries}"'
    subprocess.run(["cc", "-shared", "-fPIC", told, "-o", library, folder / "shim.c", "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "TRIES": str(tries)}


def run(here: CommandLine, env: Mapping[str, str], *words: str) -> Result:
    tries = Path(env["TRIES"])
    tries.write_bytes(b"")
    done = here(*words, env={**env, "PYTHONDONTWRITEBYTECODE": "1"})
    assert 0 < tries.stat().st_size <= MOST_TRIES, (words, tries.stat().st_size)
    return done


@pytest.mark.parametrize("place", ["team", "team.db"])
def test_a_team_without_locks_is_not_called_healthy(tmp_path: Path, without: Mapping[str, str], place: str) -> None:
    here = CommandLine(tmp_path)
    here.ok("init", place, "--lead", "ceo", "--agent", "dev")
    for words in (("check",), ("status",)):
        shown = run(here, without, "-t", place, *words)
        assert "without locks" in shown.out + shown.err, (words, shown)
        assert "Another program" not in shown.out + shown.err
    sent = run(
        here, without, "-t", place, "send", "--as", "ceo", "--to", "dev", "--summary", "one two three", "--content", "c"
    )
    assert sent.status == 1
    assert "ocks" in sent.err
    assert "Another program" not in sent.err
