"""The messages every contestant gets: the same texts, about 430 bytes each as YAML, made from a number alone."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path

from team_console.store.backends.yaml.entry import write_entry
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message, new_record

from tests.equipment.cases import constant
from tests.equipment.teams import START

LEAD = "ceo"
AGENTS = constant(__file__, "AGENTS", tuple[str, ...])
_SUBJECTS = constant(__file__, "SUBJECTS", list[str])
_SENTENCES = constant(__file__, "SENTENCES", list[str])
_STATUSES = ("pending",) * 14 + ("delivered",) * 5 + ("failed",)


def letter(number: int) -> Message:
    """Return the message with this number; the same number always gives the same message."""
    dice, sender, asks = random.Random(number), AGENTS[number % len(AGENTS)], number % 200 == 7
    payload = {"summary": f"job {number:06} {dice.choice(_SUBJECTS)}"}
    payload["content"] = "".join(f"{line}\n" for line in dice.sample(_SENTENCES, 2))
    if asks:
        payload["request_id"] = f"plan_approval-{1771900000000 + number}@{sender}@bench"
    made = new_record(
        message_id=f"MSG-20260224-{number:08}",
        type="plan_approval_request" if asks else "message",
        sender=sender,
        to=LEAD if asks or number % 9 == 0 else another(number),
        created=to_text(START + timedelta(seconds=number)),
        priority=dice.choice(("high", "medium", "medium", "medium", "low")),
        payload=payload,
    )
    return made if asks else made.with_changes(status=dice.choice(_STATUSES))


def another(number: int) -> str:
    """Return an agent who gets the message with this number, and not from itself."""
    return AGENTS[(number * 7 + 3) % len(AGENTS)]


def letters(count: int, *, first: int = 0) -> Iterator[Message]:
    """Yield `count` messages in order of their age, oldest first."""
    yield from map(letter, range(first, first + count))


def quiet(count: int) -> Iterator[Message]:
    """Yield messages between agents of which none needs the human."""
    for number in range(count):
        waits = {"type": "message", "to": another(number), "status": "pending", "priority": "low"}
        yield letter(number).with_changes(**waits)


def write_queue(path: Path, messages: Iterable[Message]) -> None:
    """Write a queue file, or an archive as another writer would leave it."""
    with path.open("wb") as file:
        file.write(b"messages:\n")
        file.writelines(map(write_entry, messages))


def write_team(folder: Path, messages: Iterable[Message], *, archived: int = 0) -> None:
    """Write a team of ten agents: `messages` in its queue, those from 0 to `archived` in its archives."""
    folder.mkdir(parents=True, exist_ok=True)
    members = "".join(f"- name: {agent}\n  role: resident\n" for agent in AGENTS)
    text = f"team: bench\nlead: {LEAD}\nlanguage: any\nagents:\n- name: {LEAD}\n  role: master\n{members}"
    (folder / "messenger-config.yaml").write_text(text, encoding="utf-8")
    write_queue(folder / "message-queue.yaml", messages)
    for place, agent in enumerate(AGENTS) if archived else ():
        (folder / "archive").mkdir(exist_ok=True)
        read = (letter(number).with_changes(to=agent, status="read") for number in range(place, archived, len(AGENTS)))
        write_queue(folder / "archive" / f"{agent}-archive.yaml", read)


def write_maildir(folder: Path, messages: Iterable[Message]) -> None:
    """Write a Maildir whose messages were seen by a reader but not opened."""
    for name in ("tmp", "new", "cur"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number, message in enumerate(messages):
        file = folder / "cur" / f"{1771900000 + number}.M{number:06}.bench:2,"
        file.write_text(_mail(message), encoding="utf-8")


def _mail(message: Message) -> str:
    """The same as an internet message."""
    sender, recipient = (f"{name} <{name}@team.example>" for name in (message.sender, *message.recipients))
    head = {
        "From": sender,
        "To": recipient,
        "Subject": message.payload["summary"],
        "Date": f"{message.created_at:%a, %d %b %Y %H:%M:%S} +0000",
        "Message-ID": f"<{message.message_id}@team.example>",
        "X-Type": message.type,
        "X-Priority": message.priority,
        "X-Status": message.status,
    }
    return "".join(f"{key}: {value}\n" for key, value in head.items()) + f"\n{message.payload['content']}"
