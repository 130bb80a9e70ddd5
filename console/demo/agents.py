"""The agents of the demo. Each life is one coroutine that reads from top to bottom; all of them play in one process."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from itertools import chain, cycle
from typing import Any, TypeVar

from team_console.console.demo.past import carried
from team_console.console.demo.story import STORY, Habit, Plan, Words
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.protocol.client_requests import Permission, answers_text, headline_of
from team_console.store.protocol.parsing import parse_message
from team_console.store.service.asking import ask_permission, ask_question, withdraw
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.inbox import InboxQuery, receive
from team_console.store.service.requests import approve, reject, submit_plan
from team_console.store.service.sending import broadcast, send

Result = TypeVar("Result")
_PASSING = (Code.STORE_LOCKED, Code.STORE_UNREADABLE, Code.STORE_FAILED)


class Actor:
    """One simulated agent: what it hears goes to whoever waits for it, else to its manners.

    Attributes:
        on: Message name -> what this agent does about it when nobody waited for it.
        is_ended: It agreed to stop; it hears and says nothing any more.
    """

    def __init__(self, team: Team, name: str, *, seed: int, speed: float) -> None:
        self.team = team
        self.name = name
        self.caller = Caller(team, name, 5.0)
        self.rng = random.Random(f"{seed} {name}")
        self.is_ended = False
        self.on: dict[str, Callable[[Message], Awaitable[object]]] = {
            "message": self._chat,
            "broadcast": self._adjust,
            "shutdown_request": self._stop,
            "review": self._take_over,
            "CC_TRIGGER": self._correct,
            "DEBUG_REQUEST": self._explain,
        }
        self.refuses = name == STORY.refuser
        self._speed = speed
        self._waits: dict[str, asyncio.Future[Message]] = {}
        self._tasks: set[asyncio.Task[object]] = set()

    def begin(self, act: Coroutine[Any, Any, object]) -> None:
        """Do something beside whatever else goes on."""
        task = asyncio.ensure_future(self._guarded(act))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def pause(self, seconds: float) -> None:
        """Let about so many seconds of the demo's time pass."""
        await asyncio.sleep(seconds * self.rng.uniform(0.8, 1.3) / self._speed)

    async def do(self, verb: Callable[..., Result], **what: Any) -> Result:
        """Call a verb of the store as this agent; a store that is busy or away is tried again until it is back."""
        while True:
            try:
                return verb(self.caller, **what)
            except TeamError as error:
                if error.code not in _PASSING:
                    raise
                _complain(self.name, error)
            await asyncio.sleep(0.7)

    async def say(self, to: str, summary: str, content: str, **more: Any) -> Receipt:
        """Send a plain message."""
        return await self.do(send, to=to, summary=summary[:90], content=content, **more)

    async def sprint(self, to: str, name: str, body: dict[str, Any], summary: str) -> str:
        """Send a message of the sprint protocol (seed 002); returns its id."""
        return (await self.say(to, summary, carried(name, body))).messages[0].message_id

    async def reply(self, heard: Message, content: str, *, summary: str | None = None) -> None:
        """Answer a message in its thread."""
        await self.say(heard.sender, summary or f"Re: {heard.summary}", content, in_reply_to=heard.message_id)

    async def answer_to(self, asked: str | None, *, within: float | None = None) -> Message | None:
        """Return the answer to a request or a message of this agent; None when `within` so many seconds there is
        none.
        """
        key = asked or ""
        heard = self._waits.setdefault(key, asyncio.get_running_loop().create_future())
        try:
            patience = None if within is None else within / self._speed
            return await asyncio.wait_for(asyncio.shield(heard), patience)
        except TimeoutError:
            return None
        finally:
            if heard.done():
                self._waits.pop(key, None)

    def hear(self) -> None:
        """Receive what waits, and act on it."""
        snapshot = self.team.snapshot()
        if self.is_ended or not InboxQuery(self.name).among(
            snapshot.messages, snapshot.taken_at, snapshot.config.ranks
        ):
            return
        for heard in receive(self.caller, agent=self.name).messages:
            read = parse_message(heard)
            keys = (read.request_id, heard.payload.get("in_reply_to"), read.body.get("in_reply_to"))
            waited = next((self._waits[key] for key in keys if key in self._waits), None)
            if waited is not None and not waited.done():
                waited.set_result(heard)
            elif read.name in self.on:
                self.begin(self.on[read.name](heard))  # type: ignore[arg-type]

    def is_human(self, heard: Message) -> bool:
        """Return whether the human at the console wrote it."""
        return heard.sender in (STORY.lead, USER)

    def end(self) -> None:
        """Drop whatever goes on."""
        for task in list(self._tasks):
            task.cancel()

    async def _stop(self, heard: Message) -> None:
        """Agree to it, with a last word, and end; who has work open refuses the first time."""
        await self.pause(1.5)
        request_id = parse_message(heard).request_id
        if self.refuses:
            self.refuses = False
            await self.do(reject, request_id=request_id, reason=STORY.refusal)
            await self.pause(12)
            text = "The three exports are through and verified. I can stop now, if you still want it."
            await self.say(STORY.lead, "Exports are through, I can stop now", text)
            return
        note = STORY.goodbyes.get(self.name, "My work is handed over.")
        await self.do(approve, request_id=request_id, note=note)
        self.is_ended = True
        self.end()

    async def _chat(self, heard: Message) -> None:
        """The human always gets an answer, a colleague's question as well; an answer gets none."""
        if heard.payload.get("in_reply_to") is None or self.is_human(heard):
            await self.pause(1.5 if self.is_human(heard) else 5)
            replies = STORY.replies.get(self.name, ("Noted. I go on with the story in hand.",))
            await self.reply(heard, self.rng.choice(replies))

    async def _adjust(self, heard: Message) -> None:
        """Only the calendar follows a notice of the human."""
        if self.name == "schedule-manager" and self.is_human(heard):
            await self.pause(2.5)
            text = f"Everybody has your notice “{heard.summary}”. I moved two slots to make room for it."
            await self.reply(heard, text, summary="Calendar adjusted to your notice")

    async def _take_over(self, heard: Message) -> None:
        """Review a specification that was redirected here."""
        await self.pause(2)
        text = f"{heard.summary}: the architect cannot, so I review it. You have my remarks before noon."
        await self.say(STORY.lead, "I took over the review of the specification", text)

    async def _correct(self, heard: Message) -> None:
        """Plan the batches again when a course correction is asked for."""
        await self.pause(4)
        body = {
            "session_id": STORY.session,
            "reason": str(parse_message(heard).body.get("reason") or "user_request"),
            "new_batches": [{"batch_id": 3, "stories": ["5-1", "5-2"]}],
            "dropped_stories": ["5-3"],
            "added_stories": [],
        }
        await self.sprint(STORY.lead, "COURSE_CORRECTION", body, "Batch 3 planned again without 5-3")

    async def _explain(self, heard: Message) -> None:
        """Find the cause of what a developer ran into."""
        await self.pause(5)
        body = STORY.debug_result(parse_message(heard).body)
        await self.sprint(heard.sender, "DEBUG_RESULT", body, f"{body['debug_id']}: the root cause is found")

    async def _guarded(self, act: Coroutine[Any, Any, object]) -> None:
        try:
            await act
        except TeamError as error:
            _complain(self.name, error)


