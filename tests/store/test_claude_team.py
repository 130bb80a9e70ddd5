"""Teams of other programs, opened read-only: Claude Code's, and `.team` with a file of JSON lines for each inbox."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.snapshot import Condition
from team_console.store.contract.team import WatchState
from team_console.store.model.errors import Code, TeamError

from tests.equipment.cases import constant

MEMBERS = constant(__file__, "MEMBERS", list[Any])


def entry(text: object, **more: Any) -> dict[str, Any]:
    """An entry of an inbox of Claude Code."""
    words = text if isinstance(text, str) else json.dumps(text)
    return {"from": "researcher", "text": words, "timestamp": "2026-11-25T10:00:00.000Z", **more}


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A running team of Claude Code named alpha; its folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    folder = tmp_path / "teams" / "alpha"
    (folder / "inboxes").mkdir(parents=True)
    settings = {"name": "alpha", "leadAgentId": "team-lead@alpha", "members": MEMBERS}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    put(folder, "team-lead", [entry("Done with the first part", summary="first part done")])
    return folder


def put(folder: Path, agent: str, entries: object) -> None:
    """Write an inbox as Claude Code does: another file renamed over it."""
    path = folder / "inboxes" / f"{agent}.json"
    path.with_suffix(".tmp").write_text(json.dumps(entries, indent=2), encoding="utf-8")
    path.with_suffix(".tmp").replace(path)


def test_changes_and_the_end_of_a_team_are_noticed(claude: Path) -> None:
    def end() -> None:
        claude.rename(claude.with_name("beta"))

    async def watched() -> list[WatchState]:
        states = []
        async for hint in open_team("claude:alpha").watch():
            states.append(hint.state)
            if len(states) == 1:
                put(claude, "team-lead", [])
            elif hint.state is WatchState.LIVE:
                end()
            else:
                break
        return states

    assert asyncio.run(asyncio.wait_for(watched(), 30)) == [WatchState.LIVE, WatchState.LIVE, WatchState.STALLED]
    assert open_team(str(claude.with_name("beta"))).snapshot().condition is Condition.EMPTY


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


@pytest.mark.parametrize("make", [_pipe, _link])
def test_what_is_no_plain_file_is_named_and_not_read(make: Callable[[Path], None], claude: Path) -> None:
    inbox = claude / "inboxes" / "team-lead.json"
    make(inbox)
    with ExitStack() as stack:
        if make is _pipe:  # with something in it
            stream = stack.enter_context(open(os.open(inbox, os.O_RDWR), "wb", buffering=0))
            stream.write(json.dumps([entry("from the pipe")]).encode())
        snapshot = open_team("claude:alpha").snapshot()
    assert snapshot.messages == ()
    assert any(item.code == "DAMAGED_ENTRY" and "team-lead.json" in item.place for item in snapshot.problems)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[",
        "[" * 100_000,
        '[{"from": 1, "text": null}, 7, null]',
        "\x00\xff",
        '["' + "9" * 5_000 + '"]',
        "NaN",
    ],
)
def test_a_file_of_any_content_is_survived(text: str, claude: Path) -> None:
    (claude / "inboxes" / "other.json").write_text(text, encoding="latin-1")
    (claude / "config.json").write_text(text, encoding="latin-1")
    snapshot = open_team("claude:alpha").snapshot()
    assert {message.sender for message in snapshot.messages} <= {"researcher", "unnamed"}
    assert any(problem.place.endswith(".json") for problem in snapshot.problems)


def test_a_file_that_is_cut_keeps_what_it_said_of_the_others(claude: Path) -> None:
    put(claude, "team-lead", [entry("one of them"), entry("two of them"), entry("three of them")])
    team = open_team("claude:alpha")
    whole = (claude / "inboxes" / "team-lead.json").read_text(encoding="utf-8")
    assert [message.status for message in team.snapshot().messages] == ["pending"] * 3
    (claude / "inboxes" / "team-lead.json").write_text(whole[: whole.index("three")], encoding="utf-8")
    after = team.snapshot()
    assert sorted((message.content, message.status) for message in after.messages) == [
        ("one of them", "pending"),
        ("three of them", "pending"),
        ("two of them", "pending"),
    ]


@pytest.mark.parametrize("name", ["beta", "../alpha", "", "a/b", ".."])
def test_a_name_that_is_no_team_gets_the_names_there_are(name: str, claude: Path) -> None:
    with pytest.raises(TeamError) as refused:
        open_team(f"claude:{name}")
    assert refused.value.code is Code.TEAM_NOT_FOUND
    assert "alpha" in refused.value.hint
