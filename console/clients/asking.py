"""Asking the human what a client asks: a request is opened, waited for, and its verdict told in the client's words."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from msgspec.structs import replace
from team_console.console.clients.client import Client
from team_console.console.clients.event import Event, EventName, Wish, specific_reply
from team_console.console.clients.hook_process import OUT, has_reader, signals_blocked, signals_end_wait
from team_console.console.clients.quick_answer import note_unasked, project_of
from team_console.console.clients.session import ClientSession
from team_console.console.clients.session_files import ASKED, HELD, RECORDED, checksum_of, passed_file
from team_console.console.clients.transcript import extract_for_request
from team_console.store.contract.team import Presence, Team, new_presence_name
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.client_answer import sent_back
from team_console.store.protocol.client_requests import Permission
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.service.asking import LARGEST_BEFORE, ask_permission, ask_question
from team_console.store.service.caller import Receipt
from team_console.store.service.grants import is_granted
from team_console.store.service.requests import submit_plan
from team_console.store.service.sessions import end_if_open
from team_console.store.service.waiting import is_human_awaited
from team_console.store.views.proposals import excerpt_of
from team_console.store.views.rows import RequestRow
from team_console.store.views.verdicts import await_verdict, mark_verdict_read

DEFAULT_TIMEOUT = 600.0
"""Seconds a client waits for its hook when nobody says otherwise."""
_MARGIN = 5.0
"""Seconds before the client's own limit at which the wait ends, so that the request ends as what it is."""
_LONGEST_WAIT = 10 * 366 * 86_400.0
"""Seconds, about ten years: the end of a wait has to be a time that Python knows."""
_BOTH_STARTED = 2.0
"""Seconds within which two hooks for one event have both begun."""
_LOOK_AGAIN = 0.05
"""Seconds between two looks for the other of two hooks."""
_CANNOT_BE_SHOWN = frozenset({Code.INVALID_FIELD, Code.CONTENT_TOO_LARGE})
"""Errors by which a call itself keeps a request for it from being written: too large, too deep, no text."""


def ask_before(session: ClientSession) -> None:
    """Ask for a call that the team wants to be asked for and the client would not ask for, while somebody is there.

    In a session with a human at its terminal the client's dialog is raised, beside which the request stands. In a run
    without one that would be a no by itself: there, and for a client that has no such answer, the hook waits.
    """
    event, client, call = session.event, session.client, session.call
    rules = (*call.held_rules, *session.config.asked_for(session.me))
    rule = call.rule_for(rules, project_of(call.data, client.project_variable))
    # guard: held-asked-once
    if rule in call.held_rules and _is_held(session):
        return
    is_awaited = is_human_awaited(session.team)
    # guard: held-however-it-is-written
    if rule in call.held_rules and not (is_awaited and client.is_attended):
        call.is_held = True
        hold_call(session)
        return
    # guard: nothing-asked-of-nobody
    if not (rule or event.tool == client.asks_by_tool) or not is_awaited:
        return
    # guard: no-by-a-dialog-nobody-sees
    if client.can_raise_dialog and client.is_attended:
        reason = f"{session.config.lead} wants to be asked for: {rule}"
        session.say(specific_reply(event, permissionDecision="ask", permissionDecisionReason=reason))
        return
    try:
        ask_human(session)
    except TeamError as error:
        # guard: nothing-passes-that-cannot-be-shown
        if not rule or error.code not in _CANNOT_BE_SHOWN:
            raise
        words = f"{session.config.lead} wants to be asked for this ({rule}), and it cannot be shown: {error.message}"
        session.say(client.refusal(event, words))


def hold_call(session: ClientSession) -> None:
    """Hold a call until a human decides; without a verdict it is refused."""
    session.files.write(_held_file(session), {})
    why = "has not decided on this"
    try:
        ask_human(session)
    except TeamError as error:
        why = f"could not be asked for this: {error.message}"
    finally:
        session.files.remove(_held_file(session))
    if not session.has_said:
        words = f"{session.config.lead} {why}, and it is held until then."
        session.say(specific_reply(session.event, permissionDecision="deny", permissionDecisionReason=words))


