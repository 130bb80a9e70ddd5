"""Hands one message to an agent's own command: record on standard input, exit status decides (seed 003, step 2)."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from team_console.store.model.message import Message

if TYPE_CHECKING:
    from subprocess import Popen

_ERROR_BYTES = 400
_GRACE_SECONDS = 5.0


def hand_over(message: Message, *, command: Sequence[str], limit: float, folder: Path | None) -> str | None:
    """Run `command` without a shell in `folder`; None when it took the message, else why not, with its last words.

    The command gets the record as one JSON line. After `limit` seconds it is ended with its process group; what it
    leaves running when it ends by itself is its own affair. The record may come again with a higher `attempts` when a
    router died before it could note the outcome.
    """
    import subprocess

    with tempfile.TemporaryFile() as record, tempfile.TemporaryFile() as complaint:
        record.write(json.dumps(dict(message.record), default=str).encode() + b"\n")
        record.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=record,
                stdout=complaint,
                stderr=complaint,
                cwd=folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"{command[0]}: {getattr(error, 'strerror', None) or error}"
        return _ending(process, limit, complaint)


def _ending(process: Popen[bytes], limit: float, complaint: IO[bytes]) -> str | None:
    import subprocess

    try:
        status = process.wait(limit)
        if status == 0:
            return None
        ending = f"signal {-status}" if status < 0 else f"exit status {status}"
    except subprocess.TimeoutExpired:
        ending = f"no answer within {limit:g} s"
    finally:
        has_ended = _end_group(process)
    if not has_ended:
        ending += ", and it could not be ended"
    said = _last_words(complaint)
    return f"{ending}: {said}" if said else ending


def _end_group(process: Popen[bytes]) -> bool:
    """End a command that is still running; its process group is its own, so that nothing else is hit.

    Returns:
        Whether it has ended: one that runs as another user, as by sudo, or that the kernel holds goes on.
    """
    import subprocess

    if process.returncode is not None:
        return True
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _last_words(complaint: IO[bytes]) -> str:
    size = complaint.seek(0, os.SEEK_END)
    complaint.seek(max(0, size - _ERROR_BYTES))
    return " ".join(complaint.read().decode("utf-8", "replace").split())
