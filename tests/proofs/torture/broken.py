"""A store that follows the source's steps to the letter: the archive is written before the lock is taken."""

from __future__ import annotations

import fcntl
import os
import random
import time
from pathlib import Path
from typing import Any

import yaml

from tests.proofs.torture.workers import LEAD, RECEIVERS, Job


def sender(job: Job) -> None:
    """Adds a message under the lock."""
    chance, number = random.Random(job.seed), 0
    while True:
        number += 1
        message_id = f"MSG-20260224-{job.seed:04d}x{number:05d}"
        record = {"message_id": message_id, "type": "message", "from": LEAD, "to": chance.choice(RECEIVERS)}
        _rewrite(Path(job.location), lambda messages, record=record: messages.append({**record, "status": "pending"}))
        job.note("sent", message_id)
        time.sleep(chance.random() * 0.05)


def receiver(job: Job) -> None:
    """Selects and archives first, then takes the lock and merges the states."""
    chance = random.Random(job.seed)
    agent, root = RECEIVERS[job.seed % len(RECEIVERS)], Path(job.location)
    while True:
        taken = [
            item for item in _load(root / "message-queue.yaml") if item["to"] == agent and item["status"] == "pending"
        ]
        for each in taken:
            _append(root / "archive" / f"{agent}-archive.yaml", {**each, "status": "read"})
        ids = {item["message_id"] for item in taken}
        if ids:
            _rewrite(
                root,
                lambda messages, ids=ids: [
                    message.update(status="read") for message in messages if message["message_id"] in ids
                ],
            )
        job.note("got", agent, *sorted(ids))
        time.sleep(chance.random() * 0.05)


KINDS = {"sender": sender, "receiver": receiver}


def _load(path: Path) -> list[dict[str, Any]]:
    try:
        loaded = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    except FileNotFoundError:
        return []
    messages: list[dict[str, Any]] = (loaded or {}).get("messages") or []
    return messages


def _append(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_text("messages:\n")
    with path.open("a") as file:
        file.write(yaml.dump([record], Dumper=yaml.CSafeDumper, sort_keys=False))


def _rewrite(root: Path, change: Any) -> None:
    queue = root / "message-queue.yaml"
    with (root / "message-queue.yaml.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        messages = _load(queue)
        change(messages)
        temporary = root / f"message-queue.yaml.tmp.{os.getpid()}"
        temporary.write_text(yaml.dump({"messages": messages}, Dumper=yaml.CSafeDumper, sort_keys=False))
        temporary.rename(queue)
