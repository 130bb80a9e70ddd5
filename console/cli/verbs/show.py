"""`show`: one message or request in full, with everything said about it."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing.message_text import payload_lines, summary_line, whole_content
from team_console.console.cli.printing.table import age, age_since, print_table
from team_console.store.contract.team import KEPT_PRIVATE
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line
from team_console.store.protocol.parsing import reading
from team_console.store.protocol.seen import digest_of
from team_console.store.service.handing_on import Trust, trust_in
from team_console.store.views.board import view_of
from team_console.store.views.conversation import Delivery, Thread, delivery_json, find_thread, versions_of
from team_console.store.views.history import past
from team_console.store.views.status_json import request_json
from team_console.store.views.truth import ARCHIVED

if TYPE_CHECKING:
    from team_console.store.contract.team import Snapshot
    from team_console.store.model.message import Message
    from team_console.store.views.rows import RequestRow, View


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what to show."""
    parser.description = (
        "Show the whole message or request: what it says, where it is on its way to each recipient, the versions of\n"
        "a plan, and every message of its thread, archived ones included. Nothing is marked or changed. Of a request\n"
        "that waits it prints the word by which an answer says that it is on exactly this: approve REQUEST --seen WORD."
    )
    add_completed(parser, "requests", "id", metavar="ID|REQUEST", help="a message id or a request id")


def run(call: Call) -> int:
    """Print it."""
    snapshot = call.snapshot()
    word = call.options.id
    thread = find_thread(word, (*snapshot.messages, *snapshot.dropped), call.team.archived)
    if thread is None:
        hint = "List ids with: team-console requests, team-console inbox AGENT, or team-console history."
        raise TeamError(Code.INVALID_FIELD, f"there is no message and no request {word}", hint)
    view = _view(call, snapshot, thread)
    if call.out.as_json:
        call.out.json(_as_json(thread, view, trust_in(call.team, thread.messages)))
    else:
        _show(call, thread, view)
    call.out.warn([problem.message for problem in snapshot.problems if problem.code == KEPT_PRIVATE])
    call.tell_doubt(snapshot)
    return 0


def _view(call: Call, snapshot: Snapshot, thread: Thread) -> View:
    """The view with this thread in it, however old it is."""
    known = past(call.team, limit=ARCHIVED)
    ids = {message.message_id for message in known.messages}
    older = [message for message in thread.messages if message.message_id not in ids]
    history = (*known.messages, *reversed(older))
    return view_of(snapshot, me=call.actor, now=call.team.clock(), history=history, complete=known.complete)


def _versions(thread: Thread, view: View) -> list[RequestRow]:
    return versions_of(view.requests, thread.request_id) if thread.request_id else []


def seen_words(thread: Thread, view: View) -> dict[str, str]:
    """Message id of each open request that is shown -> what an answer to exactly this one quotes.

    Several messages may claim one request id, and the view has a row for the first alone: an answer can be on each.
    """
    rows = [row for row in view.requests if row.request_id == thread.request_id]
    closed = {digest_of(row.question) for row in rows if not row.is_open}
    asked = [message for message in (thread.message, *thread.messages) if _asks(message, thread.request_id)]
    words = {message.message_id: digest_of(message) for message in asked if len(closed) < len(rows)}
    return {message_id: word for message_id, word in words.items() if word not in closed}


def _asks(message: Message, request_id: str | None) -> bool:
    return reading(message).opens is not None and reading(message).request_id == request_id


def _as_json(thread: Thread, view: View, trust: Trust) -> dict[str, Any]:
    versions = [request_json(row, view.now) for row in _versions(thread, view)]
    return {
        "message": dict(trust.marked(thread.message).record),
        "live": thread.is_live,
        "seen": seen_words(thread, view).get(thread.message.message_id),
        "seen_words": seen_words(thread, view),
        "request": next((row for row in versions if row["request_id"] == thread.request_id), None),
        "versions": versions,
        "thread": [dict(trust.marked(message).record) for message in thread.messages],
        "deliveries": [delivery_json(delivery) for delivery in thread.deliveries],
        "doubles": [dict(trust.marked(message).record) for message in thread.doubles],
    }


def _show(call: Call, thread: Thread, view: View) -> None:
    words = seen_words(thread, view)
    _show_message(call, thread.message, view, words)
    where = "in the queue" if thread.is_live else "in the archive"
    call.out.say(f"{where}, {safe_line(thread.message.status)}")
    _show_versions(call, thread, view)
    _show_deliveries(call, thread)
    others = [message for message in thread.messages if message is not thread.message]
    if others:
        call.out.say()
        call.out.say(call.out.paint("thread, the oldest first", "bold"))
    _show_all(call, others, view, words)
    if thread.doubles:
        call.out.say()
        call.out.say(call.out.paint("other messages with the same id", "bold"))
    _show_all(call, thread.doubles, view, {})


def _show_all(call: Call, messages: Iterable[Message], view: View, words: Mapping[str, str]) -> None:
    for message in messages:
        call.out.say()
        _show_message(call, message, view, words)


def _show_message(call: Call, message: Message, view: View, words: Mapping[str, str]) -> None:
    out = call.out
    out.say(out.paint(safe_line(f"{reading(message).name}  {message.message_id}"), "bold"))
    recipients = ", ".join(message.recipients)
    written = f"{message.created} ({age_since(message.created_at, view.now)} ago)" if message.created else "undated"
    out.say(safe_line(f"from {message.sender} to {recipients}, {message.priority} priority, {written}"))
    out.say(summary_line(message))
    for line in payload_lines(message, whole_content(call.team, message)):
        out.say(line)
    if words.get(message.message_id) == digest_of(message):
        out.say(f"to decide on exactly this, answer it with --seen {digest_of(message)}")


def _show_versions(call: Call, thread: Thread, view: View) -> None:
    versions = _versions(thread, view)
    if not versions:
        return
    call.out.say()
    heads = ("REQUEST", "KIND", "STATE", "WAITED", "WHAT")
    print_table(call.out, heads, [_version_cells(row, view) for row in versions])


def _version_cells(row: RequestRow, view: View) -> tuple[str, ...]:
    state = f"{row.state} by {row.answered_by}" if row.answered_by else str(row.state)
    what = f"{row.title}: {row.reason}" if row.reason else row.title
    return row.request_id, str(row.kind), state, age(row.waiting_seconds(view.now)), what


def _show_deliveries(call: Call, thread: Thread) -> None:
    deliveries = thread.deliveries
    if len(deliveries) == 1 and not (deliveries[0].tries or deliveries[0].error or deliveries[0].at):
        return
    call.out.say()
    heads = ("RECIPIENT", "STATUS", "AT", "TRIES", "NEXT TRY", "ID", "ERROR")
    print_table(call.out, heads, [_delivery_cells(delivery) for delivery in deliveries])


def _delivery_cells(delivery: Delivery) -> tuple[str, ...]:
    tries = f"{delivery.tries} of {delivery.most_tries}" if delivery.tries else "-"
    way = (delivery.recipient, delivery.status, delivery.at or "-", tries, delivery.next_try or "-")
    return *way, delivery.message_id, delivery.error
