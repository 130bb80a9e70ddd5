"""Why a list is empty; it never claims that there is nothing when that is not known (decision D16)."""

from __future__ import annotations

from team_console.console.selection import Mode
from team_console.console.tui.first_step import first_step_lines
from team_console.console.tui.screen_state import ScreenState
from team_console.store.model.safe import safe_line
from team_console.store.views.status import State, assess
from team_console.widgets.document import CANNOT_BE_SHOWN, Document, Lines
from team_console.widgets.text import Line


def no_team_lines() -> tuple[Line, ...]:
    """Return what the console says in a folder without a team: the command that makes one, and the one that shows
    one at work.
    """
    demo = (), (("See how it works first:", "muted"),), (("          ", "muted"), ("team-console demo", "code"))
    return *empty_lines("○", "No team is here yet", ""), *first_step_lines(ScreenState()), *demo


_NOT_OF_QUEUE = frozenset({Mode.HISTORY, Mode.HEALTH, Mode.DECISIONS})
"""Modes whose rows are not those of the queue alone."""


def empty_words(mode: Mode, situation: ScreenState, *, query: str = "", snoozed: int = 0) -> tuple[Line, ...]:
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
