"""Mend faults of Textual 8.2 that a user would notice. No other module uses private parts of Textual.

Look at each again with a new version: what is mended upstream goes, with its test in test_textual_fixes.py.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import select
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache, partial
from time import monotonic, sleep
from typing import Any, TypeVar, cast

from rich.cells import cell_len, get_character_cell_size, split_graphemes
from rich.console import RenderableType
from rich.segment import Segment
from team_console.console.tui.terminal_answers import HeldFrames, MarkedFile
from team_console.widgets.held_frames import FrameHeld
from textual._ansi_sequences import SYNC_END as SYNC_END
from textual._ansi_sequences import SYNC_START as SYNC_START
from textual._compositor import Compositor
from textual._styles_cache import StylesCache
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.app import App
from textual.color import Color
from textual.css.query import NoMatches
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.drivers.linux_driver import LinuxDriver
from textual.events import CursorPosition, Key, Paste, Resize
from textual.geometry import Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.notifications import Notifications
from textual.screen import Screen
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets._toast import Toast, ToastHolder, ToastRack

ReturnT = TypeVar("ReturnT")

# What is typed.

_ESC, _SUBSTITUTE = "\x1b", "\x1a"
"""Begins a sequence, and stands in its place in a paste while that is parsed."""
_STYLES = re.compile(r"\x1a\[[0-?]*[ -/]*[@-~]|\x1a\][^\x07\x1a]*(?:\x07|\x1a\\)")
"""Sequences in a paste that colour it, move the cursor or name a link: no part of the text."""

_WAYS_OUT = frozenset({_ESC, "\x1b[27u", "\x11", "\x1b[113;5u"})
"""Escape and ctrl+q, as terminals without and with the keyboard protocol of kitty send them."""
_WIDEST = 4_000
"""Columns or lines of the largest terminal: twice what the smallest letters on the widest screen make."""
_SILENCE = 1.0
"""Seconds of silence within a paste after which one of them is a key."""
_LOOK, _LOOK_AT_REST = 0.1, 0.5
"""Seconds after which it is seen that the terminal is given away, which a key leads to, or a signal at rest."""


class PasteParser(XTermParser):
    """A parser for which all between the marks of a paste is text.

    Textual takes an unknown escape sequence in a paste for keys: a log with colours, pasted into a reason, hands it in
    and decides what comes next.
    """

    _last_typed = ""
    """The end of what was typed last, which may be the first piece of the mark that begins a paste."""
    _pasted: str | None = None
    """What has come of the paste that goes on; None outside of one."""
    _fed_at = 0.0
    """When `feed` was called last, as `monotonic` counts."""

    def feed(self, data: str) -> Iterable[Message]:
        """Return the events that `data` completes; a mark may come in two pieces.

        The end of a paste may never come, where a line was cut or a multiplexer left: then a key that leads out, alone
        and after a silence, ends it. Any other would be text: it could belong to a paste that was held up.
        """
        moment, silent_since = monotonic(), self._fed_at
        self._fed_at = moment
        # guard: paste-without-end-can-be-left
        if self._pasted is not None and data in _WAYS_OUT and moment - silent_since > _SILENCE:
            data = BRACKETED_PASTE_END + data
        while data:
            if self._pasted is None:
                typed, data = self._until_paste(data)
                yield from self._typed(typed)
            else:
                pasted, end, data = (self._pasted + data).partition(BRACKETED_PASTE_END)
                self._pasted = None if end else pasted
                if end:
                    yield from self._paste(pasted)

    def _until_paste(self, data: str) -> tuple[str, str]:
        """Return what comes until a paste begins, with the mark, for which the parser waits, and what is behind it."""
        seen = self._last_typed + data
        mark = seen.find(BRACKETED_PASTE_START)
        if mark < 0:
            self._last_typed = seen[1 - len(BRACKETED_PASTE_START) :]  # may be the first piece of a mark
            return data, ""
        self._last_typed, self._pasted = "", ""
        behind = seen[mark + len(BRACKETED_PASTE_START) :]
        return data[: len(data) - len(behind)], behind

    def _paste(self, pasted: str) -> Iterator[Message]:
        """Yield the events of a whole paste, without its colours; escapes are hidden from the parser meanwhile."""
        for message in super().feed(pasted.replace(_ESC, _SUBSTITUTE) + BRACKETED_PASTE_END):
            if isinstance(message, Paste):
                message.text = _STYLES.sub("", message.text).replace(_SUBSTITUTE, _ESC)
            yield message

    def _typed(self, data: str) -> Iterator[Message]:
        """Yield the events of what is outside of pastes, without those that no keyboard and no terminal can mean.

        One by one, because the parser ends at a number that is no character or no size: what comes behind it counts.
        """
        for character in data:
            try:
                yield from filter(_can_be_meant, super().feed(character))
            except (ValueError, ArithmeticError):
                super().__init__()  # as if nothing had been typed before


def _can_be_meant(message: Message) -> bool:
    """Return whether a terminal can be so large, and whether a key is a character: half of a pair is none."""
    if isinstance(message, Resize):
        return max(message.size) <= _WIDEST
    return not isinstance(message, Key) or not message.character or not "\ud800" <= message.character <= "\udfff"


# What is written.

_CELLS = "team-console-cells"
"""The way to encode what a terminal cannot show: in as many cells."""
_SHOWN_AS = {
    character: plain
    for plain, characters in {
        "*": "●◉◆•■▣★",
        "o": "○◌◇□◐",
        "+": "✓✚┌╔",
        "=": "═",
        "x": "✗✕×",
        "!": "‼",
        "@": "◷◔↻",
        "^": "△▲↑",
        "v": "↓▼",
        ">": "→›▸",
        "<": "←‹◂",
        ".": "…·",
        "-": "─━┅┄–—−",
        "|": "│┃▏▎▍▌▋▊▐",
        "#": "█▁▂▃▄▅▆▇▀",
        '"': "“”„«»",
        "'": "‘’",
    }.items()
    for character in characters
}


def _in_as_many_cells(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters that cannot be encoded, and where to go on, as `codecs.register_error` asks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_SHOWN_AS.get(each) or "?" * get_character_cell_size(each) for each in characters), error.end


codecs.register_error(_CELLS, _in_as_many_cells)


# The terminal.

_LAST_ANSWER = 0.2
"""Seconds for which the end waits for an answer of the terminal that is on its way."""


class MendedDriver(LinuxDriver):
    """The driver of a terminal, with its faults mended; it tells when the terminal holds a frame."""

    _app: MendedApp[Any]
    _has_terminal = False
    """Whether the terminal is ours now, and not given to an editor or to the shell."""
    _stop: asyncio.Handle | None = None
    """The stop that a signal asked for and that has not been made yet, or was."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Textual draws on standard error, which may be a file (`team-console 2>log`), and lets Python write \\u25c6
        # where the encoding lacks a character, so that the rest of the line moves by five cells.
        file = sys.__stdout__ if not os.isatty(2) and os.isatty(1) else sys.__stderr__
        self._frames = HeldFrames(self._hold)
        if file is not None:
            file = open(file.fileno(), "w", encoding=file.encoding, errors=_CELLS, closefd=False)  # noqa: SIM115
            self._file = MarkedFile(file, lambda number: self._frames.note_sent(number, self.fileno))  # type: ignore[assignment]

    def tell_when_held(self, number: int) -> None:
        """Send `FrameHeld` with this number once the terminal holds what was written until now."""
        if self._has_terminal:
            super().write(self._frames.mark(number))

    def _hold(self, number: int) -> None:
        with suppress(RuntimeError):  # nobody waits for it any more: the loop has ended
            self.send_message(FrameHeld(number))

    def process_message(self, message: Message) -> None:
        """Send the app what the terminal says; the place of the cursor is an answer that tells of a frame."""
        if isinstance(message, CursorPosition):
            self._frames.take_answer()
        else:
            super().process_message(message)

    def _get_terminal_size(self) -> tuple[int, int]:
        # Textual believes COLUMNS and LINES, which a shell or a container may have from another terminal, and which no
        # change of size changes.
        with suppress(OSError):
            columns, lines = os.get_terminal_size(self.fileno)
            if columns and lines:
                return columns, lines
        size: tuple[int, int] = super()._get_terminal_size()
        return size

    def start_application_mode(self) -> None:
        """Take the terminal."""
        self._frames.begin()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._has_terminal = True

    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        self._has_terminal = False
        until = monotonic() + _LAST_ANSWER
        while self._frames.is_asked and monotonic() < until:
            sleep(_LAST_ANSWER / 20)  # the shell would take an answer that comes later for something typed
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Read what is typed until the driver ends or the terminal is gone.

        Textual ends the console at a byte that is no UTF-8 and spins on a terminal that is gone.
        """
        parser, decoder, typed_at = PasteParser(), getincrementaldecoder("utf-8")("replace"), monotonic()
        while not self.exit_event.is_set():
            rests = monotonic() - typed_at > _SILENCE
            if select.select([self.fileno], [], [], _LOOK_AT_REST if rests else _LOOK)[0]:
                typed_at = monotonic()
                with self._frames.reading:
                    try:
                        typed = os.read(self.fileno, 4096)
                    except OSError:
                        return
                    if not typed:
                        return
                    for event in parser.feed(decoder.decode(typed)):
                        self.process_message(event)
                    if not select.select([self.fileno], [], [], 0)[0]:
                        self._frames.note_read()
            for event in parser.tick():
                self.process_message(event)

    def _sigtstp_application(self, *arguments: Any) -> None:
        # Python runs the handler of a signal in the middle of what the process does: where that is a picture being
        # handed to the thread that writes, what gives the terminal back would wait for its end for ever. So the loop
        # does it, between two of its steps. While an editor has the terminal nothing is written, and the loop waits for
        # the editor: then it is done at once, as it is where no loop runs.
        loop = None
        with suppress(RuntimeError):
            loop = asyncio.get_running_loop()
        # guard: stopped-between-two-steps
        if loop is not None and self._auto_restart:
            self._stop = loop.call_soon_threadsafe(self._step_aside)
        else:
            self._app.stopping()
            super()._sigtstp_application(*arguments)

    def _step_aside(self) -> None:
        """Stop the process, between two steps of the loop."""
        self._app._suspend_signal()  # Textual tells of its own key alone, and not of a stop from outside
        self._app.stopping()
        super()._sigtstp_application()

    def _sigcont_application(self, *arguments: Any) -> None:
        # Textual takes every SIGCONT for the end of a ctrl+z, also one after a stop from outside (kill -STOP), and
        # would read the terminal with two threads.
        if self._stop is not None:
            self._stop.cancel()  # it goes on before it was stopped
        self._app.going_on()
        if self._must_signal_resume:
            super()._sigcont_application(*arguments)
        elif self._has_terminal:
            asyncio.get_running_loop().call_soon_threadsafe(self._take_again)

    def _take_again(self) -> None:
        """Give the terminal away and take it again: whoever stopped us may have used it."""
        if self._has_terminal:
            self.suspend_application_mode()
            self._must_signal_resume = True
            self.resume_application_mode()


# The app, and work beside its keys.


def start_worker(
    node: DOMNode,
    work: Callable[..., Coroutine[Any, Any, None]],
    *arguments: object,
    group: str,
    exit_on_error: bool = False,
) -> None:
    """Run `work` with its arguments as a worker of `node`, in place of `run_worker`.

    It is called when the worker begins: an app that is told to end before would leave a coroutine that nobody awaits,
    and Python says so on the terminal.
    """
    begun: Any = partial(work, *arguments)
    # Without a description Textual writes all arguments out as text: a view of 10,000 messages takes 0.6 s.
    node.run_worker(begun, group=group, description=group, exit_on_error=exit_on_error)


def call_later_on(node: MessagePump, seconds: float, function: Callable[[], None]) -> asyncio.TimerHandle:
    """Call `function` after so many seconds, in place of `set_timer`, unless `cancel` of what is returned is called.

    Each of Textual's timers takes a task; of these many are set, and few ever come due. It runs as a message of `node`,
    so that a defect in it is told as any other and not printed by the loop.
    """
    return asyncio.get_running_loop().call_later(seconds, node.call_next, function)


def write_to_terminal(app: App[Any], sequence: str) -> None:
    """Write an escape sequence that changes no cell; without a terminal it goes nowhere.

    Textual writes its own such sequences (bell, clipboard) like this and has no method for those of others.
    """
    if app._driver is not None and not app.is_headless:
        app._driver.write(sequence)
        app._driver.flush()


def unbind(app: App[Any], beginning: str) -> None:
    """Take back what `App.bind` bound to actions that begin so: no method of the toolkit does it."""
    bound = app._bindings.key_to_bindings
    for key, bindings in tuple(bound.items()):
        bound[key] = [one for one in bindings if not one.action.startswith(beginning)]
        if not bound[key]:
            del bound[key]


class PatientStylesheet(Stylesheet):
    """A stylesheet that is read when it is first asked for its rules: the theme is chosen before the start."""

    def reparse(self) -> None:
        """Read the styles again, with other variables; nothing yet where they wait to be read for the first time."""
        if not self._require_parse:
            super().reparse()


class MendedApp(App[ReturnT]):
    """An app that hears of what Textual keeps to itself: a picture that was painted, an exception of a handler."""

    def displayed(self) -> None:
        """Hear that the screen was painted."""

    def stopping(self) -> None:
        """Hear that the process stands still from now on, as after ctrl+z."""

    def going_on(self) -> None:
        """Hear that it goes on."""

    def fail(self, error: Exception) -> None:
        """Take an exception that nobody expected."""
        super()._handle_exception(error)

    def ask_terminal(self, number: int) -> bool:
        """Have the terminal tell when it holds what was drawn until now; False where there is none to ask."""
        if not isinstance(self._driver, MendedDriver):
            return False
        self._driver.tell_when_held(number)
        return True

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        # A screen is told the new size of the terminal a little later. Lines of the old one would go over the edge,
        # and what the canvas knew of them would be wrong for ever; with the new size all lines are painted.
        if screen.outer_size == self.size:
            super()._display(screen, renderable)
            self.displayed()

    def _handle_exception(self, error: Exception) -> None:
        self.fail(error)


# What Textual does otherwise than it should.


@cache
def mend_textual() -> None:
    """Put the functions below in place of Textual's own, once; what each mends stands in it."""
    Compositor.reflow, Compositor.reflow_visible = _reflow, _reflow_visible  # type: ignore[method-assign]
    Screen._on_resize, Screen._compositor_refresh = _on_resize, _compositor_refresh  # type: ignore[method-assign]
    Screen._dispatch_message = _dispatch_message  # type: ignore[method-assign,assignment]
    Segment.split_cells = _split_cells  # type: ignore[method-assign]
    # Two clicks select all that a widget says, three all there is, and of one that draws itself ctrl+c copied its name.
    # What has text to be selected says so itself.
    Screen.ALLOW_SELECT, Widget.ALLOW_SELECT = True, False
    Widget.get_selection = Screen.text_select_all = lambda *_: None  # type: ignore[assignment,method-assign]
    StylesCache.get_inner_outer = _get_inner_outer  # type: ignore[method-assign,assignment]
    Timer._start = _start_timer  # type: ignore[method-assign]
    ToastRack.show = _show_toasts  # type: ignore[method-assign]


