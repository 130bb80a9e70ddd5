"""`python -m tests.proofs.mutants`: switch each protection off, in a test process or a copy of the source,
and show the test that notices."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.proofs.mutants.guards import marks, switched_off
from tests.proofs.mutants.mutants import MUTANTS
from tests.proofs.mutants.table import GUARDS


def main() -> int:
    """Print one line per mutant; the exit status says whether each was noticed by its tests and only then."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--be", choices=sorted(MUTANTS), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.be:
        return _be(chosen.be)
    names = chosen.names or [*MUTANTS, *GUARDS]
    survived = [name for name in names if name in MUTANTS and not is_noticed(name)]
    with tempfile.TemporaryDirectory() as folder:
        copy_source(Path(folder))
        survived += [name for name in names if name in GUARDS and not is_guard_noticed(name, Path(folder))]
    print(f"{len(names)} protections, {len(survived)} whose absence no test noticed")
    return 1 if survived else 0


def is_noticed(name: str) -> bool:
    """Whether the tests of a mutant pass without it and fail with it; printed."""
    tests = MUTANTS[name].tests
    healthy = subprocess.run([sys.executable, "-m", "pytest", *_OPTIONS, *tests], capture_output=True, check=False)
    mutated = subprocess.run(
        [sys.executable, "-m", "tests.proofs.mutants", "--be", name], capture_output=True, check=False
    )
    return _said(name, tests, healthy.returncode, mutated.returncode)


def copy_source(folder: Path) -> None:
    """Everything the tests need, to be changed there."""
    for name in ("store", "console", "widgets", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "src", folder / "src", symlinks=True)


def is_guard_noticed(name: str, folder: Path) -> bool:
    """Whether each test of a guard passes in the copy in `folder` as it is and fails without the guard; printed."""
    guard, ((file, _),) = GUARDS[name], marks()[name]
    path = folder / file
    text = path.read_text(encoding="utf-8")
    healthy = _tested_in(folder, guard.tests)
    path.write_text(switched_off(text, name, guard.off), encoding="utf-8")
    mutated = [_tested_in(folder, (test,)) for test in guard.tests]
    path.write_text(text, encoding="utf-8")
    missed = [status for status in mutated if status != pytest.ExitCode.TESTS_FAILED]
    return _said(name, guard.tests, healthy, missed[0] if missed else mutated[0])


def _tested_in(folder: Path, tests: tuple[str, ...]) -> int:
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", *_OPTIONS, *tests]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode


def _said(name: str, tests: tuple[str, ...], healthy: int, mutated: int) -> bool:
    noticed = healthy == 0 and mutated == pytest.ExitCode.TESTS_FAILED
    word = "noticed by" if noticed else "NOT NOTICED by" if healthy == 0 else "BROKEN TEST"
    print(f"{name:32} {word} {', '.join(tests)}", flush=True)
    return noticed


def _be(name: str) -> int:
    """This process is the mutant: run its tests with the protection switched off."""
    with pytest.MonkeyPatch.context() as patch:
        MUTANTS[name].patch(patch)
        return int(pytest.main([*_OPTIONS, *MUTANTS[name].tests]))


_OPTIONS = ("-q", "-x", "-p", "no:cacheprovider")

if __name__ == "__main__":
    sys.exit(main())
