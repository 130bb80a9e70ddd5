"""`python -m tests.proofs.torture --seconds N`: torture a team and say what became of the promises."""

from __future__ import annotations

import argparse
import random
import sys

from tests.proofs.torture.run import torture


def main() -> int:
    """Run once and print one line, and on failure what was broken and where to look."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.torture", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1000))
    parser.add_argument("--no-foreign", action="store_true", help="leave out programs that do not lock")
    chosen = parser.parse_args()
    outcome = torture(seconds=chosen.seconds, seed=chosen.seed, foreign=not chosen.no_foreign)
    print(outcome)
    print("(a child killed between a return and its receipt counts as unseen; kills never test fsync)")
    if outcome.verdict.failures:
        print("\n".join(outcome.verdict.failures[:30]))
        print(f"kept: {outcome.root}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
