"""Several machines in one: network namespaces joined by cables that can be pulled, a server in the middle."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.equipment.command_line import COMMAND, Result, clean_environment
from tests.equipment.terminal import Terminal


def why_not() -> str | None:
    """Why there can be no namespaces here, None when there can."""
    if os.getuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "network namespaces need the program ip"
    probe = f"tcp{secrets.token_hex(3)}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"no network namespaces here: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", probe], check=True)
    return None


@dataclass(slots=True)
class Machine:
    """One namespace with a cable to the server's.

    Attributes:
        server: The server's address as this machine sees it.
        cable: Its end of the cable; empty where there are no namespaces.
    """

    name: str
    server: str
    cable: str
    folder: Path

    @property
    def prefix(self) -> list[str]:
        """What a command is run with to run on this machine."""
        return [] if not self.cable else ["ip", "netns", "exec", self.name]

    def __call__(self, *arguments: str, timeout: float = 60.0) -> Result:
        """Run the command line on this machine."""
        done = subprocess.run(
            [*self.prefix, *COMMAND, *arguments],
            cwd=self.folder,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def console(self, *arguments: str) -> Terminal:
        """The console on a terminal of this machine."""
        return Terminal([*self.prefix, *COMMAND, *arguments], cwd=self.folder)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a program on this machine; the caller ends it."""
        return subprocess.Popen([*self.prefix, *command], cwd=self.folder, env=clean_environment())

    def pull_cable(self) -> None:
        """Cut the connection without a word to either side."""
        _ip("-n", self.name, "link", "set", self.cable, "down")

    def plug_cable(self) -> None:
        """Put it back."""
        _ip("-n", self.name, "link", "set", self.cable, "up")


@dataclass(slots=True)
class Network:
    """The server's namespace, None for the one that everybody is in, and the machines around it."""

    server: str | None
    machines: list[Machine] = field(default_factory=list)


@contextmanager
def network(folder: Path, *, machines: int) -> Iterator[Network]:
    """Namespaces that are gone after the block."""
    mark = secrets.token_hex(2)
    center = f"tc{mark}db"
    made = Network(center)
    names = [center, *(f"tc{mark}m{number}" for number in range(machines))]
    try:
        for name in names:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        for number, name in enumerate(names[1:]):
            made.machines.append(_joined(center, name, number, folder))
        yield made
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def without_cables(folder: Path, *, machines: int) -> Network:
    """Groups of processes that share nothing with the server's but TCP."""
    return Network(None, [Machine(f"m{number}", "127.0.0.1", "", folder) for number in range(machines)])


def _joined(server: str, name: str, number: int, folder: Path) -> Machine:
    here, there = f"v{name}", f"w{name}"
    _ip("link", "add", here, "netns", name, "type", "veth", "peer", "name", there, "netns", server)
    net = f"10.{77 + number}.0"
    for where, cable, address in ((name, here, f"{net}.2/24"), (server, there, f"{net}.1/24")):
        _ip("-n", where, "address", "add", address, "dev", cable)
        _ip("-n", where, "link", "set", cable, "up")
    return Machine(name, f"{net}.1", here, folder)


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
