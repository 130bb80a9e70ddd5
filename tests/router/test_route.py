"""The orchestrator's JSON, clearing, failures and commands that a message is handed to."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.protocol.verdicts import Seal, message_seal, sign
from team_console.store.service import agents, maintenance
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import Remedy, forecast, treat
from team_console.store.service.orchestrator import read_document, route

from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, make_message, put

ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text())
"""The fields of the source, by action."""
POLL = """invoke_command("route-inter-agent-messages", {
    "ACTION": "poll",
    "RECIPIENT": "code_developer",
    "BATCH_SIZE": 10
})"""


def _seed_messages(team: MemoryTeam) -> None:
    for message_id, kind, payload, created in (
        ("msg-002", "dependency_unblocked", {"task_id": "TASK-31-2", "unblocked_by": "TASK-31-1"}, "10:32:00"),
        ("msg-001", "task_assignment", {"task_id": "TASK-31-1", "spec_id": "S", "priority": "high"}, "10:30:00"),
    ):
        record = {"message_id": message_id, "type": kind, "from": "ceo", "to": "code_developer"}
        put(team, from_record({**record, "created": f"2025-10-26T{created}Z", "payload": payload}))


def test_poll_answers_with_the_fields_of_the_source_oldest_first(
    team: MemoryTeam, caller: Caller, clock: FakeClock
) -> None:
    _seed_messages(team)
    answer = route(caller, read_document(POLL))
    assert answer == ANSWERS["poll"]
    assert [message.status for message in team.snapshot().messages] == ["pending", "pending"]


def test_poll_is_limited_to_the_batch_size_and_still_counts_all(team: MemoryTeam, caller: Caller) -> None:
    put(team, *[make_message(number, to="architect") for number in range(1, 15)])
    for number, status in enumerate(("delivered", "failed", "read", "expired"), start=20):
        put(team, make_message(number, to="architect").with_changes(status=status))
    answer = route(caller, {"ACTION": "poll", "RECIPIENT": "architect"})
    assert (len(answer["messages"]), answer["messages_pending"]) == (10, 14)


def test_send_answers_with_the_fields_of_the_source(team: MemoryTeam, caller: Caller) -> None:
    payload = {"task_id": "TASK-31-1", "spec_id": "SPEC-031", "priority": "high"}
    document = {
        **{"ACTION": "send", "SENDER": "architect", "RECIPIENT": "code_developer"},
        **{"MESSAGE_TYPE": "task_assignment", "PAYLOAD": payload},
    }
    answer = route(caller, document)
    (stored,) = team.snapshot().messages
    (warning,) = answer.pop("warnings")
    assert "architect is not the orchestrator" in warning
    assert answer == {**ANSWERS["send"], "message_id": stored.message_id}
    assert dict(stored.payload) == payload
    assert stored.priority == "high"


@cases
def test_every_form_of_the_invocation_is_understood(caller: Caller, document: Any) -> None:
    assert route(caller, json.loads(json.dumps(document)))["recipient"] == "architect"


REFUSED = Path(__file__).with_name("refused.jsonl").read_text().splitlines()
"""Documents, the code of each refusal, and a word of its message."""


@pytest.mark.parametrize(("document", "code", "words"), [json.loads(line) for line in REFUSED])
def test_what_is_not_understood_is_refused_by_name(
    team: MemoryTeam, caller: Caller, document: Any, code: str, words: str
) -> None:
    with pytest.raises(TeamError) as caught:
        route(caller, document)
    assert str(caught.value.code) == code
    assert words in caught.value.message
    assert team.audit() == []


@pytest.mark.parametrize(
    "text",
    [
        "{'ACTION': 'clear', 'ACTION': 'poll', 'RECIPIENT': 'a'}",
        "{'ACTION': __import__('os').getcwd()}",
        "{'ACTION': {1, 2}}",
        "{'ACTION': b'poll'}",
        "{**{'ACTION': 'poll'}}",
        "{'A': 1e999}",
        "{'a': " * 50_000,
    ],
)
def test_what_is_no_plain_literal_is_one_error(text: str) -> None:
    with pytest.raises(TeamError) as caught:
        read_document(text)
    assert caught.value.code is Code.INVALID_FIELD


def test_a_batch_bounds_what_is_delivered_and_the_rest_is_named(team: MemoryTeam, caller: Caller, folder: Path) -> None:
    recipients = ("architect", "runner", "architect", "runner")
    put(team, *[make_message(number, to=to) for number, to in enumerate(recipients, start=1)])
    answer = route(caller, {"ACTION": "deliver", "BATCH_SIZE": 2})
    assert (answer["messages_delivered"], answer["messages_skipped"]) == (2, 2)
    assert {item["reason"] for item in answer["skipped"]} == {"not in this batch"}
    assert [message.status for message in team.snapshot().messages] == ["delivered", "delivered", "pending", "pending"]
    assert route(caller, {"ACTION": "deliver"})["messages_delivered"] == 2


@pytest.mark.parametrize("days", [-1, float("nan"), float("inf")])
def test_an_age_that_is_none_is_refused(caller: Caller, days: float) -> None:
    with pytest.raises(TeamError) as caught:
        maintenance.clear(caller, older_than_days=days)
    assert caught.value.code is Code.INVALID_FIELD


ONE, TWO = make_message(1).message_id, make_message(2).message_id


def _dead(number: int = 1, **changes: str) -> Message:
    facts = {"status": "failed", "attempts": 4, "error_message": "exit status 1", **changes}
    return make_message(number, to="architect").with_changes(**facts)


def _stored(team: MemoryTeam, message_id: str = ONE) -> Message:
    return next(message for message in team.snapshot().messages if message.message_id == message_id)


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


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_command_of_another_user_that_cannot_be_ended_is_a_failed_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `sudo -u agent program` is: to end it is not permitted, and whoever delivers has to go on."""
    groups: list[int] = []
    end = os.killpg

    def refused(group: int, _: int) -> None:
        groups.append(group)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "killpg", refused)
    monkeypatch.setattr(agents, "_GRACE_SECONDS", 0)
    try:
        error = agents.run_command(["sleep", "600"], limit=0)
    finally:
        for group in groups:
            end(group, signal.SIGKILL)
            os.waitpid(group, 0)
    assert error == "no answer within 0 s, and it could not be ended"
