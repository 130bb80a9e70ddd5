"""Watching things over time: a conversation, a shutdown."""

from __future__ import annotations

from team_console.console.app.workspace import Workspace
from team_console.console.input.subject import Subject


def conversation(workspace: Workspace, subject: Subject) -> None:
    """Open what belongs to the message or request under the cursor."""
    from team_console.console.screens.conversation import ConversationScreen

    request, message = subject.selection.request, subject.selection.message
    word = request.request_id if request is not None else message.message_id if message is not None else ""
    if word:
        workspace.app.push_screen(ConversationScreen(workspace, word))


def stops(workspace: Workspace, subject: Subject) -> None:
    """Watch the shutdown of the team."""
    watch_stops(workspace)


def watch_stops(workspace: Workspace) -> None:
    """Open the view of the shutdown."""
    from team_console.console.screens.stops import StopsScreen

    workspace.app.push_screen(StopsScreen(workspace))


HANDLERS = {"conversation": conversation, "stops": stops}
