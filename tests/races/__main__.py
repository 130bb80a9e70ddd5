"""`python -m tests.races --races N`: count approvals of what was not on the screen, on every kind of store."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.races.race import STORES, run_races


def main() -> int:
    """Run them and print one line a store; the status is 1 when anything was approved unseen."""
    parser = argparse.ArgumentParser(prog="python -m tests.races", description=__doc__)
    parser.add_argument("--races", type=int, default=1000, help="for each store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=STORES, action="append", help="by default all of them")
    chosen = parser.parse_args()
    unseen = 0
    for kind in chosen.store or STORES:
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            tally = run_races(kind, chosen.races, Path(folder), seed=chosen.seed)
        print(f"{kind}, seed {chosen.seed}, {time.monotonic() - began:.0f} s: {tally}", flush=True)
        unseen += len(tally.unseen)
    return 1 if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
