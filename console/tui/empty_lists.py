"""What stands in an empty list: why it is empty, and the command that lets an agent ask here."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from team_console.console.selection import Mode
from team_console.console.tui.situation import Situation
from team_console.store.model.names import USER, is_name
from team_console.store.model.safe import safe_line
from team_console.store.views.rows import (
    AgentState,
)
from team_console.store.views.status import State, assess
from team_console.widgets.document import CANNOT_BE_SHOWN, Document, Lines
from team_console.widgets.text import Line


def first_step(situation: Situation, agent: str = "") -> str:
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


def first_step_lines(situation: Situation, agent: str = "") -> tuple[Line, ...]:
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


def _start_commands(situation: Situation) -> Mapping[str, str]:
    return situation.reading.local.starts if situation.reading is not None else {}


def humans_of(situation: Situation) -> set[str]:
    """Return the names of humans: whoever looks, the lead and `user`."""
    view = situation.view
    return {USER} if view is None else {view.me, view.snapshot.config.lead, USER}


def _is_anybody_running(situation: Situation, agent: str) -> bool:
    """Return whether `agent` was heard of and is not gone; without a name whether any agent was."""
    known = (row for row in situation.roster if row.is_addressable)
    running = {row.name for row in known if row.state not in (AgentState.UNKNOWN, AgentState.STOPPED)}
    running -= humans_of(situation)
    return agent in running if agent else bool(running)


def _first_agent(situation: Situation, agent: str) -> str:
    """Return `agent`, else the first that has joined here, else the first there is; no human."""
    names = [row.name for row in situation.roster if row.is_addressable]
    joined = [name for name in names if name in _start_commands(situation)]
    humans = {"", *humans_of(situation)}
    return next((name for name in (agent, *joined, *names) if name not in humans), "helper")


def no_team_lines() -> tuple[Line, ...]:
    """Return what the console says in a folder without a team: the command that makes one, and the one that shows
    one at work.
    """
    demo = (), (("See how it works first:", "muted"),), (("          ", "muted"), ("team-console demo", "code"))
    return *empty_lines("○", "No team is here yet", ""), *first_step_lines(Situation()), *demo


_NOT_OF_QUEUE = frozenset({Mode.HISTORY, Mode.HEALTH, Mode.DECISIONS})
"""Modes whose rows are not those of the queue alone."""


def empty_words(mode: Mode, situation: Situation, *, query: str = "", snoozed: int = 0) -> tuple[Line, ...]:
    """Return why a list has no rows; it never claims that there is nothing when that is not known."""
    snapshot = situation.snapshot
    if snapshot is None:
        if situation.failure:
            return empty_lines("◌", "Not read yet", situation.failure, tone="alert")
        return empty_lines("◔", "Reading the team …", "", tone="open")
    status = assess(snapshot, snapshot.taken_at)
    doubt = status.reason(State.DOUBT)
    if situation.view is None:
        if status.state is State.VANISHED:
            return empty_lines("∅", "The queue is gone", "It is not known what waits.", tone="alarm")
        where = safe_line(situation.with_short_paths(status.reasons[0].text), 300) if status.reasons else ""
        return empty_lines("✗", "The queue cannot be read", f"It is not known what waits. {where}", tone="alarm")
    if query:
        return empty_lines("∕", f"Nothing here holds “{query}”", "esc takes the filter away.")
    if situation.reading is not None and not situation.reading.is_fresh:
        text = "Nothing stood here when the team was last read." if mode is not Mode.HISTORY else ""
        return empty_lines("✗", "It cannot be read now", text, tone="alarm")
    if status.is_empty and doubt is None and mode not in _NOT_OF_QUEUE:
        title, text, _ = _EMPTY_WORDS[mode]
        text = f"{text} The queue is empty: no agent has written anything yet."
        return (*empty_lines("○", title, text), *first_step_lines(situation))
    if mode is Mode.NEEDS and snoozed:
        return empty_lines(
            "✓", "Nothing else waits for you", f"{snoozed} snoozed; :wake shows them again.", tone="good"
        )
    if doubt is not None and mode not in _NOT_OF_QUEUE:
        text = safe_line(f"This list may be incomplete: {doubt.sentence}", 300)
        return empty_lines("≈", "Nothing here in the queue as it stands", text, tone="warn")
    title, text, tone = _EMPTY_WORDS[mode]
    return (*empty_lines("✓" if tone == "good" else "○", title, text, tone=tone), *first_step_lines(situation))


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


def empty_lines(glyph: str, title: str, text: str, *, tone: str = "muted") -> tuple[Line, ...]:
    head: Line = ((f"{glyph}  ", tone), (title, "strong"))
    return (head, (), ((text, "muted"),)) if text else (head,)


BROKEN: tuple[Line, ...] = (((CANNOT_BE_SHOWN, "alarm"),), (), (("It is a defect of the console.", "muted"),))
BROKEN_DOCUMENT = Document(key="broken", title="", blocks=(Lines(BROKEN),))