# Textual's own, which those below go on to call.
_textual_reflow, _textual_reflow_visible = Compositor.reflow, Compositor.reflow_visible
_textual_on_resize, _textual_compositor_refresh = Screen._on_resize, Screen._compositor_refresh
_rich_split_cells = Segment.split_cells
_textual_start_timer = Timer._start
_textual_show_toasts = ToastRack.show
_textual_inner_outer = cast(Any, StylesCache.get_inner_outer).__wrapped__


@lru_cache(1024)
def _styles_of(base_background: Color, background: Color) -> tuple[Style, Style]:
    """Return the styles inside and outside of a border, of the colours alone."""
    styles: tuple[Style, Style] = _textual_inner_outer(StylesCache, base_background, background)
    return styles


def _get_inner_outer(self: StylesCache, base_background: Color, background: Color) -> tuple[Style, Style]:
    # Textual remembers two colours of each widget together with all that it painted, of the last 1,024 of them: an hour
    # of keys keeps every form and list alive that was ever open.
    return _styles_of(base_background, background)


def _reflow(self: Compositor, parent: Widget, size: Size) -> Any:
    # Textual compares with where widgets were when somebody last asked. What moved before that question stays painted
    # at its old place, and a widget that was new in it never hears its size. `placed` is where they were painted.
    self._full_map = getattr(self, "placed", self._full_map)
    result = _textual_reflow(self, parent, size)
    self.placed = self._full_map  # type: ignore[attr-defined]
    return result


