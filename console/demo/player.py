"""The story of the demo (`story.yaml`) and its players: who is in the team, what each does, and how it does it.

Every agent plays its parts, all in one process, through the Python API like any agent.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import yaml
from msgspec import UNSET, Struct, convert
from team_console.store.api import AgentClient, Receipt, Request
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.protocol.client_requests import answers_text
from team_console.store.protocol.kinds import ASKBACK
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.sprint_bodies import sprint_content

Values = Mapping[str, Any]
"""Entries of the story, or names and what they stand for in a scene."""


class StoryStep(Struct, frozen=True, forbid_unknown_fields=True, rename={"arguments": "with"}):
    """A step of a scene; it does what it has in the order of its attributes.

    Attributes:
        unless: A value; where there is one, the step is skipped.
        after: Seconds that go by.
        manners: Message name -> the scene that the agent plays from now on when it hears that.
        pick: A list, of which an entry that fits the text `by` becomes the value `name`.
        count: A value that grows by one, from 1 when there is none.
        do: A method of `store.api.AgentClient`, called with `arguments`; what it wrote becomes the value `name`.
        says: Which body of a sprint message is its content.
        wait: Seconds to wait for the answer to the value `asked`, 0 as long as it takes; or for a message with the
            name `hears`. It becomes the value `name`, by default `answer`.
        then: What came of the wait -> the scene to go on with.
        go: The scene to go on with.
        ends: Whether the agent ends.
    """

    unless: str = ""
    after: float = 0.0
    manners: Mapping[str, str] = {}
    pick: str = ""
    by: str = ""
    name: str = ""
    count: str = ""
    do: str = ""
    arguments: Values = {}
    says: str = ""
    wait: float | None = None
    hears: str = ""
    then: Mapping[str, str] = {}
    go: str = ""
    ends: bool = False


class PastAct(StoryStep, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A step that was done `ago` so many minutes, by an agent; with a plan of the story as `it`, by its number."""

    ago: float
    agent: str
    of: int = 0


class StoryPart(Struct, frozen=True, forbid_unknown_fields=True):
    """A scene that an agent plays by itself, with each entry of the list `of`, as `story.yaml` tells."""

    scene: str
    agent: str = ""
    of: str = ""
    after: float = 0.0
    every: float = 0.0
    once: bool = False
    last: str = ""


