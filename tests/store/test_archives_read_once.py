"""What many messages quote is looked for in the archives at once: each file is read and understood one time."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.yaml.archives import Part
from team_console.store.contract.team import Team
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive

from tests.store.contract import FakeClock, make_message, put, yaml_factory

AGENT, NUMBER = "task-manager", 12


def _receive_all(team: Team) -> int:
    return len(receive(Caller(team, AGENT), agent=AGENT).messages)


def test_answers_of_the_lead_to_messages_of_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 600 read the whole archive anew to see what it answers: a receive took twelve seconds."""
    understood: list[Path] = []
    begin = Part.__init__

    def counted(part: Part, path: Path, data: bytes) -> None:
        understood.append(path)
        begin(part, path, data)

    with yaml_factory(tmp_path, FakeClock()) as factory:
        team = factory()
        asked = [make_message(number, to=AGENT) for number in range(NUMBER)]
        put(team, *asked)
        assert _receive_all(team) == NUMBER
        for number, message in enumerate(asked, start=NUMBER):
            payload = {"content": "Yes.", "summary": "An answer", "in_reply_to": message.message_id}
            put(team, make_message(number, to=AGENT, sender="ceo", payload=payload))
        monkeypatch.setattr(Part, "__init__", counted)

        assert _receive_all(team) == NUMBER
        assert len(understood) < NUMBER
