"""Bars: widgets of one line that say where one is, what waits and which keys there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.text import DONE, Line, crop, fit, progress_bar, spread, width_of, wrap
from team_console.widgets.tones import Inked
from textual.content import Content
from textual.events import Click, Resize
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget


class OneLine(Inked, Widget):
    """One line: parts at the left, parts at the right."""

    DEFAULT_CSS = "OneLine { height: 1; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: Line = ()
        self._right: Line = ()
        self._ends: tuple[tuple[int, str], ...] = ()

    @property
    def text(self) -> str:
        """What the line says."""
        return "".join(text for text, _ in (*self._left, *self._right))

    def set_line(self, left: Line, right: Line = (), *, ends: Iterable[tuple[int, str]] = ()) -> None:
        """Show these parts; nothing is repainted when they are the same as before.

        Args:
            ends: Cell before which a part ends, and its name, in order; what can be clicked has one.
        """
        self._ends = tuple(ends)
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def under(self, event: Click) -> str:
        """The name of the part under the mouse; empty for none."""
        x = event.x - self.styles.padding.left
        return next((name for end, name in self._ends if x < end), "")

    def render_line(self, y: int) -> Strip:
        """The line, as wide as the widget."""
        return self.strip(spread(self._left, self._right, self.size.width), self.size.width)


def ends_of(pieces: Iterable[tuple[str, Line]], at: int = 0) -> list[tuple[int, str]]:
    """Where each of these named pieces ends, the first of which begins at the cell `at`."""
    ends = []
    for name, piece in pieces:
        at += width_of(piece)
        ends.append((at, name))
    return ends


# The line that always says which team, as whom, and how fresh what is shown is.


class Pulse(Struct, frozen=True):
    """How fresh the screen is: a glyph, a word, its tone, and perhaps an age or reason in safe text."""

    glyph: str
    word: str
    tone: str
    detail: str = ""


LIVE = Pulse("●", "LIVE", "good")
READING = Pulse("◔", "READING", "open")
POLLING = Pulse("≈", "POLLING", "warn")
STALE = Pulse("◌", "STALE", "alert")
LOCKED = Pulse("⊠", "LOCKED", "alert")
DOUBT = Pulse("△", "IN DOUBT", "alert")
SETTINGS = Pulse("▲", "SETTINGS", "alert")
UNREADABLE = Pulse("✗", "UNREADABLE", "alarm")
VANISHED = Pulse("∅", "VANISHED", "alarm")


class Standing(Struct, frozen=True):
    """Everything the status line says; names and place are safe text."""

    team: str
    me: str
    place: str
    pulse: Pulse
    read_only: bool = False
    busy: str = ""


class StatusLine(OneLine):
    """Team and identity at the left, place and pulse at the right."""

    DEFAULT_CSS = "StatusLine { background: $panel; padding: 0 1; }"
    HELP: ClassVar[str] = "Which team this is, as whom you act, and whether what you see is the present state."

    def show(self, standing: Standing) -> None:
        """Show `standing`; the place gives way first when there is little room."""
        left: Line = (("◆ ", "muted"), (standing.team, ""), (" · ", "faint"), (standing.me, ""))
        right = (*_busy(standing), *_badge(standing), *_pulse(standing.pulse))
        room = self.size.width - width_of(left) - width_of(right) - 4
        if room > 12 and standing.place:
            right = ((_tail(standing.place, room), "muted"), ("  ", ""), *right)
        self.set_line(left, (("  ", ""), *right))


def _busy(standing: Standing) -> Line:
    return (("◌ ", "open"), (standing.busy, "open"), ("  ", "")) if standing.busy else ()


def _badge(standing: Standing) -> Line:
    return ((" READ-ONLY ", "warn-chip"), ("  ", "")) if standing.read_only else ()


def _pulse(pulse: Pulse) -> Line:
    detail: Line = ((" " + pulse.detail, "muted"),) if pulse.detail else ()
    return ((f"{pulse.glyph} {pulse.word}", pulse.tone), *detail)


def _tail(place: str, room: int) -> str:
    """The end of a path tells more than its beginning."""
    return place if len(place) <= room else crop("…" + place[len(place) - room + 1 :], room)


# The modes with their keys and what waits in each.


class Tab(Struct, frozen=True):
    """One mode; `count` is short text such as `5` or `6/9`, `tone` its urgency."""

    id: str
    key: str
    label: str
    short: str
    count: str = ""
    tone: str = "muted"


class TabBar(OneLine):
    """All modes in one line; labels shorten when it is narrow."""

    DEFAULT_CSS = """
    TabBar { background: $surface; padding: 0 1; }
    """
    HELP: ClassVar[str] = "The modes. Press a number, or click one."

    @dataclass
    class Chosen(Message):
        """A mode was clicked."""

        id: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs: tuple[Tab, ...] = ()
        self._active = ""

    def show(self, tabs: tuple[Tab, ...], active: str) -> None:
        """Show `tabs` with the one named `active` set apart."""
        self._tabs, self._active = tabs, active
        width = self.size.width
        for label in (_airy, _full, _short, _tight, _active_only):
            labels = [_measured(label, tab, tab.id == active) for tab in tabs]
            if sum([cells for _, cells in labels]) <= width:
                break
        ends = zip(accumulate([cells for _, cells in labels]), [tab.id for tab in tabs], strict=True)
        self.set_line(tuple([part for piece, _ in labels for part in piece]), ends=ends)

    def on_resize(self, event: Resize) -> None:
        """Choose labels that fit."""
        self.show(self._tabs, self._active)

    def on_click(self, event: Click) -> None:
        """Choose the mode under the mouse."""
        if name := self.under(event):
            self.post_message(self.Chosen(name))


@lru_cache(maxsize=64)
def _measured(label: Callable[[Tab, bool], Line], tab: Tab, active: bool) -> tuple[Line, int]:
    """The label of a tab and its cells; most tabs say the same as before."""
    line = label(tab, active)
    return line, width_of(line)


def _airy(tab: Tab, active: bool) -> Line:
    return (*_piece(tab, tab.label, active), (" ", ""))


def _full(tab: Tab, active: bool) -> Line:
    return _piece(tab, tab.label, active)


def _short(tab: Tab, active: bool) -> Line:
    return _piece(tab, tab.short, active)


def _tight(tab: Tab, active: bool) -> Line:
    piece = _short(tab, active)
    return ((piece[0][0].lstrip(), piece[0][1]), *piece[1:])


def _active_only(tab: Tab, active: bool) -> Line:
    return _piece(tab, tab.short if active else "", active)


def _piece(tab: Tab, label: str, active: bool) -> Line:
    words: Line = ((f" {tab.key} ", "chip" if active else "key"), (f"{label} " if label else "", _tone(active)))
    count: Line = ((tab.count + " ", "chip" if active else tab.tone),) if tab.count else ()
    return (*words, *count)


def _tone(active: bool) -> str:
    return "chip" if active else ""


# The keys that do something here, in one line.


class KeyHint(Struct, frozen=True):
    """A key and what it does; greyed when it cannot be used just now."""

    key: str
    label: str
    enabled: bool = True


class KeyBar(OneLine):
    """As many keys as fit, the first ones first; the last `pinned` are always there."""

    DEFAULT_CSS = "KeyBar { background: $panel; padding: 0 1; }"
    HELP: ClassVar[str] = "What you can press here; ? shows all of it."

    @dataclass
    class Pressed(Message):
        """A key was clicked."""

        key: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints: tuple[KeyHint, ...] = ()
        self._pinned: tuple[KeyHint, ...] = ()

    def show(self, hints: tuple[KeyHint, ...], pinned: tuple[KeyHint, ...] = ()) -> None:
        """Show these keys."""
        if (hints, pinned) != (self._hints, self._pinned):
            self._hints, self._pinned = hints, pinned
            self._choose()

    def on_click(self, event: Click) -> None:
        """Press the key under the mouse."""
        if key := self.under(event):
            self.post_message(self.Pressed(key))

    def on_resize(self, event: Resize) -> None:
        """Choose what fits."""
        self._choose()

    def _choose(self) -> None:
        hints, pinned = self._hints, self._pinned
        last = [(hint.key, _key_bar_piece(hint)) for hint in pinned]
        right = _line(last)
        begin = self.size.width - width_of(right)
        room = begin - 1
        first: list[tuple[str, Line]] = []
        for hint in hints:
            piece = _key_bar_piece(hint)
            room -= width_of(piece)
            if room < 0:
                break
            first.append((hint.key, piece))
        # Before the first key, and between those at both ends, there is nothing to press.
        self.set_line(_line(first), right, ends=((0, ""), *ends_of(first), (begin, ""), *ends_of(last, begin)))


def _key_bar_piece(hint: KeyHint) -> Line:
    if not hint.enabled:
        return ((hint.key, "faint"), (f" {hint.label}  ", "faint"))
    return ((hint.key, "key"), (f" {hint.label}  ", "muted"))


def _line(pieces: Iterable[tuple[str, Line]]) -> Line:
    return tuple(part for _, piece in pieces for part in piece)


# The keys of a form in one line, each whole: what does not fit is left out, the last ones first.

_APART = " · "


class Hints(OneLine):
    """What the keys of a form do; the key itself is in the colour of keys."""

    HELP = "What the keys of the form do."
    DEFAULT_CSS = "Hints { width: 1fr; height: 1; }"

    def __init__(self, hints: Sequence[str], *, classes: str | None = None) -> None:
        """`hints`: a key and what it does, parted by a space; the most important ones first."""
        super().__init__(classes=classes)
        self._hints = tuple(hints)

    def show(self, hints: Sequence[str]) -> None:
        """Show other keys."""
        self._hints = tuple(hints)
        self._choose()

    def on_resize(self, event: Resize) -> None:
        """Choose what fits."""
        self._choose()

    def _choose(self) -> None:
        line: Line = ()
        for hint in self._hints:
            key, _, words = hint.partition(" ")
            longer = (*line, (_APART if line else "", "muted"), (key, "key"), (f" {words}", "muted"))
            if width_of(longer) <= self.size.width:
                line = longer
        self.set_line(line)


# One line that says what to try next, until the human has had enough of it.

_CLOSE: Line = (("  esc ✕", "muted"),)


class TipBar(OneLine):
    """Not there unless there is a tip; once dismissed it does not come back."""

    DEFAULT_CSS = """
    TipBar { background: $primary-muted; padding: 0 1; display: none; }
    TipBar.-shown { display: block; }
    TipBar.-shown.-behind { display: none; }
    TipBar:ansi { background: ansi_default; text-style: underline; }
    """
    HELP: ClassVar[str] = "What to try next. esc takes it away."

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.is_over = False
        self._tips: tuple[Line, ...] = ()

    def show(self, tips: Sequence[Line]) -> None:
        """Show a tip, unless it was dismissed.

        Args:
            tips: The same in several lengths, the longest first; the first that fits is shown, else the last.
                None leaves the line blank.
        """
        if self.is_over:
            return
        self.set_class(True, "-shown")
        if (new := tuple(tips)) != self._tips:
            self._tips = new
            self._choose()

    def on_resize(self, event: Resize) -> None:
        """Choose what fits."""
        self._choose()

    def _choose(self) -> None:
        room = self.size.width - width_of(_CLOSE)
        fitting = (tip for tip in self._tips if width_of(tip) <= room)
        self.set_line(next(fitting, self._tips[-1]) if self._tips else (), _CLOSE if self._tips else ())

    def dismiss(self) -> bool:
        """Take it away for good; False when it was not there."""
        was_shown = self.has_class("-shown")
        self.is_over = True
        self.set_class(False, "-shown")
        return was_shown


# What was decided and is not written yet, the seconds left to take it back, and the keys for it.


class GraceBar(OneLine):
    """One line above the keys, there only while something is not written yet."""

    DEFAULT_CSS = """
    GraceBar { display: none; padding: 0 1; background: $warning 14%; }
    GraceBar.-shown { display: block; }
    """
    HELP: ClassVar[str] = "Decisions that are not sent yet: U undoes the last one, enter sends all of them now."

    def show(self, words: str, seconds: int, *, more: int = 0) -> None:
        """Show the decision `words`, safe text; empty for none.

        Args:
            seconds: Left until it is written.
            more: Other decisions that wait before it.
        """
        self.set_class(bool(words), "-shown")
        if not words:
            return
        others = f" and {more:,} more" if more else ""
        left: Line = ((f"◔ sends in {seconds} s: ", "alert"), (words, "strong"), (others, ""))
        right: Line = (("  ", ""), ("U", "key"), (" undo  ", "muted"), ("enter", "key"), (" send now", "muted"))
        self.set_line(left, right)


# What happened while nobody looked: a few lines above the rows until they are taken away.


class Card(Inked, Widget):
    """Lines with a title, not there unless there is something to say."""

    DEFAULT_CSS = """
    Card { display: none; height: auto; padding: 0 1; border: round $accent; border-title-color: $text-accent;
        background: $surface; }
    Card.-shown { display: block; }
    """
    HELP: ClassVar[str] = "What happened while you were away. esc takes it away."

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._lines: tuple[Line, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether it is there."""
        return self.has_class("-shown")

    def show(self, title: str, lines: tuple[Line, ...]) -> None:
        """Show these lines, safe text."""
        self._lines, self.border_title = lines, Content(title)
        self.add_class("-shown")
        self.refresh(layout=True)

    def dismiss(self) -> bool:
        """Take it away; False when it was not there."""
        was_shown = self.is_shown
        self.remove_class("-shown")
        return was_shown

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """A line for each."""
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        """One line, cut where it is longer."""
        width = self.size.width
        return self.strip(fit(self._lines[y] if y < len(self._lines) else (), width), width)


# What stands between the human and the present state, each kind with its own glyph, word and colour.


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
    FOREIGN = "foreign"


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
    NoticeKind.FOREIGN: ("◇", "OTHER PROGRAM", "open"),
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
