"""A store that is measured, as a child process: orders go to its standard input, seconds come back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.proofs.benchmarks.peers import ROOT, Peers


@dataclass(frozen=True, slots=True)
class Kind:
    """A sort of store: the module under `contestants`, and the package it needs from the peers' environment."""

    name: str
    module: str
    package: str = ""

    def python(self, peers: Peers) -> Path | None:
        """The interpreter that can run it, None when the package is not installed."""
        if not self.package:
            return Path(sys.executable)
        return peers.python if peers.has(self.package) else None


KINDS = (
    Kind("team-console", "ours"),
    Kind("PyYAML, whole file", "pyyaml"),
    Kind("mailbox.Maildir", "maildir"),
    Kind("system calls alone", "floor"),
    Kind("litequeue", "litequeue", "litequeue"),
    Kind("persist-queue", "persistqueue", "persistqueue"),
)


class Contestant:
    """A running store; use it as a context manager."""

    def __init__(self, kind: Kind, python: Path, folder: Path) -> None:
        command = (python, "-m", f"tests.proofs.benchmarks.contestants.{kind.module}", folder)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        self.name = kind.name
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )

    def order(self, op: str, **facts: Any) -> float:
        """Do `op` once and return its seconds.

        Raises:
            RuntimeError: The contestant ended, or did not see every message it should.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"op": op, **facts}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended during '{op}'")
        answer = json.loads(line)
        if answer["count"] not in (None, answer["expected"]):
            raise RuntimeError(f"{self.name} saw {answer['count']} messages instead of {answer['expected']}")
        seconds: float = answer["seconds"]
        return seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()
