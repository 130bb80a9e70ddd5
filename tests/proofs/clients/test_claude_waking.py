"""Mail wakes a real Claude Code session in whatever state it rests, by one process that ends with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.equipment.terminal import Terminal
from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import bash, join_claude, wakers
from tests.proofs.clients.model import Script
from tests.proofs.clients.scenario import AGENT, Scenario, prompt
from tests.proofs.clients.sessions import READY
from tests.proofs.clients.test_claude import statuses, write
from tests.proofs.clients.turns import Say

pytestmark = pytest.mark.usefixtures("claude")
AWAKE, RESTS = "I am awake.", "I rest now."
NEWS = "There is one more thing to do"


def state(scenario: Scenario) -> str:
    """What the roster says of the agent."""
    return str(next(row for row in scenario.verb("roster")["agents"] if row["name"] == AGENT)["state"])


def rests(scenario: Scenario) -> None:
    """Until the roster says so."""
    scenario.wait(lambda: state(scenario) == "idle", "agent at rest")


def fresh(scenario: Scenario, client: Terminal, start: Callable[..., Terminal]) -> Terminal:
    """Nobody has said anything."""
    return client


def at_rest(scenario: Scenario, client: Terminal, start: Callable[..., Terminal]) -> Terminal:
    """A turn has ended."""
    prompt(scenario, client, "Do it")
    scenario.wait_for(client, RESTS)
    return client


def esc_at_a_dialog(scenario: Scenario, client: Terminal, start: Callable[..., Terminal]) -> Terminal:
    """The user dismissed what was asked."""
    prompt(scenario, client, "Make it")
    scenario.wait_for(client, "Do you want to")
    scenario.press_until(client, "\x1b", lambda: "Do you want to" not in client.text, every=3.0)
    return client


def esc_while_a_command_runs(scenario: Scenario, client: Terminal, start: Callable[..., Terminal]) -> Terminal:
    """The user broke off what was being done."""
    prompt(scenario, client, "Sleep well")
    scenario.wait(lambda: (scenario.place.project / "begun").exists(), "command")
    scenario.press_until(client, "\x1b", lambda: "Interrupted" in client.text, every=3.0)
    return client


def cleared(scenario: Scenario, client: Terminal, start: Callable[..., Terminal]) -> Terminal:
    """A session begun in place of another."""
    at_rest(scenario, client, start)
    client.send("/clear")
    scenario.wait_for(client, "/clear")
    scenario.press_until(client, "\r", lambda: RESTS not in client.text, every=5.0)
    return client


def compacted(scenario: Scenario, client: Terminal, start: Callable[..., Terminal]) -> Terminal:
    """A session made smaller."""
    at_rest(scenario, client, start)
    client.send("/compact")
    scenario.wait_for(client, "/compact")
    scenario.press_until(client, "\r", lambda: "Compacted" in client.text, every=10.0)
    return client


def continued(scenario: Scenario, client: Terminal, start: Callable[..., Terminal]) -> Terminal:
    """A session that goes on in another process."""
    at_rest(scenario, client, start)
    client.send("/exit")
    scenario.wait_for(client, "/exit")
    client.send("\r")
    client.wait_exit(30)
    again = start("--continue")
    scenario.wait_for(again, READY)
    return again


def waited_for(scenario: Scenario, client: Terminal, start: Callable[..., Terminal]) -> Terminal:
    """A session that begins where mail waits already."""
    client.send("/exit")
    scenario.wait_for(client, "/exit")
    client.send("\r")
    client.wait_exit(30)
    write(scenario, NEWS)
    return start()


STATES = (fresh, waited_for, at_rest, esc_at_a_dialog, esc_while_a_command_runs, cleared, compacted, continued)
SCRIPT: Script = {
    "Make it": [bash("mkfifo made"), Say(AWAKE)],
    "Sleep well": [bash("touch begun; sleep 600"), Say(AWAKE)],
    "Do it": [Say(RESTS), Say(AWAKE)],
}


@pytest.mark.parametrize("rest", STATES)
def test_mail_wakes_a_session(rest: Callable[..., Terminal], set_up: SetUp) -> None:
    scenario = set_up(Say(AWAKE), others=SCRIPT)
    claude = join_claude(scenario)

    def start(*words: str) -> Terminal:
        return scenario.watch(claude.start(*words, mode="default" if rest is esc_at_a_dialog else "auto"))

    first = start()
    scenario.wait_for(first, "? for shortcuts" if rest is esc_at_a_dialog else READY)
    scenario.wait(lambda: len(wakers(scenario)) == 1, "process that waits")
    client = rest(scenario, first, start)
    if rest is not waited_for:
        rests(scenario)
        scenario.wait(lambda: len(wakers(scenario)) == 1, "one process that waits")
        write(scenario, NEWS)
    scenario.wait_for(client, AWAKE)
    assert f"{NEWS}." in scenario.model.told
    scenario.wait(lambda: statuses(scenario) == ["read"], "mail that was read")
    scenario.wait(lambda: len(wakers(scenario)) == 1, "one process that waits again")
    client.end()
    scenario.wait(lambda: len(wakers(scenario)) == 0, "end of the process that waits")
