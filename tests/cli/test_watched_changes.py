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
    assert (progress.change, progress.facts["to"], progress.facts["status"]) == ("status", ["file-manager"], "read")
    (gone,) = changes(snapshot_of((FIRST, SECOND)), snapshot_of((SECOND,)))
    assert (gone.change, gone.facts["to"]) == ("gone", ["task-manager"])
    (new,) = changes(snapshot_of((FIRST,)), snapshot_of((FIRST, SECOND)))
    assert (new.change, new.facts["to"]) == ("new", ["file-manager"])
    again = snapshot_of((make_message(1), SECOND))
    assert list(changes(snapshot_of((FIRST, SECOND)), again)) == []
