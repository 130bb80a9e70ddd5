"""The story of the demo (`story.yaml`): who is in the team, what each does by itself and about what it hears."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import UNSET, Struct, convert

Values = Mapping[str, Any]
"""Entries of the story, or names and what they stand for in a scene."""


class StoryStep(Struct, frozen=True, forbid_unknown_fields=True, rename={"arguments": "with"}):
    """A step of a scene; it does what it has in the order of its attributes.

    Attributes:
        unless: A value; where there is one, the step is skipped.
        after: Seconds that go by.
        manners: Message name -> the scene that the agent plays from now on when it hears that.
        pick: A list, of which an entry that fits the text `by` becomes the value `name`.
        count: A value that grows by one, from 1 when there is none.
        do: A method of `store.api.AgentClient`, called with `arguments`; what it wrote becomes the value `name`.
        says: Which body of a sprint message is its content.
        wait: Seconds to wait for the answer to the value `asked`, 0 as long as it takes; or for a message with the
            name `hears`. It becomes the value `name`, by default `answer`.
        then: What came of the wait -> the scene to go on with.
        go: The scene to go on with.
        ends: Whether the agent ends.
    """

    unless: str = ""
    after: float = 0.0
    manners: Mapping[str, str] = {}
    pick: str = ""
    by: str = ""
    name: str = ""
    count: str = ""
    do: str = ""
    arguments: Values = {}
    says: str = ""
    wait: float | None = None
    hears: str = ""
    then: Mapping[str, str] = {}
    go: str = ""
    ends: bool = False


class PastAct(StoryStep, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A step that was done `ago` so many minutes, by an agent; with a plan of the story as `it`, by its number."""

    ago: float
    agent: str
    of: int = 0


class StoryPart(Struct, frozen=True, forbid_unknown_fields=True):
    """A scene that an agent plays by itself, with each entry of the list `of`, as `story.yaml` tells."""

    scene: str
    agent: str = ""
    of: str = ""
    after: float = 0.0
    every: float = 0.0
    once: bool = False
    last: str = ""


class DemoStory(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything the demo's team is, does and says; the comments in `story.yaml` tell what is used where."""

    team: str
    lead: str
    agents: Sequence[Values]
    past: Sequence[PastAct]
    parts: Sequence[StoryPart]
    newcomer: StoryPart
    manners: Mapping[str, Mapping[str, str]]
    scenes: Mapping[str, Sequence[StoryStep]]
    bodies: Mapping[str, Values]
    values: Values
    lists: Mapping[str, Sequence[Values]]

    def fitting(self, entries: str, text: str) -> Sequence[Values]:
        """Return the entries of a list with a word of `text` in their `fits`; where none has one, those without."""
        folded, listed = text.casefold(), self.lists[entries]
        fits = [entry for entry in listed if any(word in folded for word in entry.get("fits", ()))]
        return fits or [entry for entry in listed if "fits" not in entry]


def sprint_content(name: str, body: Values) -> str:
    """Return the content of a sprint message."""
    return f"{name}: {json.dumps({'msg_type': name, **body}, ensure_ascii=False)}"


_NAMED = re.compile(r"\{([\w.]+)(?:\|([^{}]*))?\}")
"""`{what.of.it}`, a value, and `{what|words}`, where words stand for one that there is not."""


def filled_in(template: Any, values: Values) -> Any:
    """Return a part of the story with values in place of their names; an entry that only names none is left out."""
    if isinstance(template, Mapping):
        entries = ((key, filled_in(entry, values)) for key, entry in template.items())
        return {key: entry for key, entry in entries if entry is not UNSET}
    if isinstance(template, list):
        return [filled_in(entry, values) for entry in template]
    if not isinstance(template, str):
        return template
    if (alone := _NAMED.fullmatch(template)) is not None:
        return value_of(alone[1], values, alone[2])
    return _NAMED.sub(lambda named: str(value_of(named[1], values, named[2] or "")), template)


def value_of(path: str, values: Values, default: str | None = None) -> Any:
    """Return the value at a path of names, else the default, else `UNSET`."""
    found: Any = values
    for name in path.split("."):
        found = found.get(name, UNSET) if isinstance(found, Mapping) else UNSET
    return default if found is UNSET and default is not None else found


STORY = convert(yaml.safe_load(Path(__file__).with_name("story.yaml").read_text(encoding="utf-8")), DemoStory)
