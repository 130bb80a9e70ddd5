"""Commands of agents, which start one or take its mail: run in a process group of their own, ended with their time."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

_LAST_WORDS = 400
_WAIT_FOR_KILLED = 5.0

_running_commands: set[subprocess.Popen[bytes]] = set()
"""Commands that are being waited for, in whichever thread."""


def run_command(
    command: Sequence[str],
    *,
    limit: float,
    record: bytes = b"",
    variables: Mapping[str, str] = MappingProxyType({}),
    folder: Path | None = None,
) -> str | None:
    """Run `command` without a shell in a process group of its own; None when it ended well, else why not.

    What it leaves running when it ends by itself is its own affair; after `limit` seconds the group is killed.

    Args:
        record: What it gets on its standard input.
        variables: What its environment has besides ours.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(record)
        given.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                env={**os.environ, **variables},
                stdin=given,
                # What a spawn command leaves running must not fill a file that nobody sees.
                stdout=complaints if record else subprocess.DEVNULL,
                stderr=complaints,
                cwd=folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"{command[0]}: {getattr(error, 'strerror', None) or error}"
        _running_commands.add(process)
        try:
            status = process.wait(limit)
            ending = f"signal {-status}" if status < 0 else f"exit status {status}"
        except subprocess.TimeoutExpired:
            ending = f"no answer within {limit:g} s"
        finally:
            _running_commands.discard(process)
            if process.returncode is None:  # the process group is its own
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_WAIT_FOR_KILLED)
        if process.returncode == 0:
            return None
        if process.returncode is None:  # it runs as another user, as by sudo, or the kernel holds it
            ending += ", and it could not be ended"
        complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - _LAST_WORDS))
        said = " ".join(complaints.read().decode("utf-8", "replace").split())
    return f"{ending}: {said}" if said else ending


def end_running_commands() -> None:
    """Kill the commands that are being waited for, and their children: this process is about to end without waiting."""
    for process in tuple(_running_commands):
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
