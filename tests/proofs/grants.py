"""Proof that grants cover nothing outside of their scope: random requests, many of them nearly the same."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from team_console.store.model.message import new_record
from team_console.store.protocol.grants import GrantScope

from tests.equipment.cases import constant

_VALUES = constant(__file__, "VALUES", list[Any])
_KEYS = constant(__file__, "KEYS", list[str])
_NAMES = constant(__file__, "NAMES", list[str])
_PLACES = constant(__file__, "PLACES", list[str])


_Parts = tuple[Any, ...]
"""Agent, tool, folder, client and input of a request."""


def _input(chance: random.Random) -> dict[str, Any]:
    keys = chance.sample(_KEYS, chance.randint(1, 3))
    return {key: chance.choice(_VALUES) for key in keys}


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Yield each random request that is answered outside of the scope, and each in it that is not.

    What is in it is told by plain comparison, not by the code that is proven.
    """
    chance = random.Random(seed)
    for number in range(count):
        scope = GrantScope(chance.choice(_NAMES[:2]), "Bash", chance.choice(_PLACES[:2]), "codex", (_input(chance),))
        near: _Parts = (scope.agent, scope.tool, scope.directory, scope.client, dict(scope.inputs[0]))
        far = (chance.choice(_NAMES), chance.choice(("Bash", "bash")), chance.choice(_PLACES), "codex", _input(chance))
        asked: _Parts = tuple(one if chance.random() < 0.8 else other for one, other in zip(near, far, strict=True))
        agent, tool, place, client, given = asked
        payload = {"request_id": "p-1", "tool": tool, "directory": place, "client": client, "input": given}
        payload |= {"denied": "no"} if chance.random() < 0.02 else {}
        question = new_record(
            message_id="MSG-1",
            type="permission_request",
            sender=agent or "a9",
            to="ceo",
            created="2026-02-24T10:30:15.123Z",
            priority="high",
            payload=payload,
        )
        same = _plain((question.sender, *asked[1:])) == _plain(near) and "denied" not in payload
        if scope.covers(question) is not same:
            yield f"request {number}: {payload} of {question.sender}, {'in' if same else 'outside of'} {scope}"


def _plain(parts: _Parts) -> tuple[object, ...]:
    given = {key: value for key, value in parts[4].items() if key != "description" or "command" not in parts[4]}
    return (*parts[:4], sorted((key, json.dumps(value, sort_keys=True)) for key, value in given.items()))
