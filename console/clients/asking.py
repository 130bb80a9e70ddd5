"""Asking the human what a client asks: a request opened, its verdict awaited and said in the client's own words.

What a client denied by itself is offered to the human, too, and let pass once where that is allowed.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.clients.client import Client
from team_console.console.clients.event import Event, EventName, Wish, specific_reply
from team_console.console.clients.hook_process import OUT, has_reader, signals_blocked, signals_end_wait
from team_console.console.clients.quick import member_files, note_unasked, project_of
from team_console.console.clients.session import LOCK_WAIT, ClientSession
from team_console.console.clients.session_files import (
    ALLOWED,
    ASKED,
    HELD,
    PASSED,
    QUIET,
    RECORDED,
    REFUSED,
    checksum_of,
    passed_file,
)
from team_console.console.clients.transcript import extract_for_request
from team_console.store.contract.presence import Presence, new_presence_name
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.client_requests import Permission, denial_of, headline_of, origin_of, permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import mapping_in, parse_message, text_in
from team_console.store.protocol.sent_back import sent_back
from team_console.store.service.asking import LARGEST_BEFORE, ask_permission, ask_question
from team_console.store.service.caller import Receipt
from team_console.store.service.grants import is_granted
from team_console.store.service.inbox import trust_in
from team_console.store.service.requests import submit_plan
from team_console.store.service.sessions import end_if_open, open_requests, orphaned_requests, use_up_permission
from team_console.store.service.waiting import human_present, is_human_awaited
from team_console.store.views.proposals import excerpt_of
from team_console.store.views.rows import RequestRow
from team_console.store.views.verdicts import await_verdict, mark_verdict_read, verdict_of

# Dialog of a client beside a hook that waits: whether it was answered there, of which no hook is told.

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


# Waiting for a human's verdict in a hook, and letting go of it for every reason there is, each with its own name.

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


def wait_for_verdict(
    session: ClientSession, receipt: Receipt, *, seconds: float, needs_human: bool, dialog: Dialog | None = None
) -> RequestRow | str:
    """Wait until the request is decided and return it, or the reason why no decision is needed any more.

    To be called in an `signals_blocked` block: only the wait itself can be ended by a signal.

    Args:
        receipt: The question as it was written; the client goes on with that, whatever stands in the store.
        seconds: For which the client waits.
        needs_human: Whether to give up when the last console is closed.
        dialog: The client's own that stands beside it, where it says when it is answered.
    """
    # A dialog that stands beside this keeps nobody waiting: the human may open a console again.
    is_beside = dialog is not None and session.client.attended == "1"
    looks: dict[str, Callable[[], bool]] = {}
    if dialog is not None:
        looks[ANSWERED_THERE] = dialog.is_closed
    if needs_human:
        # guard: waits-beside-a-dialog
        looks[NOBODY_THERE] = HumanWatch(session.team, _ABSENT_LOOKS_BESIDE if is_beside else _ABSENT_LOOKS).is_gone
    reasons: list[str] = []

    def has_reason() -> bool:
        reasons.extend(reason for reason, look in looks.items() if look())
        return bool(reasons)

    try:
        with signals_end_wait():
            outcome = await_verdict(
                session.team,
                receipt.request_id or "",
                timeout=seconds,
                stop=has_reason if looks else None,
                me=session.name,
                asked=receipt.messages[0],
            )
    except KeyboardInterrupt:
        # guard: session-ended
        return ANSWERED_THERE if has_reader(OUT) else SESSION_ENDED
    except TeamError as error:
        if error.code is Code.USAGE:
            raise
        return NOBODY_THERE
    if not outcome.is_open:
        return outcome
    return reasons[0] if reasons else TIMED_OUT


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


DEFAULT_TIMEOUT = 600.0
"""Seconds a client waits for its hook when nobody says otherwise."""
_MARGIN = 5.0
"""Seconds before the client's own limit at which the wait ends, so that the request ends as what it is."""
_BOTH_STARTED, _LOOK_AGAIN = 2.0, 0.05
"""Seconds within which two hooks for one event have both begun, and between two looks for the other."""
_NOT_TO_BE_SHOWN = frozenset({Code.INVALID_FIELD, Code.CONTENT_TOO_LARGE})
"""Errors by which a call itself keeps a request for it from being written: too large, too deep, no text."""
_CHANGING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
"""Tools that change the file they name."""


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
    if rule in call.held_rules and not (is_awaited and client.attended == "1"):
        call.is_held = True
        hold_call(session)
        return
    # guard: nothing-asked-of-nobody
    if not (rule or event.tool == client.asks_by_tool) or not is_awaited:
        return
    # guard: no-by-a-dialog-nobody-sees
    if client.can_raise_dialog and client.attended == "1":
        reason = f"{session.config.lead} wants to be asked for: {rule}"
        session.say(specific_reply(event, permissionDecision="ask", permissionDecisionReason=reason))
        return
    try:
        ask_human(session)
    except TeamError as error:
        # guard: nothing-passes-that-cannot-be-shown
        if not rule or error.code not in _NOT_TO_BE_SHOWN:
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
    granted = event.wish is Wish.PERMISSION and is_granted(session.team, session.name)
    if event.wish is None or not (granted or is_held or is_human_awaited(session.team)):
        if event.name == EventName.PERMISSION and session.client.attended == "0":
            note_unasked(session.call, session.files)
        return
    session.meet_teammate()
    try:
        limit = float(session.call.timeout)
    except ValueError:
        limit = DEFAULT_TIMEOUT
    seconds = max(1.0, min(limit, event.patience or limit, 10 * 366 * 86_400.0) - _MARGIN)
    asker = new_presence_name()
    with signals_blocked(), session.team.announce(Presence.ASKER, asker) as announced:
        receipt = _open_request(
            session, asker if announced else None, session.team.clock() + timedelta(seconds=seconds)
        )
        if receipt is None or receipt.request_id is None:
            return
        about = {"request_id": receipt.request_id, "thread": event.thread, "call": session.call.text("tool_use_id")}
        session.files.write(ASKED + asker, about)
        needs_human = session.config.wait_for_human == "present" and not is_held
        # A teammate's dialog stands in the terminal of another session.
        has_dialog = session.client.shows_dialog_beside and not event.thread
        dialog = Dialog(session.client, event.session) if has_dialog else None
        try:
            decided = wait_for_verdict(session, receipt, seconds=seconds, needs_human=needs_human, dialog=dialog)
            _reply_with_verdict(session, receipt.messages[0], receipt.request_id, decided)
        finally:
            session.files.remove(ASKED + asker)


