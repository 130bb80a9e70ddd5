"""The router: what is due is pushed once, by however many routers; failures come back on schedule (193-256)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from team_console.store.model.clock import to_text, utc_now
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import PassResult, Remedy, apply_remedy
from team_console.store.service.router import deliver, deliver_loop
from team_console.store.settings.team_config import Agent

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.router_places import Place, made
from tests.equipment.teams import STORES, FakeClock, make_message, put
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


def test_a_command_that_hangs_is_ended_with_everything_it_started(
    team: MemoryTeam, caller: Caller, folder: Path
) -> None:
    program = ("sh", "-c", f'echo loading; sleep 600 & echo $! > "{folder}/child"; wait')
    team.set_member(Agent("runner", deliver=program, deliver_timeout=1.0))
    put(team, make_message(1, to="runner").with_changes(max_retries=0))
    deliver(caller)
    assert _states(team) == ["failed"]
    assert _stored(team).envelope("error_message") == "no answer within 1 s: loading"
    child = int((folder / "child").read_text())
    until(lambda: not _is_running(child))


def test_the_lock_is_free_while_a_command_runs(team: MemoryTeam, caller: Caller, folder: Path) -> None:
    gate = folder / "gate"
    script = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.005)"
    team.set_member(Agent("runner", deliver=(sys.executable, "-S", "-c", script)))
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


def test_an_outcome_that_comes_too_late_overrules_nobody(team: MemoryTeam, caller: Caller, clock: FakeClock) -> None:
    """The command takes the message away from the router before it ends, as a second router would after the lease."""
    put(team, make_message(1, to="runner"))
    team.set_member(Agent("runner", deliver=("true",)))
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

    def broken(*args: Any, **options: Any) -> PassResult:
        tried.append(len(tried))
        if len(tried) == 4:
            return PassResult()
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


PATIENCE = 60.0


def _message(number: int, to: str) -> Message:
    """A message of this minute: older ones would expire."""
    return make_message(number, to=to, created=to_text(utc_now()))


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with made(request.param, tmp_path) as place:
        yield place


def test_routers_in_several_processes_deliver_each_message_once(place: Place) -> None:
    plain = [_message(number, "architect") for number in range(1, 41)]
    by_command = [_message(number, "runner") for number in range(41, 47)]
    put(place.open(), *plain, *by_command)
    routers = [place.router() for _ in range(3)]
    assert [router.wait(PATIENCE) for router in routers] == [0, 0, 0]
    wanted = {message.message_id: 1 for message in (*plain, *by_command)}
    assert place.deliveries() == wanted
    assert {message.status for message in place.open().snapshot().messages} == {"delivered"}
    records = [json.loads(line) for line in place.taken.read_text().splitlines()]
    assert [record["message_id"] for record in records] == [message.message_id for message in by_command]


def test_a_router_killed_between_two_deliveries_loses_none_and_repeats_none(place: Place) -> None:
    messages = [_message(number, "architect") for number in range(1, 301)]
    put(place.open(), *messages)
    router = place.router()
    try:
        watcher = place.open()
        until(lambda: any(message.status == "delivered" for message in watcher.snapshot().messages), seconds=PATIENCE)
    finally:
        router.kill()
        router.wait()
    assert place.router().wait(PATIENCE) == 0
    assert place.deliveries() == {message.message_id: 1 for message in messages}
    if place.kind == "yaml":
        lines = (Path(place.location) / "inbox" / "architect.jsonl").read_text().splitlines()
        pushed = Counter(json.loads(line)["message_id"] for line in lines)
        assert pushed == {message.message_id: 1 for message in messages}


@pytest.mark.parametrize("kind", STORES)
def test_a_router_killed_under_a_running_command_tries_again_when_its_claim_is_over_and_says_so(
    kind: str, tmp_path: Path
) -> None:
    """Whether the command had done its work is not known: it gets the record again, with the number of the attempt."""
    gate, child = tmp_path / "gate", tmp_path / "child"
    wait = f'cat >> "{tmp_path}/taken.jsonl"; test -e "{gate}" || {{ echo $$ > "{child}"; exec sleep 600; }}'
    with made(kind, tmp_path, Agent("runner", deliver=("sh", "-c", wait), deliver_timeout=300.0)) as place:
        put(place.open(), _message(1, "runner"))
        router = place.router()
        until(lambda: child.exists() and bool(child.read_text().strip()), seconds=PATIENCE)
        router.kill()
        router.wait()
        os.kill(int(child.read_text()), signal.SIGKILL)
        (held,) = place.open().snapshot().messages
        assert (held.status, held.envelope("claimed_by")) == ("claimed", "@router")
        with pytest.raises(TeamError, match="is with router until"):
            apply_remedy(Caller(place.open(), "ceo"), Remedy.RECALL, [held.message_id])
        assert deliver(Caller(place.open(), "ceo")).attempts == []
        gate.touch()
        later = utc_now() + timedelta(seconds=331)
        done = deliver(Caller(place.open(clock=lambda: later), "ceo"))
        assert [(attempt.message.status, attempt.message.envelope("attempts")) for attempt in done.attempts] == [
            ("delivered", 2)
        ]
        records = [json.loads(line) for line in place.taken.read_text().splitlines()]
        assert [(record["message_id"], record["attempts"]) for record in records] == [
            (held.message_id, 1),
            (held.message_id, 2),
        ]
        trail = [line.action for line in reversed(place.open().audit()) if line.action in ("dispatch", "deliver")]
        assert trail == ["dispatch", "dispatch", "deliver"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_router_told_to_end_notes_what_is_running_and_begins_no_other(number: signal.Signals, tmp_path: Path) -> None:
    gate, begun = tmp_path / "gate", tmp_path / "begun"
    script = f'cat >> "{tmp_path}/taken.jsonl"; touch "{begun}"; while ! test -e "{gate}"; do sleep 0.05; done'
    with made("yaml", tmp_path, Agent("runner", deliver=("sh", "-c", script))) as place:
        put(place.open(), *[_message(item, "runner") for item in (1, 2, 3)])
        router = place.router()
        try:
            until(begun.exists, seconds=PATIENCE)
            router.send_signal(number)
            with pytest.raises(subprocess.TimeoutExpired):
                router.wait(0.5)
            gate.touch()
            assert router.wait(PATIENCE) == 130
        finally:
            router.kill()
            router.wait()
        assert [message.status for message in place.open().snapshot().messages] == ["delivered", "pending", "pending"]
        assert len(place.taken.read_text().splitlines()) == 1


@pytest.mark.parametrize("other", ["reader", "router"])
def test_a_recall_that_races_a_reader_or_a_router_ends_as_exactly_one_of_the_two(place: Place, other: str) -> None:
    teams = place.open(), place.open()
    for number in range(1, 21):
        message_id = make_message(number).message_id
        put(teams[0], _message(number, "architect"))
        got: list[str] = []
        recalled: list[str] = []
        together = threading.Barrier(2)

        def take(together: threading.Barrier = together, got: list[str] = got) -> None:
            together.wait(PATIENCE)
            if other == "reader":
                messages = inbox.receive(Caller(teams[1], "architect", wait=PATIENCE), agent="architect").messages
            else:
                messages = tuple(
                    attempt.message for attempt in deliver(Caller(teams[1], "ceo", wait=PATIENCE)).delivered
                )
            got.extend(message.message_id for message in messages)

        reader = threading.Thread(target=take)
        reader.start()
        together.wait(PATIENCE)
        with suppress(TeamError):
            receipt = apply_remedy(Caller(teams[0], "ceo", wait=PATIENCE), Remedy.RECALL, [message_id])
            recalled += [message.message_id for message in receipt.messages]
        reader.join(PATIENCE)
        assert sorted([*got, *recalled]) == [message_id]
        states = {message.message_id: message.status for message in teams[0].snapshot().messages}
        ended = "recalled" if recalled else "read" if other == "reader" else "delivered"
        assert states.get(message_id, "read") == ended
