"""A wait outlasts a server that is away, and nothing it was to hand out is lost, given twice, or taken for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from team_console.console.clients.asking import HumanWatch
from team_console.store.backends.open import create_database, open_database
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.contract.snapshot import OUTCOME_UNKNOWN, Condition
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.trust import TrustMark
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import Received, receive
from team_console.store.service.requests import approve, submit_plan
from team_console.store.service.sending import send
from team_console.store.service.sessions import hand_over
from team_console.store.service.waiting import Arrival, wait_for_messages

from tests.equipment.asking import refusal
from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.lossy_line import LossyLine, lossy_line
from tests.equipment.postgresql import Server, fresh_database
from tests.equipment.statements import execute
from tests.equipment.teams import ids, make_message, put
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.fixture
def home(own_server: Server) -> str:
    """A team on a server that the test may do with as it likes."""
    place = fresh_database(own_server)
    create_database(place, SETTINGS)
    return place


def _take(caller: Caller) -> Received:
    return receive(caller, agent="architect")


def test_a_wait_that_ends_while_its_server_is_away_ends_with_that_and_not_with_nothing(
    own_server: Server, home: str, opened: Open
) -> None:
    looks: list[int] = []

    def take(caller: Caller) -> Received:
        looks.append(1)
        try:
            return _take(caller)
        finally:
            if len(looks) == 1:
                own_server.kill()

    refused = refusal(wait_for_messages, Caller(opened(home), "architect"), take, timeout=2.0)
    assert (refused.code, refused.exit_code) == (Code.STORE_UNREADABLE, 4)
    assert len(looks) > 1


def test_a_server_that_takes_no_writes_for_a_while_is_waited_for(own_server: Server, home: str, opened: Open) -> None:
    arrival, caller = Arrival(_take), Caller(opened(home), "architect")
    assert arrival.look(caller) is None
    put(opened(home), make_message(1, to="architect"))
    name = home.rsplit("/", 1)[1]
    own_server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    sessions = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    own_server.execute(sessions)  # they began before, and write
    assert arrival.look(caller) is None
    refused = refusal(arrival.end, caller)
    assert refused.code is Code.READ_ONLY
    own_server.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    found = arrival.look(caller)
    assert found is not None
    assert len(found.messages) == 1


@pytest.fixture
def lossy(own_server: Server) -> Iterator[LossyLine]:
    with lossy_line(own_server.port) as found:
        yield found


@pytest.fixture
def far(own_server: Server, home: str, lossy: LossyLine) -> Iterator[SqlTeam]:
    """The team of `home`, over the line."""
    team = open_database(home.replace(f":{own_server.port}/", f":{lossy.port}/"))
    yield team
    team.close()


@cases
@pytest.mark.parametrize("when", ["after", "before"])
def test_what_was_taken_in_a_commit_whose_answer_was_lost_is_handed_out_once(
    home: str, far: SqlTeam, lossy: LossyLine, opened: Open, when: str, lease: float | None, to: str
) -> None:
    """Where the commit never came, nothing was taken, and the next reader gets it."""
    put(opened(home), make_message(1, to=to))
    lossy.when, lossy.cuts = when, 1
    if when == "after":
        first = len(receive(Caller(far, "architect"), agent="architect", lease=lease).messages)
    else:
        first = 0
        with pytest.raises(TeamError, match="nothing was changed"):
            receive(Caller(far, "architect"), agent="architect", lease=lease)
    assert lossy.done == 1
    later = len(receive(Caller(opened(home), "architect"), agent="architect").messages)
    assert (first, later) == ((1, 0) if when == "after" else (0, 1))


@pytest.mark.parametrize("when", ["after", "before"])
def test_a_wait_finds_out_what_it_took_once_the_server_is_back(
    home: str, far: SqlTeam, lossy: LossyLine, opened: Open, when: str
) -> None:
    put(opened(home), make_message(1, to="architect"))
    lossy.when, lossy.cuts, lossy.stays_down = when, 1, True
    arrival, caller = Arrival(_take), Caller(far, "architect")
    assert arrival.look(caller) is None
    assert arrival.look(caller) is None
    refused = refusal(arrival.end, caller)
    assert refused.facts["ids"] == [make_message(1).message_id]
    assert f"team-console show {make_message(1).message_id}" in refused.hint
    lossy.is_down = False
    found = arrival.look(caller)
    assert found is not None
    assert len(found.messages) == 1
    assert receive(Caller(opened(home), "architect"), agent="architect").messages == ()


@pytest.mark.parametrize("when", ["after", "before"])
def test_a_send_whose_commit_nobody_answered_says_what_the_server_has(
    home: str, far: SqlTeam, lossy: LossyLine, opened: Open, when: str
) -> None:
    lossy.when, lossy.cuts = when, 1
    caller = Caller(far, "ceo")
    if when == "after":
        (sent,) = send(caller, to="architect", type="spec_ready").messages
        assert ids(opened(home)) == [sent.message_id]
        return
    with pytest.raises(TeamError, match="nothing was changed") as refused:
        send(caller, to="architect", type="spec_ready")
    assert OUTCOME_UNKNOWN not in refused.value.facts
    assert ids(opened(home)) == []


def test_a_send_of_which_nobody_can_tell_whether_it_was_done_names_its_message(
    home: str, far: SqlTeam, lossy: LossyLine, opened: Open
) -> None:
    lossy.cuts, lossy.stays_down = 1, True
    refused = refusal(send, Caller(far, "ceo", wait=0.1), to="architect", type="spec_ready")
    assert refused.facts[OUTCOME_UNKNOWN] is True
    assert refused.facts["ids"] == ids(opened(home))
    assert refused.hint.endswith(f"team-console show {refused.facts['ids'][0]}")


def test_a_commit_that_the_server_is_still_at_is_waited_for(
    own_server: Server, home: str, far: SqlTeam, lossy: LossyLine, opened: Open
) -> None:
    """The line is cut while the server is at the commit: it is not taken for one that failed."""
    put(opened(home), make_message(1, to="architect"))
    execute(home, _WITH_STANDBY)
    lossy.when, lossy.cuts = "meanwhile", 1
    with ThreadPoolExecutor() as pool:
        pool.submit(execute, home, _END_THE_WAIT)
        found = receive(Caller(far, "architect"), agent="architect")
    assert (lossy.done, len(found.messages)) == (1, 1)


_WITH_STANDBY = """
CREATE FUNCTION waits() RETURNS trigger LANGUAGE plpgsql AS
$$BEGIN PERFORM set_config('synchronous_commit', 'on', true); RETURN NULL; END$$;
CREATE TRIGGER waits AFTER UPDATE ON agent_message FOR EACH ROW EXECUTE FUNCTION waits()
"""
"""Lets a commit wait for a standby, as no other of these servers does; there is none."""


_END_THE_WAIT = """
DO $$BEGIN
    FOR turn IN 1..500 LOOP
        PERFORM pg_stat_clear_snapshot();
        EXIT WHEN EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock');
        PERFORM pg_sleep(0.01);
    END LOOP;
    PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep';