def _complain(name: str, error: TeamError) -> None:
    print(f"{name}: {error.code} {error.message}", file=sys.stderr, flush=True)


# What the permanent members do by themselves.


async def task_manager(me: Actor) -> None:
    """Works in plan mode: nothing happens before its plan is approved; a refused plan comes back revised."""
    own = (message for message in me.team.snapshot().messages if message.sender == me.name)
    plans = (message for message in own if message.type == "plan_approval_request")
    asked = next((parse_message(message).request_id for message in plans), None)
    turn = 1
    for plan in chain([STORY.opening], cycle(STORY.plans)):
        current: Plan = plan
        while True:
            if asked is None:
                receipt = await me.do(submit_plan, content=current.content, summary=current.summary)
                asked = receipt.request_id
            verdict = await me.answer_to(asked, within=100)
            if verdict is None:
                text = f"My plan “{plan.summary}” still waits for you; the export on Thursday depends on it."
                await me.say(STORY.lead, "My plan is still waiting for your verdict", text)
                verdict = await me.answer_to(asked)
            asked = None
            if verdict is None or parse_message(verdict).approve:
                break
            turn += 1
            current = STORY.revised(plan, verdict.content, turn)
            await me.pause(3)
        await _carry_out(me, plan)
        turn = 1
        await me.pause(15)


async def _carry_out(me: Actor, plan: Plan) -> None:
    """Start, tell the schedule how far it is (pattern 3 of seed 001), announce the result (pattern 2)."""
    await me.pause(1.5)
    text = f"Plan approved, work has begun as {plan.task}. I report when the first step is through."
    await me.say(STORY.lead, f"{plan.task} has started", text)
    await me.pause(9)
    text = f"{plan.task}: 2 steps done, 1 running, 1 to come. No change to Thursday."
    await me.say("schedule-manager", f"{plan.task}: half of the steps are done", text)
    await me.pause(12)
    await me.do(broadcast, summary=f"{plan.task} is done", content=plan.done)


