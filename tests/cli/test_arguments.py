"""Flags, environment and mistakes: what holds for every verb."""

from __future__ import annotations

import shlex

import pytest
from team_console.console.cli.main import SAME, VERBS

from tests.equipment.command_line import CommandLine


@pytest.mark.parametrize("arguments", [("-t", "{}", "roster", "--json"), ("--json", "roster", "-t", "{}")])
def test_global_flags_stand_before_or_after_the_verb(
    arguments: tuple[str, ...], team: CommandLine, elsewhere: CommandLine
) -> None:
    result = elsewhere.ok(*(word.format(team.folder) for word in arguments))
    assert "task-manager" in [agent["name"] for agent in result.json["agents"]]


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


WRONG: tuple[tuple[str, str, str], ...] = (
    ("sned", "USAGE", "Did you mean 'team-console send'?"),
    ("reply q-1", "USAGE", "Did you mean 'team-console answer'?"),
    ("deny q-1", "USAGE", "Did you mean 'team-console reject'?"),
    ("stop file-manager", "USAGE", "Did you mean 'team-console shutdown'?"),
    ("list", "USAGE", "Did you mean 'team-console requests' or 'team-console roster' or 'team-console inbox NAME'?"),
    ("open", "USAGE", "Did you mean 'team-console' or 'team-console demo'?"),
    ("help exit", "USAGE", "Did you mean 'team-console leave NAME' or 'team-console help exit-codes'?"),
    ("version", "USAGE", "Did you mean 'team-console --version'?"),
    ("./team", "USAGE", "To open the team there: team-console -t ./team"),
    ("send --TO file-manager", "USAGE", "Did you mean --to?"),
    ("send --cont x --to file-manager", "USAGE", "Did you mean --content?"),
    ("clear --older-than 3", "USAGE", "Did you mean --older-than-days?"),
    ("status --jsno", "USAGE", "Did you mean --json?"),
    ("verdict --request q-1", "USAGE", "REQUEST is given without --request: team-console verdict REQUEST"),
    ("send --content '-x;y' --to ceo", "USAGE", "A value that begins with a dash is given as '--content=-x;y'"),
    ("history --since -2h", "USAGE", "A value that begins with a dash is given as --since=-2h"),
    ("send --priority soonish --to ceo", "USAGE", "For example: team-console send --to helper"),
    ("config chek", "USAGE", "Did you mean check?"),
    ("join helper --for claud", "USAGE", "Did you mean claude?"),
    ("completions tcsh", "USAGE", "For example: team-console completions bash --install"),
    ("approve q-1 --reason x", "USAGE", "Did you mean --note?"),
    ("reject q-1 --note x", "USAGE", "Did you mean --reason?"),
    ("send --message hello", "USAGE", "Did you mean --content?"),
    ("requests --status open", "USAGE", "Did you mean --open?"),
    (
        "receive file-manager --force",
        "USAGE",
        "For example: team-console receive helper --wait 60. team-console receive",
    ),
    ("-t", "USAGE", "For example: team-console -t ./team status"),
    ("help errors", "USAGE", "Did you mean 'team-console help exit-codes'?"),
    ("help approve reject", "USAGE", "For example: team-console help approve"),
    ("permission", "USAGE", "Did you mean 'team-console requests'?"),
    ("message file-manager hello", "USAGE", "Did you mean 'team-console send'?"),
    ("settings", "USAGE", "Did you mean 'team-console help settings' or 'team-console config show'?"),
    ("send --content", "USAGE", "For example: team-console send --to helper"),
    ("send file-manager hello", "USAGE", "For example: team-console send --to helper --summary"),
    ("roster file-manager", "USAGE", "For example: team-console roster"),
    ("approve", "USAGE", "team-console requests --open lists them."),
    ("ack", "USAGE", "team-console inbox NAME lists them."),
    ("recall", "USAGE", "team-console history --json lists them."),
    ("retry", "USAGE", "team-console failures lists them."),
    ("redirect", "USAGE", "team-console failures lists them."),
    ("show", "USAGE", "team-console requests lists them."),
    ("member", "USAGE", "For example: team-console member add"),
    ("member ad x", "USAGE", "Did you mean add?"),
    ("leave", "USAGE", "For example: team-console leave helper"),
    ("instructions", "USAGE", "team-console roster lists them."),
    ("migrate .", "USAGE", "For example: team-console migrate"),
    ("plan", "USAGE", "For example: team-console --as helper plan"),
    ("discard M-1", "USAGE", "For example: team-console discard ID --reason"),
    ("shutdown", "USAGE", "team-console shutdown AGENT..."),
    ("shutdown --all task-manager", "USAGE", "team-console shutdown AGENT..."),
    ("receive", "USAGE", "team-console receive NAME"),
    ("receive --agent ceo --wait soon", "USAGE", "For example --wait 30."),
    ("watch --for -1", "USAGE", "For example --for 30."),
    ("watch --for=nan", "USAGE", "For example --for 30."),
    ("demo --speed 0 --headless 1", "USAGE", "For example --speed 2."),
    ("history --since yestrday", "USAGE", "Give today, yesterday, 14:00, a date"),
    ("init --agent a:boss", "USAGE", ""),
    ("init --agent a --agent a", "USAGE", ""),
    ("grants recall", "USAGE", "team-console grants recall ID"),
    ("join task-manager", "USAGE", "For example: team-console join task-manager --for claude"),
    ("init", "NOT_PERMITTED", "There is a team: 'team-console' opens it"),
    ("ask Which?", "NOT_PERMITTED", "An agent asks: --as AGENT."),
    ("inbox file-manger", "AGENT_NOT_FOUND", "Did you mean file-manager?"),
    ("send --to file-manger --summary 'a b c d e' --content x", "AGENT_NOT_FOUND", "Did you mean file-manager?"),
    ("show nothing", "INVALID_FIELD", "List ids with: team-console requests"),
    ("verdict q-1", "INVALID_REQUEST_ID", "List the requests with: team-console requests"),
    ("--as ceo approve all", "INVALID_REQUEST_ID", "List the open ones with: team-console requests --open"),
    ("--as ceo reject q-1", "INVALID_REQUEST_ID", "List the open ones with: team-console requests --open"),
    ("--as ceo answer q-1", "INVALID_REQUEST_ID", "List the open ones with: team-console requests --open"),
    ("retry nothing", "INVALID_FIELD", "List failed ones with: team-console failures."),
    ("grants recall nothing --as ceo", "INVALID_FIELD", "List them with: team-console grants"),
    ("withdraw q-1 --as file-manager", "MISSING_REASON", "Give it with --reason TEXT."),
    ("-t /nowhere status", "TEAM_NOT_FOUND", "Give a team with -t LOCATION"),
)
"""A command that does not work, its error, and the beginning of the next step that it names."""


@pytest.mark.parametrize(("typed", "code", "hint"), WRONG, ids=[row[0] for row in WRONG])
def test_a_wrong_command_names_the_next_step(typed: str, code: str, hint: str, team: CommandLine) -> None:
    refused = team(*shlex.split(typed), "--json")
    assert (refused.status, refused.json["error"]) == (2 if code == "USAGE" else 1, code)
    assert refused.json["message"]
    assert refused.json["hint"].startswith(hint)


def test_every_word_that_stands_for_a_verb_leads_to_one() -> None:
    assert set(SAME.values()) <= {verb.name for verb in VERBS}
    assert not set(SAME) & {verb.name for verb in VERBS}
