"""What a join or leave did, for people with every difference, or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from team_console.console.cli.call import Call
from team_console.store.backends.locations import redact
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line, safe_text

if TYPE_CHECKING:
    from team_console.console.clients.joining.act import Joined


def finish_joined(call: Call, done: Joined) -> int:
    """Print it."""
    if call.out.as_json:
        call.out.json(_as_json(done))
        return 0
    would = "" if done.written else "would be "
    if done.member:
        word = "added to" if done.action == "join" else "taken out of"
        call.out.say(safe_line(f"{done.name}: {would}{word} the team's settings"))
    for change in done.files:
        call.out.say(safe_line(f"{change.path}: {would if change.word != 'unchanged' else ''}{change.word}"))
        for line in change.diff.splitlines():
            call.out.say(safe_text(f"    {line}"))
    for note in done.notes:
        call.out.say(safe_line(note))
    return 0


def refuse_password(call: Call) -> None:
    """A password must not get into files that clients and other programs read.

    Raises:
        TeamError: `USAGE`.
    """
    given = call.options.team or ""
    if redact(given) != given:
        text = "the location names a password, which would get into the settings of the client"
        raise TeamError(Code.USAGE, text, "Leave it out and keep the password in ~/.pgpass.")


def _as_json(done: Joined) -> dict[str, object]:
    files = [{"path": str(change.path), "change": change.word, "diff": change.diff} for change in done.files]
    return {
        "success": True,
        "action": done.action,
        "agent": done.name,
        "member_changed": done.member,
        "files": files,
        "notes": list(done.notes),
        "written": done.written,
    }
