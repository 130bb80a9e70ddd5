"""The agents of the demo: permanent members and the sprint's."""

from __future__ import annotations

import hashlib
import heapq
import json
import random
import select
import sys
import time
from base64 import b32encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count, cycle
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from team_console.console.demo import words
from team_console.store.contract.team import Team
from team_console.store.model.clock import epoch_ms, to_text, utc_now
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status, new_record
from team_console.store.model.names import USER
from team_console.store.protocol.client_requests import Permission, answers_text, headline_of
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.seen import REQUEST, Face, digest_of, seen_of
from team_console.store.service.asking import ask_permission, ask_question, withdraw
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.inbox import InboxQuery, receive
from team_console.store.service.requests import approve, reject, submit_plan
from team_console.store.service.sending import broadcast, send
from team_console.store.settings.team_config import CONFIG_NAME, Agent


class PastRecord(Struct, frozen=True):
    """One record of the past, live or only in the archive of its reader."""

    message: Message
    archived_for: str | None = None
    live: bool = True


class GivenPast(Struct):
    """Collects the past of a team whose present moment is `now`; ids depend on nothing but the order of calls."""

    now: datetime
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

    def request_id(self, prefix: str, minutes: float, *names: str) -> str:
        """A request id as the desk would have made it then (decision D8)."""
        return "@".join([f"{prefix}-{epoch_ms(self.at(minutes))}", *names])


def carried(name: str, body: Mapping[str, Any]) -> str:
    """The content of a sprint message."""
    return f"{name}: {json.dumps({'msg_type': name, **body}, ensure_ascii=False)}"


def _id(number: int, at: datetime) -> str:
    digest = hashlib.sha256(f"scene {number}".encode()).digest()
    return f"MSG-{at:%Y%m%d}-{b32encode(digest)[:8].decode().lower()}"


def make_team(root: Path, *, name: str, lead: str, agents: Iterable[Agent]) -> None:
    """Settings and an empty queue in the folder `root`, which is made when it is not there."""
    from team_console.store.backends.open import QUEUE_NAME
    from team_console.store.settings.settings_file import write_new

    root.mkdir(parents=True, exist_ok=True)
    write_new(root / CONFIG_NAME, team=name, lead=lead, agents=agents)
    (root / QUEUE_NAME).write_text("messages: []\n", encoding="utf-8")


