"""Welcome of a session: what its model is told when it starts."""

from __future__ import annotations

from team_console.console.clients.commands import command_of
from team_console.console.clients.hook.session import ClientSession
from team_console.console.clients.instructions import instructions_for
from team_console.store.model.safe import counted
from team_console.store.service.sessions import handed_elsewhere, mail_waiting


def welcome(session: ClientSession) -> str:
    """What a session is told when it starts: the instructions, and what waits already."""
    lines = [instructions_for(session.team, session.me, by_itself=True)]
    waiting = mail_waiting(session.caller(session.me))
    if waiting:
        lines.append(
            f"{counted(len(waiting), 'message')} for you: you get them when you end your turn, urgent ones before."
        )
    earlier = handed_elsewhere(session.caller(session.me), session=session.event.session)
    if earlier:
        take = command_of(session.team.location, session.me, "receive", "--agent", session.me, "--delivered")
        lines.append(
            f"{counted(len(earlier), 'message')} went to an earlier session of yours that ended before it showed that "
            f"it had read them; take them with: {take}"
        )
    return "\n\n".join(lines)
