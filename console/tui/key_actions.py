"""What a key does: an action of the registry, on what is drawn and has not changed under the hand."""

from __future__ import annotations

from time import monotonic

from team_console.console.actions import BY_ID, Action, Group
from team_console.console.tui.screen_protocols import ConsoleProtocol, MainScreenProtocol

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
