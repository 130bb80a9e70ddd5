"""The router: what is due is pushed once, failures come back on schedule and end as dead letters (193-256)."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import Delivered
from team_console.store.service.router import deliver, deliver_loop
from team_console.store.settings.team_config import Agent

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, make_message, put
from tests.equipment.waiting import until
from tests.router.conftest import taken

pytestmark = pytest.mark.slow

Pushed = Callable[[str], list[str]]


def _stored(team: MemoryTeam, number: int = 1) -> Message:
    return next(
        message for message in team.snapshot().messages if message.message_id == make_message(number).message_id
    )


def _states(team: MemoryTeam) -> list[str]:
    return [message.status for message in team.snapshot().messages]


def _set_agent(team: MemoryTeam, agent: Agent) -> None:
    agents = {**team.config().agents, agent.name: agent}
    team._config = replace(team.config(), agents=MappingProxyType(agents))


def test_a_failing_command_is_tried_at_0_30_60_and_120_seconds_and_then_given_up(
    team: MemoryTeam, caller: Caller, folder: Path, clock: FakeClock
) -> None:
    (folder / "refuse").write_text("disk is full")
    put(team, make_message(1, to="runner"))
    for attempt, wait in enumerate((30, 60, 120), start=1):
        done = deliver(caller)
        stored = _stored(team)
        assert (stored.status, stored.envelope("attempts")) == ("retry", attempt)
        assert stored.envelope("error_message") == "exit status 1: disk is full"
        assert done.next_due == clock.now + timedelta(seconds=wait)
        clock.advance(wait - 0.001)
        deliver(caller)
        assert len(taken(folder)) == attempt, "tried before its time"
        clock.advance(0.001)
    done = deliver(caller)
    stored = _stored(team)
    assert (stored.status, stored.envelope("attempts")) == ("failed", 4)
    assert stored.envelope("error_message") == "exit status 1: disk is full"
    assert done.next_due is None
    clock.advance(3600)
    deliver(caller)
    assert len(taken(folder)) == 4


def test_a_command_that_hangs_is_ended_with_everything_it_started(
    team: MemoryTeam, caller: Caller, folder: Path
) -> None:
    program = ("sh", "-c", f'echo loading; sleep 600 & echo $! > "{folder}/child"; wait')
    _set_agent(team, Agent("runner", deliver=program, deliver_timeout=1.0))
    put(team, make_message(1, to="runner").with_changes(max_retries=0))
    deliver(caller)
    assert _states(team) == ["failed"]
    assert _stored(team).envelope("error_message") == "no answer within 1 s: loading"
    child = int((folder / "child").read_text())
    until(lambda: not _is_running(child))


def test_the_command_is_not_run_through_a_shell(team: MemoryTeam, caller: Caller, folder: Path) -> None:
    _set_agent(team, Agent("runner", deliver=("true", f"; touch {folder}/owned", f"$(touch {folder}/owned)")))
    put(team, make_message(1, to="runner"))
    deliver(caller)
    assert not (folder / "owned").exists()


def test_the_lock_is_free_while_a_command_runs(team: MemoryTeam, caller: Caller, folder: Path) -> None:
    gate = folder / "gate"
    script = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.005)"
    _set_agent(team, Agent("runner", deliver=(sys.executable, "-S", "-c", script)))
    put(team, make_message(1, to="runner"))
    router = threading.Thread(target=deliver, args=(caller,))
    router.start()
    try:
        until(lambda: _states(team) == ["claimed"])
        put(team, make_message(2, to="ceo", sender="architect"))
    finally:
        gate.touch()
        router.join()
    assert _states(team) == ["delivered", "pending"]


def test_a_claim_that_ran_out_for_the_fourth_time_is_a_dead_letter(
    team: MemoryTeam, caller: Caller, folder: Path, clock: FakeClock
) -> None:
    lease = to_text(clock.now - timedelta(seconds=1))
    orphan = make_message(1, to="runner").with_changes(
        status="claimed", claimed_by="@router", lease_until=lease, token="dead", attempts=4
    )
    put(team, orphan)
    done = deliver(caller)
    assert taken(folder) == []
    assert _states(team) == ["failed"]
    assert "is not known" in str(done.failed[0].error)


def test_an_outcome_that_comes_too_late_overrules_nobody(team: MemoryTeam, caller: Caller, clock: FakeClock) -> None:
    """The command takes the message away from the router before it ends, as a second router would after the lease."""
    put(team, make_message(1, to="runner"))
    _set_agent(team, Agent("runner", deliver=("true",)))
    original = team.transaction
    entered = []

    def transaction(**options: Any) -> Any:
        entered.append(options)
        if len(entered) == 2:
            with original(actor="other", action="deliver", wait=1.0) as tx:
                mine = tx.everything()[0]
                tx.replace(mine, mine.with_changes(token="other"))
                tx.record("deliver")
        return original(**options)

    team.transaction = transaction  # type: ignore[method-assign]
    deliver(caller)
    stored = _stored(team)
    assert (stored.status, stored.envelope("token")) == ("claimed", "other")
    assert any("late" in line.facts for line in team.audit())


def test_a_trouble_that_lasts_is_said_once_and_again_when_it_comes_back(
    team: MemoryTeam, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    told: list[str] = []

    def broken(*args: Any, **options: Any) -> Delivered:
        tried.append(len(tried))
        if len(tried) == 4:
            return Delivered()
        raise TeamError(Code.STORE_LOCKED if len(tried) > 4 else Code.STORE_UNREADABLE, "connection refused")

    monkeypatch.setattr("team_console.store.service.router.deliver", broken)
    stop = threading.Event()
    options = {"stop": stop, "interval": 0.01, "trouble": lambda error: told.append(error.message)}
    loop = threading.Thread(target=deliver_loop, args=(caller,), kwargs=options)
    loop.start()
    try:
        until(lambda: len(tried) > 7)
    finally:
        stop.set()
        loop.join(10)
    assert told == ["connection refused"] * 2


def test_an_address_that_is_no_name_or_on_no_roster_is_refused_not_pushed(
    team: MemoryTeam, caller: Caller, pushed: Pushed
) -> None:
    put(team, make_message(1, to="../../etc/cron.d/x"), make_message(2, to="stranger"))
    deliver(caller)
    assert _states(team) == ["retry", "retry"]
    assert team._state.inboxes == {}
    assert "is not an agent name" in str(_stored(team).envelope("error_message"))


def test_a_group_message_reaches_each_addressee_once_and_stays_for_the_lead(
    team: MemoryTeam, caller: Caller, folder: Path, pushed: Pushed, clock: FakeClock
) -> None:
    record = {
        **{"message_id": "MSG-group", "type": "notify", "from": "code_developer", "to_agents": "all"},
        **{"created": to_text(clock.now), "payload": {"message": "hello"}},
    }
    put(team, from_record(record))
    (folder / "refuse").write_text("asleep")
    deliver(caller)
    assert pushed("architect") == ["MSG-group"]
    assert pushed("code_developer") == []
    (folder / "refuse").unlink()
    clock.advance(30)
    deliver(caller)
    assert pushed("architect") == ["MSG-group"]
    assert taken(folder) == ["MSG-group"] * 2
    (stored,) = team.snapshot().messages
    assert stored.is_pending_for("ceo")
    assert not stored.is_pending_for("architect")
    inbox.acknowledge(Caller(team, "architect"), ids=["MSG-group"])
    assert inbox.receive(Caller(team, "ceo"), agent="ceo").as_json()["count"] == 1


def test_an_outcome_that_the_store_is_too_busy_for_at_first_is_written_whole(
    team: MemoryTeam, caller: Caller, folder: Path, pushed: Pushed, clock: FakeClock
) -> None:
    """What goes to the inbox of one addressee goes with the outcome of another's command, also at the second try."""
    record = {"message_id": "MSG-group", "type": "notify", "from": "ceo", "to_agents": ["runner", "architect"]}
    put(team, from_record({**record, "created": to_text(clock.now), "payload": {"message": "hello"}}))
    original, tries = team._commit, list[int]()

    def commit(changes: Any, actor: str) -> None:
        if changes.pushed:
            tries.append(1)
            if len(tries) == 1:
                raise TeamError(Code.STORE_LOCKED, "the rows are held by another transaction")
        original(changes, actor)

    team._commit = commit  # type: ignore[method-assign]
    deliver(caller)
    assert (taken(folder), _states(team)) == (["MSG-group"], ["delivered"])
    assert pushed("architect") == ["MSG-group"]


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
