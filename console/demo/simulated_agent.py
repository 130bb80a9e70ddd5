"""One simulated agent: it reads its inbox, does what is due, and ends when its parent does."""

from __future__ import annotations

import heapq
import random
import select
import sys
import time
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from team_console.console.demo import words
from team_console.console.demo.given_past import carried
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.protocol.parsing import Reading, reading
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.inbox import Wanted, receive
from team_console.store.service.requests import approve
from team_console.store.service.sending import send

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

    def on_message(self, message: Message, read: Reading) -> None:
        """A plain message: the human always gets an answer, a colleague's question as well, an answer does not."""
        if message.payload.get("in_reply_to") is None or self.is_human(message):
            self.after(1.5 if self.is_human(message) else 5, lambda: self.answer(message, self.reply()))

    def on_shutdown_request(self, message: Message, read: Reading) -> None:
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
            if Wanted(self.name).among(snapshot.messages, snapshot.taken_at, snapshot.config.ranks):
                for message in receive(self.caller, agent=self.name).messages:
                    self._hear(message)
            self._seen = snapshot.revision
        except TeamError as error:
            self._complain(error)

    def _hear(self, message: Message) -> None:
        read = reading(message)
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
