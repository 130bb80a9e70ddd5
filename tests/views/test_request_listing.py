"""The list of requests alone is the one that a whole view has."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from team_console.store.views.board import Board, view_of

from tests.views.chronicle import LEAD, Chronicle, snapshot_of
from tests.views.test_incremental import ACTS


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), complete=st.booleans())
def test_requests_alone_are_those_of_the_whole_view(data: st.DataObject, complete: bool) -> None:
    story = Chronicle()
    for _ in range(data.draw(st.integers(1, 14))):
        data.draw(st.sampled_from(ACTS))(story, data)
    snapshot = snapshot_of(story.messages)
    again = data.draw(st.lists(st.sampled_from(story.messages), max_size=2)) if story.messages else []
    history = [*reversed(story.archived), *again]
    view = view_of(snapshot, me=LEAD, now=story.now, history=history, complete=complete)
    alone = Board("", requests_only=True).requests(snapshot, story.now, history, complete=complete)
    assert alone == view.requests
