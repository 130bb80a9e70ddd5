"""A name that nobody has and a kind that is none are told: an empty list alone would say that there is nothing."""

from __future__ import annotations

import pytest

from tests.equipment.command_line import CommandLine

SUMMARY = "State of the export job please"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("history", "--agent", "file-manger"), "file-manager"),
        (("history", "--agent", "file-manger", "--json"), "file-manager"),
        (("history", "--type", "mesage"), "message"),
        (("receive", "--agent", "file-manager", "--type", "mesage", "--peek"), "message"),
        (("receive", "--agent", "file-manager", "--type", "mesage"), "message"),
        (("status", "--as", "ceoo"), "ceo"),
        (("roster", "--as", "ceoo"), "ceo"),
        (("deliver", "--as", "ceoo"), "ceo"),
        (("clear", "--as", "ceoo"), "ceo"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(team: CommandLine, arguments: tuple[str, ...], meant: str) -> None:
    team.ok("send", "--to", "file-manager", "--summary", SUMMARY, "--content", "?")
    result = team.ok(*arguments)
    (line,) = [line for line in result.err.splitlines() if line.startswith("warning:")]
    assert line.endswith(f"; did you mean {meant}?")


@pytest.mark.parametrize(
    "arguments",
    [
        ("history", "--agent", "file-manager", "--grep", "nothing has this"),
        ("history", "--agent", "knowledge-manager"),
        ("history", "--type", "handoff"),
        ("history", "--type", "our_own_kind"),
        ("receive", "--agent", "file-manager", "--type", "our_own_kind"),
        ("status", "--as", "user"),
        ("failures", "--as", "knowledge-manager"),
        ("deliver", "--as", "file-manager"),
        ("clear",),
    ],
)
def test_what_is_known_is_no_slip(team: CommandLine, arguments: tuple[str, ...]) -> None:
    settings = team.folder / "messenger-config.yaml"
    settings.write_text(settings.read_text() + "message_types:\n  our_own_kind: {}\n")
    assert team.ok(*arguments).err == ""


def test_an_agent_that_only_the_archive_knows_is_no_slip(team: CommandLine) -> None:
    team.ok("member", "add", "old-hand")
    team.ok("send", "--to", "old-hand", "--summary", SUMMARY, "--content", "?")
    team.ok("receive", "--agent", "old-hand")
    team.ok("clear", "--older-than-days", "0")
    team.ok("member", "remove", "old-hand")
    assert SUMMARY in team.ok("history", "--agent", "old-hand").out
    found = team.ok("history", "--agent", "old-hand", "--grep", "nothing has this")
    assert (found.out, found.err) == ("", "")


def test_a_name_that_nobody_has_gets_no_instructions(team: CommandLine) -> None:
    refused = team("instructions", "file-manger", "--json")
    assert (refused.status, refused.json["error"]) == (1, "AGENT_NOT_FOUND")
    assert refused.json["hint"].startswith("Did you mean file-manager?")
    assert "You are file-manager," in team.ok("instructions", "file-manager").out
