"""Notices of new decisions: their number in the terminal's title, the bell, and a program of the user's."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread

from team_console.console.preferences import Preferences
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.rows import ActionItem, Need, View

APART = 10.0
"""Seconds between two notices at least; what comes meanwhile is told together."""
_LONGEST, _LONGEST_SENTENCE = 200, 160
"""Characters of a title or an argument, and of the sentence in it."""
_FOR_INFORMATION = frozenset({Need.MESSAGE, Need.REFUSED, Need.SHUTDOWN, Need.FAILED, Need.DAMAGED, Need.OVERDUE})
"""Needs that ask for no decision of the human."""
_PATIENCE = 10.0
"""Seconds a program of the user's may take."""
BELL = "\x07"
PUSH_TITLE, POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""What keeps the title of before, and gives it back (XTWINOPS)."""


def title(text: str) -> str:
    """Return the sequence that writes the terminal's title (OSC 2); no text of an agent ends it."""
    return f"\x1b]2;{safe_line(text, _LONGEST)}\x1b\\"


def start_program(command: Sequence[str], text: str) -> None:
    """Start the user's program with the sentence as its last argument, without a shell; nobody waits for it."""
    plain = safe_line(text, _LONGEST)
    # Words an agent wrote must not be taken for an option of the program.
    last = f" {plain}" if plain.startswith("-") else plain
    Thread(target=_run, args=([*command, last],), name="notice", daemon=True).start()


def _run(command: list[str]) -> None:
    """Run the user's program without input and output; what goes wrong is told nobody."""
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
        )


class Notifier:
    """Tells of new decisions as the user chose; nothing twice, and nothing over a read-only team.

    What stands there at the first look is not new. `write` sends text to the terminal as it is; `moment` gives seconds
    that only go forward.

    Attributes:
        preferences: How the user wants to be told.
    """

    def __init__(
        self, preferences: Preferences, write: Callable[[str], None], moment: Callable[[], float], *, read_only: bool
    ) -> None:
        self.preferences = preferences
        self._write, self._moment, self._read_only = write, moment, read_only
        self._known: frozenset[str] | None = None
        self._news: dict[str, ActionItem] = {}
        self._told_at = float("-inf")
        self._title = ""

    def take(self, view: View | None, team: str) -> None:
        """See what waits now: the title follows at once; what was decided is no news any more."""
        if view is None or self._read_only:
            return
        # Where the human has something to decide or to answer.
        decisions = {item.key: item for item in view.attention if item.answerable or item.need not in _FOR_INFORMATION}
        known = frozenset(decisions) if self._known is None else self._known
        self._news |= {key: item for key, item in decisions.items() if key not in known}
        self._news = {key: item for key, item in self._news.items() if key in decisions}
        self._known = known | decisions.keys()
        if self.preferences.notify == "none":
            self.close()
        else:
            self._show_title(f"({len(decisions)}) {team}" if decisions else team)

    def seconds_left(self) -> float | None:
        """Return seconds until `tell` has something to say, 0 for now; None when there is no news."""
        is_wanted = self.preferences.notify == "bell" or self.preferences.notify_command
        return max(0.0, self._told_at + APART - self._moment()) if is_wanted and self._news else None

    def tell(self, team: str) -> None:
        """Tell all that is new in one notice."""
        items, self._news, self._told_at = list(self._news.values()), {}, self._moment()
        if not items:
            return
        first = f"{safe_line(items[0].who, 40)}: {safe_line(items[0].title, 100)}"
        more = f" (and {counted(len(items) - 1, 'more decision')})" if len(items) > 1 else ""
        if self.preferences.notify == "bell":
            self._write(BELL)
        if self.preferences.notify_command:
            start_program(self.preferences.notify_command, f"{team}: {safe_line(first + more, _LONGEST_SENTENCE)}")

    def close(self) -> None:
        """Give back the title of before."""
        if self._title:
            self._write(POP_TITLE)
            self._title = ""

    def _show_title(self, text: str) -> None:
        sequence = title(text)
        if self._title != sequence:
            self._write(sequence if self._title else PUSH_TITLE + sequence)
            self._title = sequence