def _reply_with_verdict(session: ClientSession, question: Message, request_id: str, decided: RequestRow | str) -> None:
    """Say what was decided on the question as it was written; without a verdict the request ends as what it was."""
    if isinstance(decided, str):
        is_ended = end_if_open(session.caller(), request_id, asker=session.name, reason=decided)
        # guard: answer-of-the-last-moment-is-said
        if is_ended:
            return
        decided = await_verdict(session.team, request_id, timeout=0, me=session.name, asked=question)
    if decided.verdict is not None:
        back = sent_back(question, decided.verdict.payload, plan=text_in(session.event.input, "plan"))
        reply = session.client.permission_reply(session.event, back)
        is_said = session.say(reply)
        if is_said and back.approve:
            given = session.call.data.get("tool_input") if back.input is None else back.input
            passed = passed_file(session.call.data.get("tool_name"), given, session.event.thread)
            session.files.write(f"{passed}{session.token}", {})
        # Clients drop what is said with a plain yes: then it comes as mail.
        words = json.dumps(decided.verdict.content)[1:-1]
        # guard: words-with-a-yes-come-as-mail
        if is_said and words in json.dumps(reply):
            mark_as_read(session, decided.verdict)
    elif decided.reason == TIMED_OUT:
        end_if_open(session.caller(), request_id, asker=session.name, reason=TIMED_OUT)


def mark_as_read(session: ClientSession, verdict: Message) -> None:
    """The client has it, so it must not come again as mail."""
    with suppress(TeamError):
        mark_verdict_read(session.caller(), verdict)


def origin_facts(session: ClientSession) -> dict[str, Any]:
    """Return what a request that is opened now says of where it comes from."""
    event = session.event
    session.files.write(RECORDED, {})
    facts = {"session": event.session, "client": event.client, "directory": event.directory}
    return {**facts, "why": extract_for_request(event, session.client.take_row)}


def _open_request(session: ClientSession, asker: str | None, expires: datetime) -> Receipt | None:
    """Open the request in the client's own shape."""
    event, caller = session.event, session.caller()
    # guard: shown-only-as-it-is-called
    if not isinstance(session.call.data.get("tool_input"), Mapping):
        raise TeamError(Code.INVALID_FIELD, "what the tool is called with is no object", "Update team-console.")
    origin = {**origin_facts(session), "expires": expires, "asker": asker}
    if event.wish is Wish.PLAN:
        further, modes = _input_without(event.input, "plan"), session.client.plan_modes
        return submit_plan(caller, content=text_in(event.input, "plan"), modes=modes, further=further, **origin)
    if event.wish is Wish.QUESTION:
        further = _input_without(event.input, "questions")
        return ask_question(caller, questions=event.input["questions"], further=further, **origin)
    places = session.team.places()
    try:  # which of group and others can read the files of the store; both, where it has none here
        readers = os.stat(places.get("queue") or places["database"]).st_mode & 0o044
    except (KeyError, OSError):
        readers = 0o044
    known = file_before(event, readers=readers)
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