async def habit(me: Actor, one: Habit) -> None:
    """Do the same again and again, or once with each."""
    mine = [words for words in getattr(STORY, one.what) if one.does != "say" or words.get("sender", me.name) == me.name]
    await me.pause(one.after)
    for words in mine if one.once else cycle(mine):
        await _DOES[one.does](me, words)
        await me.pause(one.every)


async def _say(me: Actor, words: Words) -> None:
    await me.do(send, **{key: value for key, value in words.items() if key != "sender"})


async def _clarify(me: Actor, words: Words) -> None:
    """Ask the lead what only the lead can know."""
    receipt = await me.do(send, to=STORY.lead, type="clarify", summary=words["question"], payload=dict(words))
    heard = await me.answer_to(receipt.messages[0].message_id)
    if heard is not None:
        await me.pause(1.5)
        await me.reply(heard, f"Thank you. The calendar follows it: “{heard.content[:200] or 'your answer'}”")


async def _ask(me: Actor, questions: Sequence[Words]) -> None:
    """Ask the lead questions with options, and follow the answers."""
    asked = await me.do(ask_question, questions=questions, directory=STORY.folder, client="claude-code")
    heard = await me.answer_to(asked.request_id)
    if heard is not None:
        await me.pause(2)
        follow = f"I decide it myself: “{heard.content[:200]}”"
        if parse_message(heard).approve:
            follow = "The pages follow it: " + answers_text(heard.payload).replace("\n", "; ")[:200]
        await me.say(STORY.lead, "Thank you, the pages follow your answer", follow)


async def _use_tool(me: Actor, call: Words) -> None:
    """Ask whether a tool may be used, as a client asks for its agent; nobody is waited for without end."""
    origin = {"directory": STORY.folder, "client": "claude-code", "session": f"{me.name}-1"}
    asked = {key: value for key, value in call.items() if key != "done"}
    receipt = await me.do(ask_permission, **asked, **origin)
    heard = await me.answer_to(receipt.request_id, within=150)
    if heard is None:  # somebody answered where the agent runs
        await me.do(withdraw, request_id=receipt.request_id, reason="answered in the session")
        return
    what = headline_of(Permission(call["tool"], call["input"]), STORY.folder)[:60]
    edited = " I did it as you edited it." if "updated_input" in heard.payload else ""
    await me.pause(2)
    if parse_message(heard).approve:
        await me.say(STORY.lead, f"Done: {what}", call["done"] + edited)
    else:
        await me.say(STORY.lead, f"Not done: {what}", f"Understood, I leave it: “{heard.content[:200]}”")


_DOES: dict[str, Callable[[Actor, Any], Awaitable[None]]] = {
    "say": _say,
    "clarify": _clarify,
    "ask": _ask,
    "use": _use_tool,
}


# The sprint: two slaves with their batches, temporary developers.


async def scrum_master(me: Actor) -> None:
    """Begins the sprint: plans which stories are done together."""
    await me.pause(STORY.sprint_begins)
    await me.sprint(STORY.lead, "BATCH_PLAN_READY", STORY.batch_plan(), "Nine stories planned in three batches")


async def slave(me: Actor) -> None:
    """Runs a batch story by story: every story has a temporary developer, and the lead decides about each; a story
    that failed is given to another developer.
    """
    number = int(me.name.rpartition("-")[2])
    stories = list(STORY.batches[number])
    completed: list[str] = []
    results: asyncio.Queue[Message] = asyncio.Queue()
    me.on["AGENT_COMPLETE"] = results.put
    await me.pause(STORY.sprint_begins + 30 * number)
    attempt = 1
    while stories:
        worker = await _developer_for(me, stories[0], attempt)
        attempt += 1
        if worker is not None:
            result = await results.get()
            await me.pause(2)
            await _end_of(me, worker)
            await me.pause(6)
        if worker is None or parse_message(result).body.get("status") == "success":
            completed.append(stories.pop(0))
            attempt = 1
    body = {
        "batch_id": number,
        "session_id": STORY.session,
        "stories_completed": completed,
        "stories_failed": [],
        "batch_report": f"{len(completed)} stories are done, all tests pass.",
    }
    await me.sprint(STORY.lead, "SLAVE_BATCH_COMPLETE", body, f"Batch {number} is complete, I can go")