def write(root: Path, past: GivenPast) -> None:
    """Put the past into the team at `root`, a transaction for everything up to each record's moment.

    What was asked and decided is written as the desk writes it, when it was, so that the audit trail vouches for it;
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
        from team_console.store.backends.open import open_team

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
        shown = {REQUEST: digest_of(question), **seen_of(question, face=face).as_recorded}
        return {"request_id": read.request_id, **asked, **shown}


def _is_asked(message: Message) -> bool:
    """Whether it is a request, or the answer to one."""
    read = parse_message(message)
    return read.opens is not None or read.answers is not None


def _action(message: Message) -> str:
    read = parse_message(message)
    if read.answers is not None and read.approve is not None:
        return "approve" if read.approve else "reject"
    return _ACTIONS.get(message.type, "send")


_ACTIONS = {"plan_approval_request": "plan", "shutdown_request": "shutdown", "broadcast": "broadcast"}


# One simulated agent: it reads its inbox, does what is due, and ends when its parent does.

_LOOK_EVERY = 0.15
_TRY_AGAIN = 0.7


class SimulatedAgent:
    """The life every agent of the demo shares. A role overrides `begin` and the `on_...` methods it has words for.

    Args:
        parent: Descriptor of a pipe whose other end the parent holds; it becomes readable when the parent is gone.
        seed: Same seed, same words and pauses for the same agent.
        speed: Divides every pause.
    """

    def __init__(self, team: Team, name: str, *, parent: int, seed: int, speed: float) -> None:
        self.team = team
        self.name = name
        self.caller = Caller(team, name, 5.0)
        self.lead = team.config().lead
        self.rng = random.Random(f"{seed} {name}")
        self.ended = False
        self._parent = parent
        self._speed = speed
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = count()
        self._seen = ""

    def live(self) -> None:
        """Work until told to stop, or until the parent is gone."""
        self.begin()
        while not self.ended:
            self._act()
            if not self.ended:
                self._listen()
            if self.ended or not self._rest():
                return

    def begin(self) -> None:
        """Plan the first acts."""

    def after(self, seconds: float, act: Callable[[], object]) -> None:
        """Do `act` in about so many seconds."""
        moment = time.monotonic() + seconds * self.rng.uniform(0.8, 1.3) / self._speed
        heapq.heappush(self._due, (moment, next(self._numbers), act))

    def say(self, to: str, summary: str, content: str, **more: Any) -> Receipt:
        """Send a plain message."""
        return send(self.caller, to=to, summary=summary, content=content, **more)

    def sprint(self, to: str, name: str, body: Mapping[str, Any], summary: str) -> Receipt:
        """Send a sprint message (seed 002)."""
        return self.say(to, summary, carried(name, body))

    def answer(self, message: Message, content: str, *, summary: str | None = None) -> Receipt:
        """Answer `message` in its thread."""
        return self.say(
            message.sender, summary or f"Re: {message.summary}"[:90], content, in_reply_to=message.message_id
        )

    def is_human(self, message: Message) -> bool:
        """Whether the human at the console wrote it."""
        return message.sender in (self.lead, USER)

    def on_message(self, message: Message, read: ParsedMessage) -> None:
        """A plain message: the human always gets an answer, a colleague's question as well, an answer does not."""
        if message.payload.get("in_reply_to") is None or self.is_human(message):
            self.after(1.5 if self.is_human(message) else 5, lambda: self.answer(message, self.reply()))

    def on_shutdown_request(self, message: Message, read: ParsedMessage) -> None:
        """Agree and end."""
        self.after(1.5, lambda: self.leave(read.request_id or ""))

    def leave(self, request_id: str) -> None:
        """Agree to a stop, with a last word, and end."""
        approve(self.caller, request_id=request_id, note=words.GOODBYES.get(self.name, "My work is handed over."))
        self.ended = True

    def reply(self) -> str:
        """Something this agent would answer."""
        return self.rng.choice(words.REPLIES.get(self.name, ("Noted. I go on with the story in hand.",)))

    def _act(self) -> None:
        while self._due and self._due[0][0] <= time.monotonic() and not self.ended:
            _, _, act = heapq.heappop(self._due)
            try:
                act()
            except TeamError as error:
                self._complain(error)
                if error.code in (Code.STORE_LOCKED, Code.STORE_UNREADABLE, Code.STORE_FAILED):
                    self.after(_TRY_AGAIN, act)

    def _listen(self) -> None:
        snapshot = self.team.snapshot()
        if snapshot.revision == self._seen:
            return
        try:
            if InboxQuery(self.name).among(snapshot.messages, snapshot.taken_at, snapshot.config.ranks):
                for message in receive(self.caller, agent=self.name).messages:
                    self._hear(message)
            self._seen = snapshot.revision
        except TeamError as error:
            self._complain(error)

    def _hear(self, message: Message) -> None:
        read = parse_message(message)
        method = getattr(self, f"on_{read.name.lower()}", None)
        if method is not None:
            method(message, read)

    def _rest(self) -> bool:
        """Pause until something may be due; False when the parent is gone."""
        left = self._due[0][0] - time.monotonic() if self._due else _LOOK_EVERY
        readable, _, _ = select.select([self._parent], [], [], max(0.0, min(left, _LOOK_EVERY)))
        return not readable

    def _complain(self, error: TeamError) -> None:
        print(f"{self.name}: {error.code} {error.message}", file=sys.stderr, flush=True)


# The permanent members of the demo's team: they plan, ask, talk, refuse and stop.


