"""A signature covers what a message says and survives its way through the queue."""

from __future__ import annotations

from typing import Any

from rich.pretty import pretty_repr
from team_console.store.model.message import Message, from_record
from team_console.store.protocol.message_seal import Seal, message_seal, sign
from team_console.store.settings.team_config import TeamConfig

from tests.equipment.cases import cases
from tests.protocol.conftest import message

KEY = b"0123456789abcdef"


def signed(**changes: Any) -> Message:
    plain = message(**changes)
    return from_record({**plain.record, "signature": sign(plain.record, KEY)})


@cases
def test_a_change_of_what_is_said_breaks_the_seal(forged: dict[str, Any]) -> None:
    assert message_seal(signed().with_changes(**forged), KEY) is Seal.BROKEN


def test_another_key_breaks_the_seal_and_no_key_cannot_tell() -> None:
    assert message_seal(signed(), b"another key") is Seal.BROKEN
    assert message_seal(signed(), b"") is Seal.UNSIGNED


def test_the_key_shows_in_no_log_and_no_traceback() -> None:
    config = TeamConfig(name="sprint-42", key=KEY)
    for words in (repr(config), pretty_repr(config)):
        assert "sprint-42" in words
        assert KEY.decode() not in words
