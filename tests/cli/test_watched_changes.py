"""What `watch` prints between two looks."""

from __future__ import annotations

from team_console.console.cli.look import changes

from tests.store.contract import make_message
from tests.views.chronicle import snapshot_of

FIRST = make_message(1)
SECOND = make_message(2, to="file-manager")


def test_each_message_is_told_as_what_became_of_it() -> None:
    read = SECOND.with_changes(status="read")
    (progress,) = changes(snapshot_of((FIRST, SECOND)), snapshot_of((FIRST, read)))
    assert (progress[0], progress[2]["to"], progress[2]["status"]) == ("status", ["file-manager"], "read")
    (gone,) = changes(snapshot_of((FIRST, SECOND)), snapshot_of((SECOND,)))
    assert (gone[0], gone[2]["to"]) == ("gone", ["task-manager"])
    (new,) = changes(snapshot_of((FIRST,)), snapshot_of((FIRST, SECOND)))
    assert (new[0], new[2]["to"]) == ("new", ["file-manager"])
    again = snapshot_of((make_message(1), SECOND))
    assert list(changes(snapshot_of((FIRST, SECOND)), again)) == []
