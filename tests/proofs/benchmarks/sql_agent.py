"""One agent of the store comparison: sends to its neighbour and receives its own mail, as fast as it can."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.sending import send


def main(location: str, name: str, neighbour: str, seconds: float, result: Path) -> None:
    """Work from the end of standard input on; writes what every send took, in seconds, and the refusals."""
    caller = Caller(open_team(location), name)
    caller.team.snapshot()
    print("ready", flush=True)
    sys.stdin.read()
    took: list[float] = []
    refused = 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        try:
            send(caller, to=neighbour, summary="The next step is done now", content="Line one.\nLine two.")
            took.append(time.perf_counter() - begun)
            receive(caller, agent=name)
        except TeamError as error:
            if error.code is not Code.STORE_LOCKED:
                raise
            refused += 1
    result.write_text(json.dumps({"took": took, "refused": refused}))


if __name__ == "__main__":
    place, me, other, duration, file = sys.argv[1:]
    main(place, me, other, float(duration), Path(file))
