"""What a form says of a request before it is decided on: its title, its place, what is known, and what follows."""

from __future__ import annotations

from team_console.console.tui.main import MainScreen
from team_console.console.tui.toast_words import in_quotes
from team_console.store.model.counted import counted
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_line
from team_console.store.protocol.client_requests import origin_of, permission_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.seen import digest_of
from team_console.store.protocol.tool_input import headline_of
from team_console.store.service import requests
from team_console.store.views.evidence import Mark
from team_console.store.views.rows import AgentState, RequestRow
from team_console.widgets.ages import short_ago

_LONGEST_PLACE = 300
"""Characters of a folder that stand in the words of a form."""


def title_of_verdict(row: RequestRow, approving: bool) -> str:
    """Return the decision as a title for its form."""
    asker = safe_line(row.asker, 64)
    subject = safe_line(parse_message(row.question).subject or "", 64)
    if row.kind is RequestKind.PERMISSION and approving:
        return f"Let {asker} do this?"
    if row.kind is RequestKind.CREATE and subject:
        article = "an" if subject[0].lower() in "aeiou" else "a"
        return f"Let {asker} have {article} {subject}" if approving else f"No {subject} for {asker}"
    if row.kind is RequestKind.DESTROY and subject:
        return f"End {subject}, as {asker} asks" if approving else f"Keep {subject}"
    return f"{'Approve' if approving else 'Reject'} the {row.kind} of {asker}"


def request_and_place(row: RequestRow, *, with_title: bool = True) -> str:
    """Return the request and its place, as safe lines."""
    payload = row.question.payload
    origin, title = origin_of(payload), row.title
    if row.kind is RequestKind.PERMISSION:
        title = headline_of(permission_of(payload), origin.directory)
    words = in_quotes(title) if with_title else ""
    where = f"in {safe_line(origin.directory, _LONGEST_PLACE)}" if origin.directory else ""
    return " ".join(filter(None, (words, where)))


def facts_before_deciding(screen: MainScreen, row: RequestRow) -> str:
    """Return the facts to know before deciding: how much was read, what is missing, whether the asker is there."""
    painted, known = screen.cache.painted.get(digest_of(row.question)), screen.cache.evidence.get(row.key)
    facts = []
    if painted is not None and painted.text_lines:
        facts.append("shown to its end" if painted.is_whole else screen.cache.unseen(digest_of(row.question)))
    sections = known.evidence.sections if known is not None and known.evidence is not None else ()
    missing = sum(piece.mark is Mark.MISSING for section in sections for piece in section.pieces)
    if missing:
        facts.append(f"{counted(missing, 'thing')} it names {'is' if missing == 1 else 'are'} missing")
    recorded = screen.view.snapshot.recorded if screen.view is not None else None
    agent = next((each for each in screen.situation.roster if each.name == row.asker), None)
    if agent is not None and agent.state is AgentState.STOPPED:
        facts.append("the asker has ended")
    elif agent is not None and agent.stranger:
        facts.append("the asker is on no roster")
    elif recorded is not None and recorded.is_by_former_member(row.question):
        facts.append("the asker left and came back since")
    elif agent is not None and agent.last_seen is not None:
        facts.append(f"asker seen {short_ago(agent.last_seen, screen.caller.team.clock())}")
    return " · ".join(facts)


def consequences_of_approval(screen: MainScreen, row: RequestRow, agent_name: str) -> str:
    """Return who will be created or ended and who will be told, or why it cannot be, where that is known already."""
    if screen.view is None:
        return ""
    try:
        name = agent_name if row.kind is RequestKind.CREATE and agent_name else None
        lines = requests.approval_forecast(screen.view.snapshot, request_id=row.request_id, agent_name=name)
    except TeamError as error:
        return f"✗ {safe_line(error.message, 200)}"
    return "\n".join(safe_line(line, 300) for line in lines)
