"""Silence is never a no: with nobody at a console a joined session does what it would do without us, in every mode."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import bash, join_claude
from tests.proofs.clients.model import ScriptedModel
from tests.proofs.clients.scenario import Scenario, prompt
from tests.proofs.clients.sessions import Claude
from tests.proofs.clients.turns import Call, Say

pytestmark = pytest.mark.usefixtures("claude")
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
