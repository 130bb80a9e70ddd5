"""Record of what an agent ran: one line for each tool that a client says was used, in a private file on this machine.

It is evidence for the human, never for a decision of ours: no store, no lock, one short append for each event. What a
tool printed is not kept. Only modules that every Python start has loaded anyway, and `json`, are imported.
"""

from __future__ import annotations

import json
import os
import re
import time
import zlib

from team_console.console.clients.quick.session_files import MOST_DAYS, sessions_folder

AFTER = frozenset({"PostToolUse", "PostToolUseFailure"})
"""Events that say that a tool was used."""
LARGEST = 128 << 10
"""Bytes from which on a record begins anew; the one before is kept beside it, so that they are at most twice these."""
OLD = ".old"
_LONGEST = 1_000
_SUBJECTS = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description")
"""Keys of a tool's input that say what it was used on, the first that is there."""
_EXIT = re.compile(r"\bexit(?:ed with)?(?: code| status)?:? (-?\d{1,3})\b", re.IGNORECASE)
_EXIT_KEYS = ("exit_code", "exitCode", "returncode", "returnCode")


def note_run(data: dict[str, object], *, session: str, agent: str, location: str) -> None:
    """Put the use of a tool on record; a machine that cannot keep it has no record of it, and nobody is told."""
    path = record_path(session, agent, location) if data.get("hook_event_name") in AFTER else None
    if path is None:
        return
    line = json.dumps(_facts(data)).encode("ascii") + b"\n"
    try:
        descriptor = _opened(path)
        try:
            if os.fstat(descriptor).st_size > LARGEST:
                os.replace(path, path + OLD)
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError:
        return


def runs_folder() -> str | None:
    """Where records are: beside the files of sessions, which go with their session."""
    base = sessions_folder()
    return os.path.join(os.path.dirname(base), "runs") if base is not None else None


def record_path(session: str, agent: str, location: str) -> str | None:
    """The record of one session of one agent; None where this machine has no place for it."""
    base = runs_folder()
    plain = session.replace("-", "").replace("_", "")
    if base is None or not plain.isalnum() or not plain.isascii() or len(session) > 80:
        return None
    return os.path.join(base, f"{whose(agent, location)}-{session}.jsonl")


def whose(agent: str, location: str) -> str:
    """What the names of an agent's records begin with."""
    words = f"{agent}\0{os.path.abspath(location)}"
    return f"{zlib.crc32(words.encode('utf-8', 'replace')):08x}"


def sweep_runs() -> None:
    """Throw away records that nobody has added to for long."""
    base, oldest = runs_folder(), time.time() - MOST_DAYS * 86_400
    try:
        for entry in os.scandir(base) if base is not None else ():
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)
    except OSError:
        return


def _opened(path: str) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


def _facts(data: dict[str, object]) -> dict[str, object]:
    given = data.get("tool_input")
    subject: object = ""
    if isinstance(given, dict):
        subject = next((given[key] for key in _SUBJECTS if given.get(key) and isinstance(given[key], str)), "")
    status, ok = _outcome(data)
    return {
        "at": round(time.time(), 3),
        "tool": str(data.get("tool_name") or "")[:100],
        "subject": str(subject)[:_LONGEST],
        "exit": status,
        "ok": ok,
        "thread": str(data.get("agent_id") or "")[:100],
    }


def _outcome(data: dict[str, object]) -> tuple[int | None, bool | None]:
    """Exit status and whether it succeeded, as the client says; None for what it does not say."""
    response = data.get("tool_response")
    status = _status(response if response is not None else data.get("error"))
    if data.get("hook_event_name") == "PostToolUseFailure":
        return status, False
    if status is not None:
        return status, status == 0
    if not isinstance(response, dict) or response.get("interrupted") or response.get("backgroundTaskId"):
        return None, None
    return None, True


def _status(response: object) -> int | None:
    if isinstance(response, dict):
        more = response.get("metadata")
        places = (response, more) if isinstance(more, dict) else (response,)
        values = (place[key] for place in places for key in _EXIT_KEYS if type(place.get(key)) is int)
        return next(values, None)
    match = _EXIT.search(response[:400]) if isinstance(response, str) else None
    return int(match[1]) if match is not None else None