class TaskManager(SimulatedAgent):
    """Works in plan mode: nothing happens before its plan is approved; a refused plan comes back revised."""

    def begin(self) -> None:
        self.turn, self.number = 1, 0
        self.plan = words.PLANS[0]
        self.request_id = self.waiting_plan()
        if self.request_id is None:
            self.after(2, self.submit)
        else:
            self.turn = 2
            asked = self.request_id
            self.after(100, lambda: self.remind(asked))

    def waiting_plan(self) -> str | None:
        """The request id of a plan that was handed in before, and whose verdict is still to be read; None for none."""
        messages = self.team.snapshot().messages
        verdicts = (message for message in messages if message.type == "plan_approval_response")
        answered = {parse_message(message).request_id for message in verdicts if message.status is Status.READ}
        own = (message for message in messages if message.type == "plan_approval_request")
        ids = [parse_message(message).request_id for message in own if message.sender == self.name]
        return ids[-1] if ids and ids[-1] not in answered else None

    def submit(self) -> None:
        """Hand in the plan as it is now."""
        receipt = submit_plan(self.caller, content=self.plan.content, summary=self.plan.summary)
        self.request_id = receipt.request_id
        asked = receipt.request_id
        self.after(100, lambda: self.remind(asked))

    def remind(self, asked: str | None) -> None:
        """Say once that the plan still waits."""
        if asked == self.request_id:
            text = f"My plan “{self.plan.summary}” still waits for you; the export on Thursday depends on it."
            self.say(self.lead, "My plan is still waiting for your verdict", text)

    def on_plan_approval_response(self, message: Message, read: ParsedMessage) -> None:
        if read.request_id != self.request_id:
            return
        self.request_id = None
        if read.approve:
            self.after(1.5, self.start)
            return
        self.turn += 1
        self.plan = words.revised(words.PLANS[self.number], message.content, self.turn)
        self.after(3, self.submit)

    def start(self) -> None:
        """Leave plan mode and go to work."""
        text = f"Plan approved, work has begun as {self.plan.task}. I report when the first step is through."
        self.say(self.lead, f"{self.plan.task} has started", text)
        self.after(9, self.progress)

    def progress(self) -> None:
        """Tell the schedule how far it is (pattern 3 of seed 001: state sync)."""
        text = f"{self.plan.task}: 2 steps done, 1 running, 1 to come. No change to Thursday."
        self.say("schedule-manager", f"{self.plan.task}: half of the steps are done", text)
        self.after(12, self.finish)

    def finish(self) -> None:
        """Announce the result to everybody (pattern 2: event driven), then go on to the next plan."""
        broadcast(self.caller, summary=f"{self.plan.task} is done", content=self.plan.done)
        self.turn = 1
        self.number = (self.number + 1) % len(words.PLANS)
        self.plan = words.PLANS[self.number]
        self.after(15, self.submit)


class Manager(SimulatedAgent):
    """Talks with colleagues now and then."""

    def begin(self) -> None:
        self.lines = cycle([line for line in words.CHATTER if line[0] == self.name])
        self.after(self.rng.uniform(4, 12), self.talk)

    def talk(self) -> None:
        """Say the next line of this agent, and plan the one after it."""
        _, to, summary, content = next(self.lines)
        self.after(self.rng.uniform(25, 45), self.talk)
        self.say(to, summary, content)

    def on_review(self, message: Message, read: ParsedMessage) -> None:
        """A specification that was redirected here."""
        text = f"{message.summary}: the architect cannot, so I review it. You have my remarks before noon."
        self.after(2, lambda: self.say(self.lead, "I took over the review of the specification", text))


