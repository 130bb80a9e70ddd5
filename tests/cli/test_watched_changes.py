"""What `watch` prints between two looks, where messages share an id."""

from __future__ import annotations

from team_console.console.cli.printing import changes

from tests.store.contract import make_message
from tests.views.chronicle import snapshot_of

FIRST = make_message(1)
SECOND = make_message(1, to="file-manager")


def test_messages_that_share_an_id_and_stay_are_no_news() -> None:
    other = make_message(2)
    told = list(changes(snapshot_of((FIRST, SECOND)), snapshot_of((FIRST, SECOND, other))))
    assert [(change.change, change.facts["message_id"]) for change in told] == [("new", other.message_id)]


def test_each_of_them_is_told_as_what_it_is() -> None:
    read = SECOND.with_changes(status="read")
    (progress,) = changes(snapshot_of((FIRST, SECOND)), snapshot_of((FIRST, read)))
    assert (progress.change, progress.facts["to"], progress.facts["status"]) == ("status", ["file-manager"], "read")
    (gone,) = changes(snapshot_of((FIRST, SECOND)), snapshot_of((SECOND,)))
    assert (gone.change, gone.facts["to"]) == ("gone", ["task-manager"])
    (new,) = changes(snapshot_of((FIRST,)), snapshot_of((FIRST, SECOND)))
    assert (new.change, new.facts["to"]) == ("new", ["file-manager"])