def _reflow_visible(self: Compositor, parent: Widget, size: Size) -> set[Widget]:
    exposed = _textual_reflow_visible(self, parent, size)
    self.placed = {**getattr(self, "placed", {}), **(self._visible_map or {})}  # type: ignore[attr-defined]
    return exposed


async def _on_resize(self: Screen[Any], event: Resize) -> None:
    # A layout tells its screen the size it was made for. Of two sizes that come while one picture is made each would be
    # told again after the other, without end: a window that is dragged hangs.
    if event.size == self.app.size:
        await _textual_on_resize(self, event)


async def _dispatch_message(self: Screen[Any], message: Message) -> None:
    # A screen that is closed loses its widgets before it has handled its last messages.
    try:
        await Widget._dispatch_message(self, message)
    except NoMatches:
        if self in self.app.screen_stack:
            raise


def _start_timer(self: Timer) -> None:
    # A timer leaves out what is due already when it first looks at the clock. Of one that is to come once nothing is
    # left then: keys that wait 10 ms for a form would wait for ever where a busy machine takes as long between two
    # lines.
    # guard: timer-comes-once
    self._skip = self._skip and self._repeat != 0
    _textual_start_timer(self)


def _show_toasts(self: ToastRack, notifications: Notifications) -> None:
    # Of a toast that is cleared Textual leaves the holder, which is a line high: after some of them the next toast is
    # pushed out of what is seen.
    for toast in self.query(Toast):
        if toast._notification not in notifications and isinstance(toast.parent, ToastHolder):
            toast.parent.remove()
    _textual_show_toasts(self, notifications)


def _compositor_refresh(self: Screen[Any]) -> None:
    # Where a screen shows through, Textual marks the one in front as a whole, which then forgets which of its widgets
    # changed: what is typed in the palette while a message comes in behind it is not painted.
    front, dirty = self.app.screen, self._compositor._dirty_regions
    if self is front or not dirty or self not in self.app._background_screens:
        _textual_compositor_refresh(self)
        return
    front._set_dirty(*dirty)
    front._dirty_widgets.add(front)
    front.check_idle()
    dirty.clear()
    self._dirty_widgets.clear()


def _split_cells(self: Segment, cut: int) -> tuple[Segment, Segment]:
    """Split a segment; a character of several parts is blank on both sides of a cut in its middle, never in pieces."""
    text, style, control = self
    if text.isascii() or not 0 < cut < cell_len(text):
        return _rich_split_cells(self, cut)
    room = 0
    for start, stop, width in split_graphemes(text)[0]:
        if room + width > cut or (room == cut and width):
            before, after = text[:start] + " " * (cut - room), text[start:]
            if room < cut:
                after = " " * (room + width - cut) + text[stop:]
            return Segment(before, style, control), Segment(after, style, control)
        room += width
    return self, Segment("", style, control)