class ScheduleManager(Manager):
    """Also asks the lead what only the lead can know, and reacts to announcements."""

    def begin(self) -> None:
        super().begin()
        self.question: str | None = None
        self.questions = cycle(words.CLARIFICATIONS)
        self.specifications = iter(words.SPECIFICATIONS)
        self.after(11, self.ask)
        self.after(20, self.announce_spec)

    def ask(self) -> None:
        """Ask the lead; goes on only with an answer."""
        question, context = next(self.questions)
        body = {"question": question, "context": context}
        receipt = send(self.caller, to=self.lead, type="clarify", summary=question, payload=body)
        self.question = receipt.messages[0].message_id

    def announce_spec(self) -> None:
        """Hand a specification to the architect, who does not always listen."""
        name = next(self.specifications, None)
        if name is None:
            return
        body = {"artifact_path": f"specs/{name}.md", "review_type": "specification"}
        send(
            self.caller,
            to="architect",
            type="review",
            priority="high",
            summary=f"{name[:8]} is ready for review",
            payload=body,
        )
        self.after(120, self.announce_spec)

    def on_message(self, message: Message, read: ParsedMessage) -> None:
        if self.question is not None and self.question in (read.request_id, message.payload.get("in_reply_to")):
            self.question = None
            said = message.content or "your answer"
            self.after(1.5, lambda: self.answer(message, f"Thank you. The calendar follows it: “{said[:200]}”"))
            self.after(60, self.ask)
            return
        super().on_message(message, read)

    def on_broadcast(self, message: Message, read: ParsedMessage) -> None:
        if self.is_human(message):
            text = f"Everybody has your notice “{message.summary}”. I moved two slots to make room for it."
            self.after(2.5, lambda: self.answer(message, text, summary="Calendar adjusted to your notice"))


class KnowledgeManager(Manager):
    """Asks the lead questions with options, and follows the answers."""

    def begin(self) -> None:
        super().begin()
        self.asked: str | None = None
        self.questions = cycle(words.QUESTIONS)
        self.after(14, self.ask)

    def ask(self) -> None:
        """Ask the next question; goes on only with an answer."""
        receipt = ask_question(
            self.caller, questions=next(self.questions), directory=words.FOLDER, client="claude-code"
        )
        self.asked = receipt.request_id

    def on_question_response(self, message: Message, read: ParsedMessage) -> None:
        if read.request_id != self.asked:
            return
        self.asked = None
        text = answers_text(message.payload).replace("\n", "; ") if read.approve else message.content
        follow = f"The pages follow it: {text[:200]}" if read.approve else f"I decide it myself: “{text[:200]}”"
        self.after(2, lambda: self.say(self.lead, "Thank you, the pages follow your answer", follow))
        self.after(90, self.ask)


class FileManager(Manager):
    """Asks permission for its tools. Refuses the first request to stop, with exports open; agrees to the second."""

    def begin(self) -> None:
        super().begin()
        self.refused = False
        self.calls = cycle(words.CALLS)
        self.asked: str | None = None
        self.after(8, self.ask_permission)

    def ask_permission(self) -> None:
        """Ask whether the next tool may be used, as a client asks for its agent; nobody is waited for without end."""
        call = self.call = next(self.calls)
        receipt = ask_permission(
            self.caller,
            tool=call.tool,
            input=call.input,
            directory=words.FOLDER,
            client="claude-code",
            session=f"{self.name}-1",
            suggestions=call.suggestions,
            before=call.before,
        )
        asked = self.asked = receipt.request_id
        self.after(150, lambda: self.let_go(asked))

    def let_go(self, asked: str | None) -> None:
        """Nobody answered here; somebody did where the agent runs."""
        if asked is not None and asked == self.asked:
            withdraw(self.caller, request_id=asked, reason="answered in the session")
            self.go_on()

    def go_on(self) -> None:
        """Come to the next tool after a while."""
        self.asked = None
        self.after(60, self.ask_permission)

    def on_permission_response(self, message: Message, read: ParsedMessage) -> None:
        if read.request_id != self.asked:
            return
        call = self.call
        what = headline_of(Permission(call.tool, call.input), words.FOLDER)[:60]
        edited = " I did it as you edited it." if "updated_input" in message.payload else ""
        said = f"Understood, I leave it: “{message.content[:200]}”"
        text, summary = (call.done + edited, f"Done: {what}") if read.approve else (said, f"Not done: {what}")
        self.after(2, lambda: self.say(self.lead, summary, text))
        self.go_on()

    def on_shutdown_request(self, message: Message, read: ParsedMessage) -> None:
        if self.refused:
            super().on_shutdown_request(message, read)
            return
        self.refused = True
        request_id = read.request_id or ""
        self.after(1.5, lambda: reject(self.caller, request_id=request_id, reason=words.REFUSAL))
        self.after(12, self.ready)

    def ready(self) -> None:
        """Say that the reason of the refusal is gone."""
        text = "The three exports are through and verified. I can stop now, if you still want it."
        self.say(self.lead, "Exports are through, I can stop now", text)

    def on_broadcast(self, message: Message, read: ParsedMessage) -> None:
        if message.sender == "task-manager":
            text = "The completion report is filed: `reports/2026-02-24.md`. It lists start, end and the checks."
            self.after(4, lambda: self.say("knowledge-manager", "Completion report is filed", text))


