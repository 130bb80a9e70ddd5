"""Scenarios with the real clients: `python -m tests.clients [PYTEST ARGUMENTS]`; `--install` puts those in place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.clients import network, packages


def main(arguments: list[str]) -> int:
    """Run the scenarios in a network of their own; says what was left out and why."""
    if arguments == ["--install"]:
        return packages.install()
    if not network.is_own() and "--inside" not in arguments:
        print(f"not run: {network.enter(['tests.clients', '--inside', *arguments])}")
        return 1
    network.lift_loopback()
    rest = [word for word in arguments if word != "--inside"]
    missing = packages.missing()
    print(f"not installed: {' and '.join(missing)} (make clients)" if missing else "with both real clients")
    places = [] if any("test_" in word for word in rest) else [str(Path(__file__).parent)]
    return pytest.main(["-n", "2", *rest, *places])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
