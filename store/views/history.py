"""Live and archived messages as one history: filtered, searched page by page, written as log lines, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from msgspec import Struct
from team_console.store.contract.team import Team
from team_console.store.model.clock import local_time
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import EARLIEST, when_created
from team_console.store.protocol.titles import said_in
from team_console.store.views.search import Query, Searchable, searchable_message

CSV_FIELDS = (
    *("message_id", "created", "from", "to", "type", "priority", "status"),
    *("summary", "content", "request_id", "read_at", "delivered_at", "error_message", "payload"),
)
"""Columns of `csv_row`."""
T = TypeVar("T")
UNREADABLE_ARCHIVE = "UNREADABLE_ARCHIVE"
"""Code of the problem that archives could not be read at all."""
_PAGE_SIZE = 500


class SearchStep(Struct, frozen=True):
    """A page of a search through the history, from the newest message to the oldest.

    Attributes:
        messages: What was found, newest first.
        scanned: Messages looked at so far.
        is_last: Whether there is nothing older.
    """

    messages: tuple[Message, ...]
    scanned: int
    problems: tuple[Problem, ...] = ()
    is_last: bool = False


class HistoryPage(Struct, frozen=True):
    """The newest archived messages, newest first.

    Attributes:
        problems: What could not be read of the archives.
        complete: Whether these are all that were ever archived.
        more: Whether there are older ones that were not asked for.
    """

    messages: tuple[Message, ...] = ()
    problems: tuple[Problem, ...] = ()
    complete: bool = False
    more: bool = False


def newest_archived(team: Team, *, limit: int) -> HistoryPage:
    """Return about `limit` of the newest archived messages; an unreadable archive is a problem, not an error."""
    messages: list[Message] = []
    problems: dict[Problem, None] = {}
    is_last, pages = False, search(team, (), lambda message: True)
    try:
        while len(messages) < limit and not is_last:
            read = next(pages)
            messages += read.messages
            problems.update(dict.fromkeys(read.problems))
            is_last = read.is_last
    except TeamError as error:
        problems[Problem(UNREADABLE_ARCHIVE, "error", "archive", error.message, error.hint)] = None
    more = not is_last and len(messages) >= limit
    return HistoryPage(tuple(messages), tuple(problems), is_last and not problems, more)


def unseen_problem(known: HistoryPage) -> Problem:
    """Return the finding on a judgement that rests on `known` alone though there is `more`."""
    text = f"only the newest {len(known.messages):,} archived messages were looked at; older ones were not"
    hint = "Nothing is said of answers and steps that an older message could explain; 'history' reads all of it."
    return Problem("OLDER_NOT_SEEN", "notice", "archive", text, hint)


def search(team: Team, live: Sequence[Message], fits: Callable[[Message], bool]) -> Iterator[SearchStep]:
    """Walk from the newest message to the oldest, a page of the archives at a time.

    A message that is live and archived is found once, as it is live.
    """
    ahead = sorted(live, key=when_created)
    there = {(message.message_id, message.created) for message in live}
    cursor: str | None = None
    scanned = 0
    while True:
        read = team.older(cursor=cursor, limit=_PAGE_SIZE) if live else team.history(cursor=cursor, limit=_PAGE_SIZE)
        cursor = read.cursor
        oldest_read = min(map(when_created, read.messages), default=EARLIEST) if cursor is not None else EARLIEST
        batch = [message for message in read.messages if (message.message_id, message.created) not in there]
        while ahead and when_created(ahead[-1]) >= oldest_read:
            batch.append(ahead.pop())
        scanned += len(batch)
        found = sorted(filter(fits, batch), key=when_created, reverse=True)
        yield SearchStep(tuple(found), scanned, read.problems, cursor is None)
        if cursor is None:
            return


def history(
    team: Team, live: Sequence[Message], query: Query, searchable: Callable[[Message], Searchable] = searchable_message
) -> tuple[list[Message], list[Problem]]:
    """Return all messages that fit a query, oldest first, and what could not be read of the archives.

    Args:
        searchable: Gives of a message what the query searches.
    """
    return map_history(team, live, query, lambda message: message, searchable)


def map_history(
    team: Team,
    live: Sequence[Message],
    query: Query,
    shape: Callable[[Message], T],
    searchable: Callable[[Message], Searchable],
) -> tuple[list[T], list[Problem]]:
    """Return what `history` does, each message as `shape` makes it: of a long history nothing else stays in memory."""
    by_id: dict[tuple[str, ...], tuple[datetime, int, T]] = {}
    others_of_an_id: list[tuple[datetime, int, T]] = []
    problems: dict[Problem, None] = {}
    places = {id(message): place for place, message in enumerate(live)}
    for stretch in search(team, live, lambda message: query.fits(searchable(message))):
        problems.update(dict.fromkeys(stretch.problems))
        for message in stretch.messages:
            # Archived ones come newest first and stand before the queue: the one read first has the highest place
            # below 0. Those of the queue have their place in it.
            place = places.get(id(message), -len(by_id) - 1)
            row = when_created(message), place, shape(message)
            # guard: another-of-an-id-is-shown
            key = (message.message_id, message.created)
            if by_id.setdefault(key, row) is not row and place >= 0:
                others_of_an_id.append(row)
    rows = sorted([*by_id.values(), *others_of_an_id], key=lambda row: row[:2])
    return [shaped for _, _, shaped in rows], list(problems)


def log_line(message: Message, agent: str | None = None) -> str:
    """Return one line in the format of seed 001 section 4.5, seen by `agent` (requirements 98, 99); safe to print.

    `[YYYY-MM-DD HH:MM:SS] OUTGOING -> peer: "..."` or `INCOMING <- peer: "..."`, in local time. Without an agent the
    line names both ends: `[...] sender -> peer: "..."`.
    """
    moment = message.created_at
    at = local_time(moment)
    peers = ", ".join(message.recipients)
    if agent is None:
        who = f"{message.sender} -> {peers}"
    else:
        who = f"OUTGOING -> {peers}" if message.sender == agent else f"INCOMING <- {message.sender}"
    said = said_in(message).replace('"', '\\"')
    return f'[{at}] {safe_line(who)}: "{safe_line(said)}"'


def history_json(messages: Sequence[Message]) -> dict[str, Any]:
    """Return the messages as `history --format json` prints them: the records as stored."""
    return {"messages": [dict(message.record) for message in messages], "count": len(messages)}


def csv_row(message: Message) -> dict[str, str]:
    """Return one row under `CSV_FIELDS`; values are texts, the payload is JSON."""
    values: Mapping[str, Any] = {
        "message_id": message.message_id,
        "created": message.created,
        "from": message.sender,
        "to": ", ".join(message.recipients),
        "type": parse_message(message).name,
        "priority": message.priority,
        "status": message.status,
        "summary": said_in(message),
        "content": message.content,
        "request_id": parse_message(message).request_id,
        "payload": json.dumps(message.payload, ensure_ascii=False, default=str),
    }
    return {name: plain_cell(values.get(name, message.envelope(name))) for name in CSV_FIELDS}


def csv_text(fields: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Return the rows as CSV, below their fields."""
    text = io.StringIO()
    table = csv.DictWriter(text, fields, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def plain_cell(value: Any) -> str:
    """Return text that no spreadsheet takes for a formula; empty for None."""
    text = "" if value is None else str(value)
    return f"'{text}" if text[:1] in "=+-@\t\r\n＝＋－＠" and text else text
