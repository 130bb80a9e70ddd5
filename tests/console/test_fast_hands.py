"""Fast hands: nothing typed for a list lands in a form, and no key is refused where nothing changed."""

from __future__ import annotations

import pytest
from team_console.console.tui import key_actions
from team_console.store.model.message import from_record
from team_console.store.service import asking
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def read_again(team: MemoryTeam) -> None:
    """Have the next look read every record anew, as a full reading behind an early one does."""
    team._state.messages = tuple(from_record(dict(message.record)) for message in team._state.messages)
    team._state.revision += 1


async def test_equal_messages_read_twice_are_no_change(team: MemoryTeam, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        monkeypatch.setattr(key_actions, "GUARD", 3600.0)
        shown = desk.app.situation.reading
        read_again(team)
        desk.app.look()
        await desk.until(lambda: desk.app.situation.reading is not shown, "a second reading")
        await desk.asks("a")
        assert desk.said == ""
        await desk.press("enter")
        await desk.decided(team)


@pytest.mark.parametrize("asks", ["plan", "permission", "question", "several", "stop"])
async def test_no_letter_is_text_until_n_opens_the_note(team: MemoryTeam, asks: str) -> None:
    asker = Caller(team, AUTHOR)
    if asks == "permission":
        asking.ask_permission(asker, tool="Bash", input={"command": "ls"})
    elif asks == "question":
        options = [{"label": "This"}, {"label": "That"}]
        asking.ask_question(asker, questions=[{"question": "Which one?", "options": options}])
    else:
        hand_in_plan(team)
    async with opened(team) as desk:
        form = await desk.asks(*{"several": ("space", "a"), "stop": ("s",)}.get(asks, ("a",)))
        await desk.type("xyz")
        assert "3 keys did nothing" in desk.said
        assert "xyz" not in "".join(form.typed().values())
        await desk.press("n")
        await desk.type("ana")
        assert "ana" in form.typed().values()
