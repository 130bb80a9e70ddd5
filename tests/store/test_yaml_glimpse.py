"""The first picture of a large queue has what is for its reader, however old, and knows what was answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.codec import emit
from team_console.store.backends.yaml.codec.glimpse import glimpse
from team_console.store.model.message import Message, new_record

pytestmark = pytest.mark.slow

COUNT = 6_000
TEXT = "The totals of the last table do not add up for February, and nobody has looked at the export job since then."


def message(number: int, **more: object) -> Message:
    """One message between agents, or another."""
    fields: dict[str, object] = {"type": "message", "sender": "architect", "to": "qa-runner", "payload": {}}
    fields.update(more)
    fields["payload"] = {"content": f"number {number}: {TEXT}", **fields["payload"]}  # type: ignore[dict-item]
    return new_record(
        message_id=f"MSG-20260224-{number:08}",
        created="2026-02-24T10:30:15.123Z",
        priority="medium",
        **fields,  # type: ignore[arg-type]
    )


def plan(number: int, request_id: str) -> Message:
    """A plan that an agent asks the lead to approve."""
    return message(number, type="plan_approval_request", to="ceo", payload={"request_id": request_id})


def answer(number: int, request_id: str) -> Message:
    """Somebody's answer to it."""
    return message(
        number, type="plan_approval_response", sender="deputy", to="architect", payload={"request_id": request_id}
    )


def queue(others: dict[int, Message]) -> bytes:
    """A large queue of messages between agents, with some others in between."""
    return b"messages:\n" + b"".join(emit(others.get(number) or message(number)) for number in range(COUNT))


def test_what_is_for_the_reader_is_seen_however_old_it_is() -> None:
    seen = glimpse(queue({100: message(100, to="ceo"), 3000: message(3000, to="all")}), 50, {"ceo", "all"})
    assert seen is not None
    assert [item.content.partition(":")[0] for item in seen.messages[:3]] == [
        "number 100",
        "number 3000",
        "number 5950",
    ]
    assert len(seen.messages) == 52
    assert COUNT * 0.9 < seen.left_out < COUNT * 1.1


def test_what_answers_an_old_question_is_seen_with_it() -> None:
    seen = glimpse(
        queue({100: plan(100, "plan-1"), 2000: answer(2000, "plan-1"), 2001: answer(2001, "plan-2")}), 50, {"ceo"}
    )
    assert seen is not None
    assert [item.type for item in seen.messages[:3]] == ["plan_approval_request", "plan_approval_response", "message"]


def test_of_very_many_for_the_reader_the_newest_are_seen() -> None:
    seen = glimpse(queue({number: message(number, to="ceo") for number in range(0, 5000, 10)}), 50, {"ceo"})
    assert seen is not None
    assert len(seen.messages) == 100
    assert seen.messages[0].content.startswith("number 4500")


def test_a_name_inside_a_text_is_no_address() -> None:
    data = queue({100: message(100, payload={"summary": "ceo"})})
    seen = glimpse(data, 50, {"ceo"})
    assert seen is not None
    assert all(item.is_addressed_to("qa-runner") for item in seen.messages)


@pytest.mark.parametrize(
    "data",
    [b"messages: []\n", b"{messages: [{message_id: A}]}\n", b"messages:\n" + emit(message(1))],
    ids=["empty", "flow", "small"],
)
def test_what_is_small_or_of_another_form_is_left_to_a_whole_reading(data: bytes) -> None:
    assert glimpse(data, 50, {"ceo"}) is None


@pytest.mark.parametrize("end", [b"\0", b"- message_id: 'open\n"], ids=["nul", "open quote"])
def test_what_only_a_whole_reading_can_tell_is_left_to_it(end: bytes) -> None:
    assert glimpse(queue({}) + end, 50, {"ceo"}) is None


def test_a_team_gives_the_same_in_its_first_picture_and_all_of_it_afterwards(tmp_path: Path) -> None:
    (tmp_path / "message-queue.yaml").write_bytes(queue({100: message(100, to="ceo")}))
    team = open_team(str(tmp_path))
    first = team.newest(50, {"ceo"})
    assert first is not None
    assert first.messages[0].content.startswith("number 100")
    whole = team.snapshot()
    assert len(whole.messages) == COUNT
    assert whole.left_out == 0
    assert whole.revision != first.revision
