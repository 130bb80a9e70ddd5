"""The live demo and its fixed team: the same every time, whole, on a terminal, and nothing is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml
from team_console.console.demo.player import STORY
from team_console.store.backends.open import open_team
from team_console.store.protocol.checks import problems_of
from team_console.store.protocol.parsing import parse_message
from team_console.store.views.projection import view_of
from team_console.store.views.rows import View

from tests.equipment.command_line import COMMAND, CommandLine, next_line
from tests.equipment.samples import sampled
from tests.equipment.scripts import Script
from tests.equipment.terminal import Terminal
from tests.showcase import NOW, build

pytestmark = pytest.mark.slow


T = TypeVar("T")
PATIENCE = 180.0
SCRIPTS = {path.stem: path for path in sorted((Path(__file__).parent / "scripts").glob("*.txt"))}
"""What agents do when the human decides; each with other agents, beside each other in one play."""


def eventually(look: Callable[[], T | None], what: str) -> T:
    """What `look` gives once it gives something true."""
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end, f"never came about: {what}"
        time.sleep(0.25)  # A look is a process of its own, beside ten agents at work.
    return found


def processes_about(folder: Path) -> list[int]:
    """The processes that have the demo's folder among their arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(str(folder.parent) in argument for argument in arguments):
            found.append(int(process.name))
    return found


@dataclass(frozen=True, slots=True)
class Play:
    """A running demo without a console, and the command line on its team."""

    process: subprocess.Popen[bytes]
    folder: Path
    cli: CommandLine

    def messages(self, agent: str = "ceo") -> list[dict[str, Any]]:
        """The live messages of an agent."""
        return list(self.cli.ok("inbox", agent, "--json").json["messages"])


@pytest.fixture
def play(elsewhere: CommandLine) -> Iterator[Play]:
    """A demo at 24 times the pace."""
    with playing(elsewhere) as play:
        yield play


@pytest.fixture(scope="module")
def shared_play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    """The same, for tests that each talk to other agents."""
    with playing(CommandLine(tmp_path_factory.mktemp("shared"))) as play:
        yield play


@contextmanager
def playing(elsewhere: CommandLine) -> Iterator[Play]:
    """A demo that runs until the block ends."""
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("needs /proc to see the agents' processes")
    with elsewhere.running("demo --headless 300 --speed 24 --seed 7") as process:
        folder = Path(next_line(process.stdout))
        try:
            yield Play(process, folder, CommandLine(folder))
        finally:
            process.terminate()
            process.wait(20)


def test_the_first_minute_is_a_plan_a_push_and_a_question_and_no_more(elsewhere: CommandLine) -> None:
    """Sprint, failures and everything else to learn come later."""
    with elsewhere.running("demo --headless 300 --seed 7") as process:
        cli = CommandLine(Path(next_line(process.stdout)))
        asked = eventually(
            lambda: rows if len(rows := cli.ok("requests", "--open", "--json").json["requests"]) == 3 else None,
            "three requests",
        )
        status = cli.ok("inbox", "ceo", "--json").json["messages"]
        process.terminate()
        process.wait(20)
    assert {row["kind"] for row in asked} == {"plan", "permission", "question"}
    assert {message["message_id"] for message in status} == {row["message_id"] for row in asked}
    assert len(STORY.lists["plans"][0]["content"].splitlines()) >= 100


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_a_script_says_of_the_agents_holds(script: str, shared_play: Play) -> None:
    Script(shared_play.cli).play(SCRIPTS[script].read_text("utf-8"))


def test_whoever_agrees_to_everything_sees_both_batches_through_and_no_warning(play: Play) -> None:
    """No finding is of the demo's own making."""

    def agree() -> bool:
        for row in play.cli.ok("requests", "--open", "--json").json["requests"]:
            if row["kind"] == "question":
                play.cli("answer", row["request_id"], "--text", "The first one")
            elif row["kind"] == "clarification":
                play.cli("approve", row["request_id"], "--note", "Yes")
            else:
                play.cli("approve", row["request_id"])
        done = [message for message in play.messages() if "is complete, I can go" in message["payload"]["summary"]]
        return len({message["from"] for message in done}) == 2

    eventually(agree, "the end of both batches")
    assert play.cli.ok("check", "--json").json["findings"] == []


