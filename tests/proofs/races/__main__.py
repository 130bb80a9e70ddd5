"""`python -m tests.proofs.races --races N`: count approvals of what was not on the screen, on every kind of store."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from tests.proofs.races.race import STORES, Tally, run_races

_TIMES = 20
"""How often a store tells how far it is."""


def main() -> int:
    """Run them and print one line a store; the status is 1 when anything was approved unseen."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.races", description=__doc__)
    parser.add_argument("--races", type=int, default=1000, help="for each store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=STORES, action="append", help="by default all of them")
    chosen = parser.parse_args()
    unseen = 0
    for kind in chosen.store or STORES:
        head, began = f"{kind}, seed {chosen.seed}", time.monotonic()
        print(f"{head}: {chosen.races} races begin", flush=True)
        told = partial(_say_how_it_stands, head, began, max(1, chosen.races // _TIMES))
        with tempfile.TemporaryDirectory() as folder:
            tally = run_races(kind, chosen.races, Path(folder), seed=chosen.seed, told=told)
        print(f"{head}, done in {time.monotonic() - began:.0f} s: {tally}", flush=True)
        for request_id in tally.unseen:
            print(f"{head}, NOT SEEN: {request_id}", flush=True)
        unseen += len(tally.unseen)
    return 1 if unseen else 0


def _say_how_it_stands(head: str, began: float, step: int, tally: Tally) -> None:
    if tally.races % step == 0:
        print(f"{head}, after {time.monotonic() - began:.0f} s: {tally}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
