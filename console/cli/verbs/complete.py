"""`_complete`: one word per line for a completion script; silent about everything that goes wrong."""

from __future__ import annotations

import re
from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.store.model.errors import TeamError
from team_console.store.model.names import ALL, is_name

_PLAIN = re.compile(r"[\w@.+:-]+")
"""Words a shell takes as they are; bash expands what a completion script is given."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what to list."""
    parser.add_argument("what", choices=tuple(_SOURCES))


def run(call: Call) -> int:
    """Print the words. A store that cannot be read completes nothing."""
    try:
        for word in _SOURCES[call.options.what](call):
            if _PLAIN.fullmatch(word) or is_name(word):
                call.out.say(word)
    except TeamError:
        return 0
    return 0


def _agents(call: Call) -> list[str]:
    config = call.team.config()
    names = [config.lead, *config.agents, ALL]
    if not config.declared:
        names += [message.sender for message in call.snapshot().messages]
    return [name for name in dict.fromkeys(names) if is_name(name)]


def _requests(call: Call) -> list[str]:
    return [row.request_id for row in call.view().requests if row.is_open]


def _messages(call: Call) -> list[str]:
    return [message.message_id for message in call.snapshot().messages if message.status != "read"]


def _held(call: Call) -> list[str]:
    waiting = ("delivered", "claimed")
    actor = call.actor
    return [
        message.message_id
        for message in call.snapshot().messages
        if message.status in waiting and message.is_addressed_to(actor)
    ]


def _kinds(call: Call) -> list[str]:
    from team_console.store.protocol.kinds import KINDS

    return [*KINDS, *(kind for kind in call.team.config().kinds if kind not in KINDS)]


_SOURCES = {"agents": _agents, "requests": _requests, "messages": _messages, "held": _held, "kinds": _kinds}
