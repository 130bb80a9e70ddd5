"""News: which decisions are new since the user was last told, as one sentence; told at most once in a while."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time

from msgspec import Struct
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.rows import AttentionItem, Need

APART = 10.0
"""Seconds between two notices at least; what comes meanwhile is told together."""
_LONGEST = 160
_FOR_INFORMATION = frozenset({Need.MESSAGE, Need.REFUSED, Need.SHUTDOWN, Need.FAILED, Need.DAMAGED, Need.OVERDUE})
"""Needs that ask for no decision of the human."""


class News:
    """Remembers which decisions were told. What stands there at the first look is not new."""

    def __init__(self) -> None:
        self._told: frozenset[str] | None = None
        self._waiting: dict[str, AttentionItem] = {}
        self._last = float("-inf")
        self._seen: Sequence[AttentionItem] | None = None

    def take(self, items: Sequence[AttentionItem]) -> None:
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


def is_decision(item: AttentionItem) -> bool:
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
