"""The cache of what panes read from beside the view, and the contents of messages stored beside the queue."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.console.preferences.model import Preferences
from team_console.store.contract.team import Team
from team_console.store.protocol.seen import Face, Seen
from team_console.widgets.details.detail import Painted


class AttachmentCache(Struct):
    """What panes read from beside the view.

    Attributes:
        contents: Texts stored beside the queue that have been read, by their reference.
        unwritten: Id of a request or message -> what was decided about it and is not written yet.
        looked_at: Tokens of the documents that were on the screen, each with all that was last shown with it.
        painted: Tokens of these documents, each with the lines that were painted (`detail.Painted`).
        evidence: What was looked at beside a request or report, by its key (`beside.Gathered`).
        preferences: What the user chose.
    """

    team: Team
    contents: dict[str, str] = field(default_factory=dict)
    unwritten: Mapping[str, str] = field(default_factory=dict)
    looked_at: dict[str, Seen | None] = field(default_factory=dict)
    painted: dict[str, Painted] = field(default_factory=dict)
    evidence: dict[str, object] = field(default_factory=dict)
    preferences: Preferences = field(default_factory=Preferences)

    def as_painted(self, token: str, seen: Seen) -> Seen:
        """What was shown under `token`, with the lines of it that were really painted."""
        painted = self.painted.get(token)
        if painted is None or seen.face is not Face.CONSOLE:
            return seen
        return replace(seen, painted=painted.words, hides_evidence=not painted.has_evidence)
