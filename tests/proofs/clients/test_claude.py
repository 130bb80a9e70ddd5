"""A real Claude Code session: what it asks is decided at the console by keys, and silence is never a no."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import bash, join_claude, start_claude
from tests.proofs.clients.model import ScriptedModel
from tests.proofs.clients.scenario import AGENT, EDITED, Scenario, prompt
from tests.proofs.clients.sessions import READY, Claude
from tests.proofs.clients.turns import Call, Conversation, Play, Say

pytestmark = pytest.mark.usefixtures("claude")


def test_what_is_always_allowed_is_not_asked_again(set_up: SetUp) -> None:
    scenario = set_up(bash("mkfifo made"), bash("mkfifo made again"), Say("Both are made."))
    console = scenario.open_console()
    client = start_claude(scenario, mode="default", ask_for="none")  # a rule to ask leaves no "always" to offer
    prompt(scenario, client, "Make them")
    console.allow("mkfifo made", choose="2", verb="allow always")
    scenario.wait_for(client, "Both are made.")
    assert (scenario.place.project / "again").is_fifo()
    assert scenario.states() == [("permission", "approved")]


def test_what_is_answered_in_the_terminal_leaves_the_list_while_it_runs(set_up: SetUp) -> None:
    """The next event comes only when the command has ended."""
    scenario = set_up(bash("mkfifo made; cat made"), Say("It was read."))
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Make it")
    scenario.wait_for(client, "Do you want to proceed?")
    console.wait_for("mkfifo made")
    client.send("\r")
    scenario.wait(lambda: scenario.states() == [("permission", "withdrawn")], "request that has ended")
    scenario.wait(lambda: (scenario.place.project / "made").is_fifo(), "pipe")
    assert "It was read." not in client.text
    (scenario.place.project / "made").write_text("read")
    scenario.wait_for(client, "It was read.")
    assert [row["reason"] for row in scenario.requests()] == ["answered in the session"]


def test_a_session_that_is_killed_leaves_nothing_open(set_up: SetUp) -> None:
    scenario = set_up(bash("mkfifo made"))
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Make it")
    console.wait_for("mkfifo made")
    client.end()
    console.leave_behind("mkfifo made")
    (request,) = scenario.requests()
    assert (request["state"], request["reason"]) == ("withdrawn", "session ended")


_PLAN_FILE = re.compile(r"/\S+/\.claude/plans/[\w-]+\.md")
FIRST, SECOND = "# Split the loader\n\n1. Split it\n", "# Split the loader and test it\n\n1. Split it\n2. Test it\n"


def written(plan: str) -> list[Play]:
    """The two turns by which a model hands in a plan: the file that its client names, then the tool."""

    def write(conversation: Conversation) -> Say | Call:
        path = _PLAN_FILE.search("\n".join(conversation.texts))
        assert path is not None
        return Call("Write", {"file_path": path.group(), "content": plan})

    return [write, Call("ExitPlanMode", {"plan": plan})]


def test_a_plan_is_refused_revised_and_approved_in_manual_mode(set_up: SetUp) -> None:
    turns: list[Play] = [*written(FIRST), *written(SECOND), Say("I begin.")]
    scenario = set_up(*turns)
    console = scenario.open_console()
    client = start_claude(scenario, mode="plan")
    prompt(scenario, client, "Plan the work")
    console.reject("Split the loader", "Test it as well")
    console.approve("Split the loader and test it", choose="1")
    scenario.wait_for(client, "I begin.", "manual mode on")
    assert any("Test it as well" in result for result in scenario.model.results)
    assert scenario.states() == [("plan", "rejected"), ("plan", "approved")]


def test_a_session_from_auto_mode_goes_on_in_it(set_up: SetUp) -> None:
    scenario = set_up(Call("EnterPlanMode", {}), *written(FIRST), Say("I begin."))
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Plan the work")
    console.approve("Split the loader")
    scenario.wait_for(client, "I begin.", READY)
    assert scenario.states() == [("plan", "approved")]


def test_a_plan_that_was_edited_first_is_what_the_model_reads(set_up: SetUp) -> None:
    scenario = set_up(*written(FIRST), Say("I begin."))
    console = scenario.open_console()
    client = start_claude(scenario, mode="plan")
    prompt(scenario, client, "Plan the work")
    console.edit("Split the loader", "Approve as edited")
    scenario.wait_for(client, "I begin.")
    assert "edited by user" in scenario.model.results[-1]
    assert EDITED in scenario.model.results[-1]


def test_a_preview_and_the_words_beside_an_option_reach_the_model(set_up: SetUp) -> None:
    previews = {"SQLite": "PRAGMA journal_mode", "PostgreSQL": "CREATE TABLE"}
    options = [{"label": name, "description": "a store", "preview": text} for name, text in previews.items()]
    question = {"question": "Which database?", "header": "Database", "options": options, "multiSelect": False}
    scenario = set_up(Call("AskUserQuestion", {"questions": [question]}), Say("So be it."))
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Ask me")
    console.wait_for("PRAGMA journal_mode")
    console.answer("Which database?", "2", note="but smaller")
    scenario.wait_for(client, "So be it.")
    result = scenario.model.results[-1]
    assert '"Which database?"="PostgreSQL"' in result
    assert "CREATE TABLE" in result
    assert "notes: but smaller" in result
    assert scenario.states() == [("question", "answered")]


HIDDEN = "bash -c 'rm -f old'"
"""A command that no rule of the client sees."""


def test_dialog_and_desk_stand_side_by_side_and_the_first_answer_wins(set_up: SetUp) -> None:
    turns: list[Play] = [bash("git -C sub push"), bash("git push"), bash(HIDDEN), Say("That is all.")]
    scenario = set_up(*turns)
    console = scenario.open_console()
    client = start_claude(scenario, ask_for="team")
    prompt(scenario, client, "Push it")
    scenario.wait_for(client, "ceo wants to be asked for: push", "Do you want to proceed?")
    console.reject("git -C sub push", "Not on a Friday")
    scenario.wait_for_result("Not on a Friday")
    scenario.wait_for(client, "ceo wants to be asked for: push")
    console.reject("git push", "Nor this")
    console.wait_for("rm -f old")
    scenario.wait_for(client, "ceo wants to be asked for: delete")
    scenario.press_until(client, "\r", lambda: "That is all." in client.text)
    assert scenario.states() == [("permission", "rejected"), ("permission", "rejected"), ("permission", "withdrawn")]


def test_what_is_held_waits_with_nobody_at_a_console_and_fails_as_a_no(set_up: SetUp) -> None:
    scenario = set_up(bash("git push"), bash("git push again"), Say("That is all."))
    claude = Claude(scenario.place)
    scenario.verb("join", AGENT, "--for", "claude", "--hold", "push")
    client = scenario.watch(claude.start())
    scenario.wait_for(client, READY)
    prompt(scenario, client, "Push it")
    scenario.wait(lambda: scenario.states() == [("permission", "open")], "request")
    scenario.team.rename(scenario.team.with_name("away"))
    scenario.rest(2.0)
    scenario.team.with_name("away").rename(scenario.team)
    scenario.verb("reject", scenario.requests()[0]["request_id"], "--reason", "Not on a Friday")
    scenario.wait_for_result("Not on a Friday")
    scenario.wait(lambda: len(scenario.states()) == 2, "second request")
    scenario.verb("reject", scenario.requests()[0]["request_id"], "--reason", "Nor this")
    scenario.wait_for(client, "That is all.")
    assert not any("TEAM_CONSOLE" in result for result in scenario.model.results)


def test_a_denied_call_is_allowed_once_within_the_turn(set_up: SetUp) -> None:
    denied = Call("Bash", {"command": "mkfifo made", "description": "x"}, flagged="It makes a pipe")
    scenario = set_up(denied, denied, denied, Say("That is all."))
    console = scenario.open_console()
    client = start_claude(scenario, ask_for="team")
    prompt(scenario, client, "Do it")
    console.wait_for("It makes a pipe")
    console.allow("mkfifo made")
    scenario.wait(lambda: (scenario.place.project / "made").is_fifo(), "pipe")
    scenario.wait(lambda: len(scenario.states()) == 2, "second denial")  # one yes is for one call
    console.reject("mkfifo made", "Once is enough")
    scenario.wait_for(client, "That is all.")
    assert scenario.states() == [("permission", "approved"), ("permission", "rejected")]
    scenario.wait_for_words("Once is enough")


def test_a_subagent_asks_under_the_name_of_its_session(set_up: SetUp) -> None:
    task = "Helper, push it"
    spawn = Call("Agent", {"prompt": task, "description": "pushes it", "subagent_type": "general-purpose"})
    scenario = set_up(spawn, Say("It is over."), others={task: [bash("git push"), Say("I was told not to.")]})
    console = scenario.open_console()
    client = start_claude(scenario, ask_for="team")
    prompt(scenario, client, "Get it pushed")
    console.reject("git push", "Not on a Friday")
    scenario.wait_for(client, "It is over.")
    scenario.wait_for_result("Not on a Friday")
    assert [(row["from"], row["state"]) for row in scenario.requests()] == [(AGENT, "rejected")]


def test_a_console_that_is_killed_lets_a_headless_run_go_on(set_up: SetUp) -> None:
    scenario = set_up(bash(HIDDEN + "; mkfifo made"), Say("That is all."))
    console = scenario.open_console()
    claude = join_claude(scenario, ask_for="team")
    run = scenario.watch(claude.start("-p", "Do it"))
    console.wait_for("rm -f old")
    console.terminal.end()
    assert run.wait_exit(60) == 0
    assert (scenario.place.project / "made").is_fifo()
    assert scenario.states() == [("permission", "withdrawn")]


CALLS = Path(__file__).parent / "data" / "asked_calls.json"


def test_what_is_on_the_list_is_asked_for_and_nothing_else(set_up: SetUp, tmp_path: Path) -> None:
    project = tmp_path / "project"
    calls: list[dict[str, Any]] = json.loads(CALLS.read_text("utf-8").replace("PROJECT", str(project)))
    turns: list[Play] = [Call(call["tool"], call["input"]) for call in calls]
    scenario = set_up(*turns, Say("That is all."))
    scenario.open_console()
    claude = join_claude(scenario, ask_for="team")
    run = scenario.watch(claude.start("-p", "Do all of it"))

    def goes_on() -> bool:
        for request in scenario.verb("requests", "--open")["requests"]:
            scenario.verb("reject", request["request_id"], "--reason", "Not now")
        return "That is all." in run.text

    scenario.wait(goes_on, "end of the list", seconds=400.0)
    asked = []
    for request in scenario.requests():
        payload = scenario.verb("show", request["message_id"])["message"]["payload"]
        asked.append((payload["tool"], payload["input"]))
    wanted = [(call["tool"], call["input"]) for call in calls if call["rule"]]
    assert sorted(asked, key=str) == sorted(wanted, key=str)


MODES = ("default", "acceptEdits", "auto", "plan", "dontAsk")
ENDS = "That is all."


@contextmanager
def scene(folder: Path, *, joined: bool) -> Iterator[Scenario]:
    """A project in which a model deletes, pushes, and writes settings and a file outside."""
    folder.mkdir()
    project = folder / "project"
    calls = [
        bash("rm -r old"),
        bash("git push origin main"),
        Call("Write", {"file_path": f"{project}/.claude/x.md", "content": "x"}),
        Call("Write", {"file_path": f"{folder}/outside.md", "content": "x"}),
        Call("WebFetch", {"url": "http://127.0.0.1:9/", "prompt": "x"}),
    ]
    with ScriptedModel({"": [*(call for call in calls), Say(ENDS)]}) as model, Scenario(folder, model) as found:
        (project / "old").mkdir()
        (project / "old" / "file").write_text("x")
        if joined:
            join_claude(found, ask_for="team")
        yield found


def came_of_it(scenario: Scenario) -> list[str]:
    """What the model was told of each call, and what is there afterwards, without the names of folders."""
    folder = scenario.place.project.parent
    found = (Path(place) / name for place, folders, files in os.walk(folder) for name in (*folders, *files))
    paths = sorted(str(path) for path in found if path.name in ("old", "x.md", "outside.md"))
    return [text.replace(str(folder), "FOLDER") for text in (*scenario.model.heard[-1].results, *paths)]


@pytest.mark.parametrize("mode", MODES)
def test_a_headless_run_with_nobody_at_a_console_comes_out_as_without_us(
    mode: str, claude: None, tmp_path: Path
) -> None:
    with scene(tmp_path / "alone", joined=False) as alone, scene(tmp_path / "joined", joined=True) as joined:
        for scenario in (alone, joined):
            assert Claude(scenario.place).run("Do it", mode=mode).stdout.strip() == ENDS
        assert came_of_it(joined) == came_of_it(alone)
        assert [row["state"] for row in joined.requests()] == ["withdrawn"] * len(joined.requests())


@pytest.mark.parametrize("mode", MODES)
def test_a_terminal_with_nobody_at_a_console_shows_what_it_would_show_without_us(
    mode: str, claude: None, tmp_path: Path
) -> None:
    """The first dialog, if there is one, is for the same call."""
    shown = []
    for name in ("alone", "joined"):
        with scene(tmp_path / name, joined=name == "joined") as scenario:
            client = scenario.watch(Claude(scenario.place).start(mode=mode))
            scenario.wait_for(client, "❯")
            prompt(scenario, client, "Do it")
            ends = ("Do you want to", ENDS)
            scenario.wait(lambda: any(text in client.text for text in ends), "dialog or end")  # noqa: B023
            asked = "Do you want to" in client.text
            shown.append((asked, came_of_it(scenario)))
    assert shown[0] == shown[1]


@pytest.mark.parametrize("mode", MODES)
def test_a_headless_run_is_asked_for_while_a_console_is_open(mode: str, set_up: SetUp) -> None:
    scenario = set_up(bash("git push origin main; mkfifo made"), Say(ENDS))
    console = scenario.open_console()
    claude = join_claude(scenario, ask_for="team")
    run = scenario.watch(claude.start("-p", "Do it", mode=mode))
    console.allow("git push origin main")
    assert run.wait_exit(60) == 0
    assert (scenario.place.project / "made").is_fifo()
    assert scenario.states() == [("permission", "approved")]


def test_what_a_headless_run_was_refused_is_told_to_who_comes_back(claude: None, tmp_path: Path) -> None:
    with scene(tmp_path / "joined", joined=True) as scenario:
        Claude(scenario.place).run("Do it", mode="default")
        happened = scenario.verb("digest", "--since", "1h")["happened"]
        denied = [item["what"] for item in happened if item["group"] == "denied by its client"]
        assert any("rm -r old" in what for what in denied)
        assert all("nobody was at its terminal" in what for what in denied)


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


MATE = "bob"


def test_a_teammate_asks_under_its_own_name(set_up: SetUp) -> None:
    task = "Mate, make the pipe"
    spawn = Call(
        "Agent", {"name": MATE, "prompt": task, "description": "makes a pipe", "subagent_type": "general-purpose"}
    )
    scenario = set_up(spawn, Say("I have help."), others={task: [bash("mkfifo by-mate"), Say("The pipe is there.")]})
    console = scenario.open_console()
    client = start_claude(scenario, teams=True)
    prompt(scenario, client, "Get help")
    console.allow("mkfifo by-mate")
    scenario.wait(lambda: (scenario.place.project / "by-mate").is_fifo(), "pipe of the teammate")
    (request,) = scenario.requests()
    assert (request["from"], request["state"]) == (MATE, "approved")
    rows = {row["name"]: row for row in scenario.verb("roster")["agents"]}
    assert MATE in rows
    client.end()


_SERVER = "mcp__team-console__"
PLAN = {"plan": "1. Split the loader\n2. Test it", "summary": "Split the loader and test both halves"}


def test_a_plan_refused_over_mcp_is_revised_and_approved(set_up: SetUp) -> None:
    better = {"plan": f"{PLAN['plan']}\n3. Undo", "summary": "The same, with a way back at the end"}
    turns: list[Play] = [
        Call(f"{_SERVER}hand_in_plan", PLAN),
        Call(f"{_SERVER}hand_in_plan", better),
        Say("I go on."),
    ]
    scenario = set_up(*turns)
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Plan the work")
    console.reject(PLAN["summary"], "Say how it is undone")
    scenario.wait_for_result("Say how it is undone")
    console.approve(better["summary"])
    scenario.wait_for(client, "I go on.")
    assert '"state":"approved"' in scenario.model.results[-1].replace(" ", "")
    assert scenario.states() == [("plan", "rejected"), ("plan", "approved")]


def test_a_verdict_that_comes_late_wakes_the_session(set_up: SetUp) -> None:
    def look_again(conversation: Conversation) -> Say | Call:
        (ticket,) = re.findall(r'"request_id": ?"([^"]+)"', conversation.results[-1])
        return Call(f"{_SERVER}verdict", {"request_id": ticket})

    turns: list[Play] = [
        Call(f"{_SERVER}hand_in_plan", {**PLAN, "wait_seconds": 0.5}),
        Say("I wait for the verdict."),
        look_again,
        Say("I go on."),
    ]
    scenario = set_up(*turns)
    client = start_claude(scenario)
    prompt(scenario, client, "Plan the work")
    scenario.wait_for(client, "I wait for the verdict.")
    scenario.open_console().approve(PLAN["summary"])
    scenario.wait_for(client, "I go on.")
    assert '"state":"approved"' in scenario.model.results[-1].replace(" ", "")
