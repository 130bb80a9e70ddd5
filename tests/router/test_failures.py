"""The failure desk: retry, redirect, discard and recall, each judged by the state under the lock."""

from __future__ import annotations

from functools import partial

import pytest
from msgspec.structs import replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.verdicts import Seal, message_seal, sign
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import Remedy, forecast, treat

from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import make_message, put

ONE, TWO = make_message(1).message_id, make_message(2).message_id


def _dead(number: int = 1, **changes: str) -> Message:
    facts = {"status": "failed", "attempts": 4, "error_message": "exit status 1", **changes}
    return make_message(number, to="architect").with_changes(**facts)


def _stored(team: MemoryTeam, message_id: str = ONE) -> Message:
    return next(message for message in team.snapshot().messages if message.message_id == message_id)


@cases
def test_redirecting_to_nobody_is_refused_and_changes_nothing(
    team: MemoryTeam, caller: Caller, to: str, code: Code
) -> None:
    put(team, _dead())
    with pytest.raises(TeamError) as caught:
        treat(caller, Remedy.REDIRECT, [ONE], to=to)
    assert caught.value.code is code
    assert _stored(team).status == "failed"


def test_redirecting_signs_again_only_what_was_rightly_signed(team: MemoryTeam, caller: Caller) -> None:
    key = b"k" * 32
    team._config = replace(team.config(), key=key)
    signed = _dead(1)
    forged = _dead(2).with_changes(signature="hmac-sha256:" + "0" * 64)
    put(team, signed.with_changes(signature=sign(signed.record, key)), forged)
    treat(caller, Remedy.REDIRECT, [ONE, TWO], to="code_developer")
    assert message_seal(_stored(team, ONE), key) is Seal.SIGNED
    assert message_seal(_stored(team, TWO), key) is Seal.BROKEN


def test_many_at_once_are_one_transaction_and_those_that_do_not_fit_are_named(team: MemoryTeam, caller: Caller) -> None:
    put(team, _dead(1), make_message(2, to="architect").with_changes(status="read"))
    before, shown = team.snapshot().revision, forecast(caller, Remedy.RETRY, [ONE, TWO, "MSG-gone", ONE])
    assert ([message.message_id for message in shown.possible], list(shown.refused)) == ([ONE], [TWO, "MSG-gone"])
    assert team.snapshot().revision == before
    receipt = treat(caller, Remedy.RETRY, [ONE, TWO, "MSG-gone", ONE])
    assert [message.message_id for message in receipt.messages] == [ONE]
    assert len(receipt.warnings) == 2
    assert TWO in receipt.warnings[0]
    assert "MSG-gone" in receipt.warnings[1]
    assert [line.action for line in team.audit()] == ["retry", "send"]


def test_only_the_sender_and_the_lead_handle_a_message(team: MemoryTeam) -> None:
    put(team, _dead())
    with pytest.raises(TeamError) as caught:
        treat(Caller(team, "architect"), Remedy.REDIRECT, [ONE], to="code_developer")
    assert caught.value.code is Code.NOT_PERMITTED


def test_an_answer_goes_to_nobody_but_who_asked(team: MemoryTeam, caller: Caller) -> None:
    plan = make_message(1, type="plan_approval_request", sender="architect", to="ceo", payload={"request_id": "PLAN-1"})
    verdict = make_message(
        2, type="plan_approval_response", to="architect", payload={"request_id": "PLAN-1", "approve": True}
    )
    put(team, plan, verdict.with_changes(status="failed"))
    with pytest.raises(TeamError) as caught:
        treat(caller, Remedy.REDIRECT, [TWO], to="code_developer")
    assert caught.value.code is Code.NOT_PERMITTED
    assert _stored(team, TWO).recipients == ("architect",)
    treat(caller, Remedy.RETRY, [TWO])
    assert _stored(team, TWO).status == "pending"


def test_what_was_discarded_can_be_neither_acknowledged_nor_read(team: MemoryTeam, caller: Caller) -> None:
    put(team, _dead())
    treat(caller, Remedy.DISCARD, [ONE], reason="nobody needs it")
    for act in (
        partial(inbox.acknowledge, ids=[ONE]),
        partial(inbox.read_message, agent="architect", message_id=ONE),
    ):
        with pytest.raises(TeamError) as refused:
            act(Caller(team, "architect"))
        assert (refused.value.code, f"history --grep {ONE}" in refused.value.hint) == (Code.NOT_PERMITTED, True)
    assert team.audit()[0].action == "discard"