def _input_without(given: Mapping[str, Any], told: str) -> dict[str, Any]:
    """Return what a tool is called with beside what is told as what it is."""
    return {key: value for key, value in given.items() if key != told}


def file_before(event: Event, *, readers: int = 0) -> Permission:
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


# Ending requests that need no answer from here any more, as an event of a session shows.

HURRY = 0.7
"""Seconds a write at the end of a session waits for the lock: the client gives all its hooks 1.5 s then."""
_ONE_TOOL = (EventName.AFTER_TOOL, EventName.AFTER_FAILED_TOOL)
_TURN_OVER = (EventName.STOP, EventName.INTERRUPT, EventName.SUBAGENT_STOP, EventName.TEAMMATE_IDLE, EventName.PROMPT)


def end_requests(session: ClientSession) -> None:
    """Withdraw what the session decided itself, and what processes that are gone had asked, of any session.

    The store says what is open; files only tell of which thread in the session it is, so a lost one costs nothing.

    Raises:
        TeamError: The store's own.
    """
    known = dict(session.files.all(ASKED))  # before the store is read
    snapshot = session.team.snapshot()
    if not snapshot.is_known:
        return
    questions = open_requests(snapshot)
    orphans = orphaned_requests(session.team, questions)
    for name, asked in known.items():
        if asked["request_id"] not in questions or asked["request_id"] in orphans:
            session.files.remove(name)
    ends = session.event.name == EventName.SESSION_END
    wait = HURRY if ends else LOCK_WAIT
    reason = SESSION_ENDED if ends else ANSWERED_THERE
    for request_id, question in orphans.items():
        is_own = origin_of(question.payload).session == session.event.session
        why = reason if is_own else SESSION_ENDED
        end_if_open(session.caller(wait=wait), request_id, asker=question.sender, reason=why)
    session.sweep_askers()
    if session.event.name in _TURN_OVER:
        while session.files.take(PASSED):
            pass
    for request_id, question in _requests_decided(
        session, questions, {asked["request_id"]: asked for asked in known.values()}
    ):
        end_if_open(session.caller(wait=wait), request_id, asker=question.sender, reason=reason)


def _requests_decided(
    session: ClientSession, questions: Mapping[str, Message], known: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[str, Message]]:
    """Yield the requests that this event shows as decided; of equal ones that one tool call decides, the first.

    Args:
        known: What is known of those that wait, by their ids.
    """
    call, data = session.call.text("tool_use_id"), session.call.data
    # guard: call-of-a-yes-decides-no-other
    if session.event.name in _ONE_TOOL and session.files.take(
        passed_file(data.get("tool_name"), data.get("tool_input"), session.event.thread)
    ):
        return
    for request_id, question in questions.items():
        about = known.get(request_id, {})
        # guard: call-decides-its-own-request
        if session.event.name in _ONE_TOOL and call and about.get("call") not in (None, "", call):
            continue
        if origin_of(question.payload).session != session.event.session:
            continue
        # guard: request-without-a-file
        thread = _thread_of(session, question) if not about else about["thread"]
        # guard: answered-in-session
        if _shows_decided(session, question.payload, thread):
            yield request_id, question
            if session.event.name in _ONE_TOOL:
                return


