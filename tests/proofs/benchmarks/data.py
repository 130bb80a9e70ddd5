"""The messages every contestant gets: the same texts, about 430 bytes each as YAML, made from a number alone.

Imports nothing but the standard library, so that peers can run it in an environment of their own.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

LEAD = "ceo"
AGENTS = (
    *("task-manager", "scrum-master", "file-manager", "architect", "story-creator"),
    *("dev-runner-1", "dev-runner-2", "dev-runner-3", "qa-runner", "doc-writer"),
)
_SUBJECTS = (
    *("refactor the report generator", "add error handling to the loader", "review the export job"),
    *("split the parser from the renderer", "answer the open question on limits", "rerun the failing tests"),
)
_SENTENCES = (
    "The loader reads the file twice when the cache is cold, so the second pass can go.",
    "Tests for the renderer pass on my side; the two slow ones need a look before we merge.",
    "Please check the numbers in the last table: the totals do not add up for February.",
    "I moved the limits into the settings and left the old names readable for a release.",
)
_STATUSES = ("pending",) * 14 + ("delivered",) * 5 + ("failed",)
_START = datetime(2026, 2, 24, 8, 0, tzinfo=UTC)
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(frozen=True, slots=True)
class Letter:
    """One message, before a store gives it its own form."""

    number: int
    message_id: str
    type: str
    sender: str
    to: str
    priority: str
    created: str
    status: str
    summary: str
    content: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """The record as the queue of `docs/contributing/architecture.md`, formats holds it."""
        payload = {"summary": self.summary, "content": "".join(f"{line}\n" for line in self.content)}
        if self.type == "plan_approval_request":
            payload = {"request_id": f"plan_approval-{1771900000000 + self.number}@{self.sender}@bench", **payload}
        keys = ("message_id", "type", "sender", "to", "priority", "created", "status")
        return {"from" if key == "sender" else key: getattr(self, key) for key in keys} | {"payload": payload}

    def yaml(self) -> str:
        """One list item, spelled as team-console writes it."""
        record = self.record()
        payload = record.pop("payload")
        record["created"] = f"'{self.created}'"
        lines = [f"{key}: {value}" for key, value in record.items()]
        lines += ["payload:", *(f"  {key}: {value}" for key, value in payload.items() if key != "content")]
        lines += ["  content: |", *(f"    {line}" for line in self.content)]
        return "- " + "\n  ".join(lines) + "\n"

    def mail(self) -> bytes:
        """The same as an internet message."""
        moment = datetime.fromisoformat(self.created)
        head = {
            "From": f"{self.sender} <{self.sender}@team.example>",
            "To": f"{self.to} <{self.to}@team.example>",
            "Subject": self.summary,
            "Date": f"{moment:%a, %d %b %Y %H:%M:%S} +0000",
            "Message-ID": f"<{self.message_id}@team.example>",
            "X-Type": self.type,
            "X-Priority": self.priority,
            "X-Status": self.status,
        }
        text = "".join(f"{key}: {value}\n" for key, value in head.items())
        return (text + "\n" + "".join(f"{line}\n" for line in self.content)).encode()


def letter(number: int, *, subject: str = "job", to: str | None = None, kind: str | None = None) -> Letter:
    """The letter with this number; the same number always gives the same letter."""
    dice = random.Random(zlib.crc32(b"%d" % number))
    moment = _START + timedelta(seconds=number)
    word = "".join(dice.choice(_BASE32) for _ in range(8))
    return Letter(
        number=number,
        message_id=f"MSG-{moment:%Y%m%d}-{word[:-4]}{_word(number)}",
        type=kind or ("plan_approval_request" if number % 200 == 7 else "message"),
        sender=AGENTS[number % len(AGENTS)],
        to=to or (LEAD if number % 200 == 7 or number % 9 == 0 else AGENTS[(number * 7 + 3) % len(AGENTS)]),
        priority=dice.choice(("high", "medium", "medium", "medium", "low")),
        created=f"{moment:%Y-%m-%dT%H:%M:%S}.{number % 1000:03}Z",
        status="pending" if number % 200 == 7 else dice.choice(_STATUSES),
        summary=f"{subject} {number:06} {dice.choice(_SUBJECTS)}",
        content=tuple(dice.sample(_SENTENCES, 2)),
    )


def letters(count: int, *, first: int = 0) -> Iterator[Letter]:
    """`count` letters in order of their age, oldest first."""
    return (letter(number) for number in range(first, first + count))


def write_queue(path: Path, messages: Iterable[Letter]) -> None:
    """A queue file, or an archive as another writer would leave it."""
    with path.open("w", encoding="utf-8") as file:
        file.write("messages:\n")
        file.writelines(toast.yaml() for toast in messages)


def quiet(count: int) -> Iterator[Letter]:
    """Letters between agents of which none needs the human."""
    for number in range(count):
        toast = letter(number, to=AGENTS[(number * 7 + 3) % len(AGENTS)], kind="message")
        yield replace(toast, status="pending", priority="low")


def write_team(folder: Path, messages: Iterable[Letter], *, archived: int = 0) -> None:
    """A team of ten agents that others wrote: `messages` in its queue, the letters 0 to `archived` in its archives."""
    folder.mkdir(parents=True, exist_ok=True)
    members = "".join(f"- name: {agent}\n  role: resident\n" for agent in AGENTS)
    text = f"team: bench\nlead: {LEAD}\nlanguage: any\nagents:\n- name: {LEAD}\n  role: master\n{members}"
    (folder / "messenger-config.yaml").write_text(text, encoding="utf-8")
    write_queue(folder / "message-queue.yaml", messages)
    if archived:
        _write_archives(folder / "archive", archived)


def _write_archives(folder: Path, count: int) -> None:
    folder.mkdir()
    for place, agent in enumerate(AGENTS):
        with (folder / f"{agent}-archive.yaml").open("w", encoding="utf-8") as file:
            file.write("messages:\n")
            for number in range(place, count, len(AGENTS)):
                file.write(replace(letter(number, to=agent), status="read").yaml())


def write_maildir(folder: Path, messages: Iterable[Letter]) -> None:
    """A Maildir whose messages were seen by a reader but not opened."""
    for name in ("tmp", "new", "cur"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for toast in messages:
        (folder / "cur" / f"{1771900000 + toast.number}.M{toast.number:06}.bench:2,").write_bytes(toast.mail())


def _word(number: int) -> str:
    digits = []
    for _ in range(4):
        number, digit = divmod(number, 32)
        digits.append(_BASE32[digit])
    return "".join(reversed(digits))
