"""What is kept of a file with a request shows the very change that the whole file would, and is small."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from msgspec import UNSET
from team_console.store.protocol.client_requests import Permission, permission_of
from team_console.store.views.proposals import excerpt_of, proposal_of

from tests.equipment.cases import cases
from tests.equipment.samples import EXHAUSTIVE

pytestmark = pytest.mark.slow

TEXT = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c c\n", "d"]), max_size=40).map("".join)
PART = st.sampled_from(["a", "b\n", "\n", "\n\n", "a\nb", "c", "d", "", "x", "c c\n\na"])
EDIT = st.fixed_dictionaries({"old_string": PART, "new_string": PART}, optional={"replace_all": st.booleans()})
INPUT = (
    EDIT
    | st.fixed_dictionaries({"edits": st.lists(EDIT, min_size=1, max_size=3)})
    | TEXT.map(lambda text: {"content": text})
)


@seed(13)
@settings(max_examples=10_000 if EXHAUSTIVE else 200, deadline=None)
@given(TEXT, INPUT)
def test_the_excerpt_shows_what_the_whole_file_would(before: str, change: dict[str, Any]) -> None:
    given = {"file_path": "/p/a", **change}
    whole = Permission("Edit", given, before=before)
    excerpt = excerpt_of(whole)
    if excerpt is not UNSET:
        kept = permission_of({"tool": "Edit", "input": given, **excerpt.as_recorded})
        assert proposal_of(kept) == proposal_of(whole)
        assert "content" not in change or kept.before == before


@cases
def test_places_that_cannot_be_are_no_file(places: Any) -> None:
    payload = {"tool": "Edit", "input": {"file_path": "/p/a"}, "before": "a\nb\n", "before_at": places}
    assert permission_of(payload).before is UNSET
