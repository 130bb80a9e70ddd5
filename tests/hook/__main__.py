"""The command `python -m tests.hook`: many permission requests at once, with hooks and consoles killed meanwhile."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.hook.stress import Plan, run


def main() -> int:
    """Run it; 1 when anything was lost, wrong or left open."""
    parser = argparse.ArgumentParser(prog="python -m tests.hook", description=__doc__)
    parser.add_argument("--requests", type=int, default=Plan.requests)
    parser.add_argument("--processes", type=int, default=Plan.processes)
    parser.add_argument("--seed", type=int, default=Plan.seed)
    options = parser.parse_args()
    plan = Plan(options.requests, options.processes, seed=options.seed)
    print(f"seed {plan.seed}: {plan.requests} requests by {plan.processes} processes", flush=True)
    with tempfile.TemporaryDirectory(prefix="team-console-stress-") as folder:
        findings = run(Path(folder), plan)
    print(findings.text())
    return 0 if findings.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
