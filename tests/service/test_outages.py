"""A wait outlasts the moment in which its team cannot be read: a file saved in place, checked out, a folder moved."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team, WatchHint
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import waiting
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import Received, receive
from team_console.store.service.requests import approve, submit_plan
from team_console.store.service.sending import send
from team_console.store.service.waiting import Arrival, wait_for_messages
from team_console.store.views.verdicts import FollowedVerdict


def _moved(folder: Path) -> Callable[[], object]:
    aside = folder.with_name("aside")
    folder.rename(aside)
    return lambda: aside.rename(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A team of an agent and its lead."""
    place = tmp_path / "team"
    place.mkdir()
    settings = "team: t\nlead: ceo\nagents:\n- name: ceo\n  role: master\n- name: dev\n"
    (place / "messenger-config.yaml").write_text(settings)
    return place


@pytest.fixture
def team(folder: Path) -> Iterator[Team]:
    """The same, open for as long as the test."""
    found = open_team(str(folder))
    yield found
    found.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the wait believes to have passed."""
    seconds = [0.0]
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    return seconds


def _say(team: Team, to: str) -> None:
    send(Caller(team, "ceo" if to == "dev" else "dev"), to=to, summary="the build of today is green", content="x")


def _asked(team: Team) -> tuple[str, FollowedVerdict]:
    receipt = submit_plan(Caller(team, "dev"), content="1. Read\n2. Write")
    assert receipt.request_id is not None
    return receipt.request_id, FollowedVerdict(team, receipt.request_id, me="dev", asked=receipt.messages[0])


def test_a_wait_goes_on_for_as_long_as_its_team_is_away_and_then_says_why(
    team: Team, folder: Path, clock: list[float]
) -> None:
    _, followed = _asked(team)
    followed.look_again()
    put_back = _moved(folder)
    for seconds in (0.0, 60.0, 1_000_000.0):
        clock[0] = seconds
        assert followed.look_again() is None
    with pytest.raises(TeamError) as refused:
        followed.end()
    assert refused.value.code is Code.STORE_UNREADABLE
    put_back()
    assert followed.look_again() is not None
    assert followed.end().is_open


def test_a_team_that_is_away_for_more_than_a_moment_is_said_once_and_so_is_its_return(
    team: Team, folder: Path, clock: list[float]
) -> None:
    words: list[str] = []
    arrival, caller = Arrival(lambda caller: receive(caller, agent="dev"), words.append), Caller(team, "dev")
    _say(team, "ceo")
    for begin, told in ((0.0, 0), (100.0, 2), (200.0, 4)):
        clock[0] = begin
        arrival.look(caller)
        put_back = _moved(folder)
        arrival.look(caller)
        for seconds in (1.5, 2.0, 50.0) if told else (0.5,):
            clock[0] = begin + seconds
            arrival.look(caller)
        put_back()
        arrival.look(caller)
        assert len(words) == told
    assert [word == "the team can be used again; the wait goes on" for word in words] == [False, True] * 2
    assert [str(folder) in word and word.endswith("; the wait goes on") for word in words] == [True, False] * 2


def test_a_watch_that_fails_neither_ends_a_wait_nor_swallows_what_it_took(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_WATCH_AGAIN", 0.01)
    begun: list[int] = []
    watch = team.watch

    async def failing() -> AsyncIterator[WatchHint]:
        begun.append(1)
        if len(begun) % 2:
            raise RuntimeError("the watch is broken")
        async for hint in watch():
            yield hint
            if len(begun) < 4:
                return

    monkeypatch.setattr(team, "watch", failing)
    _say(team, "ceo")

    def take(caller: Caller) -> Received:
        found = receive(caller, agent="dev")
        if len(begun) > 3 and not found.messages:
            _say(team, "dev")
        return found

    found = wait_for_messages(Caller(team, "dev"), take, timeout=60.0)
    assert len(found.messages) == 1


def test_a_request_that_was_rewritten_and_answered_ends_the_wait_at_once(team: Team, folder: Path) -> None:
    request_id, followed = _asked(team)
    followed.look_again()
    queue = folder / "message-queue.yaml"
    queue.write_text(queue.read_text().replace("Read", "Burn"))
    approve(Caller(team, "ceo"), request_id=request_id)
    with pytest.raises(TeamError) as refused:
        followed.look_again()
    assert refused.value.facts["changed"] is True


def test_of_a_folder_that_is_gone_the_queue_is_named_and_no_file_beside_it(folder: Path, team: Team) -> None:
    _say(team, "dev")
    assert team.snapshot().why_unknown is None
    back = _moved(folder)
    with pytest.raises(TeamError, match=r"message-queue\.yaml is gone") as refused:
        team.snapshot().require_known()
    assert refused.value.hint == "Was the folder moved? Nothing is created in its place."
    back()
