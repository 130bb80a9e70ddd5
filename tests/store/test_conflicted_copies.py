"""Copies that synced folders leave of a queue or an archive: named, with the number of messages that are only there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from team_console.store.contract.team import CONFLICTED_COPY
from team_console.store.model.errors import Problem

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import QUEUE, open_yaml, queue_of, receive, states

pytestmark = pytest.mark.slow


def told(root: Path) -> list[Problem]:
    return [problem for problem in open_yaml(root).snapshot().problems if problem.code == CONFLICTED_COPY]


@cases
@pytest.mark.parametrize("stem", ["message-queue", "archive/task-manager-archive"])
def test_a_copy_is_named_with_what_is_nowhere_else_and_its_messages_can_be_taken_in(
    tmp_path: Path, name: str, stem: str
) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    receive(team)
    put(team, make_message(3))
    copy = tmp_path / name.format(stem=stem)
    copy.write_bytes(queue_of(*map(make_message, (1, 2, 3, 4, 5))))
    (problem,) = told(tmp_path)
    assert problem.severity == "warning"
    assert problem.place == name.format(stem=stem)
    assert "2 messages in it are nowhere else" in problem.message
    here = CommandLine(tmp_path)
    assert "nowhere else" in here("check").out
    assert "nowhere else" in here("status").out
    command = problem.hint.partition("take them in: ")[2]
    subprocess.run(command, shell=True, check=True, cwd="/")
    put(open_yaml(tmp_path), make_message(6))
    assert {"04", "05", "06"} <= states(open_yaml(tmp_path)).keys()
    assert [found for found in told(tmp_path) if found.severity != "notice"] == []


@cases
def test_what_is_no_such_copy_or_holds_nothing_new_is_no_finding(tmp_path: Path, name: str) -> None:
    put(open_yaml(tmp_path), make_message(1))
    shutil.copy(tmp_path / QUEUE, tmp_path / name.format(stem="message-queue"))
    assert told(tmp_path) == []
