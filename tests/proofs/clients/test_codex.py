"""Real Codex sessions, two clients in one team, and sessions that join all at once."""

from __future__ import annotations

import pytest

from tests.proofs.clients import packages
from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import (
    CODEX_READY,
    bash,
    escalated,
    join_claude,
    join_codex,
    start_claude,
    start_codex,
    wakers,
)
from tests.proofs.clients.scenario import AGENT, OTHER, Scenario, prompt
from tests.proofs.clients.sessions import READY, Claude
from tests.proofs.clients.test_claude import write
from tests.proofs.clients.test_claude_waking import rests
from tests.proofs.clients.turns import Call, Conversation, Play, Say

HAND_IN = "mcp__team_console.hand_in_plan"


@pytest.mark.usefixtures("codex")
def test_a_plan_comes_by_mcp(set_up: SetUp) -> None:
    """Codex has no plans of its own that a hook could see."""

    def work(conversation: Conversation) -> Say | Call:
        if HAND_IN not in conversation.tools:
            return Say("The server is not ready yet.")
        if not conversation.results:
            return Call(HAND_IN, {"plan": "1. Split it", "summary": "Split the loader into its halves"})
        return Say("I begin.")

    scenario = set_up(*[work] * 20)
    console = scenario.open_console()
    client = start_codex(scenario)
    while not scenario.requests():
        prompt(scenario, client, f"Go {len(scenario.model.heard)}")
        scenario.wait(lambda: bool(scenario.requests()) or "not ready yet" in client.text, "turn")
    console.approve("Split the loader into its halves")
    scenario.wait_for(client, "I begin.")
    assert '"state":"approved"' in scenario.model.results[-1]
    assert scenario.states() == [("plan", "approved")]


@pytest.mark.usefixtures("claude", "codex")
def test_two_clients_at_once_each_get_their_own_verdict(set_up: SetUp) -> None:
    claude_turns: list[Play] = [
        Call("Bash", {"command": "mkfifo by-claude", "description": "x"}),
        Say("Claude is through."),
    ]
    codex_turns: list[Play] = [escalated("mkfifo by-codex"), Say("Codex is through.")]
    scenario = set_up(others={"Work for Claude": claude_turns, "Work for Codex": codex_turns})
    console = scenario.open_console()
    session = Claude(scenario.place)
    join_claude(scenario)
    claude = scenario.watch(session.start())
    scenario.wait_for(claude, READY)
    codex = start_codex(scenario, OTHER)
    prompt(scenario, claude, "Work for Claude")
    console.wait_for("mkfifo by-claude")
    prompt(scenario, codex, "Work for Codex")
    console.wait_for("mkfifo by-claude", "mkfifo by-codex")
    console.allow("mkfifo by-claude")
    scenario.wait_for(claude, "Claude is through.")
    console.reject("mkfifo by-codex", "Not from you")
    scenario.wait_for(codex, "Codex is through.")
    made = {path.name for path in scenario.place.project.iterdir() if path.is_fifo()}
    assert made == {"by-claude"}
    assert {row["from"]: row["state"] for row in scenario.requests()} == {AGENT: "approved", OTHER: "rejected"}


@pytest.mark.usefixtures("codex")
def test_a_session_whose_turn_was_broken_off_rests_and_who_waits_beside_it_ends_with_it(set_up: SetUp) -> None:
    """After Esc it keeps what is queued until the next prompt."""
    scenario = set_up(Call("exec_command", {"cmd": "touch begun; sleep 600"}), Say("I am awake."))
    program = packages.codex()
    assert program is not None
    client = start_codex(scenario, path=str(program.parent))
    prompt(scenario, client, "Sleep")
    scenario.wait(lambda: (scenario.place.project / "begun").exists(), "command")
    scenario.press_until(client, "\x1b", lambda: "interrupted" in client.text.lower(), every=3.0)
    rests(scenario)
    scenario.wait(lambda: len(wakers(scenario)) == 1, "one process that waits")
    write(scenario, "There is one more thing to do")
    scenario.wait(lambda: not wakers(scenario), "mail that is queued")
    prompt(scenario, client, "Go on")
    scenario.wait_for_words("There is one more thing to do.")
    scenario.wait(lambda: len(wakers(scenario)) == 1, "one process that waits again")
    client.end()
    scenario.wait(lambda: not wakers(scenario), "end of the process that waits")


def named(scenario: Scenario, clients: int) -> list[str]:
    """The members that the sessions became."""
    names: list[str] = []

    def look() -> bool:
        rows = scenario.verb("roster")["agents"]
        names[:] = [row["name"] for row in rows if row["name"] not in ("ceo", AGENT)]
        return len(names) == clients

    scenario.wait(look, f"{clients} members")
    return names


