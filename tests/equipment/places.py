"""Places in what a view or a service hands out, as stories name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml
from team_console.store.model.message import Message

_NAMES = ("key", "name", "need", "code", "request_id", "batch_id", "message_id", "agent")
"""What a row of a list may be called by; its own key goes before the agent it is about."""


def stories_beside(module: str) -> dict[str, str]:
    """Read the stories in `stories/` beside a module, each by its promise, which begins it behind `# `."""
    paths = sorted(Path(module).with_name("stories").glob("*.txt"))
    texts = [text for path in paths for text in path.read_text("utf-8").removeprefix("# ").split("\n# ")]
    told = (text.partition("\n") for text in texts)
    return {promise.rstrip(".").replace(",", "").replace(" ", "-"): story for promise, _, story in told}


def steps_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each line that does something, with those that stand indented below it; `#` begins a comment."""
    for step in text.strip().replace("\n  ", "\0").splitlines():
        line, *expected = step.split("\0")
        if line and not line.startswith("#"):
            yield line, expected


def is_seen(whole: Any, expected: str) -> bool:
    """Whether there is what a story says: `PLACE: VALUE`, `PLACE ~ WORDS` or a place; behind `! ` the contrary."""
    if expected.startswith("! "):
        return not is_seen(whole, expected.removeprefix("! "))
    place, _, rest = expected.partition(" ")
    found: object = found_at(whole, place.removesuffix(":").split("."))
    if place.endswith(":"):
        wanted: object = yaml.safe_load(rest)
        return wanted == _plain(found)
    return rest.removeprefix("~ ") in str(found) if rest else found is not None


def found_at(value: Any, place: Sequence[str]) -> Any:
    """What stands at a place; None where nothing does."""
    if not place or value is None:
        return value
    first, *rest = place
    if first == "*":
        return [found_at(each, rest) for each in value]
    if isinstance(value, Mapping):
        return found_at(value.get(first), rest)
    if isinstance(value, Sequence):
        named = (each for name in _NAMES for each in value if str(getattr(each, name, "")) == first)
        at_number = value[int(first) : int(first) + 1] if first.isdigit() else ()
        return found_at(next(iter(at_number or named), None), rest)
    return found_at(getattr(value, first), rest)


def _plain(value: Any) -> object:
    """What a place holds, as YAML has it; a message is its id."""
    if isinstance(value, Message):
        return value.message_id
    plain: object = msgspec.json.decode(msgspec.json.encode(value, enc_hook=str))
    return plain
