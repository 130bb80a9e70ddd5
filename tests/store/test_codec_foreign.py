"""Queues as other programs write them: each reads as what was meant, and a change touches only what it changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from team_console.store.backends.yaml.codec import QueueText
from team_console.store.model.clock import from_text

from tests.store.contract import make_message

FOLDER = Path(__file__).parent / "foreign"
SOURCES: Mapping[str, str] = {
    "pyyaml-safe_dump.yaml": "PyYAML 6: yaml.safe_dump(queue) with one datetime and one list shared by all messages",
    "pyyaml-flow.yaml": "PyYAML 6: yaml.safe_dump(queue, default_flow_style=True), shared values",
    "pyyaml-narrow.yaml": "PyYAML 6: yaml.safe_dump(queue, width=20, indent=4, explicit_start=True, explicit_end=True)",
    "pyyaml-crlf.yaml": "PyYAML 6: yaml.safe_dump(queue, line_break='\\r\\n', explicit_start=True, version=(1, 1))",
    "ruamel-indent.yaml": "ruamel.yaml 0.18 or later: YAML().indent(mapping=2, sequence=4, offset=2), one list shared",
    "js-yaml-shared.yaml": "js-yaml of npm: dump(queue) with one list and one Date shared by all messages",
    "npm-yaml.yaml": "yaml of npm: stringify(queue), the same shared values",
    "go-yaml.v3.yaml": "Go, gopkg.in/yaml.v3: Marshal(queue) with a time.Time",
    "ruby-psych.yaml": "Ruby 3, Psych: queue.to_yaml with one Time and one Array shared by all messages",
    "yq.yaml": "yq of Debian 12: yq -y . queue.json",
    "json-dumps.json": "Python: json.dumps(queue), emoji as surrogate pairs",
    "json-tab.json": "Python: json.dumps(queue, indent='\\t')",
}
EXPECTED: list[dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))["messages"]
CREATED = datetime(2026, 2, 24, 10, 30, 15, 123000, tzinfo=UTC)


def records(text: QueueText) -> list[dict[str, Any]]:
    return [dict(message.record) for message in text.messages()]


def test_every_file_says_where_it_came_from() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*SOURCES, "expected.json"}


@pytest.mark.parametrize("name", SOURCES)
def test_a_foreign_queue_reads_as_it_was_meant(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    text = QueueText.parse(data)
    assert text.damaged() == []
    assert text.data() == data
    assert [message.payload for message in text.messages()] == [item["payload"] for item in EXPECTED]
    assert [list(message.recipients) for message in text.messages()] == [item["to"] for item in EXPECTED]
    assert {from_text(message.created) for message in text.messages()} == {CREATED}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("removed", [0, 1, 3])
def test_a_change_to_a_foreign_queue_leaves_the_other_messages_as_they_are(name: str, removed: int) -> None:
    text = QueueText.parse((FOLDER / name).read_bytes())
    before = text.messages()
    read = (removed + 1) % len(before)
    change = {read: before[read].with_changes(status="read", read_at="2026-02-24T11:00:00Z")}
    after = text.edit(append=[make_message(1)], replace=change, remove=[removed])
    wanted = [change.get(index, message) for index, message in enumerate(before) if index != removed]
    cold = QueueText.parse(after.data())
    assert records(cold) == records(after) == [dict(message.record) for message in (*wanted, make_message(1))]
    assert cold.damaged() == []
    elsewhere = yaml.load(after.data(), yaml.CSafeLoader)["messages"]
    assert [item["message_id"] for item in elsewhere] == [message.message_id for message in cold.messages()]


@pytest.mark.parametrize("name", [name for name in SOURCES if "flow" not in name and "json" not in name])
def test_messages_that_did_not_change_keep_every_byte(name: str) -> None:
    text = QueueText.parse((FOLDER / name).read_bytes())
    *_, third, fourth = text.entries
    after = text.edit(replace={1: text.messages()[1].with_changes(status="read")}, append=[make_message(1)])
    assert after.data().count(third.raw.rstrip(b".\r\n")) == 1
    assert after.data().count(fourth.raw.rstrip(b".\r\n")) == 1


def shared_queue(random: Random) -> dict[str, Any]:
    """Messages that share lists, dates and payloads, so that PyYAML writes anchors and aliases."""
    lists: list[list[str]] = [["a", "b"], ["dev-1"], ["a", "b"]]
    dates = [CREATED, datetime(2026, 2, 25, tzinfo=UTC)]
    payloads: list[dict[str, Any]] = [
        {"content": "x: y", "to": lists[0]},
        {"n": [lists[1], 1.5]},
        {"content": "10:30 # z"},
    ]
    return {
        "messages": [
            {
                "message_id": f"M{number}",
                "type": "message",
                "from": "a",
                "to": random.choice(lists),
                "created": random.choice(dates),
                "status": "pending",
                "payload": random.choice(payloads),
            }
            for number in range(random.randrange(2, 8))
        ]
    }


@pytest.mark.parametrize("seed", range(40))
def test_any_changes_to_a_queue_with_aliases_end_where_a_list_ends(seed: int) -> None:
    random = Random(seed)
    flow = random.choice((False, None, True))
    text = QueueText.parse(yaml.safe_dump(shared_queue(random), default_flow_style=flow, sort_keys=False).encode())
    model = records(text)
    for number in range(8):
        index = random.randrange(len(model)) if model else 0
        step = random.choice(("remove", "status", "to", "payload", "append")) if model else "append"
        if step == "append":
            text = text.edit(append=[make_message(number)])
            model.append(dict(make_message(number).record))
        elif step == "remove":
            text = text.edit(remove=[index])
            del model[index]
        else:
            value: Any = {"status": "read", "to": "c", "payload": {"content": "new"}}[step]
            text = text.edit(replace={index: text.messages()[index].with_changes(**{step: value})})
            model[index][step] = value
        cold = QueueText.parse(text.data())
        assert cold.damaged() == []
        assert records(cold) == records(text) == model
        assert len(yaml.load(text.data(), yaml.CSafeLoader)["messages"] or []) == len(model)
