"""What verbs print of lists for people: tables, ages, CSV, and why a list may not be whole."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from team_console.console.cli.call import Call
from team_console.console.cli.streams import columns, is_terminal
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import Team, attached_content
from team_console.store.model.clock import in_units, is_real_time
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, safe_line, safe_text

# Views are imported where one is made: 10 ms, which a receive has no use for.
if TYPE_CHECKING:
    from team_console.store.views.rows import View

_GAP = "  "
_WIDEST = 64
"""Cells up to which a column is as wide as its widest cell: those of the longest name."""


Cells = Mapping[str, str]
"""A row of a table: heading -> cell, the same headings in each row of one table."""


def print_table(call: Call, rows: Sequence[Cells]) -> None:
    """Print at least one row under the headings. Cells are stored text; they are made safe here.

    On a terminal a line is cut at its end. A cell wider than any name is whole, and out of line in its own row alone:
    it must not push the ids of all the others out of the screen.
    """
    headings = list(rows[0])
    body = [[safe_line(cell) for cell in row.values()] for row in rows]
    columns_of_cells = zip(headings, *body, strict=True)
    widths = [max(wide for wide in map(cell_width, column) if wide <= _WIDEST) for column in columns_of_cells]
    limit = columns() if is_terminal(sys.stdout) else None
    call.say(_table_line(headings, widths, limit), style="bold")
    for cells in body:
        call.say(_table_line(cells, widths, limit))


def _table_line(cells: Sequence[str], widths: Sequence[int], limit: int | None) -> str:
    padded = [cell + " " * (wide - cell_width(cell)) for cell, wide in zip(cells, widths, strict=True)]
    text = _GAP.join(padded).rstrip()
    return text if limit is None else cut_to_cells(text, limit)


def view_now(call: Call) -> View:
    """Return everything views know about the team now, for the actor.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    snapshot = call.snapshot()
    from team_console.store.views.status import view_of_team

    return view_of_team(call.team, snapshot, me=call.viewer(snapshot))


def doubts(call: Call, snapshot: Snapshot, problems: Sequence[Problem] = ()) -> list[str]:
    """Return sentences on why what is listed may not be all: lost, damaged, or of a team whose settings are gone (D16).

    Args:
        problems: What else kept the list from being whole.
    """
    from team_console.store.views.status import assess

    reasons = assess(snapshot, call.team.clock()).doubts
    sentences = [problem.sentence for problem in problems] + [reason.sentence for reason in reasons]
    # guard: dropped-mail-not-empty
    if snapshot.dropped:
        sentences.append(waiting_in_drop(snapshot))
    return list(dict.fromkeys(sentences))


def waiting_in_drop(snapshot: Snapshot) -> str:
    """Return how many messages wait in `drop/`, which no list has."""
    number = len(snapshot.dropped)
    waits = f"{counted(number, 'message')} {'waits' if number == 1 else 'wait'}"
    return f"{waits} to be taken in from drop/, with the next write"


def print_list(call: Call, listed: Mapping[str, Any], snapshot: Snapshot, problems: Sequence[Problem] = ()) -> None:
    """Print a list as JSON, with `doubt`: why it may not be all, or null."""
    call.json({**listed, "doubt": " ".join(doubts(call, snapshot, problems)) or None})


def print_rows(call: Call, listed: Mapping[str, Any], snapshot: Snapshot, rows: Sequence[Cells], nothing: str) -> None:
    """Print a list as JSON, as a table, or as the words for none; then why it may not be all."""
    if call.as_json:
        print_list(call, listed, snapshot)
    elif rows:
        print_table(call, rows)
    else:
        call.say(nothing)
    call.warn(doubts(call, snapshot))
    call.warn_of_stranger(snapshot)


def print_csv(call: Call, fields: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Print rows as comma-separated values below their fields; stored text is made safe here."""
    from team_console.store.views.history import csv_text

    safe = ({name: safe_text(value) for name, value in row.items()} for row in rows)
    call.write(csv_text(fields, safe).rstrip("\n"))


def cell_width(text: str) -> int:
    """Return the terminal cells that `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # with its tables 5 ms, for tables with other scripts alone

    return cell_len(text)


def cut_to_cells(text: str, cells: int) -> str:
    """Return `text` in at most `cells` cells, ending with `…` when something was left out."""
    if cell_width(text) <= cells:
        return text
    from rich.cells import set_cell_size  # with its tables 5 ms, for what does not fit alone

    return set_cell_size(text, cells - 1).rstrip() + "…"


def age_words(seconds: float | None) -> str:
    """Return a time as `12 s`, `4 min`, `30 h` or `2 d`; `-` for None."""
    if seconds is None:
        return "-"
    number, unit = in_units(seconds)
    return f"{number} {unit}"


def age_since(moment: datetime | None, now: datetime) -> str:
    """Return the age of `moment` at `now`; `-` for None."""
    return age_words(max(0.0, (now - moment).total_seconds()) if is_real_time(moment) else None)


def whole_content(team: Team, message: Message) -> str | None:
    """Return the content that was stored beside the queue because of its size; None when there is none to be had."""
    try:
        return attached_content(team, message)
    except TeamError:
        return None