# The sprint side of the demo's team: scrum master, debugger, a slave with its batch, temporary developers.


class ScrumMaster(SimulatedAgent):
    """Plans the batches, and plans them again when a course correction is asked for."""

    def begin(self) -> None:
        self.after(1, self.plan)

    def plan(self) -> None:
        """Report the batch plan."""
        body = {
            "session_id": words.SESSION,
            "total_stories": len(words.STORIES),
            "batches": [{"batch_id": number, "stories": list(keys)} for number, keys in words.BATCHES],
            "dependency_graph": {key: {"depends_on": keys} for key, keys in words.DEPENDS.items()},
        }
        self.sprint(self.lead, "BATCH_PLAN_READY", body, "Nine stories planned in three batches")

    def on_cc_trigger(self, message: Message, read: ParsedMessage) -> None:
        self.after(4, lambda: self.correct(str(read.body.get("reason") or "user_request")))

    def correct(self, reason: str) -> None:
        """Report the new plan: the last story waits for the next sprint."""
        body = {
            "session_id": words.SESSION,
            "reason": reason,
            "new_batches": [{"batch_id": 3, "stories": ["5-1", "5-2"]}],
            "dropped_stories": ["5-3"],
            "added_stories": [],
        }
        self.sprint(self.lead, "COURSE_CORRECTION", body, "Batch 3 planned again without 5-3")


class Debugger(SimulatedAgent):
    """Finds the cause of what others run into."""

    def on_debug_request(self, message: Message, read: ParsedMessage) -> None:
        self.after(5, lambda: self.explain(message.sender, dict(read.body)))

    def explain(self, requester: str, asked: dict[str, Any]) -> None:
        """Send the finding to whoever asked."""
        fault = next((fault for fault in words.FAULTS if fault.error == asked.get("error_summary")), words.FAULTS[0])
        debug_id = str(asked.get("debug_id"))
        body = {
            "debug_id": debug_id,
            "story_key": asked.get("story_key"),
            "root_cause": fault.cause,
            "fix_suggestion": fault.fix,
            "severity": "HIGH",
            "confidence": "high",
            "journal_entry_id": f"{debug_id}-2026-02-24",
        }
        self.sprint(requester, "DEBUG_RESULT", body, f"{debug_id}: the root cause is found")


