"""Several routers and readers at once, and a router that is killed: on real stores and in real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from team_console.store.model.clock import to_text, utc_now
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import Remedy, treat
from team_console.store.service.router import deliver
from team_console.store.settings.team_config import Agent

from tests.equipment.router_places import KINDS, Place, made
from tests.equipment.teams import make_message, put
from tests.equipment.waiting import until

pytestmark = pytest.mark.slow

PATIENCE = 60.0


def _message(number: int, to: str) -> Message:
    """A message of this minute: older ones would expire."""
    return make_message(number, to=to, created=to_text(utc_now()))


@pytest.fixture(params=KINDS)
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


@pytest.mark.parametrize("kind", KINDS)
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
            treat(Caller(place.open(), "ceo"), Remedy.RECALL, [held.message_id])
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
            receipt = treat(Caller(teams[0], "ceo", wait=PATIENCE), Remedy.RECALL, [message_id])
            recalled += [message.message_id for message in receipt.messages]
        reader.join(PATIENCE)
        assert sorted([*got, *recalled]) == [message_id]
        states = {message.message_id: message.status for message in teams[0].snapshot().messages}
        ended = "recalled" if recalled else "read" if other == "reader" else "delivered"
        assert states.get(message_id, "read") == ended