def _held_file(session: ClientSession) -> str:
    """Return the name of the file that says that a hook holds this call."""
    return f"{HELD}{checksum_of(session.call.data.get('tool_use_id')):08x}"


def _is_held(session: ClientSession) -> bool:
    """Return whether another hook waits for a human to decide on this call: the client started both at once.

    What the client's own rule does not see in another spelling, no such hook is started for.
    """
    end = time.monotonic() + _BOTH_STARTED
    while time.monotonic() < end:
        if session.files.names(_held_file(session)):
            return True
        time.sleep(_LOOK_AGAIN)
    return False


def ask_human(session: ClientSession) -> None:
    """Put what the client asks to the human and print the verdict; nothing where none comes.

    Raises:
        TeamError: The store's own; then nothing was printed, and the client's own dialog decides.
    """
    event, is_held = session.event, session.call.is_held
    is_answered_by_grant = event.wish is Wish.PERMISSION and is_granted(session.team, session.name)
    if event.wish is None or not (is_answered_by_grant or is_held or is_human_awaited(session.team)):
        if event.name == EventName.PERMISSION and session.client.is_unattended:
            note_unasked(session.call, session.files)
        return
    session.meet_teammate()
    seconds = _seconds_to_wait(session)
    asker = new_presence_name()
    with signals_blocked(), session.team.announce(Presence.ASKER, asker) as is_announced:
        expires = session.team.clock() + timedelta(seconds=seconds)
        receipt = _open_request(session, asker if is_announced else None, expires)
        if receipt.request_id is None:
            return
        about = {"request_id": receipt.request_id, "thread": event.thread, "call": session.call.text("tool_use_id")}
        session.files.write(ASKED + asker, about)
        needs_human = session.config.wait_for_human == "present" and not is_held
        # A teammate's dialog stands in the terminal of another session.
        has_dialog = session.client.shows_dialog_beside and not event.thread
        dialog = Dialog(session.client, event.session) if has_dialog else None
        try:
            decided = wait_in_hook(session, receipt, seconds=seconds, needs_human=needs_human, dialog=dialog)
            _reply_with_verdict(session, receipt.messages[0], receipt.request_id, decided)
        finally:
            session.files.remove(ASKED + asker)


def _seconds_to_wait(session: ClientSession) -> float:
    """Return for how long to wait for a verdict: until just before the client gives the hook up, or says no itself."""
    try:
        limit = float(session.call.timeout)
    except ValueError:
        limit = DEFAULT_TIMEOUT
    return max(1.0, min(limit, session.event.patience or limit, _LONGEST_WAIT) - _MARGIN)


def _reply_with_verdict(
    session: ClientSession, question: Message, request_id: str, decided: RequestRow | WaitEnd
) -> None:
    """Say what was decided on the question as it was written; without a verdict the request ends as what it was."""
    if isinstance(decided, WaitEnd):
        is_ended = end_if_open(session.caller(), request_id, asker=session.name, reason=str(decided))
        # guard: answer-of-the-last-moment-is-said
        if is_ended:
            return
        decided = await_verdict(session.team, request_id, timeout=0, me=session.name, asked=question)
    if decided.verdict is not None:
        _say_verdict(session, question, decided.verdict)
    elif decided.reason == WaitEnd.TIMED_OUT:
        end_if_open(session.caller(), request_id, asker=session.name, reason=str(WaitEnd.TIMED_OUT))


def _say_verdict(session: ClientSession, question: Message, verdict: Message) -> None:
    """Tell the client the verdict, and leave for later events which call it let pass."""
    back = sent_back(question, verdict.payload, plan=text_in(session.event.input, "plan"))
    reply = session.client.permission_reply(session.event, back)
    is_said = session.say(reply)
    if is_said and back.approve:
        given = session.call.data.get("tool_input") if back.input is None else back.input
        passed = passed_file(session.call.data.get("tool_name"), given, session.event.thread)
        session.files.write(f"{passed}{session.token}", {})
    # Clients drop what is said with a plain yes: then it comes as mail. These are its words as they stand in JSON.
    words = json.dumps(verdict.content)[1:-1]
    # guard: words-with-a-yes-come-as-mail
    if is_said and words in json.dumps(reply):
        mark_as_read(session, verdict)