@pytest.mark.usefixtures("claude")
def test_two_sessions_that_run_in_one_project_join_without_a_restart_as_two_members(set_up: SetUp) -> None:
    scenario = set_up(others={"First": [Say("One."), Say("I read it.")], "Second": [Say("Two.")]})
    claude = Claude(scenario.place)
    first, second = (scenario.watch(claude.start()) for _ in range(2))
    for client in (first, second):
        scenario.wait_for(client, READY)
    done = scenario.verb("join", "--all")
    assert sum(note.endswith("joins") for note in done["notes"]) == 2
    scenario.wait(lambda: (scenario.place.home / ".claude" / "settings.json").exists(), "settings")
    scenario.rest(4.0)
    prompt(scenario, first, "First")
    scenario.wait_for(first, "One.")
    (mine,) = named(scenario, 1)
    prompt(scenario, second, "Second")
    scenario.wait_for(second, "Two.")
    (other,) = set(named(scenario, 2)) - {mine}
    scenario.wait_for(first, mine)  # in the frame of its prompt
    scenario.wait_for(second, other)
    scenario.verb("send", "--to", mine, "--summary", "For the first alone to read", "--content", "Only you.")
    scenario.wait_for(first, "I read it.")
    assert "Only you." in scenario.model.told


@pytest.mark.usefixtures("claude")
def test_a_session_that_starts_later_has_joined(set_up: SetUp) -> None:
    scenario = set_up(bash("git push"), Say("That is all."))
    console = scenario.open_console()
    scenario.verb("join", "--all")
    claude = Claude(scenario.place)
    client = scenario.watch(claude.start("--name", "loader"))
    scenario.wait_for(client, READY)
    prompt(scenario, client, "Push it")
    console.reject("git push", "Not on a Friday")
    scenario.wait_for(client, "That is all.")
    assert [row["from"] for row in scenario.requests()] == ["loader"]


@pytest.mark.usefixtures("claude")
def test_a_session_cannot_take_its_hooks_off(set_up: SetUp) -> None:
    unhook, push = bash("echo '{}' > .claude/settings.json"), bash("git push")
    scenario = set_up(unhook, bash("sleep 4"), push, Say("That is all."))
    client = start_claude(scenario, ask_for="push")
    scenario.open_console()
    prompt(scenario, client, "Do it")
    scenario.wait(lambda: scenario.states() == [("permission", "open")], "request")
    scenario.verb("reject", scenario.requests()[0]["request_id"], "--reason", "Not on a Friday")
    scenario.wait_for(client, "That is all.")
    assert [item["who"] for item in scenario.verb("status")["needs"]] == [AGENT]


@pytest.mark.usefixtures("codex")
def test_an_idle_codex_is_woken_by_mail(set_up: SetUp) -> None:
    scenario = set_up(Say("I rest now."), Say("I am awake."))
    program = packages.codex()
    assert program is not None
    client = start_codex(scenario, path=str(program.parent))
    prompt(scenario, client, "Do it")
    scenario.wait_for(client, "I rest now.")
    scenario.rest(2.0)
    scenario.verb("send", "--to", AGENT, "--summary", "There is one more thing", "--content", "One more thing.")
    scenario.wait_for(client, "I am awake.")
    assert "One more thing." in scenario.model.told
    assert "approves nothing" in scenario.model.told


@pytest.mark.usefixtures("codex")
def test_mail_for_a_busy_codex_comes_when_its_turn_ends_and_for_one_that_has_ended_with_its_next(
    set_up: SetUp,
) -> None:
    works = Call("exec_command", {"cmd": "sleep 4"})
    scenario = set_up(works, Say("I have slept."), Say("I read it."), Say("Again."), Say("So."))
    codex = join_codex(scenario)
    client = scenario.watch(codex.start())
    scenario.wait_for(client, CODEX_READY)
    prompt(scenario, client, "Do it")
    scenario.verb("send", "--to", AGENT, "--summary", "There is one more thing", "--content", "One more thing.")
    scenario.wait_for(client, "I read it.")
    assert "One more thing." in scenario.model.told
    client.end()
    late = ("--summary", "There is another thing to do", "--content", "Another thing.")
    scenario.verb("send", "--to", AGENT, *late)
    assert codex.run("Go on", again=True).returncode == 0
    assert "Another thing." in scenario.model.told


@pytest.mark.usefixtures("codex")
def test_a_codex_in_its_server_outlives_its_terminal_and_is_still_answered(set_up: SetUp) -> None:
    scenario = set_up(escalated("mkfifo made"), Say("It is made."))
    console = scenario.open_console()
    codex = join_codex(scenario)
    client = scenario.watch(codex.start(in_server=True))
    scenario.wait_for(client, "Trust all and continue")
    scenario.press_until(client, "2", lambda: "› 2. Trust all" in client.text)
    scenario.press_until(client, "\r", lambda: CODEX_READY in client.text)
    prompt(scenario, client, "Make it")
    console.wait_for("mkfifo made")
    client.end()
    try:
        console.allow("mkfifo made")
        scenario.wait(lambda: (scenario.place.project / "made").is_fifo(), "pipe")
    finally:
        codex.stop_server()
