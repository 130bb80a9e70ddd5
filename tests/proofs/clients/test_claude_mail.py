"""Mail that reaches a real Claude Code session by itself: in the middle, at the end of a turn, and when it rests."""

from __future__ import annotations

import re

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import bash, start_claude
from tests.proofs.clients.scenario import AGENT, Scenario, prompt
from tests.proofs.clients.turns import Call, Conversation, Say

pytestmark = pytest.mark.usefixtures("claude")


def write(scenario: Scenario, words: str, *more: str) -> None:
    """The lead writes to the agent."""
    scenario.verb("send", "--to", AGENT, "--summary", words, "--content", f"{words}.", *more)


def statuses(scenario: Scenario) -> list[str]:
    """How far the agent's mail is."""
    return [message["status"] for message in scenario.verb("inbox", AGENT)["messages"]]


def test_mail_keeps_a_turn_from_ending_and_is_read_once_it_went_on(set_up: SetUp) -> None:
    def mail_comes(conversation: Conversation) -> Say | Call:
        write(scenario, "Mind the tests of the loader")
        return Say("I am done.")

    scenario = set_up(mail_comes, Say("I minded the tests."))
    client = start_claude(scenario)
    prompt(scenario, client, "Do it")
    scenario.wait_for(client, "I minded the tests.")
    assert "Mind the tests of the loader." in scenario.model.told
    scenario.wait(lambda: statuses(scenario) == ["read"], "mail that was read")
    assert scenario.model.heard[-1].turns == 1


def test_urgent_mail_comes_in_the_middle_of_the_work(set_up: SetUp) -> None:
    def work(conversation: Conversation) -> Say | Call:
        write(scenario, "Stop using the old loader at once", "--priority", "critical")
        write(scenario, "Lunch is at twelve in the hall")
        return bash("echo one")

    def after(conversation: Conversation) -> Say | Call:
        told.append("\n".join((*conversation.texts, *conversation.results)))
        return Say("I use the new one.")

    told: list[str] = []
    scenario = set_up(work, after, Say("I know about lunch."))
    client = start_claude(scenario)
    prompt(scenario, client, "Do it")
    scenario.wait_for(client, "I know about lunch.")
    assert "Stop using the old loader at once." in told[0]
    assert "Lunch is at twelve" not in told[0]
    scenario.wait(lambda: statuses(scenario) == ["read", "read"], "mail that was read")


def test_a_request_to_stop_comes_with_the_command_that_answers_it(set_up: SetUp) -> None:
    def agree(conversation: Conversation) -> Say | Call:
        told = "\n".join((*conversation.texts, *conversation.results))
        command = re.search(r"team-console \S.* approve shutdown-\S+", told)
        assert command is not None
        return bash(command.group())

    scenario = set_up(Say("I rest now."), agree, Say("Good bye."))
    client = start_claude(scenario)
    prompt(scenario, client, "Do it")
    scenario.wait_for(client, "I rest now.")
    scenario.verb("shutdown", AGENT, "--reason", "The work is done")
    scenario.wait_for(client, "Good bye.")
    assert scenario.states() == [("shutdown", "approved")]
