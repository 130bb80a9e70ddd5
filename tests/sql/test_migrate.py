"""`migrate` copies a team with its history, can be stopped and repeated, and loses nothing on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code
from team_console.store.service import inbox, requests, sending
from team_console.store.service.caller import Caller
from team_console.store.service.migration import MigrationResult, migrate, open_target
from team_console.store.settings.settings_file import parse_settings

from tests.equipment.asking import refusal
from tests.equipment.teams import FakeClock
from tests.sql.conftest import Open

pytestmark = pytest.mark.slow

CONFIG = parse_settings(
    b"team: sprint-42\nlead: ceo\nagents: [{name: ceo, role: master}, architect, 'no']\nattachment_bytes: 2000\n",
    Path("x.yaml"),
)


@pytest.fixture(params=["yaml to sqlite", "sqlite to yaml"])
def pair(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[tuple[Team, Team]]:
    """A team with a queue, archives, an attachment and decisions, and an empty one to copy it to."""
    places = {"yaml": str(tmp_path / "team"), "sqlite": str(tmp_path / "team.db")}
    source, target = (places[kind] for kind in request.param.split(" to "))
    with closing(_filled(source, clock)) as team, closing(open_target(target, team.config(), clock=clock)) as copy:
        yield team, copy


def _filled(location: str, clock: FakeClock) -> Team:
    team = open_target(location, CONFIG, clock=clock)
    ceo, architect = Caller(team, "ceo"), Caller(team, "architect")
    sending.send(ceo, to="architect", content="x" * 9000, summary="The large report is here now", message_id="large")
    sending.send(ceo, to="no", type="spec_ready", message_id="waiting")
    inbox.receive(architect, agent="architect")
    clock.advance(1)
    plan = requests.submit_plan(architect, content="1. Split\n2. Join", summary="Refactor the report generator now")
    requests.approve(ceo, request_id=str(plan.request_id), note="go")
    return team


def _run(source: Team, target: Team, **more: object) -> MigrationResult:
    return migrate(source, target, actor="ceo", **more)  # type: ignore[arg-type]


def _live(team: Team) -> list[dict[str, object]]:
    return [dict(message.record) for message in team.snapshot().messages]


def _archives(team: Team) -> dict[str, list[dict[str, object]]]:
    names = ("ceo", "architect", "no", "user")
    return {name: [dict(message.record) for message in team.history(agent=name).messages] for name in names}


@pytest.mark.parametrize("stop_at", ["messages", "archive entries", "audit lines"])
def test_a_run_that_was_stopped_is_simply_run_again(pair: tuple[Team, Team], stop_at: str) -> None:
    source, target = pair

    def stop(what: str, number: int) -> None:
        if what == stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _run(source, target, progress=stop)
    _run(source, target)
    assert (_live(target), _archives(target)) == (_live(source), _archives(source))


def test_a_team_that_goes_round_all_stores_comes_back_as_it_left_and_a_second_run_writes_nothing(
    postgres: str, tmp_path: Path, clock: FakeClock
) -> None:
    route = [str(tmp_path / "first"), str(tmp_path / "second.db"), postgres, str(tmp_path / "last")]
    teams = [_filled(route[0], clock)]
    large = next(message for message in teams[0].history(agent="architect").messages if message.message_id == "large")
    for location in route[1:]:
        source, target = teams[-1], open_target(location, teams[-1].config(), clock=clock)
        teams.append(target)
        done = _run(source, target)
        assert (done.live, done.archived, done.warnings) == (len(_live(source)), 2, [])
        assert (_live(target), _archives(target)) == (_live(source), _archives(source))
        assert target.config() == teams[0].config()
        assert target.attachment(large.payload["attachment"]["path"]) == b"x" * 9000
        told = [line for entry in target.audit() for line in reversed(entry.facts.get("audit", []))]
        assert [(line["actor"], line["action"]) for line in told] == [
            (line.actor, line.action) for line in source.audit()
        ]
        before = target.snapshot().revision, len(target.audit(limit=1000))
        again = _run(source, target)
        assert (again.live, again.archived, again.audit, again.updated) == (0, 0, 0, 0)
        assert again.already > 0
        assert (target.snapshot().revision, len(target.audit(limit=1000))) == before
    assert all(line.intact for team in teams for line in team.audit(limit=1000))
    for team in teams:
        team.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_record_with_a_nul_stops_no_copy_and_an_id_with_one_is_named(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> None:
    location = str(tmp_path / "team.db") if kind == "sqlite" else request.getfixturevalue("postgres")
    folder = tmp_path / "team"
    with closing(_filled(str(folder), clock)) as team:
        queue = folder / "message-queue.yaml"
        odd = '- {id: "n\\0x", from: no, to: architect, type: message, content: hi}\n'
        odd += '- {id: odd, from: "n\\0o", to: architect, type: "m\\0", status: "p\\0", content: "\\0"}\n'
        queue.write_text(queue.read_text() + odd)
        wanted = [record for record in _live(team) if record.get("id") != "n\0x"]
        with closing(open_target(location, team.config(), clock=clock)) as target:
            for _ in range(2):
                assert _run(team, target).warnings == ["not copied: n\u2400x: no database holds such an id"]
            assert all(record in wanted for record in _live(target))
            assert len(_live(target)) == len(wanted)
            assert _archives(target) == _archives(team)


def test_a_team_is_not_copied_onto_itself_nor_under_another_name_of_its_server(postgres: str, opened: Open) -> None:
    place = open_target(postgres, CONFIG)
    sending.send(Caller(place, "ceo"), to="architect", type="spec_ready")
    place.close()
    team, same = opened(postgres, read_only=True), opened(postgres.replace("127.0.0.1", "localhost"))
    for target in (team, same):
        caught = refusal(_run, team, target)
        assert caught.code is Code.NOT_PERMITTED
    assert [line.action for line in team.audit()] == ["send"]


def test_what_the_source_does_meanwhile_is_told_and_comes_with_the_next_run(pair: tuple[Team, Team]) -> None:
    """Read at the source while it was copied, it waited in the copy, and nothing said so."""
    source, target = pair

    def meanwhile(what: str, _number: int) -> bool:
        if what == "messages":
            inbox.receive(Caller(source, "no"), agent="no")
        return True

    told = [warning for warning in _run(source, target, progress=meanwhile).warnings if "meanwhile" in warning]
    assert len(told) == 1
    assert "run the migration again" in told[0]
    again = _run(source, target)
    assert not [warning for warning in again.warnings if "meanwhile" in warning]
    assert inbox.receive(Caller(target, "no"), agent="no").messages == ()


def test_what_an_agent_took_from_a_copy_is_not_put_back_by_a_run_that_began_before(
    pair: tuple[Team, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor are lines of the trail copied twice by two runs at once."""
    source, target = pair
    whole, runs = source.whole, list[MigrationResult]()
    _run(source, target)
    sending.send(Caller(source, "ceo"), to="no", type="spec_ready", message_id="later")

    def meanwhile() -> Snapshot:
        monkeypatch.undo()
        runs.append(_run(source, target))
        inbox.receive(Caller(target, "no"), agent="no")
        return whole()

    monkeypatch.setattr(source, "whole", meanwhile)
    runs.append(_run(source, target))
    assert [run.audit for run in runs] == [1, 0]
    assert inbox.receive(Caller(target, "no"), agent="no").messages == ()
