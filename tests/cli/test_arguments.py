"""Flags, environment and mistakes: what holds for every verb."""

from __future__ import annotations

import pytest
from team_console.console.cli.main import SAME, VERBS

from tests.equipment.command_line import CommandLine


@pytest.mark.parametrize("arguments", [("-t", "{}", "roster", "--json"), ("--json", "roster", "-t", "{}")])
def test_global_flags_stand_before_or_after_the_verb(
    arguments: tuple[str, ...], team: CommandLine, elsewhere: CommandLine
) -> None:
    result = elsewhere.ok(*(word.format(team.folder) for word in arguments))
    assert "task-manager" in [agent["name"] for agent in result.json["agents"]]


def test_json_behind_two_dashes_is_no_option(team: CommandLine) -> None:
    asked = team.ok("ask", "--as", "task-manager", "--", "--json").out
    assert asked.startswith("question-")
    assert team.ok("requests").out.rstrip().endswith("--json")


@pytest.mark.parametrize("verb", ["receive", "history", "inbox"])
def test_an_agent_is_named_with_or_without_an_option(verb: str, team: CommandLine) -> None:
    words = ("--summary", "State of the export job please", "--content", "?")
    for name in ("task-manager", "file-manager"):
        team.ok("send", "--to", name, *words)
    more = ("--peek",) if verb == "receive" else ()
    results = [team.ok(verb, *named, *more, "--json") for named in (("task-manager",), ("--agent", "task-manager"))]
    assert results[0] == results[1]
    assert results[0].json["count"] == 1
    both = team(verb, "task-manager", "--agent", "file-manager", "--json")
    assert (both.status, both.json["error"]) == (2, "USAGE")


def test_the_team_comes_from_the_environment(team: CommandLine, elsewhere: CommandLine) -> None:
    result = elsewhere("roster", env={"TEAM_CONSOLE_TEAM": str(team.folder)})
    assert result.status == 0
    assert "file-manager" in result.out


def test_the_team_of_the_project_around_the_current_folder_is_found(team: CommandLine) -> None:
    below = team.folder / "src" / "deep"
    below.mkdir(parents=True)
    assert "file-manager" in CommandLine(below).ok("roster").out


def test_the_sender_is_the_lead_unless_somebody_is_named(team: CommandLine) -> None:
    words = ("send", "--to", "file-manager", "--summary", "State of the export job please", "--content", "?", "--json")
    assert team.ok(*words).json["sender"] == "ceo"
    assert team.ok(*words, "--as", "task-manager").json["sender"] == "task-manager"
    assert team(*words, env={"TEAM_CONSOLE_AS": "schedule-manager"}).json["sender"] == "schedule-manager"


def test_an_error_is_one_json_object_on_standard_output_with_json(elsewhere: CommandLine) -> None:
    result = elsewhere("status", "--json")
    assert (result.status, result.err, result.json["success"]) == (1, "", False)
    assert (result.json["error"], bool(result.json["message"])) == ("TEAM_NOT_FOUND", True)
    assert "init" in result.json["hint"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("sned",),
        ("send", "--nonsense"),
        ("send", "--to"),
        ("send", "--priority", "soonish", "--to", "ceo"),
        ("ack",),
        ("shutdown",),
        ("shutdown", "--all", "task-manager"),
        ("receive",),
        ("receive", "--agent", "ceo", "--wait", "soon"),
        ("demo", "--speed", "0", "--headless", "1"),
        ("completions", "tcsh"),
        ("init", "--agent", "a:boss"),
        ("init", "--agent", "a", "--agent", "a"),
    ],
)
def test_mistakes_in_the_arguments_are_usage_errors(arguments: tuple[str, ...], team: CommandLine) -> None:
    result = team(*arguments, "--json")
    assert (result.status, result.json["error"]) == (2, "USAGE")
    assert result.json["message"]


