"""`show`: a whole message or request with its thread, as the document that the console's reader shows, or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins
from msgspec.structs import asdict, replace
from team_console.console.cli.arguments import arg, flag, verb
from team_console.console.cli.call import Call
from team_console.console.cli.printing import doubts, whole_content
from team_console.console.cli.streams import columns, is_terminal
from team_console.store.contract.snapshot import KEPT_PRIVATE, Snapshot
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, ids_of
from team_console.store.protocol.client_requests import why_in, why_lines
from team_console.store.protocol.parsing import asks, parse_message
from team_console.store.protocol.remarks import PlacedRemark
from team_console.store.protocol.shown_when_decided import digest_of
from team_console.store.service.inbox import TrustCheck, trust_check
from team_console.store.views.alike import causes_of, decided_before
from team_console.store.views.conversation import Thread, gather_thread, versions_of
from team_console.store.views.history import newest_archived
from team_console.store.views.projection import view_of
from team_console.store.views.proposals import lines_to_remark
from team_console.store.views.roster import asker_words
from team_console.store.views.rows import RequestRow, View, as_json
from team_console.store.views.status import MOST_ARCHIVED, request_json
from team_console.widgets.document import HEADS, Document, Heading, fact, laid_out
from team_console.widgets.message_documents import delivery_lines, message_document
from team_console.widgets.request_documents import earlier_plans, remarks_on, request_document, sent_remarks
from team_console.widgets.text import text_of

_WIDEST = 100
"""Cells of the longest line: longer ones are hard to read, and a pipe has no width."""


@verb(
    arg("id", "a message id or a request id", metavar="ID|REQUEST", source="requests"),
    (
        flag("--lines", "only its text, with the line numbers for --remark"),
        flag(
            "--why",
            "only why it asks: the last words of user and agent, and the last tool calls, from the client's transcript",
        ),
    ),
)
def do_show(call: Call) -> None:
    """Show a whole message or request as the console does: its text, its answers, the versions of a plan, its delivery
    to each recipient, and every message of its thread, archived ones too. Nothing is marked or changed. For an
    open request it prints a code; 'approve REQUEST --seen CODE' is refused if the request changed since.

    Examples:
      team-console show REQUEST
      team-console show REQUEST --lines"""
    snapshot = call.snapshot()
    thread, view = _thread(call, snapshot)
    if call.as_json:
        call.json(_as_json(call, thread, view))
    elif call.options.why:
        call.say(*why_lines(why_in(thread.message.payload)))
    elif call.options.lines:
        for number, line in enumerate(lines_to_remark(thread.message, whole_content(call.team, thread.message)), 1):
            call.say(f"{number:>5}  {line.rstrip()}")
    else:
        _print_thread(call, thread, view)
    call.warn([problem.message for problem in snapshot.problems if problem.code == KEPT_PRIVATE])
    call.warn(doubts(call, snapshot))


def _thread(call: Call, snapshot: Snapshot) -> tuple[Thread, View]:
    """Return what belongs to the id that is asked for, and a view that knows all of it, however old it is.

    Raises:
        TeamError: `INVALID_FIELD` when nothing is known under it.
    """
    word, known = call.options.id, newest_archived(call.team, limit=MOST_ARCHIVED)
    thread = gather_thread(call.team, snapshot, word, known)
    if thread is None:
        hint = "List ids with: team-console requests, team-console inbox AGENT, or team-console history."
        raise TeamError(Code.INVALID_FIELD, f"there is no message and no request {word}", hint)
    ids = set(ids_of(known.messages))
    older = [message for message in thread.messages if message.message_id not in ids]
    history = (*known.messages, *reversed(older))
    return thread, view_of(snapshot, me=call.actor, now=call.team.clock(), history=history, complete=known.complete)


def seen_codes(thread: Thread, view: View) -> dict[str, str]:
    """Return message id -> the code for `--seen`, of each open request that is shown.

    An answer with the code is to exactly that message: several may claim one request id, of which the view has a row
    for the first alone.
    """
    rows = [row for row in view.requests if row.request_id == thread.request_id]
    if not any(row.is_open for row in rows):
        return {}
    closed = {digest_of(row.question) for row in rows if not row.is_open}
    asked = [message for message in (thread.message, *thread.messages) if asks(message, thread.request_id)]
    codes = {message.message_id: digest_of(message) for message in asked}
    return {message_id: code for message_id, code in codes.items() if code not in closed}


def _row_of(message: Message, view: View) -> RequestRow | None:
    """Return the request that exactly this message opens; None where it opens none, or another has its id."""
    rows = (row for row in view.requests if row.question.message_id == message.message_id)
    return next((row for row in rows if digest_of(row.question) == digest_of(message)), None)


# For programs.


def _as_json(call: Call, thread: Thread, view: View) -> dict[str, Any]:
    """Return everything about a message and its thread, as `show --json` prints it."""
    causes, trust = causes_of(view.requests), trust_check(call.team, thread.messages)
    chain = versions_of(view.requests, thread.request_id) if thread.request_id else []
    versions = [request_json(row, view.now, causes[row.key]) for row in chain]
    row = next((row for row in chain if row.request_id == thread.request_id), None)
    why, codes = why_in(thread.message.payload), seen_codes(thread, view)
    before = decided_before(row, view.requests) if row is not None and parse_message(thread.message).opens else []
    return {
        "message": _record(thread.message, trust),
        "live": thread.is_live,
        "seen": codes.get(thread.message.message_id),
        "seen_words": codes,
        "why": to_builtins(why) if why is not None else None,
        "remarks": [{**asdict(one.remark), "now": one.now} for one in _placed_remarks(call, row, view)],
        "asker": asker_words(view, row) or None if row is not None else None,
        "before": [request_json(other, view.now, causes[other.key]) for other in before],
        "request": next((version for version in versions if version["request_id"] == thread.request_id), None),
        "versions": versions,
        "thread": [_record(message, trust) for message in thread.messages],
        "deliveries": [as_json(delivery) for delivery in thread.deliveries],
        "doubles": [_record(message, trust) for message in thread.doubles],
    }


def _record(message: Message, trust: TrustCheck) -> dict[str, Any]:
    return dict(trust.marked(message).record)


def _placed_remarks(call: Call, row: RequestRow | None, view: View) -> list[PlacedRemark]:
    if row is None:
        return []
    return sent_remarks(row, earlier_plans(row, view.requests), whole_content(call.team, row.question))


# For people.


def _print_thread(call: Call, thread: Thread, view: View) -> None:
    """Print a message with its deliveries, then the messages of its thread and those with its id."""
    codes = seen_codes(thread, view)
    document = _document_of(call, thread.message, view)
    where = "in the queue" if thread.is_live else "in the archive"
    document = replace(document, more=(*document.more, fact("kept", f"{where}, {thread.message.status}")))
    first, *others = thread.deliveries or (None,)
    if others or (first is not None and (first.tries or first.error or first.at)):
        deliveries = (Heading("deliveries"), delivery_lines(thread.deliveries, view.now))
        document = replace(document, blocks=(*document.blocks, *deliveries))
    _print_document(call, document, thread.message, codes)
    rest = [message for message in thread.messages if message is not thread.message]
    for title, messages in (("thread, the oldest first", rest), ("other messages with the same id", thread.doubles)):
        if messages:
            call.say("", title, style="bold")
        for message in messages:
            call.say()
            _print_document(call, _document_of(call, message, view), message, codes if messages is rest else {})


def _document_of(call: Call, message: Message, view: View) -> Document:
    """Return the document of a message; of one that opens a request with its remarks and answers."""
    content, row = whole_content(call.team, message), _row_of(message, view)
    if row is None:
        return message_document(message, now=view.now, content=content)
    document = request_document(row, now=view.now, requests=view.requests, me=call.actor, content=content)
    remarks = remarks_on(row, earlier_plans(row, view.requests), content, typed={})
    if words := asker_words(view, row):
        document = replace(document, more=(*document.more, fact("the asker", words)))
    return replace(document, remarks=remarks)


def _print_document(call: Call, document: Document, message: Message, codes: Mapping[str, str]) -> None:
    """Print a document to its end, and the code for an answer to exactly that."""
    width = min(columns(), _WIDEST) if is_terminal(sys.stdout) else _WIDEST
    call.say(document.title, style="bold")
    is_cut = False
    for laid in laid_out(document, width, full=True, whole=True):
        is_heading = bool(laid.line) and laid.line[0][1] in HEADS
        call.say(text_of(laid.line).rstrip(), style="bold" if is_heading else "")
        is_cut = is_cut or laid.is_cut
    code = digest_of(message)
    # An answer to what could not be shown whole must not say that it was seen.
    # guard: word-of-what-was-shown
    if codes.get(message.message_id) == code and not is_cut:
        call.say("", f"to decide on exactly this, answer it with --seen {code}")
