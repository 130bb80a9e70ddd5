"""Stories of small teams, told in `stories/`: what is written there, a second after the other, and what is seen then.

A story begins with its promise. A line of it is an act of `tests/equipment/chronicle.py`:

- `ACT WORD ... {FIELDS}`; `NAME = ` before it keeps its message: $NAME stands for its id, and `change`, `record`,
  `lose` and `archive` take NAME as their word;
- `create AGENT {FIELDS}` does the steps of a temporary agent, `settings {FIELDS}` changes the settings, and from
  `trail` on there is an audit trail;
- `look {me: NAME, after: SECONDS}` is a look of somebody else, or later.

Below it stands, indented, what is seen then: `PLACE: VALUE`, `PLACE ~ WORDS` (which are in it), a place alone where
something is, and `! ` before what is not so. A place begins with a list of the view; behind it stands the key, name,
need, code or id of one of its rows, its number, or `*` for each of them.
"""

from __future__ import annotations

from string import Template
from typing import Any

import pytest
import yaml
from team_console.store.model.message import Message
from team_console.store.model.recorded_facts import RecordedFacts

from tests.equipment.chronicle import Chronicle, creation, settings
from tests.equipment.places import is_seen, steps_of, stories_beside

STORIES = stories_beside(__file__)


class Teller:
    """Tells a story, and looks at what comes of it.

    Attributes:
        kept: Messages by the names that the story gives them.
        looks: Who looks, and how much later.
    """

    def __init__(self) -> None:
        self.story = Chronicle()
        self.kept: dict[str, Message] = {}
        self.looks: dict[str, Any] = {}

    def tell(self, text: str) -> None:
        """Tell all of it."""
        for line, seen in steps_of(text):
            self._act(self._with_ids(line))
            view = self.story.view(**self.looks)
            assert [one for one in seen if not is_seen(view, self._with_ids(one))] == [], line

    def _with_ids(self, line: str) -> str:
        return Template(line).safe_substitute({name: message.message_id for name, message in self.kept.items()})

    def _act(self, line: str) -> None:
        words, brace, fields = line.partition(" {")
        name, _, words = words.rpartition(" = ")
        act, *given = words.split()
        more = yaml.safe_load(brace + fields) if brace else {}
        self.looks = more if act == "look" else {}
        if act == "create":
            creation(self.story, *given, **more)
        elif act == "settings":
            self.story.config = settings(**more)
        elif act == "trail":
            self.story.recorded = RecordedFacts()
        elif act in ("change", "record", "lose", "archive"):
            made = getattr(self.story, act)(self.kept[given[0]], **more)
            self.kept[given[0]] = made or self.kept[given[0]]
        elif act != "look":
            made = getattr(self.story, act)(*(int(word) if word.isdigit() else word for word in given), **more)
            if name:
                self.kept[name] = made


@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_seen_as_it_says(name: str) -> None:
    Teller().tell(STORIES[name])


@pytest.mark.parametrize("wrong", ["plan\n  requests: []", "plan\n  ! requests.plan-1", "plan\n  requests.0 ~ stop"])
def test_a_story_that_says_something_else_fails(wrong: str) -> None:
    with pytest.raises(AssertionError):
        Teller().tell(wrong)
