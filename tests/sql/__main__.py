"""The command `python -m tests.sql`: six claimers on 20,000 messages with kills, on SQLite and on PostgreSQL."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.equipment.postgresql import fresh_database, shared_server
from tests.sql.claimers import KILLS, WORKERS, work_off


def main() -> int:
    """Print one line for each database; 1 when a message was lost or done twice, or the audit chain is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.sql", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, metavar="N")
    messages: int = parser.parse_args().messages
    server = shared_server()
    if server is None:
        print("PostgreSQL: left out, no server is installed")
    bad = False
    with tempfile.TemporaryDirectory(prefix="team-console-claims-") as folder:
        places = {"SQLite": f"{folder}/team.db", **({"PostgreSQL": fresh_database(server)} if server else {})}
        for name, place in places.items():
            desk, begun = Path(folder) / name, time.monotonic()
            desk.mkdir()
            done = work_off(place, desk, messages)
            bad = bad or done != (0, 0, True)
            chain = "intact" if done.intact else "BROKEN"
            print(
                f"{name}: {messages} messages, {WORKERS} claimers, {KILLS} killed: {done.lost} lost, "
                f"{done.twice} twice, audit chain {chain}, {time.monotonic() - begun:.0f} s",
                flush=True,
            )
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
