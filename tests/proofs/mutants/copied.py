"""A copy of the sources, in which statements are changed and tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.equipment.command_line import ROOT


def copy_source(folder: Path) -> None:
    """Copy everything the tests need, to be changed there."""
    for name in ("store", "console", "widgets", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "src", folder / "src", symlinks=True)


@contextmanager
def with_text(path: Path, text: str) -> Iterator[None]:
    """Have another text stand in a module for as long as the block lasts."""
    healthy = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(healthy, encoding="utf-8")


def run_tests(
    folder: Path, tests: Sequence[str], *options: str, seconds: float | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run tests in the copy in a folder, with these options of pytest and more variables.

    Raises:
        subprocess.TimeoutExpired: They did not come to an end in so many seconds.
    """
    path = f"{folder / 'src'}{os.pathsep}{folder}"
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **more}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds, check=False
    )