class _Batch(SimulatedAgent):
    """Runs a batch story by story.

    Attributes:
        stories: Those that are not done yet; the first one is in hand.
    """

    batch_id: int
    mode: str

    def begin(self) -> None:
        self.stories = list(dict(words.BATCHES)[self.batch_id])
        self.completed: list[str] = []

    def assign(self, worker: str) -> None:
        """Give an agent the story in hand and whom it may ask (requirement 149)."""
        key = self.stories[0]
        body = {
            "story_key": key,
            "story_path": words.story_path(key),
            "mode": self.mode,
            "session_id": words.SESSION,
            "report_to": self.name,
            "resident_contacts": {"debugger": "debugger"},
            "config_overrides": {},
        }
        self.sprint(worker, "TASK_ASSIGNMENT", body, f"Story {key}: {words.STORIES[key]}")

    def report(self) -> None:
        """Tell the lead that the batch is through."""
        body = {
            "batch_id": self.batch_id,
            "session_id": words.SESSION,
            "stories_completed": self.completed,
            "stories_failed": [],
            "batch_report": f"{len(self.completed)} stories are done, all tests pass.",
        }
        self.sprint(self.lead, "SLAVE_BATCH_COMPLETE", body, f"Batch {self.batch_id} is complete, I can go")


class Slave(_Batch):
    """Every story needs a temporary agent, and the lead decides about each."""

    batch_id, mode = 2, "dev"

    def begin(self) -> None:
        super().begin()
        self.asked: str | None = None
        self.worker: str | None = None
        self.after(4, self.ask_for_agent)

    def ask_for_agent(self) -> None:
        """Ask for a developer, without a word about the story (requirement 146)."""
        body = {"agent_type": "dev-runner", "role_hint": "Developer for one story", "requested_by": self.name}
        receipt = self.sprint(self.lead, "AGENT_CREATE_REQUEST", body, "Wants a dev-runner for the next story")
        self.asked = receipt.messages[0].message_id

    def on_agent_created(self, message: Message, read: ParsedMessage) -> None:
        self.asked = None
        self.worker = str(read.body.get("agent_name"))
        self.after(2, lambda: self.assign(str(self.worker)))

    def on_agent_complete(self, message: Message, read: ParsedMessage) -> None:
        if self.stories:
            self.completed.append(self.stories.pop(0))
        self.after(2, lambda: self.ask_for_end(message.sender))

    def ask_for_end(self, worker: str) -> None:
        """Ask the lead to end the agent whose work is done."""
        self.worker = worker
        text = f"Story is done, {worker} can go"
        receipt = self.sprint(self.lead, "AGENT_DESTROY_REQUEST", {"agent_name": worker}, text)
        self.asked = receipt.messages[0].message_id

    def on_agent_destroyed(self, message: Message, read: ParsedMessage) -> None:
        self.asked = self.worker = None
        self.after(6, self.go_on)

    def go_on(self) -> None:
        """The next story, or the report when there is none left."""
        if self.stories:
            self.ask_for_agent()
        else:
            self.report()

    def on_message(self, message: Message, read: ParsedMessage) -> None:
        if self.asked is None or self.asked not in (read.request_id, message.payload.get("in_reply_to")):
            super().on_message(message, read)
        elif read.approve is False:
            self.asked = None
            self.after(2, lambda: self.accept_refusal(message))

    def accept_refusal(self, message: Message) -> None:
        """Go on without what was refused."""
        if self.worker is not None:
            worker = self.worker
            self.answer(message, f"Understood, {worker} stays. I ask again when the review is through.")
            self.after(40, lambda: self.ask_for_end(worker))
            return
        key = self.stories[0]
        self.answer(message, f"Understood. I do story {key} myself; it takes about twice as long.")
        self.after(25, self.finish_alone)

    def finish_alone(self) -> None:
        """Report the story done without a temporary agent."""
        key = self.stories.pop(0)
        self.completed.append(key)
        self.say(self.lead, f"Story {key} is done without an extra agent", f"{words.STORIES[key]}: 142 tests pass.")
        self.after(8, self.go_on)


