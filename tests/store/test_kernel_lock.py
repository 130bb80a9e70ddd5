"""The kernel lock of a team: made with its mode, on a plain file only, and ended with the process that took it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from team_console.store.backends.yaml.disk import Disk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    lock = tmp_path / "queue.lock"
    lock.touch()
    return lock


def _is_free(path: Path) -> bool:
    """Whether another process can have it, asked through filelock."""
    code = "import sys, filelock; filelock.UnixFileLock(sys.argv[1]).acquire(timeout=0)"
    return subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=False).returncode == 0


def test_no_lock_at_all_is_made_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "new.lock"
    Disk().lock(path, 0.0, 0o640).release()
    assert path.stat().st_mode & 0o777 == 0o640
    assert _is_free(path)


def test_neither_a_link_nor_a_folder_is_a_lock(tmp_path: Path) -> None:
    target, link = tmp_path / "precious", tmp_path / "queue.lock"
    target.write_text("kept")
    link.symlink_to(target)
    with pytest.raises(OSError, match=r".") as caught:
        Disk().lock(link, 0.0, 0o600)
    assert not isinstance(caught.value, TimeoutError)
    assert target.read_text() == "kept"
    with pytest.raises(OSError, match=r"."):
        Disk().lock(tmp_path, 0.0, 0o600)


def test_a_forked_child_neither_keeps_the_lock_nor_gives_it_back(path: Path) -> None:
    held = Disk().lock(path, 0.0, 0o600)
    told, say = os.pipe()
    wait, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        held.write(b"never")
        held.release()
        os.write(say, b".")
        os.read(wait, 1)
        os._exit(0)
    os.close(wait)
    os.read(told, 1)
    assert not _is_free(path)
    held.release()
    assert _is_free(path)
    os.close(end)
    os.waitpid(child, 0)
    os.close(told)
    os.close(say)
    assert path.read_bytes() == b""
