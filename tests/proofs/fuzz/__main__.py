"""Run the fuzzer for long: `python -m tests.proofs.fuzz --inputs N`."""

from __future__ import annotations

import argparse
import time

from tests.proofs.fuzz.runner import run


def main() -> int:
    """Fuzz and print one line of figures, then every failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000, help="how many files to read")
    parser.add_argument("--seed", type=int, default=1, help="which sequence of files")
    parser.add_argument("--largest", type=int, default=1_000_000, help="bytes of the largest file")
    parser.add_argument("--workers", type=int, default=2, help="child processes at a time")
    options = parser.parse_args()
    started = time.monotonic()
    report = run(inputs=options.inputs, seed=options.seed, largest=options.largest, batch=1000, workers=options.workers)
    figures = ", ".join(f"{count} {name}" for name, count in sorted(report.outcomes.items()))
    print(f"{options.inputs} inputs in {time.monotonic() - started:.0f} s: {figures}; {len(report.failures)} failures")
    for failure in report.failures:
        print(failure)
    return 1 if report.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
