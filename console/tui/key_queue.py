"""The queue of what is typed: each key takes effect in its turn, on what is drawn then."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

from team_console.widgets.held_frames import Frames
from textual.app import App
from textual.errors import NoWidget
from textual.events import Event, Key, MouseDown, MouseUp, Paste
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.widgets import Input

_QUIT = "ctrl+q"
"""The key that leaves the console from anywhere."""
_LAPS = 2
"""Ways up to the app behind which the next key goes: that of the key, and that of what its widget or a binding made of
it, such as `Submitted`."""
REPEAT = 0.7
"""Seconds within which the same key again is held down or bounces; terminals repeat one from 0.25 to 0.66 s on."""
_LONGEST_HOLD, _LOOK_APART = 8.0, 0.01
"""Seconds for which a screen that opens or writes holds keys back at most, and between two looks at it."""


class _Pressed(NamedTuple):
    """What came from a hand.

    Attributes:
        frame: The last frame that the terminal held then.
        is_repeat: Whether it is the key before again.
        name: What the record of a decision calls it.
    """

    event: Event
    frame: int
    is_repeat: bool
    name: str


class KeyQueue:
    """Holds a key back until the one before it has gone all its way: only then it is known what has the focus.

    Textual puts a key into the queue of the widget that has the focus when the key arrives. Keys for two widgets would
    travel side by side, and the later could act first; a key that follows an escape would still go to the form that the
    escape closes, and be lost with it. Letters of a text that is typed move no focus and need not wait for each other.
    What a widget makes of a key, such as an enter that submits a field, travels the same way one step behind the key,
    so the next one follows that, too. A screen that is opening, or a form that is handing in, has its keys wait until
    it is done (`takes_keys`). What was typed before a form could be read, the form may refuse (`refuses`): it was meant
    for something else. What the terminal held when a key came stands in `frames` while the key is on its way.
    """

    def __init__(self, app: App[Any], dispatch: Callable[[Event], Awaitable[None]], frames: Frames) -> None:
        self._app = app
        self._dispatch = dispatch
        self._frames = frames
        self._waiting: deque[_Pressed] = deque()
        self._key_before, self._key_before_at = "", 0.0
        self._went_to: MessagePump | None = None
        """Where the key before went, until it has gone all its way."""
        self._was_typing = False
        """Whether that was a letter of a text."""
        self._is_following = False
        self._holding_since: float | None = None
        """Since when the screen in front takes no key, as `monotonic` counts."""

    @staticmethod
    def takes(event: Event) -> bool:
        """Return whether `event` comes from a hand, and comes for the first time."""
        return isinstance(event, Key | Paste | MouseDown | MouseUp) and not event.is_forwarded

    async def click(self, key: str, on: Widget) -> None:
        """Press a key that was clicked on where the screen shows it, in the widget `on`.

        While words are typed the focus leaves them: there the key would be a letter.
        """
        event = Key(key, None)
        if event.is_printable and _is_typed_in(self._app.focused):
            around = (each for each in on.ancestors if isinstance(each, Widget) and each.can_focus)
            self._app.screen.set_focus(next(around, None))
        await self.take(event, by_mouse=True)

    async def take(self, event: Event, *, by_mouse: bool = False) -> None:
        """Let `event` take effect in its turn; one that asks again to leave does not wait for what may be stuck."""
        if _is_quit(event) and any(_is_quit(waiting.event) for waiting in self._waiting):
            await self._dispatch(event)
            return
        key = event.key if isinstance(event, Key) else ""
        if key == "escape" and not self._waiting and self._leaves_work():
            return
        is_repeat = bool(key) and key == self._key_before and event.time - self._key_before_at < REPEAT
        self._key_before, self._key_before_at = key, event.time
        self._waiting.append(_Pressed(event, self._frames.held, is_repeat, "mouse" if by_mouse else _name_of(event)))
        if not self._is_following and self._holding_since is None:
            await self._hand_out()

    def _leaves_work(self) -> bool:
        """Have a form that is at work left, and return whether there was one: held back, an escape would act on what
        stands there afterwards.
        """
        leaves_work = getattr(self._app.screen, "leaves_work", None)
        return leaves_work is not None and bool(leaves_work())

    def _is_refused(self, event: Event) -> bool:
        """Return whether what stands in front takes `event` for nothing; leaving is meant whatever stands there."""
        refuses = getattr(self._app.screen, "refuses", None)
        return refuses is not None and not _is_quit(event) and bool(refuses(event))

    def _waits_for_screen(self) -> bool:
        """Return whether the screen in front cannot take a key yet; it is looked at again soon, at last given up."""
        if getattr(self._app.screen, "takes_keys", True):
            self._holding_since = None
            return False
        if self._holding_since is None:
            self._holding_since = monotonic()
        if monotonic() - self._holding_since > _LONGEST_HOLD:
            self._holding_since = None
            if any(_is_quit(waiting.event) for waiting in self._waiting):
                # What stands in front will not come: leave, without 8 s for each key.
                # guard: keys-before-leaving
                self._waiting = deque(waiting for waiting in self._waiting if _is_quit(waiting.event))
            return False
        self._app.set_timer(_LOOK_APART, self._look_again)
        return True

    async def _look_again(self) -> None:
        if not self._waiting:
            self._holding_since = None
        await self._hand_out()

    async def _hand_out(self) -> None:
        """Give out the keys that wait, as far as none has to follow the one before it."""
        while self._waiting:
            event = self._waiting[0].event
            target = self._target_of(event)
            is_typing = isinstance(event, Key) and event.is_printable and _is_typed_in(target)
            if self._went_to is not None and not (is_typing and self._was_typing and self._went_to is target):
                self._is_following = True
                self._follow_key(self._went_to, self._went_to, _LAPS)
                return
            if self._waits_for_screen():
                return
            # Not always the event above: a screen that was given up may have cost the keys before ctrl+q.
            event, self._frames.pressed, self._frames.is_repeat, self._frames.key = self._waiting.popleft()
            if self._is_refused(event):
                continue
            await self._dispatch(event)
            self._went_to, self._was_typing = target, is_typing

    def _target_of(self, event: Event) -> MessagePump | None:
        """Return the widget that `event` goes to: the focused one, of the mouse the one below it; None for none."""
        if isinstance(event, MouseDown | MouseUp):
            # A click travels behind its event, and the next key would be taken for the one that it decides by.
            # guard: click-before-the-next-key
            with suppress(NoWidget):
                return self._app.mouse_captured or self._app.get_widget_at(*event.screen_offset)[0]
            return None
        return self._app.focused or self._app.screen

    def _follow_key(self, pump: MessagePump, first: MessagePump, laps: int) -> None:
        """Queue up behind the keys in `pump`, then in its parent, which they bubble to, up to the app; then again.

        `first` is where the key went, `laps` are the ways up that are left, with this one.
        Nothing is lost on the way: a pump that closes handles first what it took, and one that fails ends the console.
        """
        while pump is not self._app:
            parent = getattr(pump, "parent", None) or self._app
            if pump.call_later(self._follow_key, parent, first, laps):
                return
            pump = parent
        if laps > 1:
            self._app.call_later(self._follow_key, first, first, laps - 1)
        else:
            self._app.call_later(self._end_following)

    async def _end_following(self) -> None:
        self._is_following, self._went_to = False, None
        await self._hand_out()


def _is_quit(event: Event) -> bool:
    return isinstance(event, Key) and event.key == _QUIT


def _name_of(event: Event) -> str:
    """Return what the record of a decision calls the key, or the click; empty for a paste, which decides nothing."""
    if isinstance(event, Key):
        return event.key
    return "mouse" if isinstance(event, MouseDown | MouseUp) else ""


def _is_typed_in(target: object) -> bool:
    """Return whether letters are text there. Loading the editor of many lines takes a start 10 ms, so it is not
    asked for.
    """
    many_lines = sys.modules.get("textual.widgets._text_area")
    return isinstance(target, Input) or (many_lines is not None and isinstance(target, many_lines.TextArea))
