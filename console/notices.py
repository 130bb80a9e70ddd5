"""What the terminal is told: which decisions are new, how many wait, and whether the team waits for the human."""

from __future__ import annotations

import subprocess
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, time
from threading import Thread

from msgspec import Struct
from team_console.console.preferences import Notices
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.rows import ActionItem, Need, View

APART = 10.0
"""Seconds between two notices at least; what comes meanwhile is told together."""
_LONGEST = 160
_FOR_INFORMATION = frozenset({Need.MESSAGE, Need.REFUSED, Need.SHUTDOWN, Need.FAILED, Need.DAMAGED, Need.OVERDUE})
"""Needs that ask for no decision of the human."""


class News:
    """Remembers which decisions were told. What stands there at the first look is not new."""

    def __init__(self) -> None:
        self._told: frozenset[str] | None = None
        self._waiting: dict[str, ActionItem] = {}
        self._last = float("-inf")
        self._seen: Sequence[ActionItem] | None = None

    def take(self, items: Sequence[ActionItem]) -> None:
        """See what waits now; what was decided meanwhile is no news any more."""
        if items is self._seen:
            return
        self._seen = items
        open_now = {item.key: item for item in items if is_decision(item)}
        if self._told is None:
            self._told = frozenset(open_now)
            return
        for key, item in open_now.items():
            if key not in self._told:
                self._waiting[key] = item
        self._told |= frozenset(open_now)
        self._waiting = {key: item for key, item in self._waiting.items() if key in open_now}

    def seconds_left(self, moment: float) -> float | None:
        """Seconds until the news may be told, 0 for now; None when there is none."""
        return max(0.0, self._last + APART - moment) if self._waiting else None

    def tell(self, moment: float) -> str:
        """One sentence for all that is new; it counts as told."""
        items = list(self._waiting.values())
        self._waiting = {}
        self._last = moment
        if not items:
            return ""
        first = f"{safe_line(items[0].who, 40)}: {safe_line(items[0].title, 100)}"
        more = f" (and {counted(len(items) - 1, 'more decision')})" if len(items) > 1 else ""
        return safe_line(first + more, _LONGEST)


def is_decision(item: ActionItem) -> bool:
    """Whether the human has something to decide or to answer."""
    return item.answerable or item.need not in _FOR_INFORMATION


def is_quiet(spans: Sequence[str], now: datetime) -> bool:
    """Whether local time is within one of the spans, each as `22:00-07:00`; one may go over midnight."""
    local = now.astimezone().time()
    return any(_is_within(span, local) for span in spans)


class _Span(Struct, frozen=True):
    begin: time
    end: time


def _is_within(span: str, local: time) -> bool:
    begin, _, end = span.partition("-")
    day = _Span(_time(begin), _time(end))
    if day.begin <= day.end:
        return day.begin <= local < day.end
    return local >= day.begin or local < day.end


def _time(text: str) -> time:
    hour, _, minute = text.partition(":")
    return time(int(hour), int(minute))


# Ways to tell: escape sequences for the terminal, and a program of the user's; every text is made safe first.

_WAYS_LONGEST = 200
_PATIENCE = 10.0
"""Seconds a program of the user's may take."""
_ENDING = "\x1b\\"
BELL = "\x07"
PUSH_TITLE, POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""What keeps the title of before, and gives it back (XTWINOPS)."""


def title(text: str) -> str:
    """The sequence that writes the terminal's title (OSC 2)."""
    return f"\x1b]2;{_plain(text)}{_ENDING}"


def desktop(head: str, text: str) -> str:
    """The sequences that ask for a notice of the desktop: OSC 9 (iTerm2, kitty), OSC 777 (urxvt, foot)."""
    return f"\x1b]9;{_plain(f'{head}: {text}')}{_ENDING}\x1b]777;notify;{_field(head)};{_field(text)}{_ENDING}"


def status(waiting: int, team: str) -> str:
    """The sequence that says whether the program waits for its human (OSC 7501, the program status protocol)."""
    if not waiting:
        return f"\x1b]7501;state=idle:app=team-console{_ENDING}"
    words = f"{counted(waiting, 'decision')} in {_plain(team)}"
    said = b64encode(words.encode()).decode()  # the protocol asks for it, so that no text ends the sequence
    return f"\x1b]7501;state=blocked:kind=question:app=team-console:msg={said}{_ENDING}"


STATUS_END = f"\x1b]7501;state=clear{_ENDING}"


def progress(waiting: int) -> str:
    """The sequence for a task bar (OSC 9;4): a full bar that is paused while something waits, else none."""
    return f"\x1b]9;4;{'4;100' if waiting else '0'}{_ENDING}"


def run(command: Sequence[str], text: str) -> None:
    """Start the user's program with the sentence as its last argument, without a shell; nobody waits for it."""
    Thread(target=_run, args=([*command, _argument(text)],), name="notice", daemon=True).start()


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
    """A field of OSC 777, which a semicolon would end."""
    return _plain(text).replace(";", ",")


def _argument(text: str) -> str:
    """Words an agent wrote must not be taken for an option of the program."""
    plain = _plain(text)
    return f" {plain}" if plain.startswith("-") else plain


# Tells of new decisions in the ways the user chose; nothing is told twice, and nothing over a read-only team.


def _count_decisions(items: Sequence[ActionItem]) -> int:
    return sum(map(is_decision, items))


class Notifier:
    """What is told, and when.

    `write` sends text to the terminal as it is; `moment` gives seconds that only go forward.
    """

    def __init__(
        self, notices: Notices, write: Callable[[str], None], moment: Callable[[], float], *, read_only: bool
    ) -> None:
        self._notices = notices
        self._write, self._moment = write, moment
        self._is_on = notices.read_only or not read_only
        self._news = News()
        self._shown: dict[str, str] = {}

    def take_notices(self, notices: Notices) -> None:
        """Tell as the user wants it from now on."""
        self._notices = notices

    def take(self, view: View | None, team: str) -> None:
        """See what waits now: title, status and task bar follow at once."""
        if view is None or not self._is_on:
            return
        self._news.take(view.attention)
        waiting, name = _count_decisions(view.attention), safe_line(team, 60)
        if self._notices.title:
            begin = "" if "title" in self._shown else PUSH_TITLE
            self._show("title", title(f"({waiting}) {name}" if waiting else name), begin)
        if self._notices.status:
            self._show("status", status(waiting, name))
        if self._notices.progress:
            self._show("progress", progress(waiting))

    def seconds_left(self) -> float | None:
        """Seconds until `tell` has something to say; None when there is no news."""
        wanted = self._notices.bell or self._notices.desktop or self._notices.command
        return self._news.seconds_left(self._moment()) if wanted and self._is_on else None

    def tell(self, team: str, now: datetime) -> None:
        """Tell all that is new in one notice; in quiet hours it counts as told and makes no sound."""
        sentence = self._news.tell(self._moment())
        if not sentence or is_quiet(self._notices.quiet, now):
            return
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
