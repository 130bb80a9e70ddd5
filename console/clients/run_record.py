"""Run record: one line for each tool that a client says was used, in a private file on this machine."""

from __future__ import annotations

import json
import os
import re
import time

from team_console.console.clients.session_files import agent_prefix, is_session_id, state_subfolder

AFTER_TOOL = frozenset({"PostToolUse", "PostToolUseFailure"})
"""Events that say that a tool was used."""
LARGEST = 128 << 10
"""Bytes from which on a record begins anew; the one before is kept beside it, so that they are at most twice these."""
OLD = ".old"
"""Ends the name of the record before."""
_LONGEST = 1_000
"""Characters of what a tool was used on that are kept."""
SUBJECTS = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description")
"""Keys of a tool's input that say what it was used on, the first that is there."""
EXIT = re.compile(r"\bexit(?:ed with)?(?: code| status)?:? (-?\d{1,3})\b", re.IGNORECASE)


def note_run(data: dict[str, object], *, session: str, agent: str, location: str) -> None:
    """Add the use of a tool to the agent's record; the first event of a session begins it.

    A machine that cannot keep the record goes without, silently: no event of a client may fail for it.
    """
    if not is_session_id(session):
        return
    name = data.get("hook_event_name")
    is_use = isinstance(name, str) and name in AFTER_TOOL
    path = record_path(session, agent, location)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(path, flags, 0o600), "ab") as file:
            if file.tell() > LARGEST:
                os.replace(path, path + OLD)
            if is_use:
                file.write(json.dumps(_run_facts(data)).encode("ascii") + b"\n")
    except OSError:
        return


def record_path(session: str, agent: str, location: str) -> str:
    """Return the record of one session of one agent."""
    return os.path.join(state_subfolder("runs"), f"{agent_prefix(agent, location)}-{session}.jsonl")


def _run_facts(data: dict[str, object]) -> dict[str, object]:
    """Return the line of the record for an event."""
    given = data.get("tool_input")
    subject: object = ""
    if isinstance(given, dict):
        subject = next((given[key] for key in SUBJECTS if given.get(key) and isinstance(given[key], str)), "")
    status, ok = _run_outcome(data)
    return {
        "at": round(time.time(), 3),
        "tool": str(data.get("tool_name") or "")[:100],
        "subject": str(subject)[:_LONGEST],
        "exit": status,
        "ok": ok,
        "thread": str(data.get("agent_id") or "")[:100],
    }


def _run_outcome(data: dict[str, object]) -> tuple[int | None, bool | None]:
    """Exit status and whether it succeeded, as the client says; None for what it does not say."""
    response = data.get("tool_response")
    status = _exit_status(response if response is not None else data.get("error"))
    if data.get("hook_event_name") == "PostToolUseFailure":
        return status, False
    if status is not None:
        return status, status == 0
    if not isinstance(response, dict) or response.get("interrupted") or response.get("backgroundTaskId"):
        return None, None
    return None, True


def _exit_status(response: object) -> int | None:
    if isinstance(response, dict):
        more = response.get("metadata")
        values = [place.get("exit_code") for place in (response, more) if isinstance(place, dict)]
        return next((value for value in values if type(value) is int), None)
    match = EXIT.search(response[:400]) if isinstance(response, str) else None
    return int(match[1]) if match is not None else None
