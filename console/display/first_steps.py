"""First steps: for each mode with nothing in it the one command that would put something there."""

from __future__ import annotations

import shlex

from team_console.console.input.subject import Mode
from team_console.store.model.names import is_name
from team_console.store.model.safe import safe_line

_PLAN = '{"session_id": "1", "total_stories": 2, "batches": [{"batch_id": "1", "stories": ["1-1", "1-2"]}], '
_BEGIN = "--summary 'Please begin with the summary' --content 'One page.'"
_COMMANDS = {
    Mode.NEEDS: "ask --as {agent} 'Shall I begin?'",
    Mode.INBOXES: f"send --to {{agent}} {_BEGIN}",
    Mode.REQUESTS: "plan --as {agent} --content 'Read it, write it, test it'",
    Mode.DELIVERIES: f"send --to {{agent}} {_BEGIN}",
    Mode.SPRINT: "send --as {agent} --to {me} --type BATCH_PLAN_READY --payload '"
    + _PLAN
    + '"dependency_graph": {}}\'',
    Mode.HISTORY: "broadcast --summary 'The work of today begins now' --content 'Say what you need.'",
    Mode.HEALTH: "check",
    Mode.DECISIONS: "plan --as {agent} --content 'Read it, write it, test it'",
}


_TO_HUMAN = f"send --as {{agent}} --to {{human}} {_BEGIN}"


def command_for(mode: Mode, root: str, *, me: str, agent: str | None, human: str = "") -> str:
    """The whole command, ready for a shell; empty where there is none, or a name in it is not what can be shown of it.

    Args:
        root: The team's folder; empty when the team is named by the environment.
        agent: A member beside the human; None while there is none, and then it is the first thing to add.
        human: Whose inbox it is that is empty, if it is that of a human.
    """
    names = {"agent": agent or "", "me": me, "human": human}
    if safe_line(root) != root or any(name and not is_name(name) for name in names.values()):
        return ""
    command = _TO_HUMAN if human and mode is Mode.INBOXES else _COMMANDS.get(mode, "")
    if agent is None and mode is not Mode.HEALTH:
        command = "member add scribe"
    place = f"-t {shlex.quote(root)} " if root else ""
    for name, value in names.items():
        command = command.replace("{" + name + "}", shlex.quote(value))
    return f"team-console {place}{command}" if command else ""
