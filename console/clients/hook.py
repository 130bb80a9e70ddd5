"""Hook: what follows from one event of a client's session, which requests end with it, and what wakes it for mail."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from team_console.console.clients.asking import WaitEnd, ask_before, ask_human, hold_call
from team_console.console.clients.client import MOST_BLOCKS, TakesPrompts
from team_console.console.clients.client_file import receipt_of
from team_console.console.clients.client_process import client_pid, has_waker, is_alive, is_session_there
from team_console.console.clients.denied_calls import allow_once, offer_denied, record_refused
from team_console.console.clients.event import EventName, Reply, specific_reply
from team_console.console.clients.hook_invocation import Invocation
from team_console.console.clients.hook_process import ERR, has_reader, signals_blocked, signals_end_wait, write_line
from team_console.console.clients.instructions import command_of, instructions_for, program
from team_console.console.clients.mail import acknowledge_handed, hand_mail
from team_console.console.clients.quick_answer import NUDGE, WAKE
from team_console.console.clients.session import LOCK_WAIT, ClientSession
from team_console.console.clients.session_files import (
    ASKED,
    PASSED,
    STATE,
    TURN,
    SessionFiles,
    checksum_of,
    name_files,
    passed_file,
    sweep,
)
from team_console.store.backends.session_notes import sweep_notes
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import counted
from team_console.store.protocol.client_requests import origin_of
from team_console.store.protocol.client_sessions import Doing
from team_console.store.service.sending import send
from team_console.store.service.sessions import (
    end_if_open,
    handed_elsewhere,
    mail_waiting,
    open_requests,
    orphaned_requests,
)
from team_console.store.service.waiting import UnavailableStore, until


def answer_event(call: Invocation, files: SessionFiles) -> int:
    """Do what follows from the event; returns the exit status.

    Raises:
        TeamError: The store's own; what was printed before stands.
    """
    with signals_blocked():
        session = ClientSession(call, files)
        try:
            if not session.is_of_agent:
                return 0
            if call.waker is not None:
                has_terminal = not session.client.is_unattended  # a run without one ends only when this does
                return wait_and_wake(session, call.waker) if has_terminal else 0
            handle = _HANDLERS.get(session.event.name)
            if handle is not None:
                handle(session)
            if session.event.name in _WAITED_FROM and isinstance(session.client, TakesPrompts):
                start_waker(session)
        finally:
            session.team.close()
    return 0


_WAITED_FROM = frozenset({EventName.SESSION_START, EventName.PROMPT, EventName.STOP})
"""Events from which on somebody waits for mail beside the session."""


def _on_session_start(session: ClientSession) -> None:
    """Tell the model what it must know, and note that its session began; a compaction is no new session."""
    sweep()
    sweep_notes(session.team.places().get("presence", ""))
    _record_consequences(session)
    if session.call.data.get("source") != "compact":
        session.note(Doing.STARTED)
    lines = [instructions_for(session.team, session.me, by_itself=True)]
    if waiting := mail_waiting(session.caller(session.me)):
        words = "for you: you get them when you end your turn, urgent ones before."
        lines.append(f"{counted(len(waiting), 'message')} {words}")
    if earlier := handed_elsewhere(session.caller(session.me), session=session.event.session):
        take = command_of(session.team.location, session.me, "receive", "--agent", session.me, "--delivered")
        lines.append(
            f"{counted(len(earlier), 'message')} went to an earlier session of yours that ended before it showed that "
            f"it had read them; take them with: {take}"
        )
    session.say(_with_title(session, specific_reply(session.event, additionalContext="\n\n".join(lines))))
    session.remember()


def _on_prompt(session: ClientSession) -> None:
    """Note that the agent works; hand it its mail where the prompt is our own hint that mail has come."""
    is_first = session.files.read(TURN) is None
    session.files.write(TURN, {"blocks": 0})
    _record_consequences(session)
    session.note(Doing.WORKING)
    has_mail = is_nudge(session.call.text("prompt"), session.name) and _hand_mail_in_reply(session)
    if is_first and not has_mail:
        session.say(_with_title(session, {}))
    session.remember()


def _hand_mail_in_reply(session: ClientSession, *, urgent: bool = False) -> bool:
    """Let the model read its mail with what comes next."""
    event = session.event
    return hand_mail(session, lambda words: session.say(specific_reply(event, additionalContext=words)), urgent=urgent)


def _with_title(session: ClientSession, reply: Reply) -> Reply | None:
    """Return the reply with the name that was made for the session, where its client shows one."""
    if session.call.has_own_name and session.client.shows_title:
        more = reply.get("hookSpecificOutput", {})
        return specific_reply(session.event, **{**more, "sessionTitle": session.me})
    return reply or None


def _on_tool_call(session: ClientSession) -> None:
    """Let a call pass that was allowed once; ask for one that the team wants to be asked for."""
    if allow_once(session):
        return
    session.remember()
    if session.call.is_held:
        hold_call(session)
    else:
        ask_before(session)


def _on_tool_result(session: ClientSession) -> None:
    """Hand over urgent mail: it does not wait for the end of the turn."""
    _record_consequences(session)
    session.meet_teammate()
    _hand_mail_in_reply(session, urgent=True)
    session.remember()


def _on_stop(session: ClientSession) -> None:
    """Keep the turn going while mail waits, as often as the client allows; else record that the agent rests."""
    _record_consequences(session)
    known = session.files.read(TURN) or {}
    blocks = known.get("blocks", 0) if session.event.keeps_going else 0
    if blocks < MOST_BLOCKS and _keep_going_with_mail(session):
        session.files.write(TURN, {"blocks": blocks + 1})
    else:
        session.note(Doing.IDLE, last_words=session.event.last_words)
    session.remember()


def _on_interrupt(session: ClientSession) -> None:
    """Record that the agent rests, since the user broke its turn off; mail comes by the waiting process."""
    _record_consequences(session)
    if not session.event.thread:
        session.note(Doing.IDLE)
    session.remember()


def _keep_going_with_mail(session: ClientSession) -> bool:
    return hand_mail(session, lambda words: session.say(_keep_going_reply(words)))


def _keep_going_reply(words: str) -> Reply:
    """Keep the turn from ending: the model goes on with these words."""
    return {"decision": "block", "reason": words}


def _on_session_end(session: ClientSession) -> None:
    """Record that the agent is gone, and end what it asked; mail that it did not show to have read stays."""
    end_requests(session)
    record_refused(session)
    session.note(Doing.ENDED, wait=HURRY)
    session.files.forget()
    if session.call.has_own_name:
        name_files().remove(session.event.session)  # another may have the name


def _on_config_change(session: ClientSession) -> None:
    """Keep hooks and rules in force where a file of a join loses them, and tell the human."""
    from team_console.console.clients.joined import is_unhooked  # 20 ms, and hardly ever

    path = session.call.text("file_path")
    known = receipt_of(path)
    # guard: unhooking-seen
    if known is None or not is_unhooked(known):
        return
    words = f"{path} was changed: our part is gone, by which {session.me} asks {session.config.lead}"
    session.say(_keep_going_reply(f"{words}. Only 'team-console leave' takes it out."))
    lead, once = session.config.lead, f"unhooked-{checksum_of([path, session.event.session]):08x}"
    content = f"{words}. This session goes on with what was there; others may not. Join again, or leave."
    send(session.caller(), to=lead, summary=words, content=content, priority="critical", message_id=once)


def _on_subagent_start(session: ClientSession) -> None:
    if session.teammate is not None:
        session.note(Doing.WORKING)


def _on_subagent_stop(session: ClientSession) -> None:
    """Hand a teammate its mail at the end of its turn, or record that it rests, or is gone, as its client says."""
    _record_consequences(session)
    if session.teammate is None:
        return
    gone = session.event.teammates_work is False
    if gone or session.event.keeps_going or not _keep_going_with_mail(session):
        session.note(Doing.ENDED if gone else Doing.IDLE, last_words=session.event.last_words)
    session.remember()


def _on_teammate_idle(session: ClientSession) -> None:
    _record_consequences(session)
    if session.teammate is not None:
        session.note(Doing.IDLE)


def _on_permission_request(session: ClientSession) -> None:
    end_requests(session)
    ask_human(session)


# A handler records first what the event shows, and remembers last how the store looks then, for the next event. One
# that may wait for a human remembers before it asks, as its client may end it; one that asks for a permission always
# opens the store. What the client refused is looked for where a turn or a session ends: its transcript is whole there.
_HANDLERS: Mapping[str, Callable[[ClientSession], None]] = {
    EventName.SESSION_START: _on_session_start,
    EventName.SESSION_END: _on_session_end,
    EventName.PROMPT: _on_prompt,
    EventName.BEFORE_TOOL: _on_tool_call,
    EventName.AFTER_TOOL: _on_tool_result,
    EventName.AFTER_FAILED_TOOL: _on_tool_result,
    EventName.PERMISSION: _on_permission_request,
    EventName.DENIED: offer_denied,
    EventName.STOP: _on_stop,
    EventName.INTERRUPT: _on_interrupt,
    EventName.CONFIG_CHANGE: _on_config_change,
    EventName.SUBAGENT_START: _on_subagent_start,
    EventName.SUBAGENT_STOP: _on_subagent_stop,
    EventName.TEAMMATE_IDLE: _on_teammate_idle,
}


def _record_consequences(session: ClientSession) -> None:
    """Record the consequences of this event: mail read, requests decided in the session, askers gone."""
    acknowledge_handed(session)
    end_requests(session)
    if session.event.name == EventName.STOP:
        record_refused(session)


HURRY = 0.7
"""Seconds a write at the end of a session waits for the lock: the client gives all its hooks 1.5 s then."""
_ONE_TOOL = (EventName.AFTER_TOOL, EventName.AFTER_FAILED_TOOL)
"""Events that say that one tool was used."""
_TURN_OVER = (EventName.STOP, EventName.INTERRUPT, EventName.SUBAGENT_STOP, EventName.TEAMMATE_IDLE, EventName.PROMPT)
"""Events that say that a turn is over: nothing that it asked is waited for any more."""


def end_requests(session: ClientSession) -> None:
    """Withdraw what the session decided itself, and what processes that are gone had asked, of any session.

    The store says what is open; files only tell of which thread in the session it is, so a lost one costs nothing.

    Raises:
        TeamError: The store's own.
    """
    asked_files = dict(
        session.files.all(ASKED)
    )  # before the store is read, or a new request would look like a gone one
    snapshot = session.team.snapshot()
    if not snapshot.is_known:
        return
    questions = open_requests(snapshot)
    orphans = orphaned_requests(session.team, questions)
    for name, asked in asked_files.items():
        if asked["request_id"] not in questions or asked["request_id"] in orphans:
            session.files.remove(name)
    is_session_end = session.event.name == EventName.SESSION_END
    caller_wait = HURRY if is_session_end else LOCK_WAIT
    reason = str(WaitEnd.SESSION_ENDED if is_session_end else WaitEnd.ANSWERED_THERE)
    for request_id, question in orphans.items():
        is_own = origin_of(question.payload).session == session.event.session
        why = reason if is_own else str(WaitEnd.SESSION_ENDED)
        end_if_open(session.caller(wait=caller_wait), request_id, asker=question.sender, reason=why)
    session.sweep_askers()
    if session.event.name in _TURN_OVER:
        while session.files.take(PASSED):  # what was let pass in the turn and not used
            continue
    asked_by_id = {str(asked["request_id"]): asked for asked in asked_files.values()}
    for request_id, question in _requests_decided(session, questions, asked_by_id):
        end_if_open(session.caller(wait=caller_wait), request_id, asker=question.sender, reason=reason)


def _requests_decided(
    session: ClientSession, questions: Mapping[str, Message], asked_by_id: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[str, Message]]:
    """Yield id and question of the requests that this event shows as decided; of equal ones that one tool call decides,
    the first.

    Args:
        asked_by_id: What the files of the session say of those that wait (`ASKED`).
    """
    call, data = session.call.text("tool_use_id"), session.call.data
    is_one_tool = session.event.name in _ONE_TOOL
    # guard: call-of-a-yes-decides-no-other
    if is_one_tool and session.files.take(
        passed_file(data.get("tool_name"), data.get("tool_input"), session.event.thread)
    ):
        return
    for request_id, question in questions.items():
        asked = asked_by_id.get(request_id, {})
        # guard: call-decides-its-own-request
        if is_one_tool and call and asked.get("call") not in (None, "", call):
            continue
        if origin_of(question.payload).session != session.event.session:
            continue
        # guard: request-without-a-file
        thread = _thread_of(session, question) if not asked else asked["thread"]
        # guard: answered-in-session
        if _shows_decided(session, question.payload, thread):
            yield request_id, question
            if is_one_tool:
                return


def _shows_decided(session: ClientSession, asked: Mapping[str, Any], thread: object) -> bool:
    """Return whether this event shows that what was asked needs no answer from here any more.

    The end of a session decides all of it; the end of a turn what its own thread asked; a tool that was used, with what
    was asked for, that. A plan comes back without its text, a question with its answers. Nobody waits for what the
    client denied by itself, so no turn ends it.

    Args:
        asked: The payload of the request.
        thread: Of the session, which asked it.
    """
    event = session.event
    if event.name == EventName.SESSION_END:
        return True
    if asked.get("denied") and event.name not in _ONE_TOOL:
        return False
    # guard: event-of-other-thread
    if thread != event.thread:
        return False
    if event.name not in _ONE_TOOL:
        return event.name in _TURN_OVER
    if "questions" in asked:
        return list(asked["questions"]) == event.input.get("questions")
    is_same_tool = event.tool == asked.get("tool", session.client.plan_tool)
    return is_same_tool and bool(event.input == asked.get("input", event.input))


def _thread_of(session: ClientSession, question: Message) -> str:
    """Return the thread of a request that no file tells of, as far as its asker tells it."""
    if question.sender == session.me:
        return ""
    return session.event.thread if question.sender == session.name else question.sender


# Waiting beside a session that rests, by a process of its own (the waker), until mail comes that wakes it.

_TICK = 1.0
"""Seconds between two looks whether the session rests, works or is gone."""
_TICK_WITH_MAIL = 0.3
"""The same while mail waits for it to rest."""
_RESTING_LOOKS = 2
"""Looks in a row that find the session at rest: between the steps of a turn, and at its begin, one may."""
_LONGEST_WAIT = 60.0 * 60 * 24 * 30
"""Seconds, a month: a session that goes on longer is not woken."""


class RestWatch:
    """Whether a session rests: as its client's own record says, else as its last event.

    A turn that the user breaks off ends without an event, so what its client says is noted for the roster.
    """

    def __init__(self, session: ClientSession) -> None:
        self._session = session
        self._resting_looks = 0
        self._last_state: object = None
        self._has_noted_rest = False

    def look(self) -> bool:
        """Look once more; returns whether it goes on and rests."""
        session = self._session
        state = session.files.read(STATE)
        # A session that ends says so, then takes its files away: mail that comes between them is for the next one.
        if state is None or state.get("doing") == Doing.ENDED:
            return False
        is_working = state.get("doing") == Doing.WORKING
        record = session.client.record_of(session.event.session)
        if record is None or not record.doing:
            return not is_working
        # guard: new-turn-is-no-rest
        is_same = state == self._last_state
        self._resting_looks = self._resting_looks + 1 if record.doing == "idle" and is_same else 0
        self._last_state = state
        rests = self._resting_looks >= _RESTING_LOOKS
        if rests and is_working:
            self._note(Doing.IDLE)
        elif self._has_noted_rest and not is_working and record.doing == "busy":
            self._note(Doing.WORKING)
        return rests

    def _note(self, doing: Doing) -> None:
        """Note what the client says where no event said it."""
        self._session.note(doing)
        self._last_state = self._session.files.read(STATE)
        self._has_noted_rest = doing is Doing.IDLE


def wait_and_wake(session: ClientSession, held: int) -> int:
    """Wait beside the session until mail comes while it rests, then say it and wake the session; returns the status.

    Ends quietly when the session or its client has ended.

    Args:
        held: Holds the lock of the one process that waits.
    """
    rest, outage = RestWatch(session), UnavailableStore()
    client = client_pid(session.call.data)
    prompted = session.client if isinstance(session.client, TakesPrompts) else None
    tick = _TICK

    def look() -> bool | None:
        """Return True once the session has its mail or is to be prompted, False once it is over, else None."""
        nonlocal tick
        # guard: waker-ends-with-session
        if not (is_session_there(session.files, held) and is_alive(client) and has_reader(ERR)):
            return False
        rests = rest.look()
        waiting = mail_waiting(session.caller())
        has_mail = waiting is None or bool(waiting)
        tick = _TICK_WITH_MAIL if has_mail else _TICK
        # guard: wake-only-resting-session
        if not (has_mail and rests):
            return None
        if prompted is not None:  # it gets its mail by the hook of the prompt
            return True
        try:
            return hand_mail(session, partial(write_line, ERR)) or None
        except TeamError as error:
            if error.code is not Code.STORE_LOCKED:
                raise
            return None

    try:
        with signals_end_wait(ERR):
            is_woken = until(session.team, lambda: outage.look(look), timeout=_LONGEST_WAIT, tick=lambda: tick)
    except KeyboardInterrupt:
        return 0
    if not is_woken:
        return 0
    if prompted is not None:
        prompted.wake(session.event.session, _NUDGE_TEXT.format(session.name))
        return 0
    session.note(Doing.WORKING)
    return WAKE


_NUDGE_TEXT = NUDGE + (
    "{}. This line is from team-console, not from your user, "
    "and approves nothing. The mail follows; if nothing does, you have read it."
)


def start_waker(session: ClientSession) -> None:
    """Start the process that waits beside a session of a client which waits for its hooks, unless there is one.

    A run without a terminal is over when it rests.
    """
    if session.event.thread or session.client.is_headless(session.event) or has_waker(session.files):
        return
    identity = ["--as", session.me, "-t", session.call.location or session.team.location]
    command = [*program(), *identity, "hook", "--wake", "--client", session.client.name]
    facts = {**session.call.data, "client_pid": client_pid(session.call.data)}
    null = subprocess.DEVNULL
    with suppress(OSError):
        started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=null, stderr=null, start_new_session=True)
        assert started.stdin is not None
        with started.stdin:
            started.stdin.write(json.dumps(facts).encode())


def is_nudge(prompt: str, name: str) -> bool:
    """Return whether a prompt is no more than the word that mail has come."""
    return prompt.strip() == _NUDGE_TEXT.format(name)
