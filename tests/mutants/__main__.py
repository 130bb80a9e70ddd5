"""`python -m tests.mutants`: switch each protection off in a test process and show which test notices."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from tests.mutants.mutants import MUTANTS


def main() -> int:
    """Print one line per mutant; the exit status says whether each was noticed by its tests and only then."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--be", choices=sorted(MUTANTS), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.be:
        return _be(chosen.be)
    names = chosen.names or list(MUTANTS)
    survived = [name for name in names if not _is_noticed(name)]
    print(f"{len(names)} protections, {len(survived)} whose absence no test noticed")
    return 1 if survived else 0


def _is_noticed(name: str) -> bool:
    tests = MUTANTS[name].tests
    healthy = subprocess.run([sys.executable, "-m", "pytest", *_OPTIONS, *tests], capture_output=True, check=False)
    mutated = subprocess.run([sys.executable, "-m", "tests.mutants", "--be", name], capture_output=True, check=False)
    noticed = healthy.returncode == 0 and mutated.returncode == pytest.ExitCode.TESTS_FAILED
    word = "noticed by" if noticed else "NOT NOTICED by" if healthy.returncode == 0 else "BROKEN TEST"
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
