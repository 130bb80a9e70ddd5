"""Ids that other programs use again: copies count once, another message gets an id of its own, nobody's mail stops."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import clear
from team_console.store.views.history import history
from team_console.store.views.search import Query

from tests.equipment.teams import FakeClock, make_message, put
from tests.equipment.yaml_folder import QUEUE, open_yaml, queue_of

ONE, OTHER = "task-manager", "file-manager"


def _said(content: str, to: str = ONE, message_id: str = "X1") -> Message:
    return make_message(message_id=message_id, to=to, payload={"content": content, "summary": content})


def _ids(team: Team) -> dict[str, str]:
    """Content of each message -> its id."""
    return {message.content: message.message_id for message in team.snapshot().messages}


@pytest.fixture(params=["new", "known"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> YamlTeam:
    """A team without an audit trail, or with one."""
    team = open_yaml(tmp_path)
    if request.param == "known":
        put(team, _said("known", message_id="K"))
        inbox.receive(Caller(team, ONE), agent=ONE)
    return team


def test_a_free_id_is_given(tmp_path: Path, team: YamlTeam) -> None:
    (tmp_path / QUEUE).write_bytes(queue_of(_said("a"), _said("b", message_id="X1-2"), _said("c")))
    assert {"a": "X1", "b": "X1-2", "c": "X1-3"}.items() <= _ids(team).items()


def test_of_a_read_message_and_its_copy_nothing_is_handed_out_again(tmp_path: Path, team: YamlTeam) -> None:
    (tmp_path / QUEUE).write_bytes(queue_of(_said("same"), _said("same").with_changes(status="read")))
    assert inbox.receive(Caller(team, ONE), agent=ONE).messages == ()


def test_where_it_cannot_be_written_so_the_first_of_an_id_counts_and_the_others_are_told(tmp_path: Path) -> None:
    entries = "".join(f"{{id: X1, type: t, from: a, to: b, x: {number}}}, " for number in range(3))
    (tmp_path / QUEUE).write_text(f"messages: [{entries} {{id: N, type: t, from: a, to: b, x: *nobody}}]\n")
    snapshot = open_yaml(tmp_path).snapshot()
    assert [message.payload["x"] for message in snapshot.messages] == [0]
    assert [problem.code for problem in snapshot.problems] == ["DAMAGED_ENTRY"] * 3


def test_another_message_under_the_id_of_an_archived_one_is_in_the_history_too(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, _said("first"))
    inbox.receive(Caller(team, ONE), agent=ONE)
    assert isinstance(team.clock, FakeClock)
    team.clock.advance(60)
    clear(Caller(team, ONE), older_than_days=0)
    (tmp_path / QUEUE).write_bytes(queue_of(_said("second").with_changes(created="2026-02-24T10:31:00Z")))
    assert [message.content for message in inbox.receive(Caller(team, ONE), agent=ONE).messages] == ["second"]
    for _ in range(2):
        found, _ = history(team, team.snapshot().messages, Query())
        assert {message.content for message in found} == {"first", "second"}
        team.clock.advance(60)
        clear(Caller(team, ONE), older_than_days=0)