def mark_as_read(session: ClientSession, verdict: Message) -> None:
    """Mark a verdict as read where that can be done: the client has it, so it must not come again as mail."""
    with suppress(TeamError):
        mark_verdict_read(session.caller(), verdict)


def session_origin(session: ClientSession) -> dict[str, Any]:
    """Return what a request that is opened now says of where it comes from, as the service takes it.

    The store has something of the session from now on, which is left for its end.
    """
    event = session.event
    session.files.write(RECORDED, {})
    return {
        "session": event.session,
        "client": event.client,
        "directory": event.directory,
        "why": extract_for_request(event, session.client.take_row),
    }


def _open_request(session: ClientSession, asker: str | None, expires: datetime) -> Receipt:
    """Open the request in the client's own shape.

    Args:
        asker: The name under which this process is announced; None where it could not be.
    """
    event, caller = session.event, session.caller()
    # guard: shown-only-as-it-is-called
    if not isinstance(session.call.data.get("tool_input"), Mapping):
        raise TeamError(Code.INVALID_FIELD, "what the tool is called with is no object", "Update team-console.")
    origin = {**session_origin(session), "expires": expires, "asker": asker}
    if event.wish is Wish.PLAN:
        further, modes = _input_without(event.input, "plan"), session.client.plan_modes
        return submit_plan(caller, content=text_in(event.input, "plan"), modes=modes, further=further, **origin)
    if event.wish is Wish.QUESTION:
        further = _input_without(event.input, "questions")
        return ask_question(caller, questions=event.input["questions"], further=further, **origin)
    known = file_before(event, _readers_of(session.team))
    before = excerpt_of(known) if isinstance(known.before, str) else known.before
    return ask_permission(
        caller,
        tool=event.tool,
        input=event.input,
        suggestions=event.suggestions,
        before=before,
        is_private=known.is_private,
        **origin,
    )


def _readers_of(team: Team) -> int:
    """Return the permission bits of group and others that can read the store; both, where it has no file here."""
    places = team.places()
    try:
        return os.stat(places.get("queue") or places["database"]).st_mode & 0o044
    except (KeyError, OSError):
        return 0o044


