"""What the terminal is told: which decisions are new, how many wait, and whether the team waits for the human."""

from __future__ import annotations

import subprocess
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, time
from threading import Thread

from team_console.console.preferences import Notices
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.rows import ActionItem, Need, View

APART = 10.0
"""Seconds between two notices at least; what comes meanwhile is told together."""
_LONGEST = 160
_FOR_INFORMATION = frozenset({Need.MESSAGE, Need.REFUSED, Need.SHUTDOWN, Need.FAILED, Need.DAMAGED, Need.OVERDUE})
"""Needs that ask for no decision of the human."""


def is_quiet(spans: Sequence[str], now: datetime) -> bool:
    """Return whether local time is within one of the spans, each as `22:00-07:00`; one may go over midnight."""
    local = now.astimezone().time()
    for span in spans:
        begin, end = (time.fromisoformat(moment.zfill(5)) for moment in span.split("-"))
        if begin <= local < end or (begin > end and (local >= begin or local < end)):
            return True
    return False


# Ways to tell: escape sequences for the terminal, and a program of the user's; every text is made safe first.

_WAYS_LONGEST = 200
_PATIENCE = 10.0
"""Seconds a program of the user's may take."""
_ENDING = "\x1b\\"
BELL = "\x07"
PUSH_TITLE, POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""What keeps the title of before, and gives it back (XTWINOPS)."""


def title(text: str) -> str:
    """Return the sequence that writes the terminal's title (OSC 2)."""
    return f"\x1b]2;{_plain(text)}{_ENDING}"


def desktop(head: str, text: str) -> str:
    """Return the sequences that ask for a notice of the desktop: OSC 9 (iTerm2, kitty), OSC 777 (urxvt, foot)."""
    return f"\x1b]9;{_plain(f'{head}: {text}')}{_ENDING}\x1b]777;notify;{_field(head)};{_field(text)}{_ENDING}"


def status(waiting: int, team: str) -> str:
    """Return the sequence that says whether the program waits for its human (OSC 7501, the program status protocol)."""
    if not waiting:
        return f"\x1b]7501;state=idle:app=team-console{_ENDING}"
    words = f"{counted(waiting, 'decision')} in {_plain(team)}"
    said = b64encode(words.encode()).decode()  # the protocol asks for it, so that no text ends the sequence
    return f"\x1b]7501;state=blocked:kind=question:app=team-console:msg={said}{_ENDING}"


STATUS_END = f"\x1b]7501;state=clear{_ENDING}"


def progress(waiting: int) -> str:
    """Return the sequence for a task bar (OSC 9;4): a full bar that is paused while something waits, else none."""
    return f"\x1b]9;4;{'4;100' if waiting else '0'}{_ENDING}"


def run(command: Sequence[str], text: str) -> None:
    """Start the user's program with the sentence as its last argument, without a shell; nobody waits for it."""
    plain = _plain(text)
    # Words an agent wrote must not be taken for an option of the program.
    last = f" {plain}" if plain.startswith("-") else plain
    Thread(target=_run, args=([*command, last],), name="notice", daemon=True).start()


def _run(command: list[str]) -> None:
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
        )


def _plain(text: str) -> str:
    return safe_line(text, _WAYS_LONGEST)


def _field(text: str) -> str:
    """Return a field of OSC 777, which a semicolon would end."""
    return _plain(text).replace(";", ",")


# Tells of new decisions in the ways the user chose; nothing is told twice, and nothing over a read-only team.


class Notifier:
    """What is told, and when. What stands there at the first look is not new.

    `write` sends text to the terminal as it is; `moment` gives seconds that only go forward.
    """

    def __init__(
        self, notices: Notices, write: Callable[[str], None], moment: Callable[[], float], *, read_only: bool
    ) -> None:
        self._notices = notices
        self._write, self._moment = write, moment
        self._is_on = notices.read_only or not read_only
        self._known: frozenset[str] | None = None
        self._news: dict[str, ActionItem] = {}
        self._told_at = float("-inf")
        self._shown: dict[str, str] = {}

    def take_notices(self, notices: Notices) -> None:
        """Tell as the user wants it from now on."""
        self._notices = notices

    def take(self, view: View | None, team: str) -> None:
        """See what waits now: title, status and task bar follow at once; what was decided is no news any more."""
        if view is None or not self._is_on:
            return
        # Where the human has something to decide or to answer.
        decisions = {item.key: item for item in view.attention if item.answerable or item.need not in _FOR_INFORMATION}
        known = frozenset(decisions) if self._known is None else self._known
        self._news |= {key: item for key, item in decisions.items() if key not in known}
        self._news = {key: item for key, item in self._news.items() if key in decisions}
        self._known = known | decisions.keys()
        waiting, name = len(decisions), safe_line(team, 60)
        if self._notices.title:
            begin = "" if "title" in self._shown else PUSH_TITLE
            self._show("title", title(f"({waiting}) {name}" if waiting else name), begin)
        if self._notices.status:
            self._show("status", status(waiting, name))
        if self._notices.progress:
            self._show("progress", progress(waiting))

    def seconds_left(self) -> float | None:
        """Return seconds until `tell` has something to say, 0 for now; None when there is no news."""
        wanted = self._notices.bell or self._notices.desktop or self._notices.command
        return max(0.0, self._told_at + APART - self._moment()) if wanted and self._news else None

    def tell(self, team: str, now: datetime) -> None:
        """Tell all that is new in one notice; in quiet hours it counts as told and makes no sound."""
        items, self._news, self._told_at = list(self._news.values()), {}, self._moment()
        if not items or is_quiet(self._notices.quiet, now):
            return
        first = f"{safe_line(items[0].who, 40)}: {safe_line(items[0].title, 100)}"
        more = f" (and {counted(len(items) - 1, 'more decision')})" if len(items) > 1 else ""
        sentence = safe_line(first + more, _LONGEST)
        if self._notices.bell:
            self._write(BELL)
        if self._notices.desktop:
            self._write(desktop(team, sentence))
        if self._notices.command:
            run(self._notices.command, f"{team}: {sentence}")

    def close(self) -> None:
        """Give back the title of before, and take back what the terminal was told."""
        ends = {"title": POP_TITLE, "status": STATUS_END, "progress": progress(0)}
        for what in self._shown:
            self._write(ends[what])
        self._shown.clear()

    def _show(self, what: str, sequence: str, begin: str = "") -> None:
        if self._shown.get(what) != sequence:
            self._write(begin + sequence)
            self._shown[what] = sequence
