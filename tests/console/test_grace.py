"""What was decided can be taken back for a few seconds; until it is written every word says so, and nothing is lost."""

from __future__ import annotations

import os
from threading import Event
from typing import NoReturn

import pytest
from msgspec.structs import replace
from team_console.console.clients.client_process import started_at
from team_console.console.preferences import Preferences
from team_console.console.tui import guarded_app
from team_console.console.tui.app import ConsoleApp
from team_console.console.tui.pending_decisions import NOTE_PREFIX
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.request_row import RequestState
from team_console.store.settings.team_config import Human

from tests.console.conftest import LEAD, Desk, hand_in_plan, opened, verdicts
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.signing_keys import key_file, public_line

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.usefixtures("long_grace")]


async def test_a_note_is_told_though_its_process_number_is_used_again(team: MemoryTeam) -> None:
    number = os.getppid()
    if not started_at(number):
        pytest.skip("this system does not tell when a process began")
    note = {"words": "approve the plan", "verb": "approve", "subjects": '["plan-1"]', "process_begin": "another"}
    async with opened(team) as desk:
        desk.app.main.drafts.keep(f"{NOTE_PREFIX}{number}:1", note)
        desk.app.main.drafts.keep(f"{NOTE_PREFIX}{number}:2", {**note, "process_begin": started_at(number)})
    async with opened(team) as desk:
        await desk.tells("Decided and not written")
        await desk.until(
            lambda: desk.app.main.drafts.purposes(NOTE_PREFIX) == [f"{NOTE_PREFIX}{number}:2"], "notes that were told"
        )


@cases
def test_the_seconds_are_a_setting(monkeypatch: pytest.MonkeyPatch, given: str, seconds: float) -> None:
    monkeypatch.setenv("TEAM_CONSOLE_GRACE", given)
    assert Preferences(grace_seconds=7.0).undo_delay == seconds


def test_who_leaves_waits_for_no_store_that_hangs_and_is_told_what_may_not_have_reached_it(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    statuses, ended = list[int](), Event()

    def end_now(status: int) -> None:
        statuses.append(status)
        ended.set()

    async def left() -> int:
        return 0

    app = ConsoleApp(team, me=LEAD)
    monkeypatch.setattr(guarded_app, "PATIENCE", 0.0)
    monkeypatch.setattr(guarded_app, "_end_now", end_now)
    monkeypatch.setattr(app, "run_async", left)
    monkeypatch.setattr(app, "_watch_terminal", lambda loop: None)
    monkeypatch.setattr(app, "write_decided", lambda: [] if ended.wait(20) else ["it hung on"])
    monkeypatch.setattr(app, "unwritten", lambda: ["approve the plan: the next start says"])
    app.run_to_the_end()
    told = "team-console: it is not known whether this was written: approve the plan: the next start says\n"
    assert (statuses, capsys.readouterr().err) == ([0], told)


async def hand_in(desk: Desk, key: str, number: int = 1) -> None:
    """Open a form with `key` and hand it in, so that so many decisions wait."""
    await desk.asks(key)
    await desk.press("enter")
    await desk.until(lambda: len(desk.app.main.pending_decisions) == number, "decisions in their grace")


async def test_what_waits_for_its_turn_is_written_on_leaving(team: MemoryTeam) -> None:
    hand_in_plan(team)
    hand_in_plan(team, by="schedule-manager")
    async with opened(team) as desk:
        await hand_in(desk, "a")
        await hand_in(desk, "a", 2)
        with team._lock:  # the first of the two waits for it, the second for the first
            await desk.press("W")
            first, second = desk.app.main.pending_decisions._waiting
            await desk.until(lambda: first.is_claimed, "a write that is under way")
            assert not second.is_claimed
            await desk.press("q")
            await desk.until(lambda: desk.app._exit, "the end")
    assert desk.app.write_decided() == []
    assert second.is_claimed
    assert "schedule-manager" in [verdict.recipients[0] for verdict in verdicts(team)]


async def test_a_verdict_that_has_to_be_signed_is_written_on_leaving(team: MemoryTeam) -> None:
    human = Human("ceo", (public_line(),), str(key_file()))
    team._config = replace(team.config(), humans={LEAD: human}, verdicts="signed", team_id="x1")
    hand_in_plan(team)
    async with opened(team) as desk:
        await hand_in(desk, "a")
    assert desk.app.write_decided() == []
    assert len(verdicts(team)) == 1


def lock(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Have another program hold the store; returns how long each write waited."""
    waits = list[float]()

    def locked(*, actor: str, action: str, wait: float) -> NoReturn:
        waits.append(wait)
        raise TeamError(Code.STORE_LOCKED, "held by another program")

    monkeypatch.setattr(team, "transaction", locked)
    return waits


async def test_a_store_that_is_busy_refuses_nothing_early(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked only because somebody else may have decided; the decision is written when its time comes."""
    hand_in_plan(team)
    async with opened(team) as desk:
        await hand_in(desk, "a")
        view, pending = desk.app.main.view, desk.app.main.pending_decisions
        assert view is not None
        withdrawn = tuple(replace(row, state=RequestState.WITHDRAWN) for row in view.requests)
        lock(team, monkeypatch)
        pending.check_again(replace(view, requests=withdrawn))
        assert any(worker.group == "check again" for worker in desk.app.workers)
        await desk.until(
            lambda: all(worker.is_finished for worker in desk.app.workers if worker.group == "check again"), "the look"
        )
        assert len(pending) == 1


async def test_a_locked_store_is_waited_for_once_on_leaving(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in_plan(team)
    hand_in_plan(team, by="schedule-manager")
    async with opened(team) as desk:
        await hand_in(desk, "a")
        await hand_in(desk, "a", 2)
    assert len(desk.app.unwritten()) == 2
    waits = lock(team, monkeypatch)
    told = desk.app.write_decided()
    assert len(told) == len(desk.app.unwritten()) == 2
    assert waits[0] > sum(waits[1:])
