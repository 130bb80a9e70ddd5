"""The settings of BMAD's messenger, as its public forks ship them: everything in them is read and honoured."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

OFFICE = """\
# Messenger of the office
name: inter-agent-messenger
version: "1.0.0"
description: "How the agents hand work to each other"

queue_dir: "{project-root}/_bmad-output/messenger"
queue_file: "{queue_dir}/message-queue.yaml"
archive_dir: "{queue_dir}/archive"

message_types:
  handoff:
    description: "Passes work on"
    required_fields:
      - from_agent
      - to_agent
      - artifact_path
      - context_summary
      - next_actions
    priority: high
  escalate:
    description: "Brings an issue to the human"
    required_fields: [from_agent, issue, severity, recommendation]
    priority: critical
  notify:
    description: "Tells others"
    required_fields:
      - from_agent
      - to_agents  # Can be list or "all"
      - message
    priority: low
  audit:
    description: "Only this office has it"
    required_fields: [from_agent, to_agent, scope]
    priority: critical

routing:
  # first phase
  analyst_to_pm:
    trigger: "Brief complete"
    from: analyst
    to: pm
    payload:
      - product_brief_path
      - key_insights

priorities:
  critical: 1
  high: 2
  medium: 3
  low: 4

retention:
  active_messages_max: 100
  archive_after_days: 7
  delete_archived_after_days: 30
"""


@pytest.fixture
def office(tmp_path: Path) -> CommandLine:
    """A project that only has these settings."""
    folder = tmp_path / "office"
    (folder / "_bmad/core/messenger").mkdir(parents=True)
    (folder / "_bmad/core/messenger/messenger-config.yaml").write_text(OFFICE)
    return CommandLine(folder)


def said(office: CommandLine) -> None:
    office.ok("--as pm send --to dev --summary 'The story is ready for you' --content x")


def configure(office: CommandLine, old: str, new: str) -> None:
    path = office.folder / "_bmad/core/messenger/messenger-config.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_team_with_them_has_no_findings_and_can_be_read_and_written(office: CommandLine) -> None:
    assert office.ok("check --json").json["findings"] == []
    said(office)
    status = office.ok("status --json").json
    assert (status["team"], status["condition"], status["problems"]) == ("inter-agent-messenger", "ok", 0)
    assert office.ok("check --json").json["findings"] == []


def test_queue_and_archives_are_where_they_say(office: CommandLine) -> None:
    configure(office, "_bmad-output/messenger", "docs/mail")
    configure(office, "{queue_dir}/archive", "docs/old mail")
    said(office)
    office.ok("receive --agent dev")
    assert len(yaml.safe_load((office.folder / "docs/mail/message-queue.yaml").read_text())["messages"]) == 1
    assert (office.folder / "docs/old mail/dev-archive.yaml").is_file()
    assert not (office.folder / "_bmad-output").exists()
    assert office.ok("history --json").json["count"] == 1


@cases
def test_a_place_out_of_the_project_is_a_finding_and_not_used(office: CommandLine, key: str, place: str) -> None:
    lines = OFFICE.splitlines()
    number = next(at for at, line in enumerate(lines) if line.startswith(key))
    configure(office, lines[number], f'{key}: "{place}"')
    said(office)
    office.ok("receive --agent dev")
    (finding,) = office("check --json").json["findings"]
    assert (finding["code"], finding["severity"]) == ("BAD_CONFIG", "error")
    assert finding["place"].endswith(f"messenger-config.yaml:{number + 1}")
    assert key in finding["message"]
    assert sorted(path.name for path in office.folder.parent.iterdir()) == ["office"]


def test_a_link_out_of_the_project_is_no_place_for_the_queue(office: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (office.folder / "_bmad-output").symlink_to(tmp_path / "outside")
    configure(office, "_bmad-output/messenger", "_bmad-output")
    assert "leads out of the project" in office("check --json").json["findings"][0]["message"]
    assert "is not the one that is used" in office("receive dev").err
    assert "is not the one that is used" in office("roster --json").json["doubt"]


@cases
def test_a_place_of_the_queue_where_it_is_not_read_is_told_by_every_verb(
    elsewhere: CommandLine, above: tuple[str, ...]
) -> None:
    lines = [f"{'  ' * depth}{word}:" for depth, word in enumerate((*above, 'queue_file: "mail/q.yaml"'))]
    text = "\n".join(["team: office", *lines]).replace('yaml":', 'yaml"')
    (elsewhere.folder / "messenger-config.yaml").write_text(text + "\n")
    errors = [one for one in elsewhere("check --json").json["findings"] if one["severity"] == "error"]
    assert [(one["code"], ".".join((*above, "queue_file")) in one["message"]) for one in errors] == [
        ("BAD_CONFIG", True)
    ]
    assert errors[0]["place"].endswith(f"messenger-config.yaml:{len(above) + 2}")
    assert "is not the one that is used" in elsewhere("receive dev").err
    assert "is not the one that is used" in elsewhere("roster --json").json["doubt"]


def test_settings_that_unfold_without_an_end_are_read_to_their_end(elsewhere: CommandLine) -> None:
    doubled = "\n".join(
        f"x{depth}: &x{depth} {{{', '.join(f'k{n}: *x{depth - 1}' for n in range(9))}}}" for depth in range(1, 16)
    )
    (elsewhere.folder / "messenger-config.yaml").write_text(f"team: office\nx0: &x0 {{a: b}}\n{doubled}\n")
    assert elsewhere("status --json").json["team"] == "office"
