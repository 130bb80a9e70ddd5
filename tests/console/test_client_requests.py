"""Permissions, plans with modes and questions in the console: shown for what they are, answered by keys."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from team_console.store.model.safe import UNSAFE
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller
from team_console.widgets.form import Form

from tests.console.conftest import AUTHOR, opened
from tests.equipment.cases import cases, constant
from tests.equipment.corpus import PAYLOADS
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

COMMAND = {"command": "npm test && \\\n  rm -rf build", "description": "Run the tests", "timeout": 5}
DATABASE = constant(__file__, "DATABASE", dict[str, Any])


def ask(team: MemoryTeam, tool: str = "Bash", given: Any = None, **more: Any) -> str:
    """Ask for a permission; its request id."""
    receipt = asking.ask_permission(Caller(team, AUTHOR), tool=tool, input=COMMAND if given is None else given, **more)
    return str(receipt.request_id)


def question(team: MemoryTeam, *questions: dict[str, Any]) -> str:
    receipt = asking.ask_question(Caller(team, AUTHOR), questions=questions or (DATABASE,))
    return str(receipt.request_id)


def plan(team: MemoryTeam, **more: Any) -> str:
    receipt = requests.submit_plan(Caller(team, AUTHOR), content="1. Split\n2. Test", summary="Split it", **more)
    return str(receipt.request_id)


SHOWN: list[dict[str, Any]] = json.loads(Path(__file__).with_name("shown_tools.json").read_text(encoding="utf-8"))
"""A tool, its input, what is known of it, and the words in which it is shown."""


async def test_each_is_shown_for_what_it_is(team: MemoryTeam) -> None:
    for each in SHOWN:
        ask(team, each["tool"], each["input"], **each["known"])
    async with opened(team) as desk:
        for each in SHOWN:
            flat = " ".join(desk.detail.split())
            for words in each["shown"]:
                assert " ".join(words.split()) in flat, words
            await desk.press("j")
            await desk.settle()


@cases
async def test_no_field_of_a_request_steers_the_screen(team: MemoryTeam, size: tuple[int, int]) -> None:
    texts = [text for text in PAYLOADS.values() if text]
    hostile = "\n".join(texts)
    given = {"command": hostile, "description": hostile, hostile[:200]: [hostile], "timeout": {"a": texts}}
    rule = {"type": "addRules", "behavior": "allow", "rules": [{"toolName": texts[0], "ruleContent": hostile}]}
    more = {"directory": hostile, "session": hostile, "client": hostile, "suggestions": [rule, hostile, texts]}
    ask(team, hostile, given, **more)
    ask(team, "Edit", {"file_path": hostile, "old_string": "", "new_string": hostile}, before=None, **more)
    ask(team, "Write", {"file_path": hostile, "content": hostile}, before=hostile[::-1], **more)
    options = [{"label": f"{text} or so", "description": hostile} for text in texts]
    question(team, {"question": hostile, "header": hostile, "options": options, "multiSelect": True})
    plan(team, modes=tuple(texts))
    async with opened(team, size=size) as desk:
        for number in range(5):
            assert not re.search(UNSAFE, desk.text.replace("\n", ""))
            await desk.asks("a")
            assert not re.search(UNSAFE, desk.text.replace("\n", ""))
            await desk.press("1", "2", "escape")
            await desk.until(lambda: not isinstance(desk.front, Form), "the list")
            await desk.press(*("j",) * (number < 4))
        await desk.press("right")
        assert not re.search(UNSAFE, desk.text.replace("\n", ""))
