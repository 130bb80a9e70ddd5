"""Run a proof by chance: `python -m tests.proofs NAME [--count N] [--seed N] [--only WORD]`.

Each proof tries so many cases that its seed draws, tells how far it is, and yields what it finds wrong in words. Those
with options of their own are `tests.proofs.mutants`, `clients` and `benchmarks`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.hook import stress
from tests.proofs import archive, drive, grants, keys, matrix, shell
from tests.proofs.crash import judge, syscalls
from tests.proofs.crash.stories import STORIES
from tests.proofs.fuzz import run as fuzz
from tests.proofs.fuzz import texts
from tests.proofs.races import race
from tests.proofs.torture import run as torture


class Proof(NamedTuple):
    """What tries cases, how many it tries of what unless told otherwise, and what it proves.

    Attributes:
        find: Called with the number of cases, a seed, an empty folder and a word; it yields everything wrong. The word
            leaves out whatever does not have it in its name.
    """

    find: Callable[[int, int, Path, str], Iterator[str]]
    number: int
    unit: str
    meaning: str


PROOFS: Mapping[str, Proof] = {
    "archive": Proof(archive.prove, 200, "MB", "an archive of strangers is taken over in little memory"),
    "crash": Proof(judge.prove, len(STORIES), "stories", "every disk that a crash can leave keeps the promises"),
    "crash again": Proof(
        partial(judge.prove, again="process"), len(STORIES), "stories", "so does a crash of the recovery from one"
    ),
    "crash without exchange": Proof(
        partial(judge.prove, can_exchange=False),
        len(STORIES),
        "stories",
        "so on a system without the exchanging rename",
    ),
    "drive": Proof(drive.prove, 200, "rounds", "random keys in every mode of the demo leave the console whole"),
    "fuzz": Proof(fuzz.prove, 20_000, "files", "no queue file kills, hangs or confuses its reader"),
    "grants": Proof(grants.prove, 100_000, "requests", "a grant covers nothing outside of its scope"),
    "hooks": Proof(stress.prove, 1_000, "requests", "each verdict reaches its own request, whoever is killed"),
    "keys": Proof(keys.prove, 10_000, "presses", "no key decides on what the terminal did not hold before it"),
    "matrix": Proof(matrix.prove, len(matrix.STORY), "steps", "0.5.0 and this version show the same of one team"),
    "races": Proof(race.prove, 1_000, "races on each store", "nothing is approved that was not on the screen"),
    "readers": Proof(texts.prove, 1_000, "texts", "no reader of an agent's text takes more than in proportion to it"),
    "shell": Proof(shell.prove, 1_000, "texts", "what a text for a shell does is asked for, as a real bash runs it"),
    "syscalls": Proof(
        syscalls.prove, len(syscalls.STORY_NAMES), "stories", "a real process that fails at any system call keeps them"
    ),
    "torture": Proof(torture.prove, 60, "seconds", "processes that are killed at work on one team keep them"),
}


def main() -> int:
    """Run one proof and print what is wrong; 1 when anything is."""
    told = "\n".join(f"  {name:22} {proof.meaning}" for name, proof in PROOFS.items())
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs", description=told, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("proof", choices=PROOFS)
    parser.add_argument("--count", type=int, help="how many cases")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--only", default="", help="only stores, forms or readers with this word in their name")
    given = parser.parse_args()
    proof, bad = PROOFS[given.proof], 0
    count = proof.number if given.count is None else given.count
    with tempfile.TemporaryDirectory(prefix="team-console-proof-") as folder:
        for failure in proof.find(count, given.seed, Path(folder), given.only):
            bad += 1
            print(failure, flush=True)
    print(f"{given.proof}, seed {given.seed}: {count:,} {proof.unit}, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
