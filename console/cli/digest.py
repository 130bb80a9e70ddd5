"""The verb `digest`: what happened since a time, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from team_console.console.cli.call import Call
from team_console.console.cli.main import arg, verb
from team_console.console.cli.printing import age_words, doubts, print_list
from team_console.store.model.clock import is_real_time, local_time
from team_console.store.model.safe import counted
from team_console.store.views.digest import DigestGroup, digest_json, digest_of_team, group_head, happening_line
from team_console.store.views.search import moment_of
from team_console.store.views.status import view_of_team

if TYPE_CHECKING:
    from team_console.store.views.roster import BlockedTimes

_LONGEST_WAITS = 3
"""Agents that waited longest for a human, of whom `digest` says how long."""


@verb(
    arg(
        "--since",
        "2026-02-24, 2026-02-24T10:30:00Z, or an age: 30m, 12h, 7d (default: 12h)",
        metavar="TIME",
        default="12h",
    )
)
def do_digest(call: Call) -> None:
    """Show what happened since a time: what was asked, decided (and by whom), withdrawn, answered elsewhere, done,
    failed and written, who stopped or declined to, and what waits now. Times are local.

    Examples:
      team-console digest --since 2h"""
    since = moment_of(call.options.since, call.team.clock(), named="--since")
    snapshot = call.snapshot()
    found = digest_of_team(call.team, view_of_team(call.team, snapshot, me=call.viewer(snapshot)), since)
    if call.as_json:
        print_list(call, digest_json(found), snapshot)
        return
    begin = f"since {local_time(found.since, 'minutes')}" if is_real_time(found.since) else "since the beginning"
    call.say(f"{begin}: {counted(len(found.happened), 'thing')} happened")
    for group in DigestGroup:
        items = found.of(group)
        if items:
            call.say(f"{group_head(group, len(items))}:")
        for item in items:
            at = "" if item.at is None else local_time(item.at, "minutes").partition("-")[2]  # without the year
            call.say(f"  {at:11}  {happening_line(item)}")
    if found.waiting:
        call.say(f"waiting for you now: {counted(found.waiting, 'thing')}; team-console status lists them")
    _say_who_waited(call, found.blocked)
    call.say(f"not known: {'; '.join(found.unknown)}")
    call.warn(doubts(call, snapshot))


def _say_who_waited(call: Call, blocked: BlockedTimes) -> None:
    """Say how long agents waited for a human, and which waited longest."""
    if not blocked.agents:
        return
    longest = sorted(blocked.agents.items(), key=lambda item: -item[1].total)[:_LONGEST_WAITS]
    waits = ", ".join(f"{name} {age_words(of_agent.total)}" for name, of_agent in longest)
    middle = blocked.team.median
    usual = f", {age_words(middle)} in the median" if middle is not None else ""
    call.say(f"agents waited for a human {age_words(blocked.team.total)} in all{usual}: {waits}")
