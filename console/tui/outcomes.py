"""What became of a request, of a decision and of what was done, in the words of lists and toasts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from msgspec.structs import replace
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import first_of, safe_line, safe_text
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.service.caller import Receipt
from team_console.store.views.rows import RequestRow, RequestState, View
from team_console.widgets.document import Document
from team_console.widgets.form_results import UNSURE, Stopped
from team_console.widgets.request_documents import newer_words, newest_version
from team_console.widgets.signs import REQUESTS
from team_console.widgets.text import Line, clock_time

# A request that is read, and what is pending about it.

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


DRAFT = "draft"
"""Said of a request that an answer was begun to and not sent, in place of what was decided."""


def pending_words(decided: str) -> str:
    """Return the mark of a row with a pending decision or a draft."""
    return "✎ draft" if decided == DRAFT else f"◔ {decided}, not sent yet"


def with_pending(document: Document, decided: str) -> Document:
    """Return the document of a thing with a pending decision or a draft, which says so first."""
    if decided == DRAFT:
        return with_banner(document, pending_words(decided), ("a", " and "), ("r", " go on with what you began"))
    return with_banner(document, pending_words(decided), ("U", " undo, "), ("W", " write now"))


def with_banner(document: Document, outcome: str, *keys: tuple[str, str]) -> Document:
    """Return the document with what became of it above its text, and behind that keys, each with the words for it."""
    banner: Line = ((f"{outcome} ·", "alert"), (" ", ""))
    for key, words in keys:
        banner = (*banner, (key, "key"), (words, "alert"))
    return replace(document, banner=(*banner, (" · ", "alert"), *document.banner) if document.banner else banner)


# Toasts: what was done, in the words of what is known (written, never delivered), and what failed.

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
