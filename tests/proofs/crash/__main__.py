"""Prints a table of every story under every model: `python -m tests.proofs.crash [--deep] [STORY...]`."""

from __future__ import annotations

import argparse
import sys
import time

from tests.proofs.crash.judge import judge_story
from tests.proofs.crash.models import MODELS
from tests.proofs.crash.stories import STORIES


def main() -> int:
    """Judge and print; the exit status says whether every promise held."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.crash", description=__doc__)
    parser.add_argument("stories", nargs="*", help="only these")
    parser.add_argument("--deep", action="store_true", help="crash the recovery of each disk a second time")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="judge each N-th disk only")
    parser.add_argument("--no-exchange", action="store_true", help="as on a system without the exchanging rename")
    chosen = parser.parse_args()
    began, states, failures = time.monotonic(), 0, list[str]()
    print(f"{'story':44}" + "".join(f"{model:>12}" for model in MODELS) + "         bad")
    for name in chosen.stories or STORIES:
        counts, bad = _row(name, chosen)
        print(f"{name:44}" + "".join(f"{count:12}" for count in counts) + f"{len(bad):12}", flush=True)
        states += sum(counts)
        failures += bad
    print(f"{states} disks judged in {time.monotonic() - began:.1f} s, {len(failures)} bad")
    print("\n".join(failures[:40]))
    return 1 if failures else 0


def _row(name: str, chosen: argparse.Namespace) -> tuple[list[int], list[str]]:
    tallies = [
        judge_story(
            STORIES[name],
            model,
            can_exchange=not chosen.no_exchange,
            again="process" if chosen.deep else None,
            every=1 if model == "process" else chosen.every,
        )
        for model in MODELS
    ]
    return [tally.states for tally in tallies], [failure for tally in tallies for failure in tally.failures]


if __name__ == "__main__":
    sys.exit(main())
