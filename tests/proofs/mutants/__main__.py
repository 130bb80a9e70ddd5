"""`python -m tests.proofs.mutants`: switch off each protection in a copy of the source; show the test that notices."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.equipment.command_line import ROOT
from tests.proofs.mutants.guards import marks, switched_off
from tests.proofs.mutants.table import GUARDS


def main() -> int:
    """Print one line per guard; the exit status says whether each was noticed by its tests and only then."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="only these marks")
    names = parser.parse_args().names or list(GUARDS)
    with tempfile.TemporaryDirectory() as folder:
        copy_source(Path(folder))
        survived = [name for name in names if not is_noticed(name, Path(folder))]
    print(f"{len(names)} protections, {len(survived)} whose absence no test noticed")
    return 1 if survived else 0


def copy_source(folder: Path) -> None:
    """Everything the tests need, to be changed there."""
    for name in ("store", "console", "widgets", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "src", folder / "src", symlinks=True)


def is_noticed(name: str, folder: Path) -> bool:
    """Whether each test of a guard passes in the copy in `folder` as it is and fails without the guard; printed."""
    guard, ((file, _),) = GUARDS[name], marks()[name]
    path = folder / file
    text = path.read_text(encoding="utf-8")
    is_healthy = _tested_in(folder, guard.tests) == pytest.ExitCode.OK
    path.write_text(switched_off(text, name, guard.off), encoding="utf-8")
    is_missed = all(_tested_in(folder, (test,)) == pytest.ExitCode.TESTS_FAILED for test in guard.tests)
    path.write_text(text, encoding="utf-8")
    word = "BROKEN TEST" if not is_healthy else "noticed by" if is_missed else "NOT NOTICED by"
    print(f"{name:32} {word} {', '.join(guard.tests)}", flush=True)
    return is_healthy and is_missed


def _tested_in(folder: Path, tests: tuple[str, ...]) -> int:
    path = f"{folder / 'src'}{os.pathsep}{folder}"
    # Every combination: the one that notices need not be among those of each run.
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "EXHAUSTIVE": "1"}
    command = [sys.executable, "-m", "pytest", *_OPTIONS, *tests]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode


_OPTIONS = ("-q", "-x", "-p", "no:cacheprovider")

if __name__ == "__main__":
    sys.exit(main())