@pytest.mark.parametrize("number", sampled([signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP], 2))
def test_however_it_ends_no_process_and_no_folder_is_left(number: signal.Signals, play: Play) -> None:
    eventually(lambda: processes_about(play.folder), "the agents")
    os.kill(play.process.pid, number)
    play.process.wait(20)
    eventually(lambda: not processes_about(play.folder), "the end of every process")
    eventually(lambda: not play.folder.parent.exists(), "the end of the folder")


def test_its_time_ends_by_itself_and_the_folder_can_be_kept(elsewhere: CommandLine) -> None:
    result = elsewhere.ok("demo --headless 0.5 --keep")
    folder = Path(result.out.strip())
    try:
        assert (folder / "message-queue.yaml").exists()
        assert processes_about(folder) == []
        assert (folder.parent / "agents.log").read_text() == ""
    finally:
        subprocess.run(["rm", "-rf", str(folder.parent)], check=True)


DEMO = [*COMMAND, "demo", "--speed", "8", "--seed", "7"]


def demo_folders(temporary: Path) -> list[Path]:
    """The folders of running demos in a place for temporary files of its own."""
    return list(temporary.glob("team-console-demo-*"))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the demo makes its folder."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


ENDS: Mapping[str, Callable[[Terminal], object]] = {
    "ctrl+q": lambda terminal: terminal.send("\x11"),
    "a signal": lambda terminal: terminal.signal(signal.SIGTERM),
    "a lost terminal": lambda terminal: terminal.hang_up(),
}


@pytest.mark.parametrize("end", ENDS)
def test_however_a_console_ends_its_agents_and_its_folder_do(end: str, temporary: Path, elsewhere: CommandLine) -> None:
    with Terminal(DEMO, cwd=elsewhere.folder) as terminal:
        terminal.wait_for("sprint-42", "Plan · ", "●")
        terminal.send("2")
        terminal.wait_for("Agent ", "not seen")
        assert " join " not in terminal.text, "whoever joined it would be left without a team"
        [folder] = demo_folders(temporary)
        eventually(lambda: processes_about(folder / "team"), "the process of the agents")
        ENDS[end](terminal)
    eventually(lambda: not processes_about(folder / "team"), "the end of every process")
    eventually(lambda: not demo_folders(temporary), "the end of the folder")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The showcase on disk."""
    folder: Path = tmp_path_factory.mktemp("showcase") / "team"
    build(folder)
    return folder


@pytest.fixture(scope="module")
def view(root: Path) -> View:
    """What its lead sees at the showcase's own time."""
    team = open_team(str(root), read_only=True, clock=lambda: NOW)
    return view_of(team.snapshot(), me="ceo", now=NOW, history=team.history(limit=500).messages)


def test_an_independent_reader_understands_it(root: Path) -> None:
    records = yaml.safe_load((root / "message-queue.yaml").read_text(encoding="utf-8"))["messages"]
    ids = [record["message_id"] for record in records]
    assert len(ids) == len(set(ids)) > 50


def test_every_screen_has_something_to_show(view: View) -> None:
    assert len(view.batches) == 3
    assert view.lifecycles
    assert {"failed", "retry"} <= set(view.counts)
    assert {"plan", "shutdown", "create", "destroy", "debug"} <= {str(row.kind) for row in view.requests}
    assert all(view.inboxes[name] for name in ("ceo", "task-manager", "file-manager"))
    assert len({str(row.state) for row in view.roster}) >= 3
    assert any("请" in message.content for message in view.snapshot.messages), "more than one script"


def test_nothing_in_it_departs_from_its_protocol(view: View) -> None:
    messages = view.snapshot.messages
    problems = [problem for message in messages for problem in problems_of(parse_message(message))]
    assert problems == []
    assert [finding for finding in view.findings if finding.severity == "error"] == []
