"""Rows about agents: an agent in the roster, and a message in the list of one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import safe_line
from team_console.store.protocol.placed_message import when_created
from team_console.store.views.rows import RosterRow, View
from team_console.widgets.ages import age
from team_console.widgets.message_words import decision_words, message_kind_words, row_title
from team_console.widgets.row_drawing import Drawing, age_column, row_lines
from team_console.widgets.signs import Sign, priority_sign, status_sign
from team_console.widgets.text import Line, cell_len, crop_name, pad, spread, text_of, width_of

_WAITS = "waits for the answer to "
"""The beginning of a reason that the word for the state says already."""
_STATE_WIDTH, _ROLE_WIDTH, _UNREAD_WIDTH = 13, 9, 9
"""Cells of the columns for the state, the role, and number and age of what is unread."""
_STATE_FROM, _ROLE_FROM = 40, 54
"""Cells from which on a row of one line has a column for the state, and one for the role."""


class Unread(Struct, frozen=True):
    """How many messages an agent has not read, and when the oldest of them was written."""

    number: int
    oldest: datetime | None

    def column(self, now: datetime) -> Line:
        """Return number and age in the cells of their column."""
        if not self.number:
            return ((" " * _UNREAD_WIDTH, ""),)
        return (f" {self.number:>3,}", "strong"), (f" {age(self.oldest, now):>4}", "muted")


def last_words(view: View) -> Mapping[str, str]:
    """Return agent -> the title of what it wrote last, safe text."""
    latest: dict[str, Message] = {}
    for message in view.snapshot.messages:
        known = latest.get(message.sender)
        if known is None or when_created(message) >= when_created(known):
            latest[message.sender] = message
    return {name: text_of(decision_words(message)) or row_title(message) for name, message in latest.items()}


NOTHING_CAME = "nothing came yet"


def my_inbox_lines(unread: Unread, drawing: Drawing, newest: Message | None = None) -> tuple[Line, ...]:
    """Return the line of the human, and what was written to them last for the one below it."""
    name: Line = (("○ ", "muted"), ("my inbox", "strong" if unread.number else ""))
    told = f"“{row_title(newest)}” of {safe_line(newest.sender, 64)}" if newest is not None else NOTHING_CAME
    return spread(name, unread.column(drawing.now), drawing.width), (("  ", ""), (told, "muted"))


def roster_lines(row: RosterRow, drawing: Drawing, sign: Sign, told: str, since: datetime | None) -> tuple[Line, ...]:
    """Return an agent with its state since when and what is unread, and what is told of it below; in one line its role
    in place of that.

    Args:
        told: What it waits for, or why it is in its state and what it wrote last, safe text.
        since: Since when it waits, or when it was heard of last.
    """
    unread = Unread(row.unread, row.oldest_unread).column(drawing.now)
    odd = _oddity(row)
    name: Line = (sign.mark, (safe_line(row.name, 64), "strong" if row.unread else ""))
    name = (*name, (f" {odd}", "warn")) if odd else name
    has_state = drawing.width >= _STATE_FROM
    end: Line = ((f" {pad(sign.word, _STATE_WIDTH)}", sign.tone), *unread) if has_state else unread
    role: Line = ((f" {pad(safe_line(row.role, 40), _ROLE_WIDTH)}", "muted"),)
    # Agents of one kind differ at the end of their names: all of them whole come before the roles.
    longest = max(width_of(name), width_of((sign.mark,)) + drawing.longest_name)
    has_role = drawing.width >= _ROLE_FROM and longest + width_of(role) + width_of(end) <= drawing.width
    if drawing.lines == 1:
        end = (*role, *end) if has_role else end
        return (spread(_name_within(name, drawing.width - width_of(end)), end, drawing.width),)
    state = f"{sign.word} {age(since, drawing.now)}" if since is not None else sign.word
    end = ((f"  {state}", sign.tone), *unread)
    # Below the expanded line its role stands already in the line above.
    nothing = "no message of it is known" if drawing.is_expanded and has_role else safe_line(row.role, 40)
    below: Line = (("  ", ""), (told or nothing, "muted"))
    return spread(_name_within(name, drawing.width - width_of(end)), end, drawing.width), below


def _oddity(row: RosterRow) -> str:
    """Return what is odd about the name of an agent, in a word; empty for nothing."""
    if row.looks_like:
        return "look-alike"
    if not row.is_addressable:
        return "no name"
    return "stranger" if row.stranger else ""


def _name_within(line: Line, width: int) -> Line:
    """Return sign, name and what is odd in at most `width` cells: the name is cut before its last word."""
    sign, (name, tone), *odd = line
    over = width_of(line) - width
    return (sign, (crop_name(name, max(1, cell_len(name) - over)), tone), *odd) if over > 0 else line


def words_below_name(row: RosterRow, sign: Sign, said: str) -> str:
    """Return why it is in its state, and its words where they say more; empty where neither is known."""
    why = _state_reason(row, sign)
    says_the_same = why and said.endswith(why)
    return why if not said or says_the_same else " · ".join(filter(None, (why, f"“{said}”")))


def state_parts(row: RosterRow, sign: Sign) -> Line:
    """Return the word for its state, and of the reason what that word does not say."""
    more = _state_reason(row, sign)
    return (sign.word, sign.tone), (f" · {more}" if more else "", "muted")


def _state_reason(row: RosterRow, sign: Sign) -> str:
    """Return of the reason what the word for the state does not say, and what waits to be taken in."""
    reason = safe_line(row.reason, 120).removeprefix(_WAITS)
    if sign.word.startswith("waits for"):
        reason = reason.partition(" waits for ")[0]
    return " · ".join(filter(None, (reason, f"{row.dropped} in drop/" if row.dropped else "")))


def inbox_lines(message: Message, drawing: Drawing, *, asked: str = "", other: str = "") -> tuple[Line, ...]:
    """Return a message as its recipient sees it: who wrote it and what about; unread ones stand out.

    Args:
        asked: The title of the request that it decides, safe text.
        other: Whom to name in place of its sender.
    """
    unread = message.status != Status.READ
    status, priority, kind = status_sign(message), priority_sign(message), message_kind_words(message)
    # While it is unread both signs have the ink of what is more urgent: one look tells.
    urgent = next((tone for tone in ("bad", "warn") if tone in (status.tone, priority.tone)), "") if unread else ""
    sign = Sign(f"{status.glyph}{priority.glyph}", "", urgent or status.tone)
    title = decision_words(message, asked) or ((row_title(message), "strong" if unread else "muted"),)
    end = age_column(message.created_at, drawing)
    return row_lines(drawing, sign, title, end, who=other or message.sender, facts=((kind, "muted"),) if kind else ())
