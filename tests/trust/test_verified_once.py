"""Signatures are worked out once for each verdict, then known by their bytes, however often a team is looked at."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.protocol import verdicts
from team_console.store.protocol.verdicts import SIGNATURE, objection

from tests.equipment.signed_teams import PLACES
from tests.equipment.signing_keys import public_line
from tests.trust.test_forgeries import Case


@pytest.mark.slow
def test_each_verdict_is_verified_once_and_again_only_when_a_byte_of_it_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case(PLACES["yaml"](tmp_path), "permission")
    with closing(case.team):
        another = case.decide(case.ask("ls", by="alice")[0])
        verdict, question, config = case.decide(), case.question, case.team.config()
    real, worked_out = verdicts._is_good, list[str]()

    def counted(parts: Any, text: str, signature: str) -> bool | None:
        worked_out.append(text)
        return real(parts, text, signature)

    monkeypatch.setattr(verdicts, "_is_good", counted)
    monkeypatch.setattr(verdicts, "_verified", {})
    for _ in range(3):
        assert not objection(config, verdict, question)
    assert len(worked_out) == 1
    changed = verdict.with_changes(payload={**verdict.payload, "content": "something else"})
    other = verdict.with_changes(payload={**verdict.payload, SIGNATURE: another.payload[SIGNATURE]})
    for _ in range(3):
        assert "does not fit" in objection(config, changed, question)
        assert "does not fit" in objection(config, other, question)
        assert not objection(config, verdict, question)
    assert len(worked_out) == 3
    human = replace(config.human("ceo"), keys=(public_line(name="mallory"),))
    assert "not this human's" in objection(replace(config, humans={"ceo": human}), verdict, question)
