"""What stands between the human and the present state, each kind with its own glyph, word and colour."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.text.cells import Line, fit, wrap
from team_console.widgets.text.progress import DONE, progress_bar
from team_console.widgets.text.tones import Inked
from textual.strip import Strip
from textual.widget import Widget


class NoticeKind(StrEnum):
    """What can be the matter; also the style class of the banner."""

    READING = "reading"
    LOCKED = "locked"
    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    STALE = "stale"
    POLLING = "polling"
    DOUBT = "doubt"
    SETTINGS = "settings"
    READ_ONLY = "read-only"
    DEFECT = "defect"


class Notice(Struct, frozen=True):
    """What is the matter.

    Attributes:
        kind: Glyph and word follow from it.
        text: What and where, safe text.
        hint: The next step or what is shown meanwhile, safe text.
        done: For `reading`: how much is read, 0 to 1; None when it is not known.
    """

    kind: NoticeKind
    text: str
    hint: str = ""
    done: float | None = None


_APPEARANCE: Mapping[NoticeKind, tuple[str, str, str]] = {
    NoticeKind.READING: ("◔", "READING", "open"),
    NoticeKind.LOCKED: ("⊠", "LOCKED", "alert"),
    NoticeKind.UNREADABLE: ("✗", "UNREADABLE", "alarm"),
    NoticeKind.VANISHED: ("∅", "VANISHED", "alarm"),
    NoticeKind.STALE: ("◌", "STALE", "alert"),
    NoticeKind.POLLING: ("≈", "POLLING", "warn"),
    NoticeKind.DOUBT: ("△", "IN DOUBT", "alert"),
    NoticeKind.SETTINGS: ("▲", "SETTINGS", "alert"),
    NoticeKind.READ_ONLY: ("⊠", "READ-ONLY", "warn"),
    NoticeKind.DEFECT: ("✗", "DEFECT", "alarm"),
}
_BAR = 24
_MOST_LINES, _NARROW = 3, 100
"""So many lines at most, and one more below this width."""


class Banner(Inked, Widget):
    """A few lines above the rows, gone when all is well."""

    DEFAULT_CSS = """
    Banner {
        height: auto;
        display: none;
        padding: 0 1;
        background: $surface;
        &.-shown { display: block; }
        &.-locked, &.-stale, &.-polling, &.-doubt, &.-settings, &.-read-only { background: $warning 12%; }
        &.-unreadable, &.-vanished, &.-defect { background: $error 16%; }
    }
    """
    HELP: ClassVar[str] = "Why the screen may not show the present state, and what to do about it."

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.notice: Notice | None = None

    def show(self, notice: Notice | None) -> None:
        """Show `notice`, or nothing."""
        if notice == self.notice:
            return
        grows = self._height(notice) != self._height(self.notice)
        kinds = (notice.kind if notice else "", self.notice.kind if self.notice else "")
        self.notice = notice
        if kinds[0] != kinds[1]:
            self.set_classes(f"-shown -{notice.kind}" if notice else "")
        self.refresh(layout=grows)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """As many lines as the text needs at `width`."""
        return len(_lines(self.notice, width)) if self.notice else 0

    def render_line(self, y: int) -> Strip:
        """One line of the notice."""
        lines = _lines(self.notice, self.size.width) if self.notice else []
        return self.strip(fit(lines[y] if y < len(lines) else (), self.size.width), self.size.width)

    def _height(self, notice: Notice | None) -> int:
        return len(_lines(notice, self.size.width or 80)) if notice else 0


def _lines(notice: Notice, width: int) -> list[Line]:
    glyph, word, tone = _APPEARANCE[notice.kind]
    head: Line = ((f"{glyph} {word}  ", tone), (notice.text, ""))
    if notice.done is not None:
        part = round(1000 * min(1.0, max(0.0, notice.done)))
        head = (*head, ("  ", ""), *progress_bar(_BAR, ((DONE, part),), 1000))
    lines = wrap(head, width, rest=((" " * (len(word) + 4), ""),))
    if notice.hint:
        lines += wrap(((" " * (len(word) + 4), ""), (notice.hint, "muted")), width, rest=((" " * (len(word) + 4), ""),))
    most = _MOST_LINES + (width < _NARROW)
    return lines if len(lines) <= most else [*lines[: most - 1], fit((*lines[most - 1], (" " * width, "")), width)]
