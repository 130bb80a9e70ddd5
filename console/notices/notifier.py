"""Tells of new decisions in the ways the user chose; nothing is told twice, and nothing over a read-only team."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from team_console.console.notices import ways
from team_console.console.notices.news import News, is_decision, is_quiet
from team_console.console.preferences.model import Notices
from team_console.store.model.reuse import LastResult
from team_console.store.model.safe import safe_line
from team_console.store.views.rows import AttentionItem, View


def _count_decisions(items: Sequence[AttentionItem]) -> int:
    return sum(map(is_decision, items))


_decisions = LastResult(_count_decisions)


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
        self._title = ""

    def take(self, view: View | None, team: str) -> None:
        """See what waits now: the title follows at once."""
        if view is None or not self._is_on:
            return
        self._news.take(view.attention)
        if self._notices.title:
            self._show_title(_decisions(view.attention), team)

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
            self._write(ways.BELL)
        if self._notices.desktop:
            self._write(ways.desktop(team, sentence))
        if self._notices.command:
            ways.run(self._notices.command, f"{team}: {sentence}")

    def close(self) -> None:
        """Give back the title of before."""
        if self._title:
            self._title = ""
            self._write(ways.POP_TITLE)

    def _show_title(self, number: int, team: str) -> None:
        words = f"({number}) {safe_line(team, 60)}" if number else safe_line(team, 60)
        if words == self._title:
            return
        self._write((ways.PUSH_TITLE if not self._title else "") + ways.title(words))
        self._title = words