END$$
"""
"""Lets that commit be done, once somebody waits for its locks, or after five seconds without anybody."""


def test_mail_of_a_session_whose_commit_nobody_answered_is_said_rather_twice_than_never(
    home: str, far: SqlTeam, lossy: LossyLine, opened: Open
) -> None:
    put(opened(home), make_message(1, to="architect"))
    lossy.cuts, lossy.stays_down = 1, True
    handed = hand_over(Caller(far, "architect", wait=0.1), session="s", room=1000, size=lambda message: 1)
    assert [message.message_id for message in handed] == [make_message(1).message_id]


def test_messages_reach_their_reader_although_the_server_goes_right_after_they_were_taken(
    own_server: Server, home: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdicts among them are handed out as unchecked: what they are judged by is gone."""
    team = opened(home)
    request = submit_plan(Caller(team, "architect"), content="1. Split").request_id or ""
    approve(Caller(team, "ceo"), request_id=request)
    put(team, make_message(1, to="architect"))
    transaction = SqlTeam.transaction

    @contextmanager
    def cut(self: SqlTeam, **options: Any) -> Iterator[Any]:
        with transaction(self, **options) as tx:
            yield tx
        own_server.kill()

    monkeypatch.setattr(SqlTeam, "transaction", cut)
    arrival = Arrival(_take)
    found = arrival.look(Caller(team, "architect"))
    assert found is not None
    marks = {message.type: message.record.get("trust") for message in found.messages}
    assert marks.pop("plan_approval_response") == TrustMark.UNCHECKED
    assert [*marks.values()] == [None]


