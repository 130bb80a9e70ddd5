"""What was said before the demo opens: records of so many minutes ago, written in order, and the folder they are in."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from team_console.console.demo.past import carried
from team_console.console.demo.story import STORY, Values, filled
from team_console.store.backends.open import QUEUE_NAME, open_team
from team_console.store.model.clock import epoch_ms, to_text, utc_now
from team_console.store.model.message import Message, new_record
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.verdicts import REQUEST_DIGEST, Face, digest_of, seen_of
from team_console.store.settings.editing import write_new_settings
from team_console.store.settings.team_config import CONFIG_NAME, Agent

_ACTIONS = {"plan_approval_request": "plan", "shutdown_request": "shutdown", "broadcast": "broadcast"}


class PastRecord(Struct, frozen=True):
    """One record of the past, live or only in the archive of its reader."""

    message: Message
    archived_for: str | None = None
    live: bool = True


class GivenPast(Struct):
    """Collects the past of a team; ids depend on nothing but the order of calls.

    Attributes:
        now: The team's present moment.
        agents: The permanent members.
        temps: Since when and until when each temporary agent lived, in minutes ago; 0 for one that still does.
    """

    now: datetime
    agents: Sequence[Agent]
    temps: Mapping[str, tuple[float, float]] = {}
    lines: list[PastRecord] = field(default_factory=list)

    def at(self, minutes: float) -> datetime:
        """The moment so many minutes ago."""
        return self.now - timedelta(minutes=minutes)

    def say(
        self,
        minutes: float,
        sender: str,
        to: str,
        type: str = "message",
        *,
        payload: Mapping[str, Any] | None = None,
        priority: str = "medium",
        read: float | None = None,
        live: bool = True,
        **envelope: Any,
    ) -> Message:
        """A record written `minutes` ago; `read` says how many minutes ago its reader took it (and archived it)."""
        at = self.at(minutes)
        message = new_record(
            message_id=_id(len(self.lines), at),
            type=type,
            sender=sender,
            to=to,
            created=to_text(at),
            priority=priority,
            payload=payload or {},
            **envelope,
        )
        if read is not None:
            message = message.with_changes(status="read", read_at=to_text(self.at(read)))
        self.lines.append(PastRecord(message, to if read is not None else None, live))
        return message

    def note(self, minutes: float, sender: str, to: str, summary: str, content: str, **more: Any) -> Message:
        """A plain message."""
        return self.say(minutes, sender, to, payload={"summary": summary, "content": content}, **more)

    def sprint(self, minutes: float, sender: str, to: str, name: str, body: Mapping[str, Any], **more: Any) -> Message:
        """A message of the sprint protocol (seed 002)."""
        summary = more.pop("summary", name.replace("_", " ").capitalize())
        return self.note(minutes, sender, to, summary, carried(name, body), **more)

    def begin_story(self, minutes: float, slave: str, agent: str, key: str, *contacts: str) -> None:
        """A slave asks for a developer, gets it, and gives it a story, within a minute."""
        wish = {"agent_type": "dev-runner", "role_hint": "Developer", "requested_by": slave}
        asked = self.sprint(minutes, slave, STORY.lead, "AGENT_CREATE_REQUEST", wish, read=minutes - 0.5)
        made = {"agent_name": agent, "agent_type": "dev-runner", "in_reply_to": asked.message_id}
        self.sprint(minutes - 0.6, STORY.lead, slave, "AGENT_CREATED", made, read=minutes - 0.7)
        self.roster(minutes - 0.6)
        told = {"summary": f"Story {key}: {_told(key)['title']}", "read": minutes - 1.1}
        task = story_body("TASK_ASSIGNMENT", key, me=slave, contacts={name: name for name in contacts})
        self.sprint(minutes - 1, slave, agent, "TASK_ASSIGNMENT", task, **told)

    def roster(self, minutes: float) -> None:
        """The lead tells every resident who was there then."""
        named = {role: [agent.name for agent in self.agents if agent.role == role] for role in ("resident", "slave")}
        temps = [name for name, (born, gone) in self.temps.items() if born >= minutes > gone]
        told = {"residents": named["resident"], "slaves": named["slave"], "temps": temps}
        body = {"session_id": STORY.values["session"], "roster": told}
        for name in named["resident"]:
            told_at = {"summary": "The complete roster", "read": minutes - 0.2}
            self.sprint(minutes, STORY.lead, name, "AGENT_ROSTER_BROADCAST", body, **told_at)

    def plan(self, minutes: float, sender: str, plan: Values, *, read: float | None = None, **more: Any) -> str:
        """A plan handed in; returns its request id."""
        request_id = self.request_id("plan_approval", minutes, sender, STORY.team)
        payload = {"request_id": request_id, "summary": plan["summary"], "content": plan["content"]}
        self.say(minutes, sender, STORY.lead, "plan_approval_request", payload=payload, read=read, **more)
        return request_id

    def verdict(self, minutes: float, to: str, request_id: str, approve: bool, *, read: float, **more: Any) -> None:
        """The lead's answer to a plan; `reason` goes with a refusal."""
        payload = {"request_id": request_id, "approve": approve}
        if (reason := more.pop("reason", None)) is not None:
            payload["content"] = reason
        self.say(minutes, STORY.lead, to, "plan_approval_response", payload=payload, read=read, **more)

    def request_id(self, prefix: str, minutes: float, *names: str) -> str:
        """A request id as the store would have made it then (decision D8)."""
        return "@".join([f"{prefix}-{epoch_ms(self.at(minutes))}", *names])

    def archived_talk(self, *, days: int) -> None:
        """Talk and approved plans of earlier days, only in the archives."""
        for day in range(days, 0, -1):
            for number, words in enumerate(STORY.lists["chatter"]):
                minutes = day * 1440 - number * 47
                said, answered = {"read": minutes - 2, "live": False}, {"read": minutes - 5, "live": False}
                sender, to, summary = words["sender"], words["to"], words["summary"]
                self.note(minutes, sender, to, summary, words["content"], **said)
                replies = STORY.fitting("replies", to)
                reply = replies[day % len(replies)]["words"]
                self.note(minutes - 4, to, sender, f"Re: {summary}"[:80], reply, **answered)
            asked = day * 1440 - 300
            plan = STORY.lists["plans"][-day]
            request_id = self.plan(asked, "task-manager", plan, read=asked - 5, live=False)
            self.verdict(asked - 6, "task-manager", request_id, True, read=asked - 7, live=False)


