"""Starts an agent by the team's own command, while its request is held so that nobody else starts it too."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import safe_line

_LAST_WORDS = 400
_GRACE = timedelta(seconds=10)


def hold(tx: Transaction, question: Message, *, actor: str, seconds: float) -> None:
    """Note on the question that `actor` is busy with it for `seconds`; the note lapses by itself if it dies."""
    until = to_text(tx.now + timedelta(seconds=seconds) + _GRACE)
    tx.replace(question, question.with_changes(claimed_by=actor, lease_until=until))


def let_go(tx: Transaction, message_id: str) -> bool:
    """Take the note off again; whether there was one."""
    held = tx.get(message_id)
    if held is None or held.status == Status.CLAIMED or held.envelope("lease_until") is None:
        return False
    tx.replace(held, held.with_changes(claimed_by=None, lease_until=None))
    return True


def refuse_held(question: Message, tx: Transaction) -> None:
    """Refuse a question that somebody is starting an agent for.

    Raises:
        TeamError: `STORE_LOCKED`, with who and until when.
    """
    until = from_text(str(question.envelope("lease_until") or ""))
    holder = question.envelope("claimed_by")
    if until is None or holder is None or until <= tx.now or question.status == Status.CLAIMED:
        return
    raise TeamError(
        Code.STORE_LOCKED,
        f"{holder} is starting the agent for {question.message_id} right now",
        f"Try again after {to_text(until, milliseconds=False)} if no AGENT_CREATED has come.",
        held_by=str(holder),
        held_until=to_text(until),
    )


def start_agent(command: Sequence[str], *, facts: Mapping[str, str], limit: float) -> None:
    """Run `command` and wait until it has ended well; what it leaves running in the background stays.

    Each fact `agent_name` replaces `{agent_name}` in the arguments and is `TEAM_CONSOLE_AGENT_NAME` in the environment.

    Args:
        limit: Seconds after which the command and its children are killed.

    Raises:
        TeamError: `SPAWN_FAILED` with the status and the last line the command wrote to its error output.
    """
    words = [_filled(word, facts) for word in command]
    variables = {f"TEAM_CONSOLE_{key.upper()}": value.replace("\0", "") for key, value in facts.items()}
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                words,
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                start_new_session=True,
            )
        except OSError as error:
            raise _failed(f"the spawn command {words[0]} cannot be run: {error.strerror}") from error
        status = _wait(process, limit)
        if status == 0:
            return
        complaints.seek(0, os.SEEK_END)
        complaints.seek(max(0, complaints.tell() - _LAST_WORDS))
        said = complaints.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
    end = f"did not end within {limit:g} seconds" if status is None else f"ended with status {status}"
    raise _failed(f"the spawn command {words[0]} {end}" + (f": {safe_line(said)}" if said else ""))


_running: set[subprocess.Popen[bytes]] = set()
"""Commands that are being waited for, in whichever thread."""


def end_running() -> None:
    """Kill the commands that are being waited for, and their children: this process is about to end without waiting."""
    for process in tuple(_running):
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _wait(process: subprocess.Popen[bytes], limit: float) -> int | None:
    """The exit status, or None when time was up and the whole process group was killed."""
    _running.add(process)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _running.discard(process)
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _filled(word: str, facts: Mapping[str, str]) -> str:
    for key, value in facts.items():
        word = word.replace("{" + key + "}", value.replace("\0", ""))
    return word


def _failed(message: str) -> TeamError:
    return TeamError(Code.SPAWN_FAILED, message, "The request stays open: correct the command (spawn in the settings).")
