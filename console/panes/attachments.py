"""The cache of what panes read from beside the view, and the contents of messages stored beside the queue."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from team_console.console.preferences.model import Preferences
from team_console.store.contract.team import Team
from team_console.store.protocol.seen import Seen


class AttachmentCache(Struct):
    """What panes read from beside the view.

    Attributes:
        contents: Texts stored beside the queue that have been read, by their reference.
        unwritten: Id of a request or message -> what was decided about it and is not written yet.
        looked_at: Tokens of the documents that were on the screen, each with all that was last shown with it.
        evidence: What was looked at beside a request or report, by its key (`beside.Gathered`).
        preferences: What the user chose.
    """

    team: Team
    contents: dict[str, str] = field(default_factory=dict)
    unwritten: Mapping[str, str] = field(default_factory=dict)
    looked_at: dict[str, Seen | None] = field(default_factory=dict)
    evidence: dict[str, object] = field(default_factory=dict)
    preferences: Preferences = field(default_factory=Preferences)
