"""`send`, `broadcast`, `plan` and their answers: what is written, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from team_console.store.backends.open import open_team
from team_console.store.service import asking
from team_console.store.service.caller import Caller

from tests.equipment.cases import cases, constant
from tests.equipment.command_line import COMMAND, CommandLine
from tests.equipment.terminal import Terminal

SUMMARY = "State of the export job please"


def queue(team: CommandLine) -> list[dict[str, object]]:
    """The records as an independent YAML reader sees them."""
    return list(yaml.safe_load((team.folder / "message-queue.yaml").read_text(encoding="utf-8"))["messages"] or [])


def test_content_comes_from_standard_input_byte_for_byte(team: CommandLine) -> None:
    text = "第一行\n  indented: 'quoted' # not a comment\n\nlast line\n"
    team.ok("send --to task-manager --summary", SUMMARY, "--content", "-", stdin=text)
    assert queue(team)[0]["payload"] == {"content": text, "summary": SUMMARY}


@cases
def test_a_broadcast_says_who_will_get_it_and_asks_at_a_terminal(answer: str, written: int, team: CommandLine) -> None:
    words = ("broadcast", "--summary", "Code freeze starts at four today", "--content", "x")
    with Terminal([*COMMAND, *words], cwd=team.folder) as terminal:
        terminal.wait_for("4 deliveries: task-manager, schedule-manager, file-manager, knowledge-manager", "[y/N]")
        assert queue(team) == []
        terminal.send(answer)
        terminal.wait_exit()
    assert [record["type"] for record in queue(team)] == ["broadcast"] * written


def inbox(team: CommandLine, agent: str) -> list[dict[str, Any]]:
    """What waits for `agent`, without touching it."""
    return list(team.ok("receive --agent", agent, "--peek", "--json").json["messages"])


def answer_next(team: CommandLine, agent: str, *verdict: str) -> None:
    """Be `agent`: wait for the request to stop and answer it."""
    waiting = team.ok("receive --agent", agent, "--type", "shutdown_request", "--wait", "25", "--json").json
    request_id = waiting["messages"][0]["payload"]["request_id"]
    team.ok(verdict[0], request_id, "--as", agent, *verdict[1:])


def test_shutting_everybody_down_goes_one_after_the_other_and_waits(team: CommandLine) -> None:
    order = ["task-manager", "schedule-manager", "file-manager", "knowledge-manager"]
    with team.running("shutdown --all --timeout 25") as asking:
        for number, agent in enumerate(order):
            assert all(inbox(team, later) == [] for later in order[number + 1 :])
            verdict = ("reject", "--reason", "3 tasks are running") if agent == "file-manager" else ("approve",)
            answer_next(team, agent, *verdict)
        out, err = asking.communicate(timeout=60)
    lines = out.decode().splitlines()
    assert [line.partition(":")[0] for line in lines] == [agent for agent in order for _ in range(2)]
    assert "file-manager: refused: 3 tasks are running" in lines
    assert "task-manager: agreed to stop" in lines
    assert err.decode().strip() == "3 of 4 agreed to stop"
    assert asking.returncode == 1


@pytest.mark.parametrize("blank", ["\u200b", "\u2060 \ufeff", "\u3164", "\u2800\t", "\ufe0f"])
@cases
def test_words_that_nobody_can_see_are_none(team: CommandLine, code: str, words: tuple[str, ...], blank: str) -> None:
    asked = team.ok("--as task-manager plan --content '1. Do it' --summary 'Five words are in here' --json")
    request_id = asked.json["request_id"]
    given = [{"REQUEST": request_id, "BLANK": blank}.get(word, word) for word in words]
    assert team(*given, "--json").json["error"] == code


CLAIM, WIPE = "Bash: ls src/3", "rm -rf ~/precious"
FACES = constant(__file__, "FACES", dict[str, tuple[str, ...]])


@pytest.fixture
def request_id(team: CommandLine) -> str:
    """A permission whose asker says that it is another one."""
    caller = Caller(open_team(str(team.folder)), "task-manager")
    more = {"directory": "/srv", "summary": CLAIM, "input": {"command": WIPE, "description": "List the sources"}}
    asked = asking.ask_permission(caller, tool="Bash", **more)  # type: ignore[arg-type]
    assert asked.request_id is not None
    return asked.request_id


@pytest.mark.parametrize("face", FACES)
def test_a_title_is_never_in_the_words_of_the_asker(team: CommandLine, request_id: str, face: str) -> None:
    if face in ("decisions", "decisions-json", "evidence", "answer", "grant"):
        team.ok("--as ceo approve", request_id)
    shown = team("--as ceo", *(word.format(request_id) for word in FACES[face])).out
    assert WIPE in shown
    assert CLAIM not in shown