def story_body(name: str, key: str = "", **values: Any) -> dict[str, Any]:
    """The body of a sprint message about a story, as the demo's agents write it."""
    given = {**STORY.values, "story": _told(key), **values}
    body = filled(STORY.bodies[name], given)
    assert isinstance(body, dict)
    return body


def revised(plan: Values, reason: str) -> Values:
    """A plan as the demo hands it in again after a refusal."""
    step = next(step for step in STORY.scenes["revise the plan"] if step.do)
    given = {"it": plan, "answer": {"content": reason}, "revision": STORY.fitting("revisions", reason)[0], "turn": 2}
    entry = filled(step.arguments, given)
    assert isinstance(entry, dict)
    return entry


def _told(key: str) -> Values:
    """What the demo tells of a story of the sprint."""
    return next((entry for entry in STORY.lists["stories"] if entry["key"] == key), {})


def make_team(root: Path, *, name: str, lead: str, agents: Iterable[Agent]) -> None:
    """Settings and an empty queue in the folder `root`, which is made when it is not there."""
    root.mkdir(parents=True, exist_ok=True)
    write_new_settings(root / CONFIG_NAME, team=name, lead=lead, agents=agents)
    (root / QUEUE_NAME).write_text("messages: []\n", encoding="utf-8")


def write(root: Path, past: GivenPast) -> None:
    """Put the past into the team at `root`, a transaction for everything up to each record's moment.

    What was asked and decided is written as the store writes it, when it was, so that the audit trail vouches for it;
    what is only in the archives leaves the queue before anything recent comes.
    """
    ordered = sorted(past.lines, key=lambda line: line.message.created)
    archived = [line for line in ordered if not line.live]
    asked = [line for line in archived if _is_asked(line.message)]
    writer = _Writer(root, ordered)
    writer.put([line for line in archived if line not in asked], waits=False)
    for line in asked:
        writer.put([line])
    writer.let_go(asked)
    for line in ordered:
        if line.live:
            writer.put([line])
    writer.team.close()


class _Writer:
    """Writes lines at the moment of the first of them."""

    def __init__(self, root: Path, lines: Iterable[PastRecord]) -> None:
        self._moment = utc_now()
        self.team = open_team(str(root), clock=lambda: self._moment)
        messages = (line.message for line in lines)
        self._questions = {
            parse_message(item).request_id: item for item in messages if parse_message(item).opens is not None
        }

    def put(self, lines: Sequence[PastRecord], *, waits: bool = True) -> None:
        """Write lines in one transaction; without `waits` only into the archives of their readers."""
        if not lines:
            return
        first = lines[0].message
        self._moment, action = first.created_at or self._moment, _action(first)
        with self.team.transaction(actor=first.sender, action=action, wait=10.0) as tx:
            for line in lines:
                if line.archived_for:
                    tx.archive(line.archived_for, line.message)
                if waits:
                    tx.add(line.message)
            ids = [line.message.message_id for line in lines]
            tx.record(action, ids=ids, **self._decided(first))

    def let_go(self, lines: Sequence[PastRecord]) -> None:
        """Let archived messages leave the queue."""
        if not lines:
            return
        ids = [line.message.message_id for line in lines]
        with self.team.transaction(actor=lines[-1].message.sender, action="compact", wait=10.0) as tx:
            for message in filter(None, map(tx.get, ids)):
                tx.remove(message)
            tx.record("compact", ids=ids)

    def _decided(self, message: Message) -> dict[str, Any]:
        """What the audit trail keeps of a verdict; empty for all other messages."""
        read = parse_message(message)
        question = self._questions.get(read.request_id) if read.answers is not None else None
        if question is None:
            return {}
        asked = {"kind": str(read.answers), "asker": question.sender, "question": question.message_id}
        face = Face.CONSOLE if message.sender == self.team.config().lead else Face.HANDED
        shown = {REQUEST_DIGEST: digest_of(question), **seen_of(question, face=face).as_recorded}
        return {"request_id": read.request_id, **asked, **shown}


def _id(number: int, at: datetime) -> str:
    digest = hashlib.sha256(f"scene {number}".encode()).digest()
    return f"MSG-{at:%Y%m%d}-{b32encode(digest)[:8].decode().lower()}"


def _is_asked(message: Message) -> bool:
    """Whether it is a request, or the answer to one."""
    read = parse_message(message)
    return read.opens is not None or read.answers is not None


def _action(message: Message) -> str:
    read = parse_message(message)
    if read.answers is not None and read.approve is not None:
        return "approve" if read.approve else "reject"
    return _ACTIONS.get(message.type, "send")
