"""Programs that write without the lock: theirs and ours both survive, each healing is told (cases 29-32, drop/)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from tests.equipment.cases import cases
from tests.equipment.yaml_folder import (
    QUEUE,
    STEPS,
    audit_lines,
    make_message,
    meanwhile,
    notices,
    open_yaml,
    put,
    queue_of,
    receive,
    remove,
    replace_by_rename,
    states,
)


def _codes(root: Path) -> list[str]:
    return [problem.code for problem in open_yaml(root).snapshot().problems]


@cases
def test_a_rolled_back_status_is_healed_and_the_message_not_delivered_again(
    tmp_path: Path, warm: bool, in_place: bool
) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    old = (tmp_path / QUEUE).read_bytes()
    assert len(receive(team)) == 2
    if in_place:
        (tmp_path / QUEUE).write_bytes(old)
    else:
        replace_by_rename(tmp_path / QUEUE, old)
    assert "ROLLED_BACK" in _codes(tmp_path)
    again = team if warm else open_yaml(tmp_path)
    assert receive(again) == []
    assert states(again) == {"01": "read", "02": "read"}
    assert "HEALED" in _codes(tmp_path)
    assert audit_lines(tmp_path)[-1]["action"] == "heal"
    assert all(line.intact for line in team.audit())


def test_a_look_between_two_writes_is_not_older_than_the_look_before(tmp_path: Path) -> None:
    """It had the queue of before and the ledger of after, so that a message which was shown already was missing."""
    put(open_yaml(tmp_path), make_message(1))
    written: list[int] = []

    def write_two(_read: int, _all: int) -> bool:
        for number in (2, 3) if not written else ():
            put(open_yaml(tmp_path), make_message(number))
            written.append(number)
        return True

    seen = open_yaml(tmp_path).snapshot(progress=write_two).messages
    assert [message.message_id for message in seen] == [make_message(number).message_id for number in (1, 2, 3)]


def test_as_many_bytes_written_within_one_tick_of_the_clock_are_read(tmp_path: Path) -> None:
    put(open_yaml(tmp_path), make_message(1), make_message(2))
    queue = tmp_path / QUEUE
    ours, moment = queue.read_bytes(), queue.stat().st_mtime_ns
    first, second = (make_message(number).message_id.encode() for number in (1, 2))
    queue.write_bytes(ours.replace(second, first))
    os.utime(queue, ns=(moment, moment))
    put(open_yaml(tmp_path), make_message(3))
    ids = [record["message_id"] for record in yaml.safe_load(queue.read_bytes())["messages"]]
    assert len(set(ids)) == len(ids) == 3


@pytest.mark.parametrize("step", STEPS)
def test_a_write_that_slips_in_during_ours_is_merged(tmp_path: Path, step: str) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    theirs = queue_of(make_message(1), make_message(7))
    with meanwhile(step, lambda: replace_by_rename(tmp_path / QUEUE, theirs)):
        put(team, make_message(2))
    assert states(open_yaml(tmp_path)) == {"01": "pending", "02": "pending", "07": "pending"}
    assert all(line.intact for line in team.audit())


def test_a_writer_that_had_the_old_queue_open_is_merged_at_the_next_turn(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    with open(tmp_path / QUEUE, "r+b") as slow:
        put(team, make_message(2))
        slow.write(queue_of(make_message(1), make_message(7)))
    put(open_yaml(tmp_path), make_message(3))
    assert states(team) == {"01": "pending", "02": "pending", "07": "pending", "03": "pending"}


def test_an_archived_message_that_comes_back_is_taken_out_again(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    old = (tmp_path / QUEUE).read_bytes()
    remove(team, 1)
    replace_by_rename(tmp_path / QUEUE, old)
    assert notices(open_yaml(tmp_path)) == {"HEALED_RETURNED"}
    assert states(team) == {"02": "pending"}
