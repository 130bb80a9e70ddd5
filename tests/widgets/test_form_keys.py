"""The keys of a decision stand there whole, however narrow the terminal is and whatever the button says."""

from __future__ import annotations

import pytest
from team_console.widgets.forms.approval import Approval, Way
from team_console.widgets.forms.options import OptionLine
from textual.app import App

pytestmark = pytest.mark.anyio
_WAYS = (
    Way(OptionLine("once", "this call alone"), "Allow once"),
    Way(OptionLine("always", "allow Bash(make test:*) in this project"), "Allow always"),
    Way(OptionLine("no", "and the agent reads your words"), "Refuse", refuses=True),
)


@pytest.mark.parametrize("way", range(len(_WAYS)))
@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
async def test_every_key_can_be_read(width: int, way: int) -> None:
    form = Approval(
        "Let architect do this?",
        "make test",
        lambda decision: None,
        ways=_WAYS,
        text="make test",
        edit=lambda text: text,
        draft={"way": str(way), "edited": "make test-all"},
    )
    app: App[None] = App()
    async with app.run_test(size=(width, 24)) as pilot:
        await app.push_screen(form)
        await pilot.pause()
        shown = " ".join(strip.text for strip in app.screen._compositor.render_strips()).split()
        below = " ".join(shown[shown.index("1-3") :])
        assert [word for word in " ".join(form.keys()).split() if word not in below.split()] == []