def test_a_folder_given_as_verb_is_understood(elsewhere: CommandLine) -> None:
    assert "team-console -t ./team" in elsewhere("./team").err


def test_help_lists_every_verb_that_is_not_hidden(elsewhere: CommandLine) -> None:
    text = elsewhere.ok("--help").out
    shown = [line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.strip()]
    assert [verb.name for verb in VERBS if verb.group] == [word for word in shown if not word.startswith("-")]
    assert "_complete" not in text


def test_without_a_verb_a_terminal_is_needed_and_the_version_is_one_line(team: CommandLine) -> None:
    result = team()
    assert (result.status, "the console needs a terminal" in result.err) == (2, True)
    assert team.ok("--version").out.startswith("team-console ")


def test_bytes_that_are_no_text_are_refused_before_anything_is_written(team: CommandLine) -> None:
    before = (team.folder / "message-queue.yaml").read_bytes()
    broken = b"caf\xe9".decode("utf-8", "surrogateescape")
    result = team("send", "--to", "task-manager", "--summary", broken, "--content", "x")
    assert result.status == 2
    assert "UTF-8" in result.err
    assert (team.folder / "message-queue.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("send", "--TO", "file-manager"), "Did you mean --to?"),
        (("send", "--cont", "x", "--to", "file-manager"), "Did you mean --content?"),
        (("clear", "--older-than", "3"), "Did you mean --older-than-days?"),
        (("status", "--jsno"), "Did you mean --json?"),
        (("verdict", "--request", "q-1"), "REQUEST is given without --request: team-console verdict REQUEST"),
        (("send", "--content", "-x;y", "--to", "ceo"), "A value that begins with a dash is given as '--content=-x;y'"),
        (("history", "--since", "-2h"), "A value that begins with a dash is given as --since=-2h"),
        (("approve", "q-1", "--reason", "x"), "team-console approve --help lists what it takes."),
        (("send", "--content"), "team-console send --help lists what it takes."),
        (("reply", "q-1"), "Did you mean 'team-console answer'?"),
        (("deny", "q-1"), "Did you mean 'team-console reject'?"),
        (("stop", "file-manager"), "Did you mean 'team-console shutdown'?"),
        (("list",), "Did you mean 'team-console requests' or 'team-console roster' or 'team-console inbox NAME'?"),
        (("open",), "Did you mean 'team-console' or 'team-console demo'?"),
        (("approve",), "team-console requests --open lists them."),
        (("send", "file-manager", "hello"), "It is called as: team-console send [-h] [--to NAME[,NAME]|all]"),
    ],
)
def test_what_was_meant_is_named(arguments: tuple[str, ...], hint: str, team: CommandLine) -> None:
    refused = team(*arguments, "--json")
    assert (refused.status, refused.json["error"]) == (2, "USAGE")
    assert refused.json["hint"].startswith(hint)


def test_every_word_that_stands_for_a_verb_leads_to_one() -> None:
    assert set(SAME.values()) <= {verb.name for verb in VERBS}
    assert not set(SAME) & {verb.name for verb in VERBS}


@pytest.mark.parametrize("seconds", ["-1", "nan"])
def test_a_watch_for_no_number_of_seconds_is_refused_before_it_begins(team: CommandLine, seconds: str) -> None:
    refused = team("watch", "--for", seconds)
    assert refused.status == 2
    assert refused.err == f"team-console: --for {float(seconds):g} is not a number of seconds (USAGE)\n" + (
        "  For example --for 30.\n"
    )


def test_a_broadcast_that_would_be_refused_is_refused_when_it_is_only_foreseen(team: CommandLine) -> None:
    words = ("--as", "file-manger", "broadcast", "--summary", "Who says this to all", "--content", "x")
    foreseen, written = team(*words, "--dry-run"), team(*words, "--yes")
    assert foreseen.status == written.status == 1
    assert foreseen.err == written.err
    assert "AGENT_NOT_FOUND" in foreseen.err
