"""What every mode of the console has in common, whatever it shows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, Protocol, runtime_checkable

from team_console.console.display.screen_state import ScreenState
from team_console.console.input.subject import Mode, Selection
from team_console.console.panes.attachments import AttachmentCache
from team_console.store.attachments import attachment_of
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message
from team_console.store.protocol.team_signature import Seal, seal_of
from team_console.widgets.guarded import Guarded
from textual.containers import Container
from textual.message import Message as TextualMessage


class Pane(Guarded, Container):
    """One mode. `Looked` says that what keys act on may be another thing now."""

    DEFAULT_CSS = """
    Pane { display: none; height: 1fr; }
    Pane.-active { display: block; }
    """
    MODE: ClassVar[Mode]

    @dataclass
    class Looked(TextualMessage):
        """Another row, mark or panel."""

        pane: Pane

    @dataclass
    class Wanted(TextualMessage):
        """The whole content of `message` is stored beside the queue and should be read."""

        message: Message

    @dataclass
    class GoTo(TextualMessage):
        """The row `key` of another mode is what the human wants to see."""

        mode: Mode
        key: str

    def __init__(self, shelf: AttachmentCache) -> None:
        super().__init__(id=f"pane-{self.MODE}")
        self.shelf = shelf
        self.situation = ScreenState()
        self.now = datetime.now(UTC)

    def content_of(self, message: Message) -> str | None:
        """The whole content of a message whose record holds only its beginning; asks for it when it is not read yet."""
        place = attachment_of(message)
        if place is None:
            return None
        text = self.shelf.contents.get(place)
        if text is None:
            self.post_message(self.Wanted(message))
        return text

    def seal_of(self, message: Message) -> Seal | None:
        """What the message's signature tells; None when the team has no key to check it with."""
        key = self.situation.snapshot.config.key if self.situation.snapshot else b""
        return seal_of(message, key) if key else None

    def problems_of(self, message: Message) -> tuple[Problem, ...]:
        """Where the message departs from its protocol, as far as findings know."""
        view = self.situation.view
        findings = view.findings if view is not None else ()
        return tuple(finding for finding in findings if finding.place.partition(" ")[0] == message.message_id)

    def is_incomplete(self, message: Message | None) -> bool:
        """Whether a part of the message's content has not been read yet."""
        place = attachment_of(message) if message is not None else None
        return place is not None and place not in self.shelf.contents

    @abstractmethod
    def show(self, situation: ScreenState, now: datetime) -> None:
        """Show another situation."""

    def give_up(self) -> None:
        """Say that the rows cannot be shown; those that stand there may be true no more."""

    def seek(self, key: str) -> None:
        """Put the cursor on the row `key`, now or once it is there."""

    @abstractmethod
    def tick(self, now: datetime) -> None:
        """Let ages go on."""

    @abstractmethod
    def subject(self) -> Selection:
        """What keys act on."""

    def draw_now(self, *, whole: bool = False) -> None:
        """Draw at once what is waiting for the cursor to rest; `whole`, whatever of it is on the screen already."""

    @property
    def is_complete(self) -> bool:
        """Whether it has its widgets: a new pane gets them later, and one that goes loses them before it is gone."""
        return self.is_mounted and self.is_attached

    @property
    def is_asking(self) -> bool:
        """Whether words to filter by are being typed."""
        return False

    @property
    def is_drawn(self) -> bool:
        """Whether the thing under the cursor stands on the screen as it is."""
        return True

    def undisturbed_for(self) -> float:
        """Seconds since the row under the cursor last changed by itself."""
        return float("inf")

    @abstractmethod
    def focus_first(self) -> None:
        """Put the focus where it belongs when the mode is entered."""

    def back(self) -> bool:
        """Back out of the innermost thing; False when there is nothing to back out of."""
        return False


@runtime_checkable
class AgentPane(Protocol):
    """A pane that can show one agent."""

    def seek_agent(self, name: str) -> None:
        """Put the cursor on the agent `name`, now or once it is there."""
