"""Mail that reaches a real Claude Code session by itself: in the middle, at the end of a turn, and when it rests."""

from __future__ import annotations

import re

import pytest

from tests.clients.conftest import SetUp
from tests.clients.stage import AGENT, Stage, prompt
from tests.clients.test_claude_permissions import bash, started
from tests.clients.turns import Conversation, Say, Turn

pytestmark = pytest.mark.usefixtures("claude")


def write(stage: Stage, words: str, *more: str) -> None:
    """The lead writes to the agent."""
    stage.verb("send", "--to", AGENT, "--summary", words, "--content", f"{words}.", *more)


def statuses(stage: Stage) -> list[str]:
    """How far the agent's mail is."""
    return [message["status"] for message in stage.verb("inbox", AGENT)["messages"]]


def test_mail_keeps_a_turn_from_ending_and_is_read_once_it_went_on(set_up: SetUp) -> None:
    def mail_comes(conversation: Conversation) -> Turn:
        write(stage, "Mind the tests of the loader")
        return (Say("I am done."),)

    stage = set_up({"": [mail_comes, (Say("I minded the tests."),)]})
    client = started(stage)
    prompt(stage, client, "Do it")
    stage.wait_for(client, "I minded the tests.")
    assert "Mind the tests of the loader." in stage.model.told
    stage.wait(lambda: statuses(stage) == ["read"], "mail that was read")
    assert stage.model.heard[-1].turns == 1


def test_urgent_mail_comes_in_the_middle_of_the_work(set_up: SetUp) -> None:
    def work(conversation: Conversation) -> Turn:
        write(stage, "Stop using the old loader at once", "--priority", "critical")
        write(stage, "Lunch is at twelve in the hall")
        return (bash("echo one"),)

    def after(conversation: Conversation) -> Turn:
        told.append("\n".join((*conversation.texts, *conversation.results)))
        return (Say("I use the new one."),)

    told: list[str] = []
    stage = set_up({"": [work, after, (Say("I know about lunch."),)]})
    client = started(stage)
    prompt(stage, client, "Do it")
    stage.wait_for(client, "I know about lunch.")
    assert "Stop using the old loader at once." in told[0]
    assert "Lunch is at twelve" not in told[0]
    stage.wait(lambda: statuses(stage) == ["read", "read"], "mail that was read")


def test_mail_wakes_a_session_that_rests(set_up: SetUp) -> None:
    stage = set_up({"": [(Say("I rest now."),), (Say("I am awake."),)]})
    client = started(stage)
    prompt(stage, client, "Do it")
    stage.wait_for(client, "I rest now.")
    stage.wait(lambda: _state(stage) == "idle", "agent at rest")
    write(stage, "There is one more thing to do")
    stage.wait_for(client, "I am awake.")
    assert "There is one more thing to do." in stage.model.told
    stage.wait(lambda: statuses(stage) == ["read"], "mail that was read")


def test_a_request_to_stop_comes_with_the_command_that_answers_it(set_up: SetUp) -> None:
    def agree(conversation: Conversation) -> Turn:
        told = "\n".join((*conversation.texts, *conversation.results))
        command = re.search(r"team-console \S.* approve shutdown-\S+", told)
        assert command is not None
        return (bash(command.group()),)

    stage = set_up({"": [(Say("I rest now."),), agree, (Say("Good bye."),)]})
    client = started(stage, "--allowedTools", "Bash")
    prompt(stage, client, "Do it")
    stage.wait_for(client, "I rest now.")
    stage.verb("shutdown", AGENT, "--reason", "The work is done")
    stage.wait_for(client, "Good bye.")
    assert stage.states() == [("shutdown", "approved")]


def _state(stage: Stage) -> str:
    rows = {row["name"]: row for row in stage.verb("roster")["agents"]}
    return str(rows[AGENT]["state"])
