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