def test_a_look_at_a_table_that_another_program_keeps_locked_ends_and_names_it(postgres: str, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    team = opened(postgres)
    assert team.snapshot().condition is Condition.EMPTY
    team.look_wait = 0.1
    with closing(psycopg.connect(postgres, application_name="a nightly job")) as job, ThreadPoolExecutor() as threads:
        job.execute("LOCK TABLE agent_message IN ACCESS EXCLUSIVE MODE")
        look, taken = threads.submit(team.snapshot), threads.submit(_take, Caller(team, "architect", wait=0.1))
        try:
            seen, refused = look.result(60.0), refusal(lambda: taken.result(60.0))
        finally:
            job.rollback()
        assert seen.condition is Condition.UNREADABLE
        assert "a nightly job" in seen.problems[0].message
        assert refused.code is Code.STORE_LOCKED
    assert team.snapshot().condition is Condition.EMPTY


def test_a_file_that_is_away_for_a_while_is_waited_for(tmp_path: Path, opened: Open) -> None:
    path, aside = tmp_path / "team.db", tmp_path / "aside.db"
    create_database(str(path), SETTINGS)
    arrival, caller = Arrival(_take), Caller(opened(str(path)), "architect")
    assert arrival.look(caller) is None
    caller.team.close()
    path.rename(aside)
    assert arrival.look(caller) is None
    assert caller.team.snapshot().condition is Condition.VANISHED
    for blocked in (lambda: arrival.end(caller), lambda: put(caller.team, make_message(2))):
        refused = refusal(blocked)
        assert refused.code is Code.STORE_UNREADABLE
    assert not path.exists()
    aside.rename(path)
    put(opened(str(path)), make_message(1, to="architect"))
    found = arrival.look(caller)
    assert found is not None
    assert len(found.messages) == 1


@pytest.mark.parametrize("kinds", [("shm",), ("shm", "wal")])
def test_files_taken_away_while_they_are_used_are_said_and_nothing_is_written_over(
    tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    """What this process has open is not what others write: it writes nothing there, nor clears away what is theirs."""
    path, line = tmp_path / "team.db", CommandLine(tmp_path)
    create_database(str(path), SETTINGS)
    send_one = ("-t", str(path), "--as", "ceo", "send", "--to", "architect", "--type", "spec_ready", "--id")
    with closing(open_database(str(path))) as team:
        put(team, make_message(1))
        with (
            pytest.raises(TeamError, match="was replaced by another file; nothing was written"),
            team.transaction(actor="ceo", action="send", wait=1.0) as tx,
        ):
            tx.add(make_message(2))
            tx.record("send")
            for kind in kinds:
                Path(f"{path}-{kind}").unlink()
            line.ok(*send_one, "m-3")
        line.ok(*send_one, "m-4")
        put(team, make_message(5))
    assert set(ids(open_database(str(path)))) == {make_message(1).message_id, "m-3", "m-4", make_message(5).message_id}


def test_a_hook_does_not_take_a_server_that_is_away_for_a_human_who_left(
    own_server: Server, home: str, opened: Open
) -> None:
    watch = HumanWatch(opened(home))
    assert not watch.is_gone()
    own_server.kill()
    assert [watch.is_gone() for _ in range(20)] == [False] * 20
    own_server.start()
    assert [watch.is_gone() for _ in range(2)] == [False, True]
