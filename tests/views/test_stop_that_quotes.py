"""A stop whose `in_reply_to` is no id, as other writers leave it, beside everything else that waits."""

from __future__ import annotations

import pytest
from team_console.store.views.rows import Need

from tests.equipment.chronicle import LEAD, Chronicle, row


@pytest.mark.parametrize("quoted", [["m1"], {"id": "m1"}], ids=["a list", "a mapping"])
@pytest.mark.parametrize("after", [0.0, 7_200.0], ids=["open", "overdue"])
def test_a_stop_that_replies_to_no_id_keeps_nothing_else_from_being_shown(quoted: object, after: float) -> None:
    story = Chronicle()
    story.stop(in_reply_to=quoted)
    story.sprint("slave-batch-1", LEAD, "AGENT_DESTROY_REQUEST", id="end", agent_name="dev-1", reason="Done")
    view = story.view(after=after)
    assert row(view, "stop-1").is_open
    assert Need.DESTROY in {item.need for item in view.attention}
