"""Changes of a store since it was last looked at, found out at little cost: by the marks of its files and its ledger.

In doubt something has changed, and the store is looked at properly. Only what every Python start has loaded anyway,
and `json`, is imported.
"""

from __future__ import annotations

import json
import os

from team_console.store.backends.presence_folder import is_locked, open_folder

_MOST_LEDGER = 1 << 20
"""Bytes of new ledger lines that are worth being searched."""
_SERVER_PATIENCE = 5.0
"""Seconds for which a team on a server is not asked again: asking costs a connection."""
Look = dict[str, object]


def marks_of(places: dict[str, str]) -> dict[str, object]:
    """What the files of a store are at the moment; compare for equality only.

    An empty log of a database is none: it comes and goes with whoever looks.
    """
    marks = {name: mark(places[name]) for name in ("queue", "settings", "database", "log") if name in places}
    return {
        name: None if name == "log" and found is not None and not found[1] else found for name, found in marks.items()
    }


def mark(path: str) -> list[int] | None:
    """Which generation of a file is there; None for none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_ino, found.st_size, found.st_mtime_ns]


def has_changed(look: Look, now: float) -> bool:
    """Whether something may wait for the agents of the look that did not when it was made."""
    places = look.get("places")
    if not isinstance(places, dict):
        return True
    if not places:
        at = look.get("at")
        return not isinstance(at, float) or not 0 <= now - at < _SERVER_PATIENCE
    if _has_files(places.get("drop")):
        return True
    before, current = look.get("marks"), marks_of(places)
    if before == current:
        return False
    if not isinstance(before, dict) or "queue" not in places or before.get("settings") != current.get("settings"):
        return True
    return not _is_explained(look, places, current["queue"])


def are_settings_same(look: Look) -> bool:
    """Whether the team's settings are those of the look."""
    places, before = look.get("places"), look.get("marks")
    if not isinstance(places, dict) or not places or not isinstance(before, dict):
        return False
    current = marks_of(places)
    return before.get("settings") == current.get("settings") if "queue" in places else before == current


def _is_explained(look: Look, places: dict[str, str], queue: object) -> bool:
    """Whether the ledger tells everything that was written since, and nothing of it concerns the agents."""
    start, names = look.get("ledger"), look.get("names")
    if not isinstance(start, int) or not isinstance(names, list) or not _is_settled(places.get("lock", ""), queue):
        return False
    lines = _new_lines(places.get("ledger", ""), start)
    return lines is not None and not any(_concerns(line, names) for line in lines)


def _is_settled(lock: str, queue: object) -> bool:
    """Whether the last holder of the lock left the queue as it is now."""
    try:
        with open(lock, "rb") as file:
            facts = json.loads(file.read(1024))
    except (OSError, ValueError):
        return False
    return isinstance(facts, dict) and queue is not None and facts.get("queue") == queue and not facts.get("damaged")


def _new_lines(ledger: str, start: int) -> list[bytes] | None:
    """The lines that were appended since; None when that cannot be told."""
    try:
        with open(ledger, "rb") as file:
            end = file.seek(0, os.SEEK_END)
            if not 0 <= end - start <= _MOST_LEDGER:
                return None
            file.seek(start)
            data = file.read(end - start)
    except OSError:
        return None
    return data.split(b"\n")[:-1] if data.endswith(b"\n") or not data else None


def _concerns(line: bytes, names: list[object]) -> bool:
    """Whether a line may give one of these agents something to read, or who is there may be another.

    A name that is not ASCII may be spelt in several ways.
    """
    if any(not name.isascii() or f'"{name}"'.encode() in line for name in (*map(str, names), "all")):
        return True
    try:
        facts = json.loads(line)
    except ValueError:
        return True
    changes = facts.get("changes", []) if isinstance(facts, dict) else None
    return not isinstance(changes, list) or any(_may_wake(change) for change in changes)


def _may_wake(change: object) -> bool:
    """Whether a change of a record may let it wait again, or for somebody else; a record is named by its id alone."""
    keys = change[1] if isinstance(change, list) and len(change) > 1 else None
    return not isinstance(keys, dict) or keys.get("status") == "pending" or any(key in keys for key in _ADDRESSES)


_ADDRESSES = ("to", "to_agents", "recipient", "to_agent", "lease_until")


def _has_files(folder: object) -> bool:
    """Whether messages lie there that somebody who cannot lock handed in."""
    try:
        return isinstance(folder, str) and any(name != "rejected" for name in os.listdir(folder))
    except OSError:
        return False


def is_console_open(look: Look) -> bool | None:
    """Whether a human is there; None when that cannot be told from files."""
    return _anybody(look, "console-", locked=True)


def is_asker_gone(look: Look) -> bool:
    """Whether somebody who asked has ended without taking back what was asked."""
    return bool(_anybody(look, "asker-", locked=False))


def _anybody(look: Look, prefix: str, *, locked: bool) -> bool | None:
    places = look.get("places")
    path = places.get("presence") if isinstance(places, dict) else None
    if not isinstance(path, str):
        return None
    try:
        folder = open_folder(path)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        return any(is_locked(folder, name) is locked for name in os.listdir(folder) if name.startswith(prefix))
    finally:
        os.close(folder)
