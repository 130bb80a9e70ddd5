"""How agents are shown: one in the roster, a message in the list of one, and the page with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from team_console.console.tui.outcomes import asked_title
from team_console.console.tui.reader import LocalFacts
from team_console.store.model.clock import is_real_time
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import safe_line
from team_console.store.protocol.client_requests import ToolCall
from team_console.store.protocol.placed_message import when_created
from team_console.store.views.roster import MODES, AgentPage
from team_console.store.views.rows import RequestRow, RosterRow, View
from team_console.widgets.document import Block, Document, Heading, Lines, one_line
from team_console.widgets.message_words import decision_words, message_kind_words, request_kind_word, row_title
from team_console.widgets.row_drawing import Drawing, age_column, row_lines
from team_console.widgets.signs import Sign, priority_sign, status_sign
from team_console.widgets.text import Line, age, cell_len, crop_name, pad, short_ago, span, spread, text_of, width_of

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


MOST_LISTED = 50
"""Messages of an agent that its page lists."""
_MOST_IN_SUMMARY = 5
"""Messages that the summary of an agent names."""
_LONGEST_OTHER = 32
"""Cells for whom an agent writes with, at most."""


def my_inbox_document(mail: Sequence[Message], view: View) -> Document:
    """Return what was written to the human; enter lists it."""
    unread = sum(message.status != Status.READ for message in mail)
    state = f"{unread:,} unread · enter lists all" if mail else NOTHING_CAME
    return Document(
        key=f"agent:{view.me}",
        title="My inbox",
        headline="My inbox",
        facts=((state, "muted"),),
        blocks=(_message_lines(mail[:MOST_LISTED], view.me, view),),
    )


def agent_document(page: AgentPage, view: View, now: datetime, sign: Sign, local: LocalFacts) -> Document:
    """Return all that is known of an agent: what it does and how that is known, what is open, said, told and
    decided.
    """
    row = page.row
    name = safe_line(row.name, 64)
    facts = [safe_line(row.role, 40), "plans first" if row.plan_mode_required else ""]
    facts.append(f"last seen {short_ago(row.last_seen, now)}" if row.last_seen else "")
    facts.append(f"{row.unread:,} unread" if row.unread else "")
    facts.append(f"{row.unanswered:,} read and not answered" if row.unanswered else "")
    return Document(
        key=f"agent:{row.name}",
        title="Agent",
        headline=name,
        facts=tuple((fact, "muted") for fact in facts if fact),
        blocks=tuple(_page_blocks(page, view, now, sign, local)),
    )


def _page_blocks(page: AgentPage, view: View, now: datetime, sign: Sign, local: LocalFacts) -> Iterator[Block]:
    """Yield state, gates, open requests, messages, last calls and verdicts of an agent."""
    row = page.row
    yield Lines(tuple(_state_lines(row, view, now, sign, local)), indent=2)
    if gates := _gates_of(row, local):
        yield Heading("what its calls may pass by")
        lines = (f"{gate.place}: {gate.message}" for gate in gates)
        yield Lines(tuple((("▲ ", "warn"), (safe_line(line, 300), "")) for line in lines), indent=2)
    others = "open" if row.name == view.me else "open with others"
    for title, requests in (("open with you", page.open_with_reader), (others, page.open_with_others)):
        if requests:
            yield Heading(title)
            yield Lines(tuple(_request_line(item, row.name, view) for item in requests), indent=2)
    for title, messages in (("it was told", page.told), ("it said", page.said)):
        if messages:
            yield Heading(f"{title} · {len(messages):,}")
            yield _message_lines(messages[:_MOST_IN_SUMMARY], row.name, view)
    if page.ran:
        yield Heading("it ran, before it last asked")
        yield Lines(tuple(_ran_line(call) for call in page.ran), is_table=True)
    if page.verdicts or page.blocked is not None:
        yield Heading("decided")
        yield one_line(_decided_words(page))


def _state_lines(row: RosterRow, view: View, now: datetime, sign: Sign, local: LocalFacts) -> Iterator[Line]:
    """Yield the state of an agent, below it how that is known, and what the agent itself said of it."""
    yield sign.mark, *state_parts(row, sign)
    how = f"its hook said so {short_ago(row.heard_at, now)}" if row.source == "hook" else ""
    if row.is_only_heard and row.name != view.me:  # "last seen" tells when
        how = "it wrote or read within 5 minutes; no hook tells whether it still runs"
    mode = MODES.get(row.mode, "in manual mode") if row.mode else ""
    process = local.processes.get(row.session, "")
    if known := " · ".join(filter(None, (how, "" if mode in row.reason else mode, process))):
        yield ("  ", ""), (known, "muted")
    if row.reported:
        said = f"it said {short_ago(row.reported_at, now)}: “{safe_line(row.reported, 300)}”"
        yield ("  ", ""), (said, "muted")


def _gates_of(row: RosterRow, local: LocalFacts) -> list[Problem]:
    """Return the findings on joins that concern an agent: its calls may pass by team-console.

    Modules of a plugin concern every session here, a file that lost its part the member that joined by it.
    """
    return [
        gate
        for gate in local.gates
        if (row.session if gate.code == "PLUGIN_MODULES" else gate.message.startswith(f"{row.name} "))
    ]


def _decided_words(page: AgentPage) -> str:
    """Return how many requests of an agent were decided how, and how long it waited for a human."""
    words = [", ".join(f"{number:,} {state}" for state, number in page.verdicts)]
    if (blocked := page.blocked) is not None:
        words.append(f"waited for a human {span(blocked.total)} in all")
        if blocked.median is not None:
            words.append(f"median {span(blocked.median)}")
        if blocked.now is not None:
            words.append(f"now for {span(blocked.now)}")
    return " · ".join(filter(None, words))


def _ran_line(call: ToolCall) -> Line:
    """Return a call of a tool with the sign of how it ended."""
    if call.state in ("ok", "exit 0"):
        sign, tone = ("✓", "good")
    elif call.state:
        sign, tone = ("✗", "bad")
    else:
        sign, tone = ("·", "muted")
    words = safe_line(f"{call.tool}  {call.subject}", 300)
    return (f"{sign} ", tone), (words, ""), (f"  {safe_line(call.state)}", "muted")


def _request_line(request: RequestRow, name: str, view: View) -> Line:
    """Return a request in a line: its kind, title, other party and wait."""
    is_own = request.asker == name
    other = safe_line(request.addressee if is_own else request.asker, 64)
    with_whom = "" if other == view.me else f" {'→' if is_own else 'of'} {other}"
    waits = f" · waits {span(request.waiting_seconds(view.now))}" if is_real_time(request.waits_since) else ""
    return (
        (f"{request_kind_word(request.kind)} ", "open"),
        (safe_line(request.title, 300), ""),
        (with_whom + waits, "muted"),
    )


def _message_lines(messages: Sequence[Message], name: str, view: View) -> Lines:
    """Return a line for each message that an agent has or wrote: its state, when, with whom, and what it says."""
    others = [_other_party(message, name, view) for message in messages]
    width = min(_LONGEST_OTHER, max(map(cell_len, others), default=0))
    lines: list[Line] = []
    for message, other in zip(messages, others, strict=True):
        when = f"{message.created_at.astimezone():%H:%M} " if message.created_at else "–     "
        said = text_of(decision_words(message, asked_title(view, message))) or row_title(message)
        tone = "muted" if message.sender == name else ""
        lines.append((status_sign(message).mark, (when, "muted"), (pad(other, width) + "  ", ""), (said, tone)))
    return Lines(tuple(lines), is_table=True)


def _other_party(message: Message, name: str, view: View) -> str:
    """Return who wrote a message, or to whom the agent `name` did, as safe text."""
    if message.sender == name:
        return safe_line(f"→ {', '.join(message.recipients)}", 64)
    return "you" if message.sender == view.me else safe_line(message.sender, 64)
