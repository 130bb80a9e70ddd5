"""Forgeries beyond the catalogue: words put into a human's mouth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service import inbox, requests, sending
from team_console.store.service.caller import Caller
from team_console.store.views.verdicts import verdict_of

from tests.equipment.signed_teams import PLACES, Place

WORDS: dict[str, Any] = {"summary": "one two three four five", "content": "c"}


@pytest.mark.slow
@pytest.mark.parametrize("store", ["yaml", "sqlite"])
def test_an_order_to_stop_that_was_obeyed_long_ago_is_marked_when_it_comes_back(store: str, tmp_path: Path) -> None:
    place: Place = PLACES[store](tmp_path)
    team = open_team(place.location)
    ceo, bob = Caller(team, "ceo"), Caller(team, "bob")
    order = requests.request_shutdown(ceo, agent="bob", reason="done").messages[0]
    (first,) = inbox.receive(bob, agent="bob").messages
    assert "trust" not in first.record
    requests.approve(bob, request_id=order.request_id or "")
    inbox.receive(ceo, agent="ceo")
    with team.transaction(actor="ceo", action="compact", wait=2.0) as tx:
        for message in list(tx.everything()):
            tx.remove(message)
        tx.record("compact")
    assert team.snapshot().messages == ()
    place.append({**dict(order.record), "status": "pending"})
    sending.send(Caller(team, "alice"), to="ceo", **WORDS)
    # Files have a record of what left them, and put nothing back.
    received = [message.record.get("trust") for message in inbox.receive(bob, agent="bob").messages]
    assert received == ([] if store == "yaml" else ["replayed"])
    assert verdict_of(team, order.request_id or "").state == "approved"
    team.close()
