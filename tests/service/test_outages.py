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
from team_console.store.service.caller import Caller, Received
from team_console.store.service.inbox import receive
from team_console.store.service.requests import approve, submit_plan
from team_console.store.service.sending import send
from team_console.store.service.waiting import Arrival, wait_for_messages
from team_console.store.views.verdicts import FollowedVerdict, await_verdict

Harm = Callable[[Path], Callable[[], object]]
"""Does harm to a team's folder and gives what takes it back."""


def _rewritten(text: Callable[[bytes], bytes]) -> Harm:
    def harm(folder: Path) -> Callable[[], object]:
        queue = folder / "message-queue.yaml"
        whole = queue.read_bytes()
        queue.write_bytes(text(whole))
        return lambda: queue.write_bytes(whole)

    return harm


def _without_queue(folder: Path) -> Callable[[], object]:
    queue = folder / "message-queue.yaml"
    whole = queue.read_bytes()
    queue.unlink()
    return lambda: queue.write_bytes(whole)


def _moved(folder: Path) -> Callable[[], object]:
    aside = folder.with_name("aside")
    folder.rename(aside)
    return lambda: aside.rename(folder)


HARMS: dict[str, Harm] = {
    "emptied": _rewritten(lambda whole: b""),
    "begun": _rewritten(lambda whole: whole[:30]),
    "only its frame": _rewritten(lambda whole: b"messages: []\n"),
    "binary": _rewritten(lambda whole: b"\0" * 100),
    "unlinked": _without_queue,
    "moved": _moved,
}


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


@pytest.mark.parametrize("harm", HARMS)
def test_a_wait_outlasts_it(harm: str, team: Team, folder: Path) -> None:
    request_id, followed = _asked(team)
    caller, arrival = Caller(team, "dev"), Arrival(lambda caller: receive(caller, agent="dev"))
    assert arrival.look(caller) is None
    before = followed.look_again()
    assert before is not None
    assert before.is_open
    assert followed.seconds_left() is None
    put_back = HARMS[harm](folder)
    assert followed.look_again() is None
    assert followed.seconds_left() == waiting.TICK
    with pytest.raises(TeamError):
        followed.look()
    assert arrival.look(caller) is None
    if harm == "binary":
        with pytest.raises(TeamError) as refused:
            arrival.end(caller)
        assert refused.value.code is Code.STORE_UNREADABLE
    put_back()
    approve(Caller(team, "ceo"), request_id=request_id)
    after = followed.look_again()
    assert after is not None
    assert after.state == "approved"
    found = arrival.look(caller)
    assert found is not None
    assert len(found.messages) == 1


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


def test_a_request_that_a_team_does_not_know_any_more_ends_the_wait_soon(clock: list[float]) -> None:
    waits = waiting.UnavailableStore(known=True)

    def look() -> None:
        raise TeamError(Code.INVALID_REQUEST_ID, "no request plan-1")

    assert waits.look(look) is None
    clock[0] = 9.9
    assert waits.look(look) is None
    clock[0] = 10.1
    with pytest.raises(TeamError):
        waits.look(look)


def test_a_hook_lets_go_also_while_its_team_is_away(team: Team, folder: Path) -> None:
    receipt = submit_plan(Caller(team, "dev"), content="1. Read")
    looks: list[int] = []

    def stop() -> bool:
        looks.append(1)
        if len(looks) == 1:
            _moved(folder)
        return len(looks) > 2

    with pytest.raises(TeamError) as refused:
        await_verdict(team, receipt.request_id or "", timeout=20.0, stop=stop, asked=receipt.messages[0])
    assert refused.value.code is Code.STORE_UNREADABLE
    assert len(looks) == 3


def test_who_asked_just_now_waits_although_the_team_went_before_the_first_look(team: Team, folder: Path) -> None:
    receipt = submit_plan(Caller(team, "dev"), content="1. Read")
    followed = FollowedVerdict(team, receipt.request_id or "", me="dev", asked=receipt.messages[0])
    put_back = _moved(folder)
    assert followed.look_again() is None
    put_back()
    assert followed.look_again() is not None


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


def test_what_was_never_there_is_refused_at_once(team: Team, folder: Path) -> None:
    _say(team, "dev")
    with pytest.raises(TeamError) as unknown:
        FollowedVerdict(team, "plan-1").look_again()
    assert unknown.value.code is Code.INVALID_REQUEST_ID
    HARMS["binary"](folder)
    with pytest.raises(TeamError) as unreadable:
        Arrival(lambda caller: receive(caller, agent="dev")).look(Caller(team, "dev"))
    assert unreadable.value.code is Code.STORE_UNREADABLE


def test_a_request_that_was_rewritten_and_answered_ends_the_wait_at_once(team: Team, folder: Path) -> None:
    request_id, followed = _asked(team)
    followed.look_again()
    queue = folder / "message-queue.yaml"
    queue.write_text(queue.read_text().replace("Read", "Burn"))
    approve(Caller(team, "ceo"), request_id=request_id)
    with pytest.raises(TeamError) as refused:
        followed.look_again()
    assert refused.value.facts["changed"] is True
