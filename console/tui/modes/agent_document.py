"""The page of an agent: what it does and how that is known, what is open, said, told and decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from team_console.console.tui.modes.agent_rows import (
    NOTHING_CAME,
    state_parts,
)
from team_console.console.tui.outcomes import asked_title
from team_console.console.tui.reader import LocalFacts
from team_console.store.model.clock import is_real_time
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import safe_line
from team_console.store.protocol.transcript_extract import ToolCall
from team_console.store.views.agent_page import AgentPage
from team_console.store.views.roster import MODES
from team_console.store.views.rows import RequestRow, RosterRow, View
from team_console.widgets.ages import short_ago, span
from team_console.widgets.document import Block, Document, Heading, Lines, one_line
from team_console.widgets.message_words import decision_words, request_kind_word, row_title
from team_console.widgets.signs import Sign, status_sign
from team_console.widgets.text import Line, cell_len, pad, text_of

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
