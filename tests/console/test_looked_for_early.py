"""A plan beside its rejected version: what is shown is ready when the cursor rests, and drawn once, not three times."""

from __future__ import annotations

import pytest
from team_console.console.tui.modes import pane
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document

from tests.console.conftest import LEAD, Desk, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
_NAMES = ("task-manager", "schedule-manager")
_LINES = 2_500


def _hand_in(team: MemoryTeam) -> None:
    """From each author a plan too long for the queue that was rejected, and another in its place."""
    for name in _NAMES:
        author = Caller(team, name)
        for words in ("as it was before", "another now"):
            text = "\n".join(f"{number}. step {number} of {name}, {words}" for number in range(_LINES))
            request = requests.submit_plan(author, content=text, summary=f"The one plan of {name}").request_id or ""
            if words == "as it was before":
                requests.reject(Caller(team, LEAD), request_id=request, reason="Say it otherwise")


def _is_known(desk: Desk) -> bool:
    """Whether the evidence beside the request under the cursor was found."""
    request = desk.app.main.pane.selection().request
    requests = [evidence.request for evidence in desk.app.main.cache.evidence.values()]
    return request is not None and any(wanted is not None and wanted.message is request.question for wanted in requests)


@pytest.mark.parametrize("mode", ["1", "right"])
async def test_what_stands_beside_a_row_is_looked_for_before_the_cursor_has_rested_on_it(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    _hand_in(team)
    async with opened(team) as desk:
        await desk.press(mode)
        await desk.until(lambda: _is_known(desk), "the evidence beside the first row")
        monkeypatch.setattr(pane, "_REST", 3_600.0)
        desk.app.main.cache.evidence.clear()
        drawn: list[Document] = []
        listing = desk.app.main.listing
        first = listing.detail.document if listing is not None else None
        assert first is not None
        real = Detail.show

        def show(self: Detail, document: Document | None, **more: tuple[()]) -> None:
            if document is not None and document.key != first.key and document not in drawn:
                drawn.append(document)
            real(self, document, **more)

        before = desk.detail
        monkeypatch.setattr(Detail, "show", show)
        await desk.pilot.press("j")
        await desk.until(lambda: bool(drawn), "the second row")
        assert _is_known(desk)
        assert len(drawn) == 1, "first without what stands beside it"
        assert desk.detail != before
        assert "what is new: +2500" in desk.detail
