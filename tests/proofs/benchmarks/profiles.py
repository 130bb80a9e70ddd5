"""Where the time goes in a send, a reload, a start or a key press: `python -m tests.proofs.benchmarks.profiles key`."""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.proofs.benchmarks.clients import environment
from tests.proofs.benchmarks.data import LEAD, letter, letters, write_team
from tests.proofs.benchmarks.terminal import Terminal

_TIMES = 10
_SHOWN = 25
_DEADLINE = 600


def main(arguments: Sequence[str]) -> int:
    """Profile what is asked for and print the functions that took most of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.benchmarks.profiles", description=__doc__)
    parser.add_argument("what", choices=("send", "reload", "start", "key"))
    parser.add_argument("--messages", type=int, default=10_000, metavar="N", help="in the queue (default: 10,000)")
    parser.add_argument("--sort", choices=("tottime", "cumtime"), default="tottime")
    parser.add_argument("--inside", nargs=2, metavar=("TEAM", "OUT"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.inside:
        _inside(options.what, Path(options.inside[0])).dump_stats(options.inside[1])
        return 0
    with tempfile.TemporaryDirectory(prefix="team-console-profile-") as folder:
        measure = _store if options.what in ("send", "reload") else _screen
        stats = measure(options.what, Path(folder), options.messages)
    stats.strip_dirs().sort_stats(options.sort).print_stats(_SHOWN)
    return 0


def _store(what: str, folder: Path, size: int) -> pstats.Stats:
    """Ten sends or reloads, each after another writer changed the queue."""
    from tests.proofs.benchmarks.contestants.ours import Ours

    store, profile, following = Ours(folder), cProfile.Profile(), size
    store.fill(size)
    for _ in range(_TIMES):
        store.other(letter(following))
        profile.enable()
        if what == "send":
            store.send(letter(following + 1))
        else:
            store.reload()
        profile.disable()
        following += 2
    return pstats.Stats(profile)


def _screen(what: str, folder: Path, size: int) -> pstats.Stats:
    """A console on a terminal, profiled from inside its process."""
    team, out = folder / "team", folder / "profile"
    write_team(team, letters(size))
    command = (sys.executable, "-m", "tests.proofs.benchmarks.profiles", what, "--inside", str(team), str(out))
    with Terminal(command, environment(folder)) as terminal:
        try:
            while True:
                terminal.settle(limit=_DEADLINE, quiet=_DEADLINE)
        except RuntimeError:  # it ended, as it should
            if not out.exists():
                raise
    return pstats.Stats(str(out))


def _inside(what: str, team: Path) -> cProfile.Profile:
    profile = cProfile.Profile()
    if what == "start":
        profile.enable()
    from team_console.console.app import ConsoleApp
    from team_console.console.early_reading import EarlyFeed
    from team_console.store.backends.open import open_team

    opened = open_team(str(team))
    app = ConsoleApp(opened, me=LEAD, feed=EarlyFeed(opened, LEAD))

    async def drive(pilot: Any) -> None:
        while app.situation.sight is None or (what == "key" and not app.situation.is_read):
            await pilot.pause(0.01)
        await pilot.pause()
        if what == "key":
            profile.enable()
            await pilot.press(*["down"] * _TIMES)
        profile.disable()
        app.exit()

    app.run(auto_pilot=drive)
    return profile


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
