"""Prints a table of protections and whether a test notices their absence: `python -m tests.mutants [WORD...]`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.protections import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("store", "widgets", "console", "tests", "pyproject.toml")
LIMIT = 300.0
"""Seconds the tests of one mutant may take; a protection whose absence makes them hang is noticed too."""
_FAILED, _PASSED = 1, 0


def main() -> int:
    """Judge each mutant whose protection holds one of the words; 0 when every one was caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only protections with one of these words")
    words = parser.parse_args().words
    chosen = [one for one in MUTANTS if not words or any(word in one.protection for word in words)]
    missed = 0
    print(f"{'protection switched off':44}{'caught':>8}{'seconds':>9}  by")
    for mutant in chosen:
        began = time.monotonic()
        verdict = _judge(mutant)
        missed += verdict != "yes"
        print(f"{mutant.protection:44}{verdict:>8}{time.monotonic() - began:9.1f}  {mutant.tests[0]}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} caught")
    return 1 if missed or not chosen else 0


def _judge(mutant: Mutant) -> str:
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        _copy(copy)
        path = copy / mutant.file
        text = path.read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            return "stale"
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        return _noticed(copy, mutant)


def _copy(target: Path) -> None:
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target / part)


def _noticed(copy: Path, mutant: Mutant) -> str:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return "yes"
    return {_FAILED: "yes", _PASSED: "NO"}.get(done.returncode, f"error {done.returncode}")


if __name__ == "__main__":
    sys.exit(main())
