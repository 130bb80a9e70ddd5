"""Verbs that look without touching: `requests`, `roster`, `status`, `inbox`, `history` and `digest`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from shlex import quote

from team_console.console.cli.arguments import agent_arguments, arg, flag, verb
from team_console.console.cli.call import Call, UsageError, unknown_agent_warning, unknown_kind_warning
from team_console.console.cli.checking import findings_words
from team_console.console.cli.printing import (
    Cells,
    age_since,
    age_words,
    doubts,
    print_csv,
    print_list,
    print_rows,
    print_table,
    view_now,
    waiting_in_drop,
)
from team_console.console.cli.watching import settled_snapshot
from team_console.store.contract.snapshot import FOREIGN_TEAM, Snapshot
from team_console.store.model.clock import is_real_time, local_time
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message
from team_console.store.model.names import check_name
from team_console.store.model.safe import counted
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.titles import said_in
from team_console.store.views.alike import causes_of
from team_console.store.views.digest import DigestGroup, digest_json, digest_of_team, group_head, happening_line
from team_console.store.views.history import (
    CSV_FIELDS,
    csv_row,
    history,
    history_json,
    log_line,
    map_history,
)
from team_console.store.views.roster import BlockedTimes
from team_console.store.views.rows import RequestRow, RosterRow, View
from team_console.store.views.search import (
    Query,
    Searchable,
    history_query,
    moment_of,
    parse_query,
    refuse_unfinished,
    searchable_message,
    searchable_request,
    searchable_with_requests,
)
from team_console.store.views.status import (
    MOST_ARCHIVED,
    State,
    StoreStatus,
    assess,
    holder_words,
    request_json,
    roster_json,
    status_json,
    view_of_team,
)
from team_console.widgets.signs import NEEDS, signs_of

FIND = arg(
    "--find",
    'a filter: from: to: with: kind: status: is: since: before: words "exact words" -without',
    metavar="QUERY",
)
"""The language of `store.views.search`."""


# `requests`: the ledger of who asked whom for what, and what was answered.


@verb(
    flag("--open", "only open ones", dest="only_open"),
    arg("--kind", "only this kind", choices=[str(kind) for kind in RequestKind]),
    FIND,
)
def do_requests(call: Call) -> None:
    """List the requests: who asked whom, how long ago, the answer.

    Examples:
      team-console requests --open
      team-console requests --find "from:helper since:2h"
    """
    options = call.options
    snapshot = call.snapshot()
    archived = 0 if options.only_open else MOST_ARCHIVED
    view = view_of_team(call.team, snapshot, me=call.actor, archived=archived, counted=False)
    now = view.now
    rows = [
        row for row in view.requests if (row.is_open or not options.only_open) and options.kind in (None, str(row.kind))
    ]
    if options.find is not None:
        query = _query_of_find(call)
        rows = [row for row in rows if query.fits(searchable_request(row, me=call.actor))]
    causes = causes_of(rows)
    listed = {"requests": [request_json(row, now, causes[row.key]) for row in rows]}
    nothing = "no open requests" if options.only_open else "no requests"
    if any(problem.code == FOREIGN_TEAM for problem in snapshot.problems):
        nothing = f"{nothing} that can be answered here; what its agents ask is in: inbox {snapshot.config.lead}"
    print_rows(call, listed, snapshot, [_request_cells(row, now) for row in rows], nothing)


def _query_of_find(call: Call) -> Query:
    """Return what `--find` asks for; nothing where it is not given."""
    find = call.options.find
    if find is None:
        return Query(())
    refuse_unfinished(find)
    from team_console.console.preferences import load_preferences  # 5 ms, which only a query needs

    saved = load_preferences().preferences.filters
    return parse_query(find, now=call.team.clock(), saved=saved, me=call.actor)


def _request_cells(row: RequestRow, now: datetime) -> Cells:
    """Return the row of a request in the table."""
    state = f"{row.state} by {row.answered_by}" if row.answered_by else str(row.state)
    if row.talk and row.is_open:
        word = "asked back" if row.asked_back is not None else "answered back"
        state = f"{state}, {word} {age_since(row.talk[-1].created_at, now)} ago"
    odd = [str(flag) for flag in row.flags if str(flag) != str(row.state)]
    return {
        "STATE": state,
        "KIND": str(row.kind),
        "WAITED": age_words(row.waiting_seconds(now) if is_real_time(row.waits_since) else None),
        "FROM": row.asker,
        "TO": row.addressee,
        "REQUEST": row.request_id,
        "WHAT": f"{row.title} ({', '.join(odd)})" if odd else row.title,
    }


# `roster`: who is in the team, in which state, with how much unread; sent to the residents with `--send`.


@verb(flag("--send", "send the complete roster to every resident"))
def do_roster(call: Call) -> None:
    """List the agents: role, state, unread messages, last seen.

    Examples:
      team-console roster"""
    if call.options.send:
        from team_console.store.service.agents import send_roster  # 3 ms, which a look does not need

        receipt = send_roster(call.caller)
        went_to = ", ".join(message.recipients[0] for message in receipt.messages)
        call.print_receipt(receipt, [f"the complete roster went to {went_to}"])
        return
    view = view_now(call)
    rows = [_roster_cells(row, view) for row in view.roster]
    nothing = "no agents: the settings name none, and none has written yet"
    print_rows(call, roster_json(view), view.snapshot, rows, nothing)


def _roster_cells(row: RosterRow, view: View) -> Cells:
    """Return the row of an agent in the table."""
    may_have_ended = row.is_only_heard and not row.reason and row.name != view.me
    notes = ["heard of lately, may have ended" if may_have_ended else row.reason]
    if row.plan_mode_required:
        notes.append("plans first")
    if row.reported:
        notes.append(f"reported: {row.reported}")
    if row.unanswered:
        notes.append(f"{row.unanswered} read and not answered")
    if row.looks_like:
        notes.append(f"looks like {row.looks_like}, is another")
    if not row.is_addressable:
        notes.append("its name is none, so nobody can write to it")
    if row.stranger:
        notes.append("on no roster")
    if row.dropped:
        notes.append(f"{row.dropped} in drop/")
    return {
        "AGENT": row.name,
        "ROLE": row.role,
        "STATE": signs_of(view)[row.name].word,
        "UNREAD": str(row.unread) if row.unread else "-",
        "OLDEST": age_since(row.oldest_unread, view.now),
        "SEEN": age_since(row.last_seen, view.now),
        "NOTE": "; ".join(filter(None, notes)),
    }


# `status`: the team on one screen.

_EXIT_UNREADABLE = 4
"""Exit status for a queue that cannot be read."""
_MOST_NEEDS = 10
_COLOURS = {State.OK: "green", State.EMPTY: "green", State.LOCKED: "yellow"}


@verb()
def do_status(call: Call) -> int:
    """Show the condition of the team, what needs you, its agents and its problems. Exits with 4 when the queue
    cannot be read, so that a script never takes a broken team for a quiet one.

    Examples:
      team-console status"""
    snapshot = settled_snapshot(call.team)
    view = view_of_team(call.team, snapshot, me=call.viewer(snapshot))
    if call.as_json:
        call.json(status_json(view, call.team))
    else:
        _print_status(call, snapshot, view)
    call.warn_of_stranger(snapshot)
    return 0 if snapshot.is_known else _EXIT_UNREADABLE


def _print_status(call: Call, snapshot: Snapshot, view: View) -> None:
    """Print the team for people: condition, messages, what needs whoever looks, agents, number of findings."""
    team, say = call.team, call.say
    where = f"  {team.location}  ({team.kind}{', read-only' if team.read_only else ''})"
    say(snapshot.config.name, style="bold", rest=where)
    truth = assess(snapshot, view.now)
    about = ""
    if truth.reasons:
        worst = truth.reasons[0].sentence
        about = f" {worst}" if truth.state is State.LOCKED else f": {worst}"
    elif truth.holder is not None:  # a lock that is only being used is no condition
        about = f", being written {holder_words(truth.holder, truth.holder.since)}"
    say(f"condition  {_state_words(truth.state)}", style=_COLOURS.get(truth.state, "red"), rest=about)
    if snapshot.is_known:
        counts = ", ".join(f"{number:,} {status}" for status, number in view.counts.items() if number)
        changed = age_since(snapshot.changed_at, view.now)
        if snapshot.changed_at:
            changed = f"{changed} ago"
        say(f"messages   {counts or 'none'}; last change {changed}")
    if snapshot.is_known and team.kind == "yaml" and not (team.read_only or snapshot.config.values):
        made = f"team-console init {quote(team.location)}"
        say(f"settings   none, so {snapshot.config.lead} leads; '{made}' makes them, and you lead as ceo then")
    for reason in truth.reasons[1:]:
        say(f"and        {_state_words(reason.state)}: {reason.sentence}")
    if snapshot.dropped:
        say(f"drop/      {waiting_in_drop(snapshot)}")
    _print_needs(call, view, truth)
    if view.roster:
        say()
        print_table(call, [_roster_cells(row, view) for row in view.roster])
    if view.findings:
        errors = sum(finding.severity == "error" for finding in view.findings)
        say("", f"{findings_words(len(view.findings), errors)}; team-console check lists them")


def _state_words(state: State) -> str:
    return "in doubt" if state is State.DOUBT else str(state)


def _print_needs(call: Call, view: View, truth: StoreStatus) -> None:
    """Print the first of what waits for whoever looks, and how much that is."""
    call.say()
    if not view.snapshot.is_known:
        call.say(f"what needs {view.me} is not known until the queue can be read")
        return
    if not view.attention:
        seen = "" if truth.is_complete else " in the queue as it stands"
        call.say(f"nothing needs {view.me}{seen}")
        return
    number = len(view.attention)
    call.say(f"{counted(number, 'thing')} {'needs' if number == 1 else 'need'} {view.me}", style="bold")
    rows = []
    for item in view.attention[:_MOST_NEEDS]:
        about = f"{item.title} (blocks {', '.join(item.blocks)})" if item.blocks else item.title
        waits = age_since(item.since, view.now)
        rows.append({"WHAT": NEEDS[item.need].word, "WHO": item.who, "AGE": waits, "ABOUT": about})
    print_table(call, rows)
    if number > _MOST_NEEDS:
        call.say(f"and {number - _MOST_NEEDS} more")


# `inbox`: an agent's messages, without touching them.


@verb(
    *agent_arguments("whose inbox"),
    flag("--unread", "only messages it has not read"),
    flag("--unanswered", "only messages it has read and not answered"),
)
def do_inbox(call: Call) -> None:
    """List an agent's messages without changing them.

    Examples:
      team-console inbox helper --unread"""
    if call.agent is None:
        raise UsageError("whose inbox? no agent is named", "team-console inbox NAME")
    agent = check_name(call.agent, field="NAME")
    view = view_now(call)
    # 3 ms, which no other look needs
    from team_console.store.service.inbox import with_trust_marks
    from team_console.store.service.writing import check_known

    if agent not in view.inboxes:
        check_known(view.snapshot, [agent], has_written=True)
    messages = list(view.inboxes.get(agent, ()))
    nothing = f"no messages for {agent} in the queue"
    if call.options.unanswered:
        messages = list(view.unanswered.get(agent, ()))
        nothing = f"{agent} has answered everything it has read"
    elif call.options.unread:
        messages = [message for message in messages if message.is_unread_by(agent)]
        nothing = f"nothing unread for {agent}"
    records = [dict(message.record) for message in with_trust_marks(call.team, messages)]
    more = view.unlisted.get(agent, 0) if not call.options.unanswered else 0
    listed = {"agent": agent, "messages": records, "count": len(records), **({"more": more} if more else {})}
    rows = [
        {
            "STATUS": "read" if agent in message.read_by else message.status,
            "PRIORITY": message.priority,
            "AGE": age_since(message.created_at, view.now),
            "FROM": message.sender,
            "TYPE": message.type,
            "ID": message.message_id,
            "SUMMARY": said_in(message),
        }
        for message in messages
    ]
    print_rows(call, listed, view.snapshot, rows, nothing)
    if more:
        take = f"team-console receive --agent {agent} --delivered"
        call.note(f"and {counted(more, 'message')} delivered earlier and not acknowledged; take them with: {take}")


# `history`: archived and live messages, as log lines (seed 001), JSON or CSV.


@verb(
    *agent_arguments("only messages to or from this agent"),
    arg("--since", "2026-02-24, 2026-02-24T10:30:00Z, or an age: 30m, 12h, 7d", metavar="TIME"),
    arg("--type", "only this kind of message", metavar="KIND", source="kinds"),
    arg("--grep", "only messages with this regular expression in their text", metavar="REGEX"),
    FIND,
    arg("--format", "default: log, or json with --json", choices=("log", "json", "csv")),
)
def do_history(call: Call) -> None:
    """Print archived and live messages, oldest first, each once. With an agent, log lines say OUTGOING or
    INCOMING from its point of view; without one they name both ends. JSON has the records as they are stored. Log
    lines, and --since without a zone, are in local time; JSON and CSV name the zone. TZ=UTC gives UTC.

    Examples:
      team-console history helper --since 2h
      team-console history --grep "deadline|urgent" --format csv"""
    options = call.options
    form = options.format or ("json" if call.as_json else "log")
    if form != "json":
        call.refuse_json(f"--format {form}")
    given = {"agent": call.agent, "since": options.since, "type": options.type, "find": options.find}
    for name, value in given.items():
        if value == "":  # of a script whose variable is not set; everything is not what it asks for
            raise UsageError(f"--{name} is empty", f"Give a value, or leave --{name} out.")
    asked_for = _query_of_find(call)
    named = history_query(
        now=call.team.clock(), agent=call.agent, since=options.since, type=options.type, grep=options.grep
    )
    query = Query((*named.terms, *asked_for.terms))
    snapshot = call.snapshot()
    is_empty, problems = _print_history(call, snapshot, query, form)
    call.warn([problem.sentence for problem in problems])
    if is_empty and not problems:
        _warn_of_unknown_names(call, snapshot)
    call.warn(doubts(call, snapshot))


def _print_history(call: Call, snapshot: Snapshot, query: Query, form: str) -> tuple[bool, list[Problem]]:
    """Return whether there was nothing to print, and what could not be read."""
    found: Callable[[Message], Searchable] = searchable_message
    if any(term.key == "is" for term in query.every_term):  # only then it matters how requests stand
        view = view_of_team(call.team, snapshot, me=call.actor, archived=MOST_ARCHIVED, counted=False)
        found = searchable_with_requests(view.requests, call.actor)
    if form == "log":
        lines, problems = map_history(
            call.team, snapshot.messages, query, lambda message: log_line(message, call.agent), found
        )
        if lines:
            call.note_zone()
            call.say(*lines)
        return not lines, problems
    messages, problems = history(call.team, snapshot.messages, query, found)
    if form == "json":
        print_list(call, history_json(messages), snapshot, problems)
    else:
        print_csv(call, CSV_FIELDS, map(csv_row, messages))
    return not messages, problems


def _warn_of_unknown_names(call: Call, snapshot: Snapshot) -> None:
    """Warn when nothing was found because nobody has that name, or no kind of message is called that."""
    agent, kind = call.agent, call.options.type
    ever = history_query(now=call.team.clock(), agent=agent)
    names = unknown_agent_warning(snapshot, agent, lambda: history(call.team, snapshot.messages, ever)[0])
    call.warn([*names, *unknown_kind_warning(snapshot.config, kind)])


# `digest`: what happened since a time, by kind.

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