def _input_without(given: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return what a tool is called with beside this key, which the request has in a place of its own."""
    return {other: value for other, value in given.items() if other != key}


_CHANGING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
"""Tools that change the file they name."""


def file_before(event: Event, readers: int) -> Permission:
    """Return the permission with the text of the file that the tool would change, where that may be shown.

    Args:
        readers: Permission bits of those who can read the store: what they may not read stays out of it.
    """
    asked = Permission(event.tool, event.input)
    path = text_in(event.input, "file_path") or text_in(event.input, "notebook_path")
    if event.tool not in _CHANGING or not path:
        return asked
    whole = os.path.join(event.directory, path)
    try:
        descriptor = os.open(whole, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return replace(asked, before=None)
    except (OSError, ValueError):
        return asked
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            return asked
        if readers & ~mode:
            return replace(asked, is_private=True)
        data = file.read(LARGEST_BEFORE + 1)
    try:
        return replace(asked, before=data.decode()) if len(data) <= LARGEST_BEFORE else asked
    except UnicodeDecodeError:
        return asked


# guard: moment-between-dialogs
_GONE_LOOKS = 2
"""Looks in a row, half a second apart, that find no dialog: between two of them a session is busy for a moment."""


class Dialog:
    """The dialog of one session; a client that does not say, or not so that it can be read, has never one.

    Args:
        session: The client's own id of the session.
    """

    def __init__(self, client: Client, session: str) -> None:
        self._client = client
        self._session = session
        self._was_open = False
        self._absent = 0

    def is_closed(self) -> bool:
        """Look once more; returns whether it was open and is not any more."""
        record = self._client.record_of(self._session)
        status = record.doing if record is not None else ""
        self._was_open = self._was_open or status == "waiting"
        self._absent = self._absent + 1 if self._was_open and status not in ("waiting", "") else 0
        # guard: dialog-answered-in-terminal
        return self._absent >= _GONE_LOOKS


class WaitEnd(StrEnum):
    """Why a wait ended without a verdict: the reason that the request then has."""

    ANSWERED_THERE = "answered in the session"
    SESSION_ENDED = "session ended"
    TIMED_OUT = "timed out"
    NOBODY_THERE = "nobody was there"


_ABSENT_LOOKS = 3
"""Looks in a row, half a second apart, that find no console before a wait is given up: one may be reopened."""
_ABSENT_LOOKS_BESIDE = 120
"""The same where the client's own dialog stands beside the request: a minute."""
_UNKNOWN_LOOKS = 120
"""The same for looks that find nothing out: a server that is started again takes its time, the human stays."""


def wait_in_hook(
    session: ClientSession, receipt: Receipt, *, seconds: float, needs_human: bool, dialog: Dialog | None = None
) -> RequestRow | WaitEnd:
    """Wait until the request is decided and return it, or the reason why no decision is needed any more.

    To be called in a `signals_blocked` block: only the wait itself can be ended by a signal.

    Args:
        receipt: The question as it was written; the client goes on with that, whatever stands in the store.
        seconds: For which the client waits.
        needs_human: Whether to give up when the last console is closed.
        dialog: The client's own that stands beside it, where it says when it is answered.
    """
    # A dialog that stands beside this keeps nobody waiting: the human may open a console again.
    is_beside = dialog is not None and session.client.is_attended
    has_ended: dict[WaitEnd, Callable[[], bool]] = {}
    if dialog is not None:
        has_ended[WaitEnd.ANSWERED_THERE] = dialog.is_closed
    if needs_human:
        # guard: waits-beside-a-dialog
        human = HumanWatch(session.team, _ABSENT_LOOKS_BESIDE if is_beside else _ABSENT_LOOKS)
        has_ended[WaitEnd.NOBODY_THERE] = human.is_gone
    ends: list[WaitEnd] = []

    def is_given_up() -> bool:
        ends.extend([end for end, look in has_ended.items() if look()])
        return bool(ends)

    try:
        with signals_end_wait():
            outcome = await_verdict(
                session.team,
                receipt.request_id or "",
                timeout=seconds,
                stop=is_given_up if has_ended else None,
                me=session.name,
                asked=receipt.messages[0],
            )
    except KeyboardInterrupt:
        # guard: session-ended
        return WaitEnd.ANSWERED_THERE if has_reader(OUT) else WaitEnd.SESSION_ENDED
    except TeamError as error:
        if error.code is Code.USAGE:
            raise
        return WaitEnd.NOBODY_THERE
    if not outcome.is_open:
        return outcome
    return ends[0] if ends else WaitEnd.TIMED_OUT


class HumanWatch:
    """The human at a console.

    Args:
        absent_looks: Looks in a row that find nobody before the human counts as gone.
    """

    def __init__(self, team: Team, absent_looks: int = _ABSENT_LOOKS) -> None:
        self._team, self._absent_looks = team, absent_looks
        self._absent = self._unknown = 0

    def is_gone(self) -> bool:
        """Look once more; returns whether nobody was there often enough, or nobody could say for long."""
        found = self._team.attendance(Presence.CONSOLE)
        # guard: server-away-is-no-absence
        if found.names or (found.certain and not found.doubtful):
            self._absent = 0 if found.names else self._absent + 1
            self._unknown = 0
        else:
            self._unknown += 1
        # guard: ends-with-last-console
        return self._absent >= self._absent_looks or self._unknown >= _UNKNOWN_LOOKS
