"""The performer of actions: does what a key means to what is drawn, or says why it cannot."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from team_console.console.app.workspace import Workspace
from team_console.console.input.action import Action
from team_console.console.input.subject import Subject
from team_console.console.screens.standing_forms import StandingForms
from textual.screen import Screen

GUARD = 0.7
"""Seconds for which a deciding key asks to look again after the row under the cursor changed by itself."""
_CHANGED = "The list just changed under the cursor."
_LOOKS = 10
"""So many times the screen comes to rest before an action is done though what it is about was not painted."""


class Performer:
    """Does the actions of one screen."""

    def __init__(
        self,
        screen: Screen[Any],
        workspace: Workspace,
        forms: StandingForms,
        *,
        subject: Callable[[], Subject],
        contained: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Make a performer.

        Args:
            screen: Where it acts; nothing is done while another screen is in front.
            workspace: What handlers get.
            forms: Where a warning of the next form is left.
            subject: What keys act on now.
            contained: What a handler runs in, so that its defect stays its own.
        """
        self._screen, self._workspace, self._forms = screen, workspace, forms
        self._subject, self._contained = subject, contained
        self._waiting = 0

    @property
    def is_idle(self) -> bool:
        """Whether no action waits for the screen to be drawn."""
        return self._waiting == 0

    def perform(self, action: Action) -> None:
        """Do `action`; one that decides only once what it is about stands on the screen."""
        if action.deciding:
            self._workspace.pane.draw_now()
            self._waiting += 1  # until then keys wait: what they are meant for is about to change
            self._screen.call_after_refresh(self._do_drawn, action, _LOOKS)
        else:
            self._do(action)

    def _do_drawn(self, action: Action, looks: int) -> None:
        waits, pane = False, self._workspace.pane
        try:
            if not pane.is_complete:
                return  # what it was about is not in front any more
            if looks and not pane.is_drawn:
                # A widget tells its screen by a message that it is to be painted; until that has come the screen rests.
                pane.draw_now(whole=True)
                waits = self._screen.call_after_refresh(self._do_drawn, action, looks - 1)
            else:
                self._do(action)
        finally:
            self._waiting -= not waits  # whatever fails here, the keys after it are not held for ever

    def _do(self, action: Action) -> None:
        if self._screen.app.screen is not self._screen:
            return
        subject = self._subject()
        why = action.disabled(subject)
        if why is not None:
            if action.is_here(subject.mode):
                self._workspace.toast(f"{action.label.rstrip('…')}: {why}", severity="warning")
            return
        self._forms.warning = ""
        if action.deciding and self._workspace.pane.undisturbed_for() < GUARD:
            if not action.asks:
                self._workspace.toast(f"{_CHANGED} Look again, then press it again.", severity="warning")
                return
            self._forms.warning = _CHANGED
        from team_console.console.handlers import handlers

        with self._contained():
            handlers()[action.id](self._workspace, subject)