def _shows_decided(session: ClientSession, asked: Mapping[str, Any], thread: object) -> bool:
    """Return whether this event shows that what was asked needs no answer from here any more.

    Nobody waits for what the client denied by itself, so no turn ends it.

    The end of a session decides all of it; the end of a turn what its own thread asked; a tool that was used, with what
    was asked for, that. A plan comes back without its text, a question with its answers.
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


# Calls that a client denied by itself: put on the human's list, and let pass once where they are allowed.


_OFFERED_FOR = timedelta(hours=1)
"""How long a denied call may still be allowed: later nobody knows what it was good for."""
_DENIED_WAIT = 120.0
"""Seconds for which a denied call waits for a human who is there; later its session is told by mail."""


def offer_denied(session: ClientSession) -> None:
    """Put a denied call on the human's list, and let it be tried again where it is allowed within the turn.

    Without a human, and after a while, the agent goes on without it; a yes then comes as mail.
    """
    event = session.event
    if session.config.wait_for_human == "never" or not event.tool:
        return
    session.meet_teammate()
    receipt = ask_permission(
        session.caller(),
        tool=event.tool,
        input=event.input,
        expires=session.team.clock() + _OFFERED_FOR,
        summary=f"Denied by the client: {headline_of(Permission(event.tool, event.input))}",
        denied=event.reason.strip() or "the client gave no reason",
        **origin_facts(session),
    )
    if receipt.request_id is None or not human_present(session.team):
        return
    decided = wait_for_verdict(session, receipt, seconds=_DENIED_WAIT, needs_human=True)
    if isinstance(decided, str) or decided.verdict is None or not _allowed_call(session, receipt.request_id):
        return
    keep_allowed(session, [decided.verdict])
    if session.say(specific_reply(event, retry=True)):
        mark_as_read(session, decided.verdict)


def record_refused(session: ClientSession) -> None:
    """Put on record what the client refused by itself while nobody could be asked; nobody can allow it any more."""
    now = session.team.clock()
    for name, facts in list(session.files.all(REFUSED)):
        session.files.remove(name)
        tool, given = text_in(facts, "tool_name"), mapping_in(facts, "tool_input")
        ask_permission(
            session.caller(session.me),
            tool=tool,
            input=given,
            directory=text_in(facts, "cwd"),
            session=session.event.session,
            client=session.event.client,
            expires=now,
            summary=f"Refused by the client: {headline_of(Permission(tool, given))}",
            denied="nobody was at its terminal, and nobody at a console",
        )


def keep_allowed(session: ClientSession, messages: Sequence[Message]) -> None:
    """Leave a hint of what these messages allow once, for when the agent tries it again."""
    for message in messages:
        request_id = parse_message(message).request_id
        if (
            request_id
            and parse_message(message).answers is RequestKind.PERMISSION
            and _allowed_call(session, request_id)
        ):
            session.files.write(f"{ALLOWED}{checksum_of(request_id):08x}", {"request_id": request_id})
            member_files(session.call).remove(QUIET)


def allow_once(session: ClientSession) -> bool:
    """Let a call pass that the human allowed, in the form and the folder that was shown; the store uses it up.

    The file is a hint: whoever can write one allows nothing by it, because the store says what was allowed and used.
    """
    event = session.event
    for name in session.files.names(ALLOWED):
        request_id = str((session.files.read(name) or {}).get("request_id", ""))
        allowed = _allowed_call(session, request_id)
        # guard: offer-ends
        if allowed is None or (allowed.ends_at is not None and session.team.clock() >= allowed.ends_at):
            session.files.remove(name)
        elif allowed.key == _key_of_call(event.tool, event.input, event.directory):
            session.files.remove(name)
            reply = session.client.allow_reply(event, allowed.edited_input)
            # guard: allowed-once
            if reply is not None and use_up_permission(
                session.caller(session.me),
                request_id,
                session=event.session,
                client=event.client,
                teammate=session.teammate,
            ):
                return session.say(reply)
    return False


def is_denied_before(session: ClientSession, request_id: str) -> bool:
    """Return whether this is a call that the client had denied by itself, which a yes lets the agent try once more."""
    return _allowed_call(session, request_id) is not None


class AllowedCall(Struct, frozen=True):
    """A call that the human allowed once.

    Attributes:
        key: Tells it from every other (`_key_of_call`).
        edited_input: What it goes on with; None where nothing was edited.
        ends_at: When the offer ends; None for never.
    """

    key: str
    edited_input: Mapping[str, Any] | None
    ends_at: datetime | None


def _allowed_call(session: ClientSession, request_id: str) -> AllowedCall | None:
    """Return the call that the human allowed once, as the store judges the verdict; None without a valid one.

    Raises:
        TeamError: `STORE_UNREADABLE`; then the client's own rules go on.
    """
    try:
        row = verdict_of(session.team, request_id, me=session.name)
    except TeamError as error:
        if error.code is Code.INVALID_REQUEST_ID:
            return None
        raise
    verdict, question = row.verdict, row.question
    is_yes = verdict is not None and parse_message(verdict).approve is True and question.sender == session.name
    # guard: hint-of-another-allows-nothing
    if verdict is None or not is_yes or not denial_of(question.payload):
        return None
    if trust_in(session.team, [verdict]).mark(verdict):
        return None
    asked = permission_of(question.payload)
    key = _key_of_call(asked.tool, asked.input, origin_of(question.payload).directory)
    return AllowedCall(key, sent_back(question, verdict.payload).input, row.expires_at)


def _key_of_call(tool: str, given: Mapping[str, Any], directory: str) -> str:
    """Return what tells one call from every other, also where Python holds two for equal, as 1 and true.

    A yes rests on it.
    """
    return json.dumps([tool, dict(given), directory], sort_keys=True)
