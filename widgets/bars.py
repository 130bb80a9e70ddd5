"""Bars: widgets of a few lines that say where one is, what waits and which keys there are.

Each is a `FewLines`, mostly a `OneLine`: the head, the keys, what can be undone, what happened meanwhile, what is
wrong.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from team_console.widgets.panel import press_shown_key
from team_console.widgets.text import DONE, Line, Part, crop_name, fit, progress_bar, spread, text_of, width_of
from team_console.widgets.tones import ThemedLines
from team_console.widgets.wrapping import wrap
from textual.content import Content
from textual.events import Click, Resize
from textual.strip import Strip
from textual.widget import Widget


class FewLines(ThemedLines, Widget):
    """A widget of a few lines, as high as they are."""

    @abstractmethod
    def lines_at(self, width: int) -> Sequence[Line]:
        """Return all of its lines at so many cells; those that are longer are cut."""

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return the number of lines at this width."""
        return len(self.lines_at(width))

    def render_line(self, y: int) -> Strip:
        """Return one of the lines, as wide as the widget."""
        width = self.size.width
        lines = self.lines_at(width)
        return self.strip(fit(lines[y] if y < len(lines) else (), width), width)


class OneLine(FewLines):
    """One line: parts at the left, parts at the right."""

    DEFAULT_CSS = "OneLine { height: 1; }"
    _left: Line = ()
    _right: Line = ()

    def set_line(self, left: Line, right: Line = ()) -> None:
        """Show these parts; nothing is repainted when they are the same as before."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def fill(self) -> None:
        """Choose anew what fits into the line."""

    def on_resize(self, event: Resize) -> None:
        """Choose what fits."""
        self.fill()

    def on_click(self, event: Click) -> None:
        """Press the key that is clicked on."""
        press_shown_key(self, spread(self._left, self._right, self.size.width), event.x - self.styles.padding.left)

    def lines_at(self, width: int) -> Sequence[Line]:
        """Return the line, its parts at both ends."""
        return (spread(self._left, self._right, width),)


# The head: where one can go and what waits there; of which team, as whom, and how current what is shown is.


class Pulse(Struct, frozen=True):
    """How current the screen is: a glyph, a word, its tone, and perhaps an age or reason in safe text."""

    glyph: str
    word: str
    tone: str
    detail: str = ""


LIVE = Pulse("●", "current", "good")
READING = Pulse("◔", "reading", "open")
POLLING = Pulse("≈", "polling", "warn")
STALE = Pulse("◌", "old", "alert")
LOCKED = Pulse("⊠", "locked", "alert")
DOUBT = Pulse("△", "incomplete", "alert")
SETTINGS = Pulse("▲", "settings", "alert")
UNREADABLE = Pulse("✗", "not readable", "alarm")
VANISHED = Pulse("∅", "gone", "alarm")
READ_ONLY = Pulse("⊠", "READ-ONLY", "warn")
FOREIGN = Pulse("◇", "other program", "open")


class Tab(Struct, frozen=True):
    """One place; `count` is short text such as `5` or `6/9`, `tone` its urgency."""

    id: str
    key: str
    label: str
    count: str = ""
    tone: str = "muted"


class HeadFacts(Struct, frozen=True):
    """The right end of the head; all texts are safe.

    Attributes:
        team, me: The team, and who acts; empty where that is told elsewhere.
        position: Which of the things to read this is; empty in a list.
        busy: What is being written; empty for nothing.
    """

    team: str = ""
    me: str = ""
    pulse: Pulse = LIVE
    read_only: bool = False
    position: str = ""
    busy: str = ""


class Head(OneLine):
    """The places at the left; team, identity and how current the screen is at the right."""

    DEFAULT_CSS = "Head { background: $panel; padding: 0 1 0 0; }"
    HELP: ClassVar[str] = (
        "The places: press a number, or click one. At the right the team, who you are, and whether this is current."
    )
    _tabs: tuple[Tab, ...] = ()
    _active = ""
    _facts = HeadFacts()

    def show(self, tabs: tuple[Tab, ...], active: str, facts: HeadFacts) -> None:
        """Show `tabs` with the one named `active` set apart, and the facts."""
        if (tabs, active, facts) != (self._tabs, self._active, self._facts):
            self._tabs, self._active, self._facts = tabs, active, facts
            self.fill()

    def fill(self) -> None:
        """Leave out what has no room: names of the other tabs, the last first, then the team, then who acts, then how
        old what is shown is, which the banner tells, too, and last the name of this place; never a number.
        """
        for left, right in self._layouts():
            if width_of((*left, *right)) <= self.size.width:
                break  # else the last one, which is the shortest, is cut
        self.set_line(left, right)

    def _layouts(self) -> Iterator[tuple[Line, Line]]:
        """Yield what the head may show, tabs and right end, each time with less than the time before."""
        facts = self._facts
        end = _end_of_head(facts)
        whole = (*_names_line(facts.team, facts.me), *end)
        for named in reversed(range(len(self._tabs) + 1)):
            yield self._tabs_line(named), whole
        yield self._tabs_line(0), (*_names_line("", facts.me), *end)
        yield self._tabs_line(0), end
        short = _end_of_head(replace(facts, pulse=replace(facts.pulse, detail="")))
        yield self._tabs_line(0), short
        yield self._tabs_line(-1), short

    def _tabs_line(self, named: int) -> Line:
        """Return the tabs, the first `named` of them and the active one with their names; for -1 none with its name."""
        parts: list[Part] = []
        for number, tab in enumerate(self._tabs):
            is_active = tab.id == self._active
            parts += _tab_parts(tab, has_name=number < named or (is_active and named >= 0), is_active=is_active)
        return tuple(parts)


def _tab_parts(tab: Tab, *, has_name: bool, is_active: bool) -> Line:
    """Return key, name and count of a tab; the active one stands out as a chip."""
    parts: Line = ((f" {tab.key}", "key"),)
    if has_name:
        parts = (*parts, (f" {tab.label}", ""))
    if tab.count:
        count: Line = ((f" {tab.count}", tab.tone),) if has_name else (("·", "muted"), (tab.count, tab.tone))
        parts = (*parts, *count)
    return ((f"{text_of(parts)} ", "chip"),) if is_active else (*parts, (" ", ""))


def _names_line(team: str, me: str) -> Line:
    """Return the team and who acts, behind two blanks; what is empty is left out."""
    line: Line = (("  ", ""), (team, "")) if team else ()
    if me:
        line = (*line, (" · ", "faint") if team else ("  ", ""), (me, ""))
    return line


def _end_of_head(facts: HeadFacts) -> Line:
    """Return what never gives way: what is written, the position, READ-ONLY and the mark of how current it is."""
    pulse = facts.pulse
    end: Line = ()
    if facts.busy:
        end = (("  ", ""), (f"◌ {facts.busy}", "open"))
    if facts.position:
        end = (*end, ("  ", ""), (facts.position, "muted"))
    if facts.read_only:
        end = (*end, ("  ", ""), ("READ-ONLY", "warn-chip"))
    word = "" if pulse is LIVE else f" {pulse.word}"
    end = (*end, ("  ", ""), (f"{pulse.glyph}{word}", pulse.tone))
    return (*end, (f", {pulse.detail}", "muted")) if pulse.detail else end


# The keys that do something here, in one line.


class KeyHint(Struct, frozen=True):
    """A key and what it does."""

    key: str
    label: str


class KeyBar(OneLine):
    """As many keys as fit, the first ones first; the last `pinned` are always there.

    The first key stands there without its label before it is left out: in a form it is the one that acts.
    """

    DEFAULT_CSS = "KeyBar { background: $panel; padding: 0 1; }"
    HELP: ClassVar[str] = "What you can press here; ? shows all of it."
    _hints: tuple[KeyHint, ...] = ()
    _pinned: tuple[KeyHint, ...] = ()

    def show(self, hints: tuple[KeyHint, ...], pinned: tuple[KeyHint, ...] = ()) -> None:
        """Show these keys."""
        self._hints, self._pinned = hints, pinned
        self.fill()

    def fill(self) -> None:
        """Show the first keys, as far as there is room beside the pinned ones."""
        last = tuple(chain.from_iterable(map(_key_line, self._pinned)))
        room = self.size.width - width_of(last) - 1
        first: Line = ()
        for hint in self._hints:
            line = _key_line(hint)
            if not first and width_of(line) > room:
                line = ((hint.key, "key"), ("  ", ""))
            room -= width_of(line)
            if room < 0:
                break
            first = (*first, *line)
        self.set_line(first, last)


def _key_line(hint: KeyHint) -> Line:
    """Return a key with its label, and the blanks behind it."""
    return (hint.key, "key"), (f" {hint.label}  ", "muted")


# What was decided and is not written yet, the seconds left to take it back, and the keys for it.


class UndoBar(OneLine):
    """One line above the keys, there only while something is not written yet."""

    DEFAULT_CSS = """
    UndoBar { display: none; padding: 0 1; background: $warning 14%; }
    UndoBar:ansi { background: ansi_default; }
    UndoBar.-shown { display: block; }
    """
    HELP: ClassVar[str] = "Decisions that are not sent yet: U undoes the last one, W writes all of them now."

    def show(self, words: str, seconds: int, *, more: int = 0) -> None:
        """Show the decision `words`, safe text; empty for none.

        Args:
            seconds: Left until it is written.
            more: Other decisions that wait before it.
        """
        self.set_class(bool(words), "-shown")
        others = f" and {more:,} more" if more else ""
        right: Line = (("  ", ""), ("U", "key"), (" undo  ", "muted"), ("W", "key"), (" write now", "muted"))
        begin: Part = (f"◔ sends in {seconds} s: ", "alert")
        room = self.content_size.width - width_of((begin, (others, ""), *right))
        left: Line = (begin, (crop_name(words, room) if room > 0 else words, "strong"), (others, ""))
        self.set_line(left, right)


# What happened while nobody looked: a few lines above the rows until they are taken away.


class Card(FewLines):
    """Lines with a title, not there unless there is something to say."""

    DEFAULT_CSS = """
    Card { display: none; height: auto; padding: 0 1; border: round $accent; border-title-color: $text-accent;
        background: $surface; }
    Card.-shown { display: block; }
    """
    HELP: ClassVar[str] = "What happened while you were away. esc takes it away."
    _lines: Sequence[Line] = ()

    def show(self, title: str, lines: Sequence[Line]) -> None:
        """Show these lines, safe text."""
        self._lines, self.border_title = lines, Content(title)
        self.add_class("-shown")
        self.refresh(layout=True)

    def dismiss(self) -> bool:
        """Take it away; False when it was not there."""
        was_shown = self.has_class("-shown")
        self.remove_class("-shown")
        return was_shown

    def lines_at(self, width: int) -> Sequence[Line]:
        """Return the lines as they are."""
        return self._lines


# What stands between the human and the present state, each kind with its own glyph, word and colour.


class Notice(Struct, frozen=True):
    """What is the matter.

    Attributes:
        pulse: Its glyph, word and tone.
        text: What and where, safe text.
        hint: The next step or what is shown meanwhile, safe text.
        done: While it is read: how much is, 0 to 1; None when it is not known.
    """

    pulse: Pulse
    text: str
    hint: str = ""
    done: float | None = None


_BAR = 24
"""Cells of the progress bar."""
_MOST_LINES, _NARROW = 3, 100
"""So many lines at most, and one more below this width."""


class Banner(FewLines):
    """A few lines above the rows, gone when all is well."""

    DEFAULT_CSS = """
    Banner {
        height: auto;
        display: none;
        padding: 0 1;
        background: $surface;
        &.-shown { display: block; }
        &.-warn, &.-alert { background: $warning 12%; }
        &.-alarm { background: $error 16%; }
        &.-warn:ansi, &.-alert:ansi, &.-alarm:ansi { background: ansi_default; }
    }
    """
    HELP: ClassVar[str] = "Why the screen may not show the present state, and what to do about it."
    notice: Notice | None = None

    def show(self, notice: Notice | None) -> None:
        """Show `notice`, or nothing."""
        if notice == self.notice:
            return
        width = self.size.width or 80  # it has none before it was laid out
        height_before = len(self.lines_at(width))
        self.notice = notice
        self.set_classes(f"-shown -{notice.pulse.tone}" if notice else "")
        self.refresh(layout=len(self.lines_at(width)) != height_before)

    def lines_at(self, width: int) -> Sequence[Line]:
        """Return the message and the hint below it; a line without room ends in an ellipsis."""
        notice = self.notice
        if notice is None:
            return ()
        pulse, indent = notice.pulse, ((" " * (len(notice.pulse.word) + 4), ""),)
        head: Line = ((f"{pulse.glyph} {pulse.word}  ", pulse.tone), (notice.text, ""))
        if notice.done is not None:
            part = round(1000 * min(1.0, max(0.0, notice.done)))
            head = (*head, ("  ", ""), *progress_bar(_BAR, ((DONE, part),), 1000))
        lines = wrap(head, width, rest=indent)
        if notice.hint:
            lines += wrap((*indent, (notice.hint, "muted")), width, rest=indent)
        most = _MOST_LINES + (width < _NARROW)
        if len(lines) <= most:
            return lines
        too_long = (*lines[most - 1], (" " * width, ""))  # so that `fit` ends it in an ellipsis
        return [*lines[: most - 1], fit(too_long, width)]
