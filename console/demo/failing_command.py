"""A delivery command that fails four times: `failing_command.py TRIES`, with a record on standard input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

BUSY = 75
_TURNED_AWAY = 4


def main(tries: Path) -> int:
    """Count this try; refuse the first four of each message with a reason, take it after that."""
    message_id = str(json.loads(sys.stdin.readline()).get("message_id"))
    counted = json.loads(tries.read_text(encoding="utf-8")) if tries.exists() else {}
    counted[message_id] = counted.get(message_id, 0) + 1
    tries.write_text(json.dumps(counted), encoding="utf-8")
    if counted[message_id] > _TURNED_AWAY:
        return 0
    print("architect is in a meeting until the hour", file=sys.stderr)
    return BUSY


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
