"""Archives: whole or told, never doubled, searched without being parsed, read from the end (cases 12, 13, 50, 51)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
import yaml
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.contract.team import Team

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import open_yaml, receive, states

NAME = "task-manager-archive.yaml"


def _archive(team: Team, *numbers: int, agent: str = "task-manager") -> None:
    with team.transaction(actor="ceo", action="edit", wait=1) as tx:
        for number in numbers:
            tx.archive(agent, make_message(number))
        tx.record("edit")


def _ids(*numbers: int) -> list[str]:
    return [make_message(number).message_id for number in numbers]


def _history(team: Team, **how: object) -> list[str]:
    return [message.message_id for message in team.history(**how).messages]  # type: ignore[arg-type]


@pytest.mark.parametrize("cut", range(1, 300, 37))
@pytest.mark.parametrize("zeros", [0, 4096])
def test_an_end_that_somebody_cut_off_stays_as_it_is_and_the_archive_is_gone_on_with(
    tmp_path: Path, cut: int, zeros: int
) -> None:
    team = open_yaml(tmp_path)
    _archive(team, 1, 2)
    path = tmp_path / "archive" / NAME
    left = path.read_bytes()[:-cut] + b"\0" * zeros
    path.write_bytes(left)
    _archive(team, 3)
    kept = [item.read_bytes() for item in (tmp_path / "archive").iterdir()]
    assert any(data.startswith(left) for data in kept)
    assert {_ids(3)[0], _ids(1)[0]} <= set(_history(team))
    for item in (tmp_path / "archive").glob("*-archive.yaml"):
        assert zeros or yaml.load(item.read_bytes(), Loader=yaml.CSafeLoader)["messages"]


def test_the_same_message_is_archived_once_for_each_agent(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    for _ in range(3):
        _archive(team, 1)
        _archive(team, 1, agent="ceo")
    assert (tmp_path / "archive" / NAME).read_bytes().count(b"# end ") == 1
    assert _history(team, agent="ceo") == _ids(1)


def test_a_message_in_several_archives_is_one_message_of_the_history(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    group = make_message(1).with_changes(to_agents=["a", "b"], to=None)
    with team.transaction(actor="ceo", action="edit", wait=1) as tx:
        for agent in ("a", "b"):
            tx.archive(agent, group)
        tx.record("edit")
    assert _history(team) == _ids(1)
    assert _history(team, agent="a") == _history(team, agent="b") == _ids(1)


def test_agents_whose_names_differ_in_case_only_do_not_share_an_archive(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    _archive(team, 1, agent="dev")
    _archive(team, 2, agent="DEV")
    with team.transaction(actor="ceo", action="edit", wait=1) as tx:
        tx.archive("Ops", make_message(3))
        tx.archive("ops", make_message(4))
        tx.record("edit")
    names = [path.name.casefold() for path in (tmp_path / "archive").iterdir()]
    assert len(names) == len(set(names)) == 4
    assert [_history(team, agent=name) for name in ("dev", "DEV", "Ops", "ops")] == [_ids(n) for n in (1, 2, 3, 4)]


def test_a_message_leaves_the_queue_only_when_an_archive_holds_it(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    with pytest.raises(ValueError, match="archive it"), team.transaction(actor="ceo", action="x", wait=1) as tx:
        tx.remove(tx.everything()[0])
    assert states(team) == {"01": "pending"}


def test_a_damaged_archive_copy_is_no_proof(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    receive(team)
    path = tmp_path / "archive" / NAME
    path.write_bytes(path.read_bytes().replace(b"message_id:", b"message_id"))
    with team.transaction(actor="ceo", action="look", wait=1) as tx:
        assert not tx.is_archived(tx.everything()[0])


def _delete(team: YamlTeam, before: str) -> int:
    return team.delete_archived(before=datetime.fromisoformat(before), actor="ceo", wait=1)


def test_damaged_records_outlive_the_deletion_of_old_ones(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    _archive(team, 1, 2)
    path = tmp_path / "archive" / NAME
    damaged = b"- {no message at all\n"
    path.write_bytes(path.read_bytes().replace(b"messages:\n", b"messages:\n" + damaged))
    assert _delete(team, "2027-01-01T00:00:00Z") == 2
    assert damaged in path.read_bytes()
