"""Signatures are worked out once for each verdict, then known by their bytes, however often a team is looked at."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from team_console.store.model.message import Message, from_record
from team_console.store.protocol import verdicts
from team_console.store.protocol.verdicts import REQUEST_DIGEST, SIGNATURE, digest_of, objection, statement
from team_console.store.settings.team_config import Human, TeamConfig

from tests.trust.keys_of_humans import packed, signature_by

AGENT, LEAD = "task-manager", "ceo"
AMOUNT = 50
TEAM_ID = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts whose signatures were worked out."""
    pytest.importorskip("cryptography")
    real, texts = verdicts._is_good, list[str]()

    def counted(parts: Any, text: str, signature: str) -> bool | None:
        texts.append(text)
        return real(parts, text, signature)

    monkeypatch.setattr(verdicts, "_is_good", counted)
    monkeypatch.setattr(verdicts, "_known", {})
    return texts


@pytest.mark.slow
def test_each_verdict_is_verified_once_and_again_only_when_a_byte_of_it_is_another(worked_out: list[str]) -> None:
    config, pairs = many_signed(AMOUNT)
    for _ in range(3):
        assert not any(objection(config, verdict, question) for question, verdict in pairs)
    assert len(worked_out) == len(set(worked_out)) == AMOUNT
    question, verdict = pairs[7]
    changed = verdict.with_changes(payload={**verdict.payload, "content": "something else"})
    other = verdict.with_changes(payload={**verdict.payload, SIGNATURE: pairs[8][1].payload[SIGNATURE]})
    for _ in range(3):
        assert "does not fit" in objection(config, changed, question)
        assert "does not fit" in objection(config, other, question)
        assert not objection(config, verdict, question)
    assert len(worked_out) == AMOUNT + 2


def test_a_key_that_is_taken_out_of_the_settings_is_not_remembered_as_good(worked_out: list[str]) -> None:
    from msgspec.structs import replace

    config, [(question, verdict)] = many_signed(1)
    assert not objection(config, verdict, question)
    (human,) = config.humans.values()
    others, _ = many_signed(1, seed=b"another key")
    keys = next(iter(others.humans.values())).keys
    changed = replace(config, humans={human.name: replace(human, keys=keys)})
    assert "not this human's" in objection(changed, verdict, question)


def test_ten_thousand_fit_into_what_is_remembered() -> None:
    assert verdicts._REMEMBERED > 10_000


def many_signed(amount: int, *, seed: bytes = b"a key") -> tuple[TeamConfig, list[tuple[Message, Message]]]:
    """Questions with their verdicts, signed here: `ssh-keygen` would take minutes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed).digest())
    blob = packed(b"ssh-ed25519") + packed(private.public_key().public_bytes_raw())
    human = Human(LEAD, (f"ssh-ed25519 {base64.b64encode(blob).decode()} {LEAD}",))
    config = TeamConfig(lead=LEAD, humans={LEAD: human}, verdicts="signed", team_id=TEAM_ID)
    return config, [_pair(private, blob, place) for place in range(amount)]


def _pair(private: Any, blob: bytes, place: int) -> tuple[Message, Message]:
    envelope = {"created": "2026-02-24T10:30:00.000Z", "status": "read", "priority": "high"}
    request = f"permission-{place}@{AGENT}"
    asked = {"request_id": request, "tool": "Bash", "input": {"command": f"ls {place}"}}
    names = {"type": "permission_request", "from": AGENT, "to": LEAD}
    question = from_record({"message_id": f"Q{place}", **names, **envelope, "payload": asked})
    said = {"request_id": request, "approve": True, "scope": "once", REQUEST_DIGEST: digest_of(question)}
    names = {"type": "permission_response", "from": LEAD, "to": AGENT}
    record = {"message_id": f"A{place}", **names, **envelope}
    text = statement(TEAM_ID, from_record({**record, "payload": said}))
    signature = signature_by(blob, b"ssh-ed25519", text, private.sign)
    return question, from_record({**record, "payload": {**said, SIGNATURE: signature}})