class DemoStory(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything the demo's team is, does and says; the comments in `story.yaml` tell what is used where."""

    team: str
    lead: str
    agents: Sequence[Values]
    past: Sequence[PastAct]
    parts: Sequence[StoryPart]
    newcomer: StoryPart
    manners: Mapping[str, Mapping[str, str]]
    scenes: Mapping[str, Sequence[StoryStep]]
    bodies: Mapping[str, Values]
    values: Values
    lists: Mapping[str, Sequence[Values]]

    def fitting(self, entries: str, text: str) -> Sequence[Values]:
        """Return the entries of a list with a word of `text` in their `fits`; where none has one, those without."""
        folded, listed = text.casefold(), self.lists[entries]
        fits = [entry for entry in listed if any(word in folded for word in entry.get("fits", ()))]
        return fits or [entry for entry in listed if "fits" not in entry]


_NAMED = re.compile(r"\{([\w.]+)(?:\|([^{}]*))?\}")
"""`{what.of.it}`, a value, and `{what|words}`, where words stand for one that there is not."""


def filled_in(template: Any, values: Values) -> Any:
    """Return a part of the story with values in place of their names; an entry that only names none is left out."""
    if isinstance(template, Mapping):
        entries = ((key, filled_in(entry, values)) for key, entry in template.items())
        return {key: entry for key, entry in entries if entry is not UNSET}
    if isinstance(template, list):
        return [filled_in(entry, values) for entry in template]
    if not isinstance(template, str):
        return template
    if (alone := _NAMED.fullmatch(template)) is not None:
        return value_of(alone[1], values, alone[2])
    return _NAMED.sub(lambda named: str(value_of(named[1], values, named[2] or "")), template)


def value_of(path: str, values: Values, default: str | None = None) -> Any:
    """Return the value at a path of names, else the default, else `UNSET`."""
    found: Any = values
    for name in path.split("."):
        found = found.get(name, UNSET) if isinstance(found, Mapping) else UNSET
    return default if found is UNSET and default is not None else found


STORY = convert(yaml.safe_load(Path(__file__).with_name("story.yaml").read_text(encoding="utf-8")), DemoStory)


_PASSING = (Code.STORE_LOCKED, Code.STORE_UNREADABLE, Code.STORE_FAILED)
"""Errors of a store that is busy or away for a moment: a human may open or edit the files of the demo."""
_QUOTED = 300
"""Characters that are quoted of what somebody wrote."""


class Actor:
    """One simulated agent: what it hears goes to the scene that waits for it, else to its manners.

    Attributes:
        _manners: Name of a message, perhaps with what it is, as `message in reply` -> the scene it sets off.
        _awaited: What a scene waits for, as the id of its request or the name of a message -> what came of that.
    """

    def __init__(self, team: Team, name: str, *, seed: int, speed: float) -> None:
        self._name = name
        self._client = AgentClient(team, name, lock_wait=5.0)
        self._random = random.Random(f"{seed} {name}")
        self._speed = speed
        self._manners = {**STORY.manners["everybody"], **STORY.manners.get(name, {})}
        self._awaited: dict[str, asyncio.Queue[Message]] = {}
        self._tasks: set[asyncio.Task[object]] = set()
        self._has_ended = False

    def begin(self) -> None:
        """Begin all parts; what this agent asked before the demo opened is what it asks first."""
        asked = [row.question for row in self._client.requests() if row.question.sender == self._name]
        given = {"asked": facts_of(asked[0])} if asked else {}
        for part in [part for part in STORY.parts if part.agent == self._name] or [STORY.newcomer]:
            self._start(self._play(part, given))
            given = {}

    def hear(self) -> None:
        """Receive what waits, and act on it."""
        if self._has_ended or not self._client.peek(limit=1).messages:
            return
        for heard in self._client.receive().messages:
            read = parse_message(heard)
            keys = (read.name, read.request_id, heard.payload.get("in_reply_to"), read.body.get("in_reply_to"))
            waiting = next((self._awaited[key] for key in keys if key in self._awaited), None)
            if waiting is not None and read.name != ASKBACK:
                waiting.put_nowait(heard)
            elif scene := self._scene_for(heard):
                self._start(self._act(scene, {"heard": facts_of(heard)}))

    def end(self) -> None:
        """Drop whatever goes on; nothing is heard or said any more."""
        self._has_ended = True
        for task in list(self._tasks):
            task.cancel()

    def _scene_for(self, heard: Message) -> str:
        """Return the scene that a message sets off, empty for none."""
        name = parse_message(heard).name
        how = "in reply" if heard.payload.get("in_reply_to") else ""
        how = "by the human" if heard.sender in (STORY.lead, USER) else how
        return self._manners.get(f"{name} {how}", self._manners.get(name, ""))

    def _start(self, act: Coroutine[Any, Any, object]) -> None:
        task = asyncio.ensure_future(self._act_or_complain(act))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _act_or_complain(self, act: Coroutine[Any, Any, object]) -> None:
        """Play a scene to its end; one that the service refuses ends there, and its reason is in the log."""
        try:
            await act
        except TeamError as error:
            self._complain(error)

    def _complain(self, error: TeamError) -> None:
        print(f"{self._name}: {error.code} {error.message}", file=sys.stderr, flush=True)

    async def _pause(self, seconds: float) -> None:
        """Let about so many seconds of the demo's time go by."""
        if seconds:
            await asyncio.sleep(seconds * self._random.uniform(0.8, 1.3) / self._speed)

    async def _play(self, part: StoryPart, given: Values) -> None:
        """Play a scene with each entry of its list that is for this agent."""
        entries = [entry for entry in STORY.lists.get(part.of, [{}]) if entry.get("sender", self._name) == self._name]
        await self._pause(part.after)
        for entry in entries if part.once else cycle(entries):
            await self._act(part.scene, {"it": entry, **given})
            given = {}
            await self._pause(part.every)
        await self._act(part.last, {})

    async def _act(self, scene: str, given: Values) -> None:
        """Play the steps of a scene, and of those it goes on to; nothing where it has no name."""
        values = {**STORY.values, "lead": STORY.lead, "me": self._name, **given}
        steps = list(STORY.scenes[scene]) if scene else []
        while steps:
            step = steps.pop(0)
            if not (step.unless and value_of(step.unless, values, "")):
                following = await self._step(step, values)
                steps = list(STORY.scenes[following]) if following else steps

    async def _step(self, step: StoryStep, values: dict[str, Any]) -> str:
        """Do one step; return the scene to go on with, empty for the next step."""
        await self._pause(step.after)
        self._manners.update(step.manners)
        if step.pick:
            values[step.name] = self._random.choice(STORY.fitting(step.pick, filled_in(step.by, values)))
        if step.count:
            values[step.count] = values.get(step.count, 1) + 1
        if step.do:
            values[step.name] = facts_of(await self._do(step, values))
        following = str(filled_in(step.go, values))
        if step.wait is not None:
            answer = await self._wait(step.hears or values["asked"]["key"], step.wait / self._speed)
            if answer is not None:
                values[step.name or "answer"] = facts_of(answer)
                following = next((step.then[word] for word in _outcomes(answer) if word in step.then), following)
        if step.ends:
            self.end()
        return following

    async def _do(self, step: StoryStep, values: Values) -> Message:
        """Do a verb, again and again while the store is busy or away; return the first message it wrote."""
        while True:
            try:
                return first_message(perform(self._client, step, values))
            except TeamError as error:
                if error.code not in _PASSING:
                    raise
                self._complain(error)
            await asyncio.sleep(0.7)

    async def _wait(self, key: str, seconds: float) -> Message | None:
        """Return the message that quotes or is named `key`; None when it takes longer than `seconds`, where not 0."""
        waiting = self._awaited.setdefault(key, asyncio.Queue())
        try:
            heard = await asyncio.wait_for(waiting.get(), seconds or None)
        except TimeoutError:
            return None  # an answer that comes later is kept for whoever waits again
        self._awaited.pop(key, None)
        return heard


def perform(client: AgentClient, step: StoryStep, values: Values) -> Any:
    """Do the verb of a step as an agent; return its result."""
    arguments = filled_in(step.arguments, values)
    if step.says:
        arguments["content"] = sprint_content(step.says.split()[0], filled_in(STORY.bodies[step.says], values))
    if "summary" in arguments:
        arguments["summary"] = arguments["summary"][:90]
    return getattr(client, step.do)(**arguments)


def first_message(done: Receipt | Request) -> Message:
    """Return the first message that a verb wrote."""
    receipt = done.receipt if isinstance(done, Request) else done
    assert receipt is not None  # a request that was made here, not one that was found
    return receipt.messages[0]


def facts_of(message: Message) -> Values:
    """Return what scenes tell of a message; what it has not is left out."""
    read = parse_message(message)
    facts = {
        "message": message,
        "id": message.message_id,
        "request_id": read.request_id,
        "key": read.request_id or message.message_id,
        "from": message.sender,
        "summary": message.summary,
        "content": " ".join(message.content.split())[:_QUOTED],
        "answers": answers_text(message.payload).replace("\n", "; ")[:_QUOTED],
        "body": read.body,
    }
    return {name: fact for name, fact in facts.items() if fact}


def _outcomes(answer: Message) -> Iterator[str]:
    """Yield the words for what came of a wait, the most telling first."""
    yield parse_message(answer).name
    if "updated_input" in answer.payload:
        yield "edited"
    yield "approved" if parse_message(answer).approve else "rejected"
