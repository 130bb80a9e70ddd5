"""What rows and details say: titles, inboxes, broadcasts, reports, suggestions of clients and nested values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from team_console.store.model.message import Message
from team_console.store.protocol.state_reports import report_of
from team_console.store.protocol.titles import message_title
from team_console.store.protocol.tool_input import structure, suggestion_words
from team_console.store.views.conversation import group_copies

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle
from tests.equipment.teams import make_message


def title(kind: str, payload: Mapping[str, Any]) -> str:
    story = Chronicle()
    message = story.say("debugger", LEAD, kind)
    return message_title(message.with_changes(payload=dict(payload)))


@cases
def test_the_title_says_what_it_is_about(kind: str, payload: dict[str, Any], wanted: str) -> None:
    assert title(kind, payload) == wanted.strip()


def copy(number: int, to: str, **changes: Any) -> Message:
    """One copy of the broadcast `BC-1`."""
    base = make_message(number, to=to, type="broadcast", broadcast_id="BC-1", created="2026-02-24T10:30:00Z")
    payload = {"summary": "The freeze begins", "content": "Commit before."}
    return base.with_changes(payload=payload, **changes)


@cases
def test_whatever_differs_is_not_hidden_behind_a_broadcast(changes: dict[str, Any]) -> None:
    other = copy(3, "c").with_changes(**changes)
    rows = list(group_copies((copy(1, "a"), copy(2, "b"), other)))
    assert (other,) in rows
    assert sorted(len(row) for row in rows) == [1, 2]


def test_many_copies_are_gathered_with_one_look_at_each() -> None:
    """A look at each pair of them would not end within a test's time."""
    copies = [copy(number, f"agent-{number}") for number in range(5_000)]
    (row,) = group_copies(copies)
    assert len(row) == 5_000


@cases
def test_a_broadcast_reports_its_counts_or_its_summary(payload: dict[str, object], text: str) -> None:
    report = report_of(make_message(type="broadcast", payload=payload))
    assert report is not None
    assert report.text == text


def report(story: Chronicle, running: int, *, sender: str = "task-manager") -> None:
    text = f"{running} running, 3 done, 2 to be assigned"
    story.say(sender, LEAD, "broadcast", summary=f"Task queue status: {running} run", content=text)


@cases
def test_a_suggestion_is_told_in_the_words_of_its_client(suggestion: Any, words: str) -> None:
    assert suggestion_words(suggestion) == words


def test_nested_values_look_like_yaml() -> None:
    roster = {"residents": ["sm", "kr"], "temps": []}
    value = {"id": "DBG-1", "roster": roster, "fix": "one\ntwo", "none": None, "yes": True}
    assert structure(value) == (
        "id: DBG-1\nroster:\n  residents:\n    - sm\n    - kr\n  temps: []\nfix: |\n  one\n  two\nnone: null\nyes: true"
    )
    assert structure([{"a": 1, "b": 2}, {"a": 3}]) == "- a: 1\n  b: 2\n- a: 3"


def test_deep_nesting_is_shown_to_its_bottom_and_length_to_its_end() -> None:
    deep: object = "bottom"
    for _ in range(500):
        deep = [deep]
    assert '"bottom"' in structure(deep)
    for _ in range(100_000):
        deep = [deep]
    assert "nested deeper than can be shown" in structure(deep)
    assert structure(list(range(10_000))).endswith("- 9999")
