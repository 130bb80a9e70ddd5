"""What `show` and `receive` print is all that a message says; `--seen` of its word approves exactly that."""

from __future__ import annotations

import pytest
from team_console.store.model.message import from_record
from team_console.store.protocol.tool_input import suggestion_words
from team_console.widgets.client_request_documents import permission_blocks
from team_console.widgets.document import Lines

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow


def test_of_a_request_that_cannot_be_shown_whole_no_word_is_printed(team: CommandLine) -> None:
    plan = "\n".join(f"{number}. One step of many" for number in range(12_000))
    request = team.ok("--as task-manager plan --content -", stdin=plan).out.strip()
    shown = team.ok("show", request).out
    assert ("11999. One step of many" in shown, "answer it with --seen" in shown) == (True, True)
    for path in (team.folder / "attachments").iterdir():
        path.unlink()
    shown = team.ok("show", request).out
    assert ("Only the beginning is shown" in shown, "answer it with --seen" in shown) == (True, False)


def test_what_would_be_allowed_always_is_told_to_its_end() -> None:
    rules = [{"toolName": "Bash", "ruleContent": "x" * 3000}, {"toolName": "Bash"}]
    for kind, end in (("addRules", "Bash in all your projects"), ("replaceRules", '"destination": "userSettings"}')):
        suggestion = {"type": kind, "behavior": "allow", "rules": rules, "destination": "userSettings"}
        assert suggestion_words(suggestion).endswith(end)
        payload = {"tool": "Bash", "input": {"command": "ls"}, "suggestions": [suggestion]}
        record = {"message_id": "MSG-1", "type": "permission_request", "from": "bob", "to": "ceo", "payload": payload}
        (*_, lines) = permission_blocks(from_record(record))
        assert isinstance(lines, Lines)
        assert lines.lines[0][-1][0].endswith(end)