async def _developer_for(me: Actor, key: str, attempt: int) -> str | None:
    """Ask for a developer, without a word about the story (requirement 146); None when the story was done without."""
    wish = {"agent_type": "dev-runner", "role_hint": "Developer for one story", "requested_by": me.name}
    asked = await me.sprint(STORY.lead, "AGENT_CREATE_REQUEST", wish, "Wants a dev-runner for the next story")
    heard = await me.answer_to(asked)
    if heard is None or parse_message(heard).name != "AGENT_CREATED":
        if heard is not None:
            text = f"Understood. I do story {key} myself; it takes about twice as long."
            await me.reply(heard, text)
        await me.pause(25)
        summary = f"Story {key} is done without an extra agent"
        await me.say(STORY.lead, summary, f"{STORY.stories[key]}: 142 tests pass.")
        await me.pause(8)
        return None
    worker = str(parse_message(heard).body.get("agent_name"))
    await me.pause(2)
    task = STORY.task(key, me.name, "debugger", attempt=attempt)
    await me.sprint(worker, "TASK_ASSIGNMENT", task, f"Story {key}: {STORY.stories[key]}")
    return worker


async def _end_of(me: Actor, worker: str) -> None:
    """Ask the lead to end the agent whose work is done; a refusal is asked about again later."""
    while True:
        body = {"agent_name": worker}
        asked = await me.sprint(STORY.lead, "AGENT_DESTROY_REQUEST", body, f"Story is done, {worker} can go")
        heard = await me.answer_to(asked)
        if heard is None or parse_message(heard).name == "AGENT_DESTROYED":
            return
        await me.reply(heard, f"Understood, {worker} stays. I ask again when the review is through.")
        await me.pause(40)


async def developer(me: Actor) -> None:
    """A temporary agent: one story, sometimes a fault that only the human can decide about, then gone."""
    tasks: asyncio.Queue[Message] = asyncio.Queue()
    me.on["TASK_ASSIGNMENT"] = tasks.put
    fault = me.rng.choice(STORY.faults)
    task = dict(parse_message(await tasks.get()).body)
    await me.pause(5)
    if task.get("story_key") == STORY.fails_first and not task.get("config_overrides"):
        await me.pause(7)
        await _complete(me, task, failed="the chart does not draw without data")
        return
    if task.get("story_key") == "4-1" or me.rng.random() < 0.4:
        debug = STORY.debug_request(fault, f"DBG-{me.rng.randrange(100, 1000)}", task["story_key"])
        found: asyncio.Queue[Message] = asyncio.Queue()
        me.on["DEBUG_RESULT"] = found.put
        await me.sprint("debugger", "DEBUG_REQUEST", debug, f"Help wanted: {fault['error']}")
        await found.get()
        await me.pause(3)
        issue = STORY.issue(fault, f"Story {task['story_key']} stands still until this is decided.")
        receipt = await me.do(send, to=USER, type="escalate", summary=fault["issue"], payload=issue)
        decision = await me.answer_to(receipt.messages[0].message_id)
        if decision is not None:
            await me.pause(1.5)
            await me.reply(decision, f"Understood, I go on that way. Story {task['story_key']} moves again.")
        await me.pause(7)
    await _complete(me, task)


async def _complete(me: Actor, task: dict[str, Any], *, failed: str = "") -> None:
    """Report to whoever gave the story (requirement 143)."""
    body = {
        "status": "failed" if failed else "success",
        **{key: task.get(key) for key in ("story_key", "mode", "session_id")},
        "results": {"tests": "3 failed, 139 passed" if failed else "142 passed", "files_changed": 14},
        "errors": [failed] if failed else [],
    }
    word = f"failed: {failed}" if failed else "is done"
    await me.sprint(str(task["report_to"]), "AGENT_COMPLETE", body, f"Story {task.get('story_key')} {word}")


LIVES: dict[str, Callable[[Actor], Coroutine[Any, Any, None]]] = {
    "task-manager": task_manager,
    "scrum-master": scrum_master,
    "slave-batch-1": slave,
    "slave-batch-2": slave,
}
"""Name -> what it lives for besides its habits; a name of which the story knows nothing is a temporary developer."""


def begin(me: Actor) -> None:
    """Begin the life of an agent."""
    if me.name in LIVES or me.name not in {agent["name"] for agent in STORY.agents}:
        me.begin(LIVES.get(me.name, developer)(me))
    for one in STORY.habits:
        if one.agent == me.name:
            me.begin(habit(me, one))
