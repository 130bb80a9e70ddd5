"""What all lists of the screen share: what was read beside the view, what was painted, and what is pending."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.console.preferences import Preferences
from team_console.console.tui.drafts import Drafts
from team_console.console.tui.evidence import ShownEvidence
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.shown_when_decided import Seen
from team_console.store.views.evidence import Mark
from team_console.store.views.rows import RequestRow
from team_console.widgets.detail import Detail, Painted
from team_console.widgets.form_results import CHANGED


class ScreenCache(Struct):
    """What the lists of the screen share beside the view, so that none reads or asks for it twice.

    Attributes:
        contents: Texts stored beside the queue that have been read, by their reference.
        pending: Id of a request or message -> what was decided about it and is not written yet, or `DRAFT`.
        looked_at: Tokens of the documents that were on the screen, each with all that was last shown with it.
        painted: Tokens of these documents, each with the lines that were painted (`painted.Painted`).
        evidence: What was looked at beside a request or report, by its key.
        preferences: What the user chose.
        divider: Shares by which lists are wider than usual, or narrower.
        new_since: What came later than this was not seen before; None when that is not known.
        drafts: What was typed and not sent: remarks are drawn below their lines.
        read_only: Whether no key of this console writes.
    """

    team: Team
    contents: dict[str, str] = field(default_factory=dict)
    pending: Mapping[str, str] = field(default_factory=dict)
    looked_at: dict[str, Seen | None] = field(default_factory=dict)
    painted: dict[str, Painted] = field(default_factory=dict)
    evidence: dict[str, ShownEvidence] = field(default_factory=dict)
    preferences: Preferences = field(default_factory=Preferences)
    divider: int = 0
    new_since: datetime | None = None
    drafts: Drafts | None = None
    read_only: bool = False

    def is_new(self, since: datetime | None, token: str) -> bool:
        """Return whether the human has not seen what came at `since` and is shown under `token`."""
        return (
            since is not None and self.new_since is not None and since > self.new_since and token not in self.looked_at
        )

    def as_painted(self, seen: Seen, frame: int) -> Seen:
        """Return what was shown of a request, with the lines of it that the terminal held up to a frame.

        Raises:
            TeamError: Nothing of it was held, or its heading alone.
        """
        painted = self.painted.get(seen.question, Painted()).until(frame)
        changed = self.painted.get(f"{CHANGED}{seen.question}", Painted()).until(frame)
        if not painted.text and changed.text:
            return replace(seen, painted=f"what changed meanwhile, {changed.words}", hides_evidence=True)
        is_heading = bool(painted.text_lines) and not (painted.text or painted.evidence)
        # guard: nothing-decided-that-was-never-drawn
        if painted.first_frame is None or is_heading:
            text = "nothing of it was on the screen when the key was pressed"
            raise TeamError(Code.NOT_PERMITTED, text, "esc, then enter shows it.")
        evidence = painted.has_evidence
        return replace(seen, painted=painted.words, hides_evidence=not evidence, is_whole=painted.is_whole)

    def unseen(self, token: str) -> str:
        """Return what was not painted of a request so far, as safe words; empty when all of it was."""
        painted = self.painted.get(token, Painted())
        if painted.is_whole:
            return ""
        if painted.first_frame is None:
            return "not shown yet"
        return f"shown {len(painted.text):,} of {painted.text_lines:,} lines"

    def missing_for(self, row: RequestRow) -> int:
        """Return how many of the things that a request names are missing, as far as they were looked for."""
        known = self.evidence.get(row.key)
        sections = known.evidence.sections if known is not None and known.evidence is not None else ()
        return sum(piece.mark is Mark.MISSING for section in sections for piece in section.pieces)

    def keep_painted(self, detail: Detail) -> None:
        """Keep what was on the screen, here and in the other lists: the most that was painted of each request."""
        self.looked_at |= detail.drawn_before
        for token, painted in detail.painted_before.items():
            known = self.painted.get(token)
            if known is None or len(painted.text) >= len(known.text) or known.layout.seen != painted.layout.seen:
                self.painted[token] = painted
