"""Text that tries to steer a terminal, to hide, to be markup or a path, and a team in which every field holds it."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from team_console.store.settings.team_config import CONFIG_NAME, QUEUE_NAME

from tests.equipment.cases import constant

MARK = "PWNED"
"""Stands in the middle of every payload that is an escape sequence, so that it can be looked for in the bytes."""

_LONG = {
    "pile": "e" + "\u0301\u0316\u20dd" * 100,
    "pile of another script": "e" + "\u2de0\u0730" * 100 + "ก\ufe00s\ufe0f",
    "long line": "W" * 4_000,
    "wide": "宽" * 300,
}
PAYLOADS = constant(__file__, "PAYLOADS", dict[str, str]) | _LONG
PLAINLY_SHOWN = ("[/nope]", "[@click=app.quit]", "␛[31337m")
"""What has to stand on the screen literally for some of them."""
TEXTS = tuple(PAYLOADS.values())
LEAD, AGENT = "ceo", "task-manager"
SHAPES = constant(__file__, "SHAPES", list[dict[str, Any]])
"""What a record may be, with `$text` and `$some` in the place of payloads."""


_MARKED = re.compile(r"\$(text|some)(?: \d)?")


class Turning:
    """Hands out the payloads one after the other, so that each comes to stand in each kind of field."""

    def __init__(self, start: int = 0) -> None:
        self._payloads = itertools.islice(itertools.cycle(TEXTS), start, None)

    def __call__(self) -> str:
        return next(self._payloads)

    def fill(self, shape: Any) -> Any:
        """Put the next payload in the place of each `$text`, one that is not empty for `$some`, in keys, too."""
        if isinstance(shape, dict):
            return {self.fill(key): self.fill(value) for key, value in shape.items()}
        if isinstance(shape, list):
            return [self.fill(each) for each in shape]
        return _MARKED.sub(self._put, shape) if isinstance(shape, str) else shape

    def _put(self, mark: re.Match[str]) -> str:
        return self() if mark[1] == "text" else next(filter(None, self._payloads))


def records() -> list[dict[str, Any]]:
    """A queue with every payload in every kind of field, at least once where a human looks for it."""
    return [*(_record(shape, start) for shape in SHAPES for start in _starts(shape)), *_huge()]


def _starts(shape: Mapping[str, Any]) -> range:
    """The payloads that a shape begins with, one after the other."""
    first, step = shape["at"]
    return range(first, len(TEXTS), step)


def _record(shape: Mapping[str, Any], start: int) -> dict[str, Any]:
    turn = Turning(start)
    given = turn.fill({key: value for key, value in shape.items() if key not in ("at", "sprint")})
    if name := shape.get("sprint"):
        given["payload"]["content"] = f"{name}: {json.dumps({'msg_type': name, **given['payload']['content']})}"
    return _envelope(f"MSG-{SHAPES.index(dict(shape))}{start:02}-{turn()}", **given)


def _envelope(message_id: str, **given: Any) -> dict[str, Any]:
    return {
        "message_id": message_id,
        "type": "message",
        "from": AGENT,
        "to": LEAD,
        "priority": "high",
        "created": "2026-02-24T10:30:15.123Z",
        "status": "pending",
        **given,
    }


def _huge() -> Iterator[dict[str, Any]]:
    turn = Turning(7)
    yield _envelope(f"MSG-900-{turn()}", payload={"summary": "M" * 200_000, "content": "N" * 100_000})
    yield _envelope(f"MSG-901-{turn()}", payload={f"field {number:05}": turn()[:40] for number in range(2_000)})


def queue_bytes() -> bytes:
    """The queue file, payloads as YAML escapes; its last two entries are damaged by escapes no reader accepts."""
    damaged = b"".join(
        b'- {message_id: "%s", type: "\\ud800", from: a, to: b}\n' % item for item in (b"\\e[6n", b"\\0")
    )
    return queue_of(records()) + damaged


def queue_of(found: list[dict[str, Any]]) -> bytes:
    """A queue file with these records, every character that is not ASCII escaped."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump({"messages": found}, Dumper=dumper, width=1 << 30, sort_keys=False).encode("ascii")


SETTINGS = rf"""
team: hostile
lead: {LEAD}
"\e[31337mPWNED": "\e]52;c;UFdORUQ=\a"
agents:
- name: {AGENT}
- name: file-manager
  description: "\e[6n"
"""


def build(folder: Path) -> None:
    """The hostile team in `folder`, which is made; beside its queue lie files with hostile names and contents."""
    folder.mkdir(parents=True)
    (folder / CONFIG_NAME).write_text(SETTINGS, encoding="utf-8")
    (folder / QUEUE_NAME).write_bytes(queue_bytes())
    archive = folder / "archive"
    archive.mkdir()
    plain = (_record(shape, start) for shape in SHAPES[:3] for start in _starts(shape))
    past = [{**item, "status": "read", "read_at": "2026-02-24T10:31:00.000Z"} for item in plain]
    (archive / f"{AGENT}-archive.yaml").write_bytes(queue_of(past))
    (archive / "\x1b]0;PWNED\x07\u202e-archive.yaml").write_bytes(queue_of(past[:3]))
    drop = folder / "drop"
    drop.mkdir()
    (drop / "\x1b[31337mPWNED\n.yaml").write_text("no message")
    audit = {
        "seq": 1,
        "at": PAYLOADS["title"],
        "actor": PAYLOADS["clipboard"],
        "action": PAYLOADS["report"],
        "hash": "x",
    }
    (folder / "audit.jsonl").write_text(json.dumps(audit) + "\n")
