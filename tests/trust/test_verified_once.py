"""Signatures are worked out once for each verdict, then known by their bytes, however often a team is looked at."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.protocol import verdicts
from team_console.store.protocol.verdicts import SIGNATURE, objection

from tests.proofs.benchmarks.verdicts import many_signed

AMOUNT = 200


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts whose signatures were worked out."""
    pytest.importorskip("cryptography")
    real, texts = verdicts._is_good, list[str]()

    def counted(parts: Any, text: str, signature: str) -> bool:
        texts.append(text)
        return real(parts, text, signature)

    monkeypatch.setattr(verdicts, "_is_good", counted)
    monkeypatch.setattr(verdicts, "_known", {})
    return texts


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
