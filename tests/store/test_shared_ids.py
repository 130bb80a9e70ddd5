"""Ids that other programs use again: copies count once, another message gets an id of its own, nobody's mail stops."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import heal

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import QUEUE, open_yaml, queue_of

ONE, OTHER = "task-manager", "file-manager"


def _said(content: str, to: str = ONE, message_id: str = "X1") -> Message:
    return make_message(message_id=message_id, to=to, payload={"content": content, "summary": content})


def _ids(team: Team) -> dict[str, str]:
    """Content of each message -> its id."""
    return {message.content: message.message_id for message in team.snapshot().messages}


def _stored(folder: Path) -> list[tuple[str, str]]:
    """Id and content of each entry of the file, as another program reads it."""
    found = yaml.load((folder / QUEUE).read_bytes(), yaml.CSafeLoader)["messages"]
    return [(item["message_id"], item["payload"]["content"]) for item in found]


def _codes(team: Team) -> set[str]:
    return {problem.code for problem in team.snapshot().problems}


@pytest.fixture(params=["new", "known"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> YamlTeam:
    """A team without an audit trail, or with one."""
    team = open_yaml(tmp_path)
    if request.param == "known":
        put(team, _said("known", message_id="K"))
        inbox.receive(Caller(team, ONE), agent=ONE)
    return team


def test_each_message_has_an_id_of_its_own_from_the_first_look_on(tmp_path: Path, team: YamlTeam) -> None:
    (tmp_path / QUEUE).write_bytes(queue_of(_said("a"), _said("a"), _said("b"), _said("c", OTHER)))
    before = (tmp_path / QUEUE).read_bytes()
    ids = {content: name for content, name in _ids(team).items() if content != "known"}
    assert ids == {"a": "X1", "b": "X1-2", "c": "X1-3"}
    assert {"DUPLICATE_COPY", "DUPLICATE_ID"} <= _codes(team)
    assert (tmp_path / QUEUE).read_bytes() == before
    notices = [notice.code for notice in heal(Caller(team, "ceo"))]
    assert (notices.count("MERGED_COPIES"), notices.count("RENAMED")) == (1, 2)
    assert {(name, content) for content, name in _ids(team).items()} == set(_stored(tmp_path))
    assert len(_stored(tmp_path)) == len(_ids(team))
    assert {content: name for content, name in _ids(team).items() if content != "known"} == ids
    assert not {"DUPLICATE_COPY", "DUPLICATE_ID"} & _codes(team)
    assert "RENAMED" not in [notice.code for notice in heal(Caller(team, "ceo"))]


def test_a_free_id_is_given(tmp_path: Path, team: YamlTeam) -> None:
    (tmp_path / QUEUE).write_bytes(queue_of(_said("a"), _said("b", message_id="X1-2"), _said("c")))
    assert {"a": "X1", "b": "X1-2", "c": "X1-3"}.items() <= _ids(team).items()


def test_everybody_gets_what_is_for_them_once(tmp_path: Path, team: YamlTeam) -> None:
    mine = (_said("for one"), _said("for the other", OTHER), _said("also for one"), _said("for one"))
    (tmp_path / QUEUE).write_bytes(queue_of(*mine))
    got = [message.content for message in inbox.receive(Caller(team, ONE), agent=ONE).messages]
    assert sorted(got) == ["also for one", "for one"]
    assert [message.content for message in inbox.receive(Caller(team, OTHER), agent=OTHER).messages] == [
        "for the other"
    ]
    assert inbox.receive(Caller(open_yaml(tmp_path), ONE), agent=ONE).messages == ()
    kept = {message.content for agent in (ONE, OTHER) for message in team.history(agent=agent).messages}
    assert kept >= {"for the other", "for one", "also for one"}


def test_of_a_read_message_and_its_copy_nothing_is_handed_out_again(tmp_path: Path, team: YamlTeam) -> None:
    (tmp_path / QUEUE).write_bytes(queue_of(_said("same"), _said("same").with_changes(status="read")))
    assert inbox.receive(Caller(team, ONE), agent=ONE).messages == ()


def test_what_is_in_brackets_gets_ids_too_and_a_damaged_entry_stays(tmp_path: Path, team: YamlTeam) -> None:
    queue = "messages: [{id: X1, type: t, from: a, to: b, x: 1}, {id: X1, type: t, from: a, to: b, x: 2}, {id: N}]\n"
    (tmp_path / QUEUE).write_text(queue)
    assert {"X1", "X1-2"} <= {message.message_id for message in team.snapshot().messages}
    heal(Caller(team, "ceo"))
    assert [message.payload["x"] for message in team.snapshot().messages if "x" in message.payload] == [1, 2]
    assert "DAMAGED_ENTRY" in _codes(team)


def test_where_it_cannot_be_written_so_the_first_of_an_id_counts_and_the_others_are_told(tmp_path: Path) -> None:
    entries = "".join(f"{{id: X1, type: t, from: a, to: b, x: {number}}}, " for number in range(3))
    (tmp_path / QUEUE).write_text(f"messages: [{entries} {{id: N, type: t, from: a, to: b, x: *nobody}}]\n")
    snapshot = open_yaml(tmp_path).snapshot()
    assert [message.payload["x"] for message in snapshot.messages] == [0]
    assert [problem.code for problem in snapshot.problems] == ["DAMAGED_ENTRY"] * 3


def test_what_was_read_of_several_is_healed_from_the_ledger(tmp_path: Path) -> None:
    (tmp_path / QUEUE).write_bytes(queue_of(_said("a"), _said("b"), _said("c", OTHER)))
    heal(Caller(open_yaml(tmp_path), "ceo"))
    before = (tmp_path / QUEUE).read_bytes()
    inbox.receive(Caller(open_yaml(tmp_path), ONE), agent=ONE)
    (tmp_path / QUEUE).write_bytes(before)
    assert inbox.receive(Caller(open_yaml(tmp_path), ONE), agent=ONE).messages == ()
    (tmp_path / QUEUE).write_bytes(b"messages: []\n")
    heal(Caller(open_yaml(tmp_path), "ceo"))
    left = open_yaml(tmp_path).snapshot().messages
    assert [message.content for message in left if message.status == "pending"] == ["c"]
