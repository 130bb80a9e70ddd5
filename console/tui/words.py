"""Words of the console: what became of requests, the first step, empty lists, drafts and toasts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec.structs import replace
from team_console.console.selection import Mode
from team_console.console.tui.screen_state import ScreenState
from team_console.store.model.counted import first_of
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import USER, is_name
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.service.caller import Receipt
from team_console.store.views.rows import (
    AgentState,
    RequestRow,
    RequestState,
    View,
)
from team_console.store.views.status import State, assess
from team_console.widgets.ages import clock_time
from team_console.widgets.document import CANNOT_BE_SHOWN, Document, Lines
from team_console.widgets.form_results import UNSURE, Stopped
from team_console.widgets.request_versions import newer_words, newest_version
from team_console.widgets.signs import REQUESTS
from team_console.widgets.text import Line

GONE = "✗ it is gone from the queue"
NO_LONGER = "✓ it no longer waits here"


def row_now(asked: RequestRow, view: View | None) -> RequestRow | None:
    """Return the request as it stands in `view`; None when it is not there."""
    rows = view.requests if view is not None else ()
    return next((row for row in rows if row.key == asked.key), None)


def asked_title(view: View | None, message: Message) -> str:
    """Return the title of the request that `message` decides, safe text; empty for others and for an agent that
    stops.
    """
    read = parse_message(message)
    if view is None or read.request_id is None or read.answers in (None, RequestKind.SHUTDOWN):
        return ""
    return safe_line(next((row.title for row in view.requests if row.request_id == read.request_id), ""), 300)


def request_outcome(asked: RequestRow, view: View | None, now: datetime) -> str:
    """Return the outcome of a request that was open, as safe text; empty while it is open or nothing is known."""
    if view is None or not view.snapshot.is_known:
        return ""
    row = row_now(asked, view)
    if row is None:
        return GONE
    if row.is_open:
        return ""
    is_superseded_plan = row.state is RequestState.SUPERSEDED and row.kind is RequestKind.PLAN
    if is_superseded_plan and (newest := newest_version(row, view.requests)) is not None:
        return newer_words(row, newest, view.requests)
    sign = REQUESTS[row.state]
    when = f" {clock_time(row.withdrawn_at, now)}" if row.withdrawn_at is not None else ""
    return f"{sign.glyph} {sign.word}{when}{_outcome_reason(row, now)}"


def _outcome_reason(row: RequestRow, now: datetime) -> str:
    if row.state is RequestState.SUPERSEDED:
        return f": a newer {'plan' if row.kind is RequestKind.PLAN else 'request'} took its place"
    if row.state is RequestState.WITHDRAWN:
        return f": {safe_line(row.reason, 200)}" if row.reason else ""
    return f" by {safe_line(row.answered_by or 'somebody', 64)} {clock_time(row.answered_at, now)}"


# The first step, in every empty list: let an agent ask here, or start the one that can.


def first_step(situation: ScreenState, agent: str = "") -> str:
    """Return the command with which an agent joins, or with which one that joined is started, ready for a shell; empty
    where a name in it is not what can be shown of it.

    Args:
        agent: Who is to join; else one that has joined from the present folder, else the first agent there is.
    """
    agent, root = _first_agent(situation, agent), situation.root
    if situation.is_temporary:
        return ""
    if program := _start_commands(situation).get(agent):
        return program
    if safe_line(root) != root or not is_name(agent):
        return ""
    place = f"-t {shlex.quote(root)} " if root else ""
    return f"team-console {place}join {shlex.quote(agent)} --for claude"


def first_step_lines(situation: ScreenState, agent: str = "") -> tuple[Line, ...]:
    """Return what lets an agent ask here, and the key that copies it; none where there is none."""
    command = safe_line(first_step(situation, agent), 300)
    if not command or _is_anybody_running(situation, agent):
        return ()
    copies: Line = (("Y copies  ", "muted"), (command, "code"))
    agent = _first_agent(situation, agent)
    if agent in _start_commands(situation):
        words = f"{safe_line(agent, 64)} has joined. Start it in this folder; its requests appear here:"
        return (), ((words, "muted"),), copies
    then = "Then start claude in this folder: its requests appear here."
    return (), (("Let your Claude Code ask here:", "muted"),), copies, ((then, "muted"),)


def _start_commands(situation: ScreenState) -> Mapping[str, str]:
    return situation.reading.local.starts if situation.reading is not None else {}


def _humans(situation: ScreenState) -> set[str]:
    """Return the names of humans: whoever looks, the lead and `user`."""
    view = situation.view
    return {USER} if view is None else {view.me, view.snapshot.config.lead, USER}


def _is_anybody_running(situation: ScreenState, agent: str) -> bool:
    """Return whether `agent` was heard of and is not gone; without a name whether any agent was."""
    known = (row for row in situation.roster if row.is_addressable)
    running = {row.name for row in known if row.state not in (AgentState.UNKNOWN, AgentState.STOPPED)}
    running -= _humans(situation)
    return agent in running if agent else bool(running)


def _first_agent(situation: ScreenState, agent: str) -> str:
    """Return `agent`, else the first that has joined here, else the first there is; no human."""
    names = [row.name for row in situation.roster if row.is_addressable]
    joined = [name for name in names if name in _start_commands(situation)]
    humans = {"", *_humans(situation)}
    return next((name for name in (agent, *joined, *names) if name not in humans), "helper")


def no_team_lines() -> tuple[Line, ...]:
    """Return what the console says in a folder without a team: the command that makes one, and the one that shows
    one at work.
    """
    demo = (), (("See how it works first:", "muted"),), (("          ", "muted"), ("team-console demo", "code"))
    return *_empty_lines("○", "No team is here yet", ""), *first_step_lines(ScreenState()), *demo


# Why a list is empty; it never claims that there is nothing when that is not known (decision D16).

_NOT_OF_QUEUE = frozenset({Mode.HISTORY, Mode.HEALTH, Mode.DECISIONS})
"""Modes whose rows are not those of the queue alone."""


def empty_words(mode: Mode, situation: ScreenState, *, query: str = "", snoozed: int = 0) -> tuple[Line, ...]:
    """Return why a list has no rows; it never claims that there is nothing when that is not known."""
    snapshot = situation.snapshot
    if snapshot is None:
        if situation.failure:
            return _empty_lines("◌", "Not read yet", situation.failure, tone="alert")
        return _empty_lines("◔", "Reading the team …", "", tone="open")
    status = assess(snapshot, snapshot.taken_at)
    doubt = status.reason(State.DOUBT)
    if situation.view is None:
        if status.state is State.VANISHED:
            return _empty_lines("∅", "The queue is gone", "It is not known what waits.", tone="alarm")
        where = safe_line(situation.with_short_paths(status.reasons[0].text), 300) if status.reasons else ""
        return _empty_lines("✗", "The queue cannot be read", f"It is not known what waits. {where}", tone="alarm")
    if query:
        return _empty_lines("∕", f"Nothing here holds “{query}”", "esc takes the filter away.")
    if situation.reading is not None and not situation.reading.is_fresh:
        text = "Nothing stood here when the team was last read." if mode is not Mode.HISTORY else ""
        return _empty_lines("✗", "It cannot be read now", text, tone="alarm")
    if status.is_empty and doubt is None and mode not in _NOT_OF_QUEUE:
        title, text, _ = _EMPTY_WORDS[mode]
        text = f"{text} The queue is empty: no agent has written anything yet."
        return (*_empty_lines("○", title, text), *first_step_lines(situation))
    if mode is Mode.NEEDS and snoozed:
        return _empty_lines(
            "✓", "Nothing else waits for you", f"{snoozed} snoozed; :wake shows them again.", tone="good"
        )
    if doubt is not None and mode not in _NOT_OF_QUEUE:
        text = safe_line(f"This list may be incomplete: {doubt.sentence}", 300)
        return _empty_lines("≈", "Nothing here in the queue as it stands", text, tone="warn")
    title, text, tone = _EMPTY_WORDS[mode]
    return (*_empty_lines("✓" if tone == "good" else "○", title, text, tone=tone), *first_step_lines(situation))


def has_command(empty: tuple[Line, ...]) -> bool:
    """Return whether the words of an empty list offer a command."""
    return any(tone == "code" for line in empty for _, tone in line)


_EMPTY_WORDS: dict[Mode, tuple[str, str, str]] = {
    Mode.NEEDS: ("Nothing waits for you", "Plans, questions and failures of agents show here by themselves.", "good"),
    Mode.AGENTS: ("No messages in this inbox", "What an agent has not read yet waits here; then it moves on.", ""),
    Mode.REQUESTS: ("No request is open", "What agents ask, of whom. What was decided is in History.", ""),
    Mode.DELIVERIES: ("Nothing went wrong", "Messages that failed, or are tried again, show here.", "good"),
    Mode.SPRINT: ("No sprint yet", "Batches of stories and the agents that work on them.", ""),
    Mode.HISTORY: ("Nothing was found in queue and archives", "All that was ever said, newest first.", ""),
    Mode.HEALTH: ("No findings", "The store, its lock, and what is wrong with messages.", "good"),
    Mode.DECISIONS: ("No decisions yet", "Who decided what, what proves it, and how other requests ended.", ""),
}


def _empty_lines(glyph: str, title: str, text: str, *, tone: str = "muted") -> tuple[Line, ...]:
    head: Line = ((f"{glyph}  ", tone), (title, "strong"))
    return (head, (), ((text, "muted"),)) if text else (head,)


# Words on the frame of a pane: a decision not yet written, what cannot be shown.

BROKEN: tuple[Line, ...] = (((CANNOT_BE_SHOWN, "alarm"),), (), (("It is a defect of the console.", "muted"),))
BROKEN_DOCUMENT = Document(key="broken", title="", blocks=(Lines(BROKEN),))


DRAFT = "draft"
"""Said of a request that an answer was begun to and not sent, in place of what was decided."""


def pending_words(decided: str) -> str:
    """Return the mark of a row with a pending decision or a draft."""
    return "✎ draft" if decided == DRAFT else f"◔ {decided}, not sent yet"


def with_pending(document: Document, decided: str) -> Document:
    """Return the document of such a thing, which says it first."""
    how = "a and r go on with what you began" if decided == DRAFT else "U undo, W write now"
    return with_banner(document, f"{pending_words(decided)} · {how}")


def with_banner(document: Document, outcome: str) -> Document:
    """Return the document of a request that waits no more while it is read, which says so above its text."""
    return replace(document, banner=" · ".join(filter(None, (outcome, document.banner))))


# The wording of toasts: what was done, in the words of what is known (written, never delivered), and what failed.

_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE)
"""The signs of a heading, which say nothing where all stands in one line."""


def receipt_words(what: str, *receipts: Receipt) -> str:
    """Return the toast for receipts: what was done, to whom, warnings and repairs.

    Args:
        what: A past participle, such as `sent` or `asked to stop`; it begins the sentence.
    """
    messages = [message for receipt in receipts for message in receipt.messages]
    names = list(dict.fromkeys(name for message in messages for name in message.recipients))
    head = what[:1].upper() + what[1:]
    if all(receipt.repeated for receipt in receipts) and receipts:
        head = f"✓ {head}: it was there already, nothing was written"
    elif not messages:
        head = f"✓ {head}"
    elif what == "sent":
        head = f"✓ Sent to {names_listed(names)}"
    else:
        head = f"✓ {head} · written for {names_listed(names)}"
    notes = [note for receipt in receipts for note in receipt.told]
    follows = [safe_line(note, 300) for receipt in receipts for note in receipt.notes]
    return "\n".join([head, *dict.fromkeys(follows), *(f"△ {safe_line(note, 300)}" for note in dict.fromkeys(notes))])


def in_quotes(text: str) -> str:
    """Return the first words of what is answered, as safe text in quotation marks."""
    line = safe_line(" ".join(_HEADING.sub("", text).split()), 160)
    return f"“{line}”" if line else ""


def names_listed(names: Iterable[str], most: int = 6) -> str:
    """Return names in a sentence, the many cut short; safe text."""
    return first_of([safe_line(name, 64) for name in names], most)


def error_text(error: BaseException) -> str:
    """Return the error and the next step, as safe text; of an unexpected error only its kind, never its words."""
    if not isinstance(error, TeamError):
        return f"✗ Unexpected: {reason_of(error)}. {UNSURE}"
    if isinstance(error, Stopped):
        return f"✗ {safe_line(error.message, 300)}"
    hint = f"\n{safe_text(error.hint)}" if error.hint else ""
    return f"✗ {error.code}: {safe_text(error.message)}{hint}"


def reason_of(error: BaseException) -> str:
    """Return the error in one safe line.

    Words of foreign exceptions may quote messages and tokens (a database driver quotes the values it was given), so
    only their kind is told, and of a system error what the system says.
    """
    if isinstance(error, TeamError):
        return safe_line(error.message, 300)
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if isinstance(error.filename, str) else ""
        return safe_line(f"{error.strerror}{place}", 300)
    return type(error).__name__
