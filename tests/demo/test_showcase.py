"""The fixed demo team: the same every time, whole, and with something to see everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from team_console.store.backends.open import open_team
from team_console.store.protocol.checks import problems_of
from team_console.store.protocol.parsing import parse_message
from team_console.store.views.projection import view_of
from team_console.store.views.rows import View

from tests.showcase import NOW, build

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The showcase on disk."""
    folder: Path = tmp_path_factory.mktemp("showcase") / "team"
    build(folder)
    return folder


@pytest.fixture(scope="module")
def view(root: Path) -> View:
    """What its lead sees at the showcase's own time."""
    team = open_team(str(root), read_only=True, clock=lambda: NOW)
    return view_of(team.snapshot(), me="ceo", now=NOW, history=team.history(limit=500).messages)


def test_an_independent_reader_understands_it(root: Path) -> None:
    records = yaml.safe_load((root / "message-queue.yaml").read_text(encoding="utf-8"))["messages"]
    ids = [record["message_id"] for record in records]
    assert len(ids) == len(set(ids)) > 50


def test_every_screen_has_something_to_show(view: View) -> None:
    assert len(view.batches) == 3
    assert view.lifecycles
    assert {"failed", "retry"} <= set(view.counts)
    assert {"plan", "shutdown", "create", "destroy", "debug"} <= {str(row.kind) for row in view.requests}
    assert all(view.inboxes[name] for name in ("ceo", "task-manager", "file-manager"))
    states = {str(row.state) for row in view.roster}
    assert len(states) >= 3


def test_nothing_in_it_departs_from_its_protocol(view: View) -> None:
    messages = view.snapshot.messages
    problems = [problem for message in messages for problem in problems_of(parse_message(message))]
    assert problems == []
    assert [finding for finding in view.findings if finding.severity == "error"] == []


def test_texts_are_written_in_more_than_one_script(view: View) -> None:
    assert any(not text.isascii() and "请" in text for text in _texts(view))


def _texts(view: View) -> Iterable[str]:
    return (message.content for message in view.snapshot.messages)
