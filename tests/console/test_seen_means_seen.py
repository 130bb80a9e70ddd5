"""What is approved is what stood on the screen: the question, what it is compared with, and the evidence beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from team_console.console.tui import evidence
from team_console.store.protocol.verdicts import REQUEST_DIGEST, digest_of
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.views.evidence import Evidence
from team_console.widgets import form_gate as forms
from team_console.widgets.form import Excerpt
from textual.widgets import Static

from tests.console.conftest import AUTHOR, Desk, ask_permission, hand_in_plan, opened, rewrite, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
CHANGED = "it changed while you were deciding"


def new_in(desk: Desk) -> str:
    """What the form says is new."""
    (shown,) = desk.front.query("#changed").results(Excerpt)
    return "\n".join("".join(text for text, _ in line) for line in shown._lines)


async def evidence_shown(desk: Desk) -> None:
    await desk.reads("unknown (not connected with `join`)")


async def test_a_change_is_shown_as_a_diff_and_the_next_enter_approves_what_it_shows(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await evidence_shown(desk)
        await desk.asks("a")
        (plan,) = team.snapshot().messages
        rewrite(team, plan.message_id, content="1. Split\n2. Delete the backups")
        await desk.press("n")
        await desk.type("fine")
        await desk.press("enter")
        await desk.shows(CHANGED)
        assert verdicts(team) == []
        assert "- " in new_in(desk)
        assert "+   2. Delete the backups" in new_in(desk)
        await desk.press("enter")
        await desk.decided(team)
    (verdict,) = verdicts(team)
    assert verdict.payload["content"] == "fine"
    (question,) = [message for message in team.snapshot().messages if message.message_id == plan.message_id]
    (line,) = [line for line in team.audit() if line.action == "approve"]
    assert line.facts[REQUEST_DIGEST] == digest_of(question)
    assert "Delete the backups" in question.content


@pytest.mark.parametrize("key", ["a", "r", "B"])
async def test_a_form_says_of_a_changed_request_what_it_asks_now(team: MemoryTeam, key: str) -> None:
    ask_permission(team, "ls one")
    async with opened(team) as desk:
        await evidence_shown(desk)
        await desk.asks(key)
        (asked,) = team.snapshot().messages
        rewrite(team, asked.message_id, input={"command": "rm two"})
        if key != "a":
            await desk.type("why")
        await desk.press("enter")
        await desk.shows(CHANGED)
        (about,) = desk.front.query(".form--about").results(Static)
        await desk.until(lambda: "rm two" in str(about.content), "what it asks now")
        assert "ls one" not in str(about.content)


async def test_no_key_decides_on_what_is_new_before_it_could_be_read(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await evidence_shown(desk)
        await desk.asks("a")
        (plan,) = team.snapshot().messages
        rewrite(team, plan.message_id, content="1. Delete the backups")
        await desk.until(desk.can_act, "a form to act on")
        monkeypatch.setattr(forms, "LOOK", 3600.0)
        await desk.pilot.press("enter")
        await desk.shows(CHANGED)
        await desk.pilot.press("enter", "ctrl+s")
        await desk.pilot.pause()
        assert verdicts(team) == []


async def test_evidence_that_changed_is_shown_and_asked_about_again(
    team: MemoryTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loader.py").write_text("old")
    os.utime(tmp_path / "loader.py", (0, 0))
    text = "1. Split `loader.py`\n2. Add `render.py`"
    requests.submit_plan(Caller(team, AUTHOR), content=text, directory=str(tmp_path))
    async with opened(team) as desk:
        await desk.reads("loader.py, 3 bytes · there")
        assert "render.py · missing" in desk.detail
        await desk.asks("a")
        (tmp_path / "render.py").write_text("made meanwhile")
        await desk.press("enter")
        await desk.shows(CHANGED)
        assert "missing: render.py" in new_in(desk)
        await desk.press("enter")
        await desk.decided(team)
    (verdict,) = verdicts(team)
    said = " ".join(verdict.payload["evidence"])
    assert "render.py, 14 bytes" in said
    assert "missing: render.py" not in said
    assert len(verdict.payload["shown_sha256"]) == 64


async def test_evidence_that_cannot_be_looked_for_takes_nothing_else_with_it(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object) -> Evidence:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(evidence, "runs_of", fails)
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.reads("it could not be looked for")
        await desk.approves(team)
    assert verdicts(team)[0].payload["evidence"] == ["evidence: not known: it could not be looked for [this console]"]
