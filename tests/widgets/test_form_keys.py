"""The keys of a decision stand there whole or not at all, all of them from 120 columns on."""

from __future__ import annotations

import pytest
from team_console.widgets.fields import OptionLine, words_of_a_decision
from team_console.widgets.forms import Prompt, Way

from tests.widgets.hosted import lines_after, shown

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
_WAYS = (
    Way(OptionLine("once", "this call alone"), "Allow once"),
    Way(OptionLine("always", "allow Bash(make test:*) in this project"), "Allow always"),
    Way(OptionLine("no", "and the agent reads your words"), "Refuse", refuses=True),
)


@pytest.mark.parametrize("way", range(len(_WAYS)))
@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
async def test_no_key_is_cut(width: int, way: int) -> None:
    form = Prompt(
        "Let architect do this?",
        "make test",
        lambda decision: None,
        ways=_WAYS,
        words=words_of_a_decision("note"),
        text="make test",
        edit=lambda text: text,
        draft={"way": f"{_WAYS[way].line.label}: {_WAYS[way].line.description}", "edited": "make test-all"},
    )
    async with shown(form, (width, 24)) as pilot:
        lines, hints = await lines_after(pilot), form.keys()
    line = next(line for line in reversed(lines) if line.startswith("enter "))
    keys = line.split("  ")[0].split(" · ")
    assert keys == [hint for hint in hints if hint in keys]
    assert keys[0] == hints[0]
    assert width < 120 or keys == list(hints)
