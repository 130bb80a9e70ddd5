"""A reason, a question or a plan of which nothing can be seen is none."""

from __future__ import annotations

import pytest

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine


@pytest.mark.parametrize("blank", ["\u200b", "\u2060 \ufeff", "\u3164", "\u2800\t", "\ufe0f"])
@cases
def test_words_that_nobody_can_see_are_none(team: CommandLine, code: str, words: tuple[str, ...], blank: str) -> None:
    asked = team.ok(
        "--as", "task-manager", "plan", "--content", "1. Do it", "--summary", "Five words are in here", "--json"
    )
    request_id = asked.json["request_id"]
    given = [{"REQUEST": request_id, "BLANK": blank}.get(word, word) for word in words]
    assert team(*given, "--json").json["error"] == code
