"""Scenarios with the real clients: `python -m tests.proofs.clients [PYTEST ARGUMENTS]`; `--install` installs those.

`--brief` does both as far as this machine allows: one scenario of each client, and a line that says which ran.
`--picture` draws screenshots/side-by-side.svg anew, with the real Claude Code.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.proofs.clients import network, packages

_BRIEF = "a_command_that_is_allowed_at_the_console_runs"
"""The scenario of each client that a brief run plays."""


def main(arguments: list[str]) -> int:
    """Run the scenarios in a network of their own; says what was left out and why."""
    if arguments == ["--install"]:
        return packages.install()
    if arguments == ["--brief"]:
        why = _unfit()
        if why:
            print(f"the real clients were not run, {why}: only what was captured of them")
            return 0
        arguments = ["-q", "-k", _BRIEF]
    if arguments == ["--picture"]:
        arguments = ["-n0", str(Path(__file__).with_name("side_by_side.py")) + "::test_draw_one_request_in_both_places"]
    if not network.is_own() and "--inside" not in arguments:
        print(f"not run: {network.enter(['tests.proofs.clients', '--inside', *arguments])}")
        return 1
    network.lift_loopback()
    rest = [word for word in arguments if word != "--inside"]
    missing = packages.missing()
    all_of_them = f"with the real {packages.VERSIONS}"
    print(f"not installed: {' and '.join(missing)} (make clients)" if missing else all_of_them, flush=True)
    places = [] if any("test_" in word for word in rest) else [str(Path(__file__).parent)]
    return pytest.main(["-n", "2", *rest, *places])


def _unfit() -> str:
    """Why the clients cannot be run here, after having tried to install them."""
    if packages.install():
        return "they cannot be installed here"
    return "" if network.unsharing() else "this machine allows no network namespace"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
