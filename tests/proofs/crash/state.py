"""What a team holds, read by an independent loader, and the promises that must hold about its files at any time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from team_console.store.backends.yaml.audit_trail import AuditTrail, TrailFileFollower
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.folder_health import history_losses
from team_console.store.backends.yaml.healing import replay
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.lock import parse_released, read_text

from tests.equipment.teams import make_message

PROBE = 99
"""Number of the message that the process after the crash sends."""
_QUEUE = "message-queue.yaml"

State = tuple[tuple[tuple[str, str], ...], tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]
"""Queue as (id, status), archived ids per file, pushed ids per file; sorted, the probe left out."""


class Broken(AssertionError):
    """A promise does not hold."""


def read_state(disk: Disk, root: Path) -> State:
    """What the team in `root` holds."""
    live = [(str(message["message_id"]), str(message["status"])) for message in messages_in(disk, root / _QUEUE)]
    probe = make_message(PROBE).message_id
    archives = _files(disk, root / "archive", _archived)
    return (
        tuple(sorted(message for message in live if message[0] != probe)),
        archives,
        _files(disk, root / "inbox", _pushed),
    )


def check_files(disk: Disk, root: Path) -> None:
    """No litter, a whole trail that tells the same story as the queue, and a lock that was left clean.

    Raises:
        Broken: Naming the promise.
    """
    litter = [name for name in disk.names(root) if ".tmp." in name]
    if litter:
        raise Broken(f"litter: {litter}")
    live = [(str(message["message_id"]), str(message["status"])) for message in messages_in(disk, root / _QUEUE)]
    if len(live) != len(dict(live)):
        raise Broken(f"a message is there twice: {live}")
    if not all(line.intact for line in TrailFileFollower(disk, root / "audit.jsonl").last(1000)):
        raise Broken("the chain of the trail is broken")
    held, _ = replay(AuditTrail(disk, root / "audit.jsonl").lines())
    told = {message.message_id: message.status for message in held.values()}
    if told != dict(live):
        raise Broken(f"the trail says {told}, the queue {dict(live)}")
    if parse_released(read_text(disk, root / f"{_QUEUE}.lock")) is None:
        raise Broken("the lock was not left clean")


def check_history(disk: Disk, root: Path) -> None:
    """Nothing of history is told to be lost: no crash loses any.

    Raises:
        Broken: Naming what is told.
    """
    queue = root / _QUEUE
    told = history_losses(disk, Layout.of(queue, root / "archive", root / "messenger-config.yaml"))
    if told:
        raise Broken(f"history is told to be lost: {told}")


def _files(disk: Disk, folder: Path, ids: Callable[[Disk, Path], list[str]]) -> tuple[tuple[str, ...], ...]:
    found = [tuple(ids(disk, folder / name)) for name in disk.names(folder) if ".torn-" not in name]
    return tuple(sorted(item for item in found if item))


def _archived(disk: Disk, path: Path) -> list[str]:
    return [str(message["message_id"]) for message in messages_in(disk, path)]


def _pushed(disk: Disk, path: Path) -> list[str]:
    return [json.loads(line)["message_id"] for line in disk.read(path)[0].splitlines()]


def messages_in(disk: Disk, path: Path) -> list[dict[str, Any]]:
    """The messages of a queue or an archive; empty when there is none."""
    if disk.stat(path) is None:
        return []
    messages = (yaml.load(disk.read(path)[0], Loader=yaml.CSafeLoader) or {}).get("messages") or []
    assert isinstance(messages, list)
    return messages
