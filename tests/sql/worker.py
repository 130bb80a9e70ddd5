"""One of several workers on one inbox: claims, acknowledges, and writes down what it finished, until told to stop.

It goes on after a lost server, as an agent has to: whatever it had claimed is handed out again when the lease ends.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from team_console.store.backends.sql.open import open_database
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import acknowledge, receive

AGENT = "code_developer"
BATCH = 100
LEASE_SECONDS = 1.0
_LOST = (Code.STORE_UNREADABLE, Code.STORE_FAILED)


def main(place: str, receipts: Path, stop: Path, batch: int = BATCH) -> None:
    """Work until the file `stop` is there. A receipt is on disk only after the acknowledgement is."""
    caller = Caller(open_database(place), AGENT, wait=30.0)
    with receipts.open("ab", buffering=0) as file:
        while not stop.exists():
            try:
                taken = receive(caller, agent=AGENT, lease=LEASE_SECONDS, limit=batch).messages
                done = _finish(caller, [message.message_id for message in taken])
            except TeamError as error:
                if error.code not in _LOST or "://" not in place:
                    raise
                time.sleep(0.1)
                continue
            if done:
                os.write(file.fileno(), "".join(f"{item}\n" for item in done).encode())
            elif not taken:
                time.sleep(0.05)


def _finish(caller: Caller, ids: list[str]) -> list[str]:
    """Acknowledge one by one what came too late together: a lease that ended is another worker's now."""
    try:
        return _new(caller, ids) if ids else []
    except TeamError as error:
        if error.code is not Code.NOT_PERMITTED:
            raise
    done: list[str] = []
    for item in ids:
        try:
            done += _new(caller, [item])
        except TeamError as error:
            if error.code is not Code.NOT_PERMITTED:
                raise
    return done


def _new(caller: Caller, ids: list[str]) -> list[str]:
    return [] if acknowledge(caller, ids=ids).repeated else ids


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *(int(item) for item in sys.argv[4:]))
