"""Keys take effect in the order they were typed, on what is drawn and has not changed under the hand."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

from team_console.console.actions import BY_ID, Action, Group
from team_console.console.tui.screen_protocols import ConsoleProtocol, MainScreenProtocol
from team_console.widgets.held_frames import Frames
from textual.app import App
from textual.errors import NoWidget
from textual.events import Event, Key, MouseDown, MouseUp, Paste
from textual.message_pump import MessagePump
from textual.widgets import Input

_LEAVE = "ctrl+q"
"""The key that leaves the console from anywhere."""
_LAPS = 2
"""How often a key is followed: what it made its widget or a binding send, such as `Submitted`, travels behind it."""
REPEAT = 0.7
"""Seconds within which the same key again is held down or bounces; terminals repeat one from 0.25 to 0.66 s on."""
_LONGEST_HOLD, _LOOK_APART = 8.0, 0.01
"""Seconds for which a screen that opens or writes holds keys back at most, and between two looks at it."""


class _Pressed(NamedTuple):
    """What came from a hand, the last frame that the terminal held then, and whether it is the key before again."""

    event: Event
    frame: int
    is_repeat: bool


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
        self._before, self._before_at = "", 0.0
        self._last: MessagePump | None = None
        self._is_typing = self._following = False
        self._holding_since: float | None = None

    @staticmethod
    def takes(event: Event) -> bool:
        """Return whether `event` comes from a hand, and comes for the first time."""
        return isinstance(event, Key | Paste | MouseDown | MouseUp) and not event.is_forwarded

    async def take(self, event: Event) -> None:
        """Let `event` take effect in its turn; one that asks again to leave does not wait for what may be stuck."""
        if _leaves(event) and any(_leaves(waiting.event) for waiting in self._waiting):
            await self._dispatch(event)
            return
        key = event.key if isinstance(event, Key) else ""
        if key == "escape" and not self._waiting and self._leaves_work():
            return
        is_repeat = bool(key) and key == self._before and event.time - self._before_at < REPEAT
        self._before, self._before_at = key, event.time
        self._waiting.append(_Pressed(event, self._frames.held, is_repeat))
        if not self._following and self._holding_since is None:
            await self._hand_out()

    def _leaves_work(self) -> bool:
        """Let an escape reach a form that is at work: held back, it would act on what stands there afterwards."""
        leaves_work = getattr(self._app.screen, "leaves_work", None)
        return leaves_work is not None and bool(leaves_work())

    def _is_refused(self, event: Event) -> bool:
        """Return whether what stands in front takes `event` for nothing; leaving is meant whatever stands there."""
        refuses = getattr(self._app.screen, "refuses", None)
        return refuses is not None and not _leaves(event) and bool(refuses(event))

    def _holds_back(self) -> bool:
        """Return whether the front screen cannot take a key yet; then it is checked again."""
        if getattr(self._app.screen, "takes_keys", True):
            self._holding_since = None
            return False
        if self._holding_since is None:
            self._holding_since = monotonic()
        if monotonic() - self._holding_since > _LONGEST_HOLD:
            self._holding_since = None
            if any(_leaves(waiting.event) for waiting in self._waiting):
                # What stands in front will not come: leave, without 8 s for each key.
                # guard: keys-before-leaving
                self._waiting = deque(waiting for waiting in self._waiting if _leaves(waiting.event))
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
            if self._last is not None and not (is_typing and self._is_typing and self._last is target):
                self._following = True
                self._follow_key(self._last, self._last, _LAPS)
                return
            if self._holds_back():
                return
            # Another one when a screen that never came was given up.
            event, self._frames.pressed, self._frames.is_repeat = self._waiting.popleft()
            self._frames.key = _name_of(event)
            if self._is_refused(event):
                continue
            await self._dispatch(event)
            self._last, self._is_typing = target, is_typing

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
        self._following, self._last = False, None
        await self._hand_out()


def _leaves(event: Event) -> bool:
    return isinstance(event, Key) and event.key == _LEAVE


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


LOOK_AGAIN = 0.7
"""Seconds for which a deciding key asks to look again after the row under the cursor changed by itself."""
_CHANGED = "The list changed."
_PAINTED_WITHIN = 1.0
"""Seconds for which an action waits until what it is about is painted: a busy machine takes some for it."""


class KeyActions:
    """Does actions by name, or says why not.

    Attributes:
        warning: What the form that an action opens has to warn of.
    """

    def __init__(self, screen: MainScreenProtocol, console: ConsoleProtocol) -> None:
        self._screen, self._console = screen, console
        self.warning = ""
        self._waiting_actions = 0

    @property
    def is_waiting(self) -> bool:
        """Whether an action waits until what it is about is painted."""
        return self._waiting_actions > 0

    def perform(self, name: str) -> None:
        """Do an action of the registry, or say why not; one that decides only once what it is about is drawn."""
        screen = self._screen
        if name.startswith("own:"):
            if screen.lists.is_drawn and screen.is_in_front:
                self._console.perform(name, screen.context())
            return
        action = BY_ID[name]
        if not screen.lists.is_drawn and action.group is not Group.CONSOLE:
            return
        if not action.deciding:
            self._do(action)
            return
        screen.lists.front.presenter.show_now()
        self._waiting_actions += 1  # until then keys wait: what they are meant for is about to change
        screen.call_after_refresh(self._do_drawn, action, monotonic() + _PAINTED_WITHIN)

    def _do_drawn(self, action: Action, until: float) -> None:
        """Do an action once what it is about is painted, or when that takes too long."""
        waits, pane = False, self._screen.lists.front
        try:
            if not pane.is_complete:
                return  # what it was about is not in front any more
            if not pane.presenter.is_drawn and monotonic() < until:
                # A widget tells its screen by a message that it is to be painted; until that has come the screen rests.
                pane.presenter.show_now(whole=True)
                waits = self._screen.call_after_refresh(self._do_drawn, action, until)
            else:
                self._do(action)
        finally:
            self._waiting_actions -= not waits  # whatever fails here, the keys after it are not held for ever

    def _do(self, action: Action) -> None:
        """Do an action, or say why not; a deciding one asks to look again where rows just moved."""
        screen = self._screen
        if not screen.is_in_front:
            return
        context = screen.context()
        why = action.disabled(context)
        if why is not None:
            if action.is_here(context.mode):
                screen.toast(f"{action.label.rstrip('…')}: {why}", severity="warning")
            return
        # guard: held-key-acts-once
        if action.writes and not action.asks and screen.frames.is_repeat:
            screen.toast("A key that is held down counts once. Press it again.", severity="warning")
            return
        self.warning = ""
        if action.deciding and screen.lists.front.chosen_from.disturbances.seconds_since() < LOOK_AGAIN:
            if not action.asks:
                screen.toast(f"{_CHANGED} Review it, then press the key again.", severity="warning")
                return
            self.warning = _CHANGED
        self._console.perform(action.id, context)
