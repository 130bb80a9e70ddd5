"""`show`: a whole message or request with its thread, from the queue and the archives, for people and programs."""

from __future__ import annotations

import re

import pytest

from tests.cli.test_receive import SUMMARY
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

AGAIN = "The same plan with its tests now"


def plan(team: CommandLine, summary: str, content: str, replaces: str = "") -> str:
    """Hand in a plan; returns its request id."""
    named = ("--replaces", replaces) if replaces else ()
    return team.ok("plan", "--as", "task-manager", "--summary", summary, "--content", content, *named).out.strip()


def test_a_request_is_shown_with_its_versions_and_its_answer(team: CommandLine) -> None:
    first = plan(team, SUMMARY, "1. Split\n2. Ship")
    team.ok("reject", first, "--reason", "Add tests")
    second = plan(team, AGAIN, "1. Split\n2. Test", replaces=first)
    shown = team.ok("show", first).out
    assert "\n1. Split\n2. Ship\n" in shown
    assert f"\n↷ a newer plan took its place: {second}\n" in shown
    assert re.search(r"✗ rejected by ceo .*\n\nAdd tests\n", shown)
    assert "Answer to a plan · ceo" in shown.partition("thread, the oldest first")[2]
    assert re.search(r"✗ rejected .* Add tests\n", team.ok("show", second).out.partition("history of this plan")[2])
    found = team.ok("show", first, "--json").json
    assert (found["request"]["state"], found["request"]["content"]) == ("rejected", "1. Split\n2. Ship")
    assert [row["request_id"] for row in found["versions"]] == [first, second]
    assert [message["type"] for message in found["thread"]] == ["plan_approval_request", "plan_approval_response"]


def test_a_question_and_a_reply_that_does_not_quote_it_are_shown_together(team: CommandLine) -> None:
    """The exchange of seed 001, section 3.1, as its text has it."""
    talk = (("a", "b", "Which folder?"), ("b", "a", "The second one."), ("a", "b", "Thanks."))
    names = {"a": "task-manager", "b": "file-manager"}
    asked, said, more = [
        team.ok("send", "--as", names[a], "--to", names[b], "--summary", SUMMARY, "--content", text, "--json").json
        for a, b, text in talk
    ]
    for sent in (asked, said):
        thread = team.ok("show", sent["message_id"], "--json").json["thread"]
        assert [message["payload"]["content"] for message in thread] == ["Which folder?", "The second one."]
    assert len(team.ok("show", more["message_id"], "--json").json["thread"]) == 1
