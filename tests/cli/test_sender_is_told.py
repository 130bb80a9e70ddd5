"""The command line tells the sender: JSON lines, previews, templates, and what is wanted on standard input."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow
SUMMARY = "A summary of five words"


def test_what_was_read_and_not_answered_is_listed(make_team: Callable[..., CommandLine]) -> None:
    team = make_team("a1", "a2")
    asked = team.ok("send", "--to", "a1", "--content", "c", "--summary", SUMMARY, "--json").json["message_id"]
    assert team.ok("inbox", "a1", "--unanswered", "--json").json["count"] == 0
    team.ok("receive", "--agent", "a1")
    [owed] = team.ok("inbox", "a1", "--unanswered", "--json").json["messages"]
    assert owed["message_id"] == asked
    assert "1 read and not answered" in team.ok("roster").out
    team.ok("send", "--as", "a1", "--in-reply-to", asked, "--template", "acknowledge")
    assert team.ok("inbox", "a1", "--unanswered").out == "a1 has answered everything it has read\n"
