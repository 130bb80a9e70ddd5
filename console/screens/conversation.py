"""The conversation of one message or request, over the whole screen."""

from __future__ import annotations

from typing import ClassVar

from team_console.console.app.workspace import Workspace
from team_console.console.screens.reading import ReadingScreen
from team_console.store.model.safe import safe_line
from team_console.store.views.conversation import conversation_of
from team_console.store.views.rows import View
from team_console.widgets.details.conversation import conversation_document
from team_console.widgets.details.document import Document, Lines


class ConversationScreen(ReadingScreen):
    """Everything said about one thing, live and archived, in order."""

    TITLE_WORDS: ClassVar[str] = "Conversation"
    HELP = "Everything that belongs to it, the oldest first. v shows texts as they were written."

    def __init__(self, workspace: Workspace, word: str) -> None:
        super().__init__(workspace)
        self._word = word

    def document(self, view: View) -> Document:
        """The conversation as it is now."""
        snapshot, team = view.snapshot, self.workspace.caller.team
        live = (*snapshot.messages, *snapshot.dropped)
        conversation = conversation_of(self._word, live, team.archived, view.requests)
        if conversation is None:
            text = f"Nothing is known any more under {safe_line(self._word, 120)}."
            return Document(key="nothing", title="Conversation", blocks=(Lines((((text, "muted"),),)),))
        return conversation_document(conversation, now=team.clock())
