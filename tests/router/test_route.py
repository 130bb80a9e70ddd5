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
from team_console.store.model.message import Message
from team_console.store.protocol.message_seal import Seal, message_seal, sign
from team_console.store.service import agent_command, maintenance
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import Remedy, apply_remedy
from team_console.store.service.route_json import read_document, route

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import make_message, put

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


def test_a_document_is_read_as_the_source_writes_it_in_python() -> None:
    text = "document = {'ACTION': 'clear', 'IDS': ('a', None), 'DRY': {'RUN': True}}  # as in the source"
    assert read_document(text) == {"ACTION": "clear", "IDS": ["a", None], "DRY": {"RUN": True}}


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
    apply_remedy(caller, Remedy.REDIRECT, [ONE, TWO], to="code_developer")
    assert message_seal(_stored(team, ONE), key) is Seal.SIGNED
    assert message_seal(_stored(team, TWO), key) is Seal.BROKEN


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_command_of_another_user_that_cannot_be_ended_is_a_failed_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `sudo -u agent program` is: to end it is not permitted, and whoever delivers has to go on."""
    groups: list[int] = []
    end = os.killpg

    def refused(group: int, _: int) -> None:
        groups.append(group)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "killpg", refused)
    monkeypatch.setattr(agent_command, "_WAIT_FOR_KILLED", 0)
    try:
        error = agent_command.run_command(["sleep", "600"], limit=0)
    finally:
        for group in groups:
            end(group, signal.SIGKILL)
            os.waitpid(group, 0)
    assert error == "no answer within 0 s, and it could not be ended"
