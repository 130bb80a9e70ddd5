"""`python -m tests.proofs.mutants`: switch off each protection in a copy of the source; show the test that notices."""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from tests.proofs.mutants.copied import copy_source, run_tests, with_text
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


def is_noticed(name: str, folder: Path) -> bool:
    """Whether each test of a guard passes in the copy in `folder` as it is and fails without the guard; printed."""
    guard, ((file, _),) = GUARDS[name], marks()[name]
    # Every combination: the one that notices need not be among those of each run.
    outcome = partial(run_tests, folder, EXHAUSTIVE="1")
    is_healthy = outcome(guard.tests, "-x").returncode == pytest.ExitCode.OK
    with with_text(folder / file, switched_off((folder / file).read_text(encoding="utf-8"), name, guard.off)):
        is_missed = all(outcome((test,), "-x").returncode == pytest.ExitCode.TESTS_FAILED for test in guard.tests)
    word = "BROKEN TEST" if not is_healthy else "noticed by" if is_missed else "NOT NOTICED by"
    print(f"{name:32} {word} {', '.join(guard.tests)}", flush=True)
    return is_healthy and is_missed


if __name__ == "__main__":
    sys.exit(main())
