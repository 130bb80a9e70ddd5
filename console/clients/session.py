"""Session of a client that one event belongs to: whose it is, on which team, and what earlier events left of it."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from team_console.console.clients.client import TakesPrompts
from team_console.console.clients.event import Reply
from team_console.console.clients.hook_invocation import Invocation
from team_console.console.clients.hook_process import OUT, write_line
from team_console.console.clients.instructions import instructions_for
from team_console.console.clients.programs import client_of
from team_console.console.clients.quick_answer import (
    LOOK_VERSION,
    caller_facts,
    look_name,
    member_files,
    note_state,
    settled_marks,
)
from team_console.console.clients.session_files import (
    ALLOWED,
    LOOK,
    QUIET,
    RECORDED,
    TEAMMATE,
    SessionFiles,
    has_in_any_session,
)
from team_console.store.backends.open import open_team
from team_console.store.backends.presence_folder import PresentInFolder
from team_console.store.contract.team import new_presence_name
from team_console.store.model.errors import TeamError
from team_console.store.model.names import ALL, USER, canonical, check_name, is_name
from team_console.store.protocol.client_sessions import SESSION, Doing
from team_console.store.protocol.membership import known_members
from team_console.store.service.caller import Caller
from team_console.store.service.grants import is_granted
from team_console.store.service.sessions import handed_elsewhere, is_urgent, mail_waiting, note_session

if TYPE_CHECKING:  # a type and no class: quick events import no `typing`
    from team_console.console.clients.quick_answer import Look, Marks

_LOOK_LOCK_WAIT = 0.5
"""Seconds for which a look waits for the lock."""
LOCK_WAIT = 10.0
"""Seconds a hook waits for the lock."""


class ClientSession:
    """What the answer to one event needs.

    Attributes:
        call: How the hook was called.
        client: The client of the session, and `event` what it told.
        files: What earlier events of the session left.
        token: Tells this process from others that act in the session at the same time.
        has_said: Whether the client took an answer.
        team: The member's team, opened; `config` are its settings.
        me: The member whose session it is.
        name: Who acts: the member, or a teammate in its session.
    """

    def __init__(self, call: Invocation, files: SessionFiles) -> None:
        self.call = call
        self.client = client_of(call.data, call.client)
        self.event = self.client.event_of(call.data)
        self.files = files
        self.token = new_presence_name()
        self.has_said = False
        self.team = open_team(call.location or None)
        self.config = self.team.config()
        self.me = check_name(call.actor, field="TEAM_CONSOLE_AS")
        self.name = self._teammate_name() or self.me

    @property
    def is_of_agent(self) -> bool:
        """Whether the session is a member's that is an agent; the human's own seat is at the console."""
        if self.me in (self.config.lead, USER, ALL):
            return False
        if not self.config.declared or self.me in self.config.agents:
            return True
        return self.me in known_members(self.config, self.team.snapshot().messages)

    @property
    def teammate(self) -> str | None:
        """The member's name of the teammate whose event it is."""
        return self.name if self.name != self.me else None

    def caller(self, name: str | None = None, *, wait: float = LOCK_WAIT) -> Caller:
        """Return the caller for the service."""
        return Caller(self.team, name or self.name, wait)

    def note(self, doing: Doing, *, last_words: str = "", wait: float = LOCK_WAIT) -> None:
        """Note what this event's agent is doing now: a session in a file of its own, where its team has a place for it.

        In the store stands what others rest on: who came along with it, and that these went when it ended.
        """
        is_own = self.teammate is None
        about = {"client": self.event.client, "mode": self.event.mode, "last_words": last_words}
        is_beside = is_own and note_state(self.call, self.files, self.team.places(), state=str(doing), **about)
        if is_beside and not self._is_on_record(doing):
            return
        self.files.write(RECORDED, {})
        note_session(
            self.caller(self.me, wait=wait),
            session=self.event.session,
            doing=doing,
            client=self.event.client,
            teammate=self.teammate,
            last_words=last_words,
            mode=self.event.mode,
        )
        if self.event.teammate is not None:
            self.files.write(TEAMMATE + self.event.teammate, {"doing": str(doing), "name": self.name})

    def _is_on_record(self, doing: Doing) -> bool:
        """Return whether the store says that the session goes on, or has to say that its member is there at all."""
        messages = self.team.snapshot().messages
        if doing is Doing.ENDED:
            return any(message.type == SESSION and self.event.session in str(message.payload) for message in messages)
        return not self.config.declared and self.me not in known_members(self.config, messages)

    def meet_teammate(self) -> None:
        """Make sure that a teammate is known before it acts: its start may not have been told."""
        if self.event.teammate is not None and self.files.read(TEAMMATE + self.event.teammate) is None:
            self.note(Doing.WORKING)

    def remember(self) -> None:
        """Leave for the next event how the store looks, so that it can see at little cost whether anything changed.

        Of a store that another program left, only a turn of the lock tells.
        """
        if not self._write_look():
            with suppress(TeamError), self.caller(self.me, wait=_LOOK_LOCK_WAIT).transaction("look"):
                pass
            self._write_look()

    def _write_look(self) -> bool:
        """Leave the look (`Look`) for later events; returns False where nothing certain can be told.

        The files are looked at before their content is: a change in between makes the next event look again.
        """
        places = dict(self.team.places())
        if "log" in places:  # the last to close a database writes its log into it: now, not after this look
            self.team.close()
        marks, at = settled_marks(places), time.time()
        teammates = [facts["name"] for _, facts in self.files.all(TEAMMATE)]
        names, shared = list(dict.fromkeys([self.me, *teammates, self.name])), member_files(self.call)
        waiting = [mail_waiting(self.caller(name)) for name in names]
        if None in waiting:
            self.files.remove(LOOK)
            shared.remove(look_name(self.call))
            return False
        config, client = self.config, self.client
        look: Look = {
            "version": LOOK_VERSION,
            "places": places,
            "marks": marks,
            "at": at,
            "urgent": any(is_urgent(message, config) for messages in waiting for message in messages or ()),
            "granted": any(is_granted(self.team, name) for name in names),
            "wait": config.wait_for_human,
            "ask_for": list(config.asked_for(self.me)),
            "mail": any(waiting),
            "handed": bool(handed_elsewhere(self.caller(self.me), session="")),
            "client": client.name,
            "shows_title": client.shows_title,
            "needs_waker": isinstance(client, TakesPrompts),
            "asks_by_tool": client.asks_by_tool,
            "attended_variable": client.attended_variable,
            "project_variable": client.project_variable,
        }
        if names == [self.me]:  # all sessions of the member can use it
            self.files.remove(LOOK)
            look["words"] = instructions_for(self.team, self.me, by_itself=True)
            look["by"] = caller_facts()
            shared.write(look_name(self.call), dict(look))
        else:
            self.files.write(LOOK, dict(look))
        self._write_quiet(marks)
        return True

    def _write_quiet(self, marks: Marks) -> None:
        """Leave for the shell before a hook whether a call of the member is asked for only while a console is open."""
        shared = member_files(self.call)
        is_quiet = self.config.wait_for_human != "always"
        # guard: quiet-without-what-is-allowed
        if is_quiet and not has_in_any_session(ALLOWED, self.call.actor, self.call.location):
            shared.write(QUIET, {})
            shared.set_time(QUIET, marks["settings"][2] if "settings" in marks else 0)
        else:
            shared.remove(QUIET)

    def sweep_askers(self) -> None:
        """Take away the files of processes that were killed while they waited, or every later event would look at them.

        Only once their requests are ended: without the file nothing tells the next event to do that.
        """
        if isinstance(self.team, PresentInFolder):
            self.team.presence.sweep()

    def say(self, reply: Reply | None) -> bool:
        """Print an answer; False when nobody takes it any more."""
        self.has_said = reply is not None and write_line(OUT, json.dumps(reply, ensure_ascii=False))
        return self.has_said

    def _teammate_name(self) -> str | None:
        """Return the teammate's own name, unless a member has it; then one that says whose it is."""
        own = canonical(self.event.teammate or "")
        if not own:
            return None
        # guard: teammate-is-no-member
        taken = {*self.config.agents, self.config.lead, USER, ALL}
        names = (own, f"{self.me}.{own}")
        return next((name for name in names if is_name(name) and name not in taken), None)
