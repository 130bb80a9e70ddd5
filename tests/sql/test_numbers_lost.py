"""The numbers of the last write, without which nobody can write: their loss is told, and `check --heal` ends it."""

from __future__ import annotations

import pytest
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.model.errors import TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import heal
from team_console.store.service.sending import send

from tests.sql.conftest import Open
from tests.sql.test_foreign import execute

LOSSES = {
    "emptied": "DELETE FROM team_console_state",
    "lines behind": "UPDATE team_console_state SET audit_seq = 1",
    "arrivals behind": "UPDATE team_console_state SET arrivals = 0",
}


def _send(team: SqlTeam, content: str) -> None:
    send(Caller(team, "ceo"), to="architect", summary="one two three four five", content=content)


def _codes(team: SqlTeam) -> list[str]:
    return [problem.code for problem in team.snapshot().problems]


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_it_is_told_and_healed(team: SqlTeam, opened: Open, loss: str) -> None:
    for content in ("first", "second"):
        _send(team, content)
    with team.transaction(actor="ceo", action="archive", wait=5.0) as tx:
        tx.archive("ceo", tx.everything()[0])
        tx.record("archive")
    execute(team.location, loss)
    assert _codes(opened(team.location)) == ["NUMBERS_LOST"]
    assert [problem.code for problem in heal(Caller(team, "ceo"))] == ["HEALED_NUMBERS"]
    assert (_codes(team), heal(Caller(team, "ceo"))) == ([], ())
    _send(team, "third")
    after = opened(team.location)
    assert [message.content for message in after.snapshot().messages] == ["first", "second", "third"]
    assert all(line.intact for line in after.audit())


def test_without_them_a_write_says_what_puts_them_back(team: SqlTeam) -> None:
    _send(team, "first")
    execute(team.location, LOSSES["emptied"])
    with pytest.raises(TeamError) as refused:
        _send(team, "second")
    assert "check --heal" in refused.value.hint


def test_a_text_in_their_place_is_none(team: SqlTeam) -> None:
    if "://" in team.location:
        pytest.skip("PostgreSQL takes no text there")
    _send(team, "first")
    execute(team.location, "UPDATE team_console_state SET arrivals = 'many'")
    assert _codes(team) == ["NUMBERS_LOST"]
