"""Run a verb and note how long it held the lock: `python -m tests.proofs.benchmarks.lock_times RESULT VERB ...`.

Writes `{"turns": n, "longest": seconds}` to RESULT and leaves with the status of the verb.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any


def main(result: Path, words: list[str]) -> int:
    """Run the verb, with a watch around the lock."""
    from team_console.console.cli.main import run
    from team_console.store.backends.yaml import session
    from team_console.store.backends.yaml.lock import held

    times = [0.0]

    @contextmanager
    def watched(*given: Any, **named: Any) -> Iterator[Any]:
        with held(*given, **named) as lock:
            start = perf_counter()
            try:
                yield lock
            finally:
                times.append(perf_counter() - start)

    vars(session)["held"] = watched
    status = run(words)
    result.write_text(json.dumps({"turns": len(times) - 1, "longest": max(times)}))
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