class Runner(_Batch):
    """A slave that has its agent already: its batch goes on by itself, and fails at one story before it is through."""

    batch_id, mode = 1, "inspect"

    def begin(self) -> None:
        super().begin()
        self.after(3, self.go_on)

    def go_on(self) -> None:
        """Give the next story to the agent there is."""
        self.assign("inspector-1")

    def on_agent_complete(self, message: Message, read: ParsedMessage) -> None:
        if read.body.get("status") != "success":
            self.after(14, self.go_on)
            return
        self.completed.append(self.stories.pop(0))
        self.after(6, self.go_on if self.stories else self.report)


class Inspector(SimulatedAgent):
    """Takes one story after the other; the second one fails at first, as stories do."""

    def begin(self) -> None:
        self.failed = False

    def on_task_assignment(self, message: Message, read: ParsedMessage) -> None:
        task = dict(read.body)
        self.after(9, lambda: self.complete(task))

    def complete(self, task: dict[str, Any]) -> None:
        """Report to whoever gave the story."""
        fails = task.get("story_key") == "3-2" and not self.failed
        self.failed = self.failed or fails
        errors = ["the chart does not draw without data"] if fails else []
        body = _completed(task, errors, tests="3 failed, 139 passed" if fails else "142 passed", files_changed=9)
        word = "failed: the chart does not draw" if fails else "is done"
        self.sprint(str(task.get("report_to")), "AGENT_COMPLETE", body, f"Story {task.get('story_key')} {word}")


class Developer(SimulatedAgent):
    """A temporary agent: one story, sometimes a fault that only the human can decide about, then gone."""

    def begin(self) -> None:
        self.task: dict[str, Any] = {}
        self.fault = self.rng.choice(words.FAULTS)
        self.issue: str | None = None

    def on_task_assignment(self, message: Message, read: ParsedMessage) -> None:
        self.task = dict(read.body)
        stumbles = self.task.get("story_key") == "4-1" or self.rng.random() < 0.4
        self.after(5, self.ask_debugger if stumbles else self.complete)

    def ask_debugger(self) -> None:
        """Ask the debugger of the assignment's contacts."""
        body = {
            "debug_id": f"DBG-{self.rng.randrange(100, 1000)}",
            "story_key": self.task["story_key"],
            "agent_type": "dev-runner",
            "error_summary": self.fault.error,
            "stack_trace": self.fault.trace,
            "test_output": "1 failed, 141 passed",
            "severity_hint": "HIGH",
        }
        contact = self.task.get("resident_contacts", {}).get("debugger", "debugger")
        self.sprint(contact, "DEBUG_REQUEST", body, f"Help wanted: {self.fault.error}"[:90])

    def on_debug_result(self, message: Message, read: ParsedMessage) -> None:
        self.after(3, self.escalate)

    def escalate(self) -> None:
        """Bring the choice that is left to the human."""
        body = {
            "issue": self.fault.issue,
            "severity": "blocker",
            "recommendation": self.fault.recommendation,
            "impact": f"Story {self.task['story_key']} stands still until this is decided.",
        }
        receipt = send(self.caller, to=USER, type="escalate", summary=self.fault.issue, payload=body)
        self.issue = receipt.messages[0].message_id

    def on_message(self, message: Message, read: ParsedMessage) -> None:
        if self.issue is None or not self.is_human(message):
            super().on_message(message, read)
            return
        self.issue = None
        text = f"Understood, I go on that way. Story {self.task['story_key']} moves again."
        self.after(1.5, lambda: self.answer(message, text))
        self.after(7, self.complete)

    def complete(self) -> None:
        """Report to whoever gave the story (requirement 143)."""
        body = _completed(self.task, tests="142 passed", files_changed=14)
        self.sprint(str(self.task["report_to"]), "AGENT_COMPLETE", body, f"Story {self.task['story_key']} is done")


def _completed(task: Mapping[str, Any], errors: Sequence[str] = (), **results: Any) -> dict[str, Any]:
    """What whoever was given a story says of it in the end."""
    return {
        "status": "failed" if errors else "success",
        **{key: task.get(key) for key in ("story_key", "mode", "session_id")},
        "results": results,
        "errors": list(errors),
    }
