"""An action of the console: its keys and words, where it applies, and why it may not be used now."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct
from team_console.console.input.reasons import Reason
from team_console.console.input.subject import Mode, Subject


class Group(StrEnum):
    """How actions are grouped in help."""

    DECIDE = "Decide"
    WRITE = "Write"
    DELIVER = "Deliver"
    LOOK = "Look"
    CONSOLE = "Console"


_WRITING = frozenset({Group.DECIDE, Group.WRITE, Group.DELIVER})
_KEYS = {
    **{"slash": "/", "colon": ":", "question_mark": "?", "asterisk": "*", "escape": "esc", "shift+tab": "⇧tab"},
    **{"down": "↓", "up": "↑", "pagedown": "PgDn", "pageup": "PgUp", "f2": "F2"},
}


def written_key(key: str) -> str:
    """A key of Textual as people write it: `^l` for `ctrl+l`."""
    return _KEYS.get(key, key.replace("ctrl+", "^"))


class Action(Struct, frozen=True, kw_only=True):
    """One thing the console can do.

    Attributes:
        id: Stable name; `team_console.console.handlers` has the function that does it under this name.
        keys: Textual key names, the first one shown.
        label: A few words for the footer; `…` when a question follows.
        help: A sentence.
        modes: Where it applies; empty for everywhere.
        deciding: Must not happen on a row that just changed by itself.
        footer: Whether it is worth a place in the footer.
        why_not: Why it cannot be used on a subject.
        wording: Another label on a subject; empty for the usual one.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    group: Group
    modes: frozenset[Mode] = frozenset()
    deciding: bool = False
    footer: bool = True
    why_not: Reason = lambda subject: None
    wording: Callable[[Subject], str] = lambda subject: ""

    @property
    def writes(self) -> bool:
        """Whether it changes the team, so that it is not there when the team is read-only."""
        return self.group in _WRITING

    def label_on(self, subject: Subject) -> str:
        """The words for the footer, of what it does to `subject`."""
        return self.wording(subject) or self.label

    @property
    def asks(self) -> bool:
        """Whether a question follows before anything is done."""
        return self.label.endswith("…")

    def is_here(self, mode: Mode) -> bool:
        """Whether it applies in `mode` at all."""
        return not self.modes or mode in self.modes

    def disabled(self, subject: Subject) -> str | None:
        """Why it cannot be used on `subject`, None when it can."""
        if not self.is_here(subject.mode):
            return f"{self.label.rstrip('…')} does not apply here"
        if self.deciding and subject.selection.gone and not subject.selection.marked:
            return subject.selection.gone
        if self.writes:
            return subject.no_writing or self.why_not(subject)
        return self.why_not(subject)
