"""A question whose record somebody damages while it is on the screen is marked, and the desk refuses an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.views.projection import Projection
from team_console.store.views.rows import Flag

from tests.equipment.yaml_folder import QUEUE, open_yaml

SETTINGS = "team: sprint-42\nlead: ceo\nagents: [ceo, task-manager]\n"


@pytest.mark.parametrize("how", [b"  broken: [\n", b"\t- {\n", b"  a: \x07\n"])
def test_a_damaged_question_says_so_until_it_is_repaired_and_is_not_answered(tmp_path: Path, how: bytes) -> None:
    (tmp_path / "messenger-config.yaml").write_text(SETTINGS)
    team, queue = open_yaml(tmp_path), tmp_path / QUEUE
    asked = requests.submit_plan(Caller(team, "task-manager", 5), content="1. Split it", summary="Split the loader")
    request_id, board = asked.request_id, Projection("ceo")
    assert request_id is not None
    (whole,) = board.update(team.snapshot(), team.clock()).requests
    good = queue.read_bytes()
    queue.write_bytes(good.replace(b"  type: plan", how + b"  type: plan"))
    view = board.update(team.snapshot(), team.clock())
    (row,) = view.requests
    assert Flag.DAMAGED in row.flags
    items = [item for item in view.attention if item.request is not None]
    assert items
    assert not any(item.answerable for item in items)
    assert all("damaged" in item.why for item in items)
    for answer in (requests.approve, lambda caller, **facts: requests.reject(caller, reason="no", **facts)):
        before = queue.read_bytes()
        with pytest.raises(TeamError) as caught:
            answer(Caller(team, "ceo", 5), request_id=request_id)
        assert (caught.value.code, request_id in caught.value.message) == (Code.STORE_UNREADABLE, True)
        assert caught.value.hint
        assert queue.read_bytes() == before
    queue.write_bytes(good)
    (row,) = board.update(team.snapshot(), team.clock()).requests
    assert (row.state, row.flags, row.question.record) == (whole.state, whole.flags, whole.question.record)
