"""Verbs that look without touching: messages, requests, decisions, the roster, the status, findings."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace
from team_console.console.cli.call import Call, unheard_agent, unheard_kind
from team_console.console.cli.checking import findings_of, place_of
from team_console.console.cli.main import REQUEST, agent, arg, flag, verb
from team_console.console.cli.printing import (
    Cells,
    age,
    age_since,
    doubts,
    print_csv,
    print_list,
    print_rows,
    print_table,
    view_now,
)
from team_console.console.cli.watching import watched
from team_console.console.preferences import load
from team_console.store.contract.team import Snapshot
from team_console.store.model.clock import local_time
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.names import ALL, USER, check_name, guess
from team_console.store.model.safe import counted
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.titles import said_in
from team_console.store.service.agents import send_roster
from team_console.store.service.inbox import marked
from team_console.store.views.alike import causes_of
from team_console.store.views.decisions import (
    DECISION_FIELDS,
    VerdictProof,
    decision_row,
    ledger_json,
    ledger_of_team,
    markdown,
    proofs,
)
from team_console.store.views.digest import DigestGroup, digest_json, digest_of_team, group_head, happening_line
from team_console.store.views.history import (
    CSV_FIELDS,
    csv_row,
    history,
    history_as,
    history_json,
    log_line,
)
from team_console.store.views.rows import RequestRow, RosterRow, View, as_json
from team_console.store.views.search import Query, moment_of, parse_query, request_found, wanted
from team_console.store.views.status import (
    ARCHIVED,
    State,
    StoreStatus,
    assess,
    holder_words,
    request_json,
    roster_json,
    status_json,
    view_of_team,
)
from team_console.store.views.verdicts import verdict_of

if TYPE_CHECKING:
    from team_console.store.views.decisions import DecidedRequest


FIND = arg(
    "--find",
    'only what fits: from: to: with: kind: status: is: since: before: words "exact words" -without',
    metavar="QUERY",
)
"""The language of `store.views.search`."""


# `evidence`: what a human signed for a request, and the command by which anybody checks it.


@verb(
    REQUEST,
    flag("--command", "print nothing but the commands that check it: evidence R --command | sh"),
)
def do_evidence(call: Call) -> int:
    """Print what a human signed for a request: the statement, its signature, the keys that may sign it, and the
    command by which anybody checks it with the ssh-keygen of OpenSSH alone. Exits with 1 unless the verdict
    that counts has a valid signature."""
    config = call.team.config()
    row = verdict_of(call.team, call.options.request, me=call.actor)
    shown = proofs(row, config, call.team.snapshot().recorded)
    is_proven = any(
        proof.signature and not proof.trouble and (proof.stands or proof.verdict == "shutdown") for proof in shown
    )
    if call.options.command:
        call.refuse_json("--command")
        call.say("set -e")
        for proof in shown:
            call.write(proof.command) if proof.command else None
    elif call.as_json:
        evidence = [{**as_json(proof, "time"), "command": proof.command or None} for proof in shown]
        facts = {"request_id": row.request_id, "state": str(row.state), "verdicts": config.verdicts}
        call.json({**facts, "proven": is_proven, "evidence": evidence})
    elif not shown:
        call.say(f"no human has answered {row.request_id}")
    else:
        for proof in shown:
            _evidence_show(call, proof)
    return int(not is_proven)


def _evidence_show(call: Call, proof: VerdictProof) -> None:
    stands = "stands" if proof.stands else "decides nothing" if proof.trouble else "is not the one that stands"
    place = place_of(call.team, proof.message_id)
    head = f"{proof.verdict} by {proof.signer} at {proof.time}: {stands} ({place})"
    if proof.trouble:
        head = f"forged: {head}: {proof.trouble}" if proof.signature or proof.allowed_signers else head
    call.say(head)
    call.write(f"\nstatement:\n{proof.statement}")
    if not proof.signature:
        call.say("", "it is not signed", "")
        return
    call.write(f"\nsignature:\n{proof.signature}")
    call.say("", "allowed_signers:", *proof.allowed_signers)
    call.write(f"\nto check it:\n{proof.command}\n")


# `requests`: the ledger of who asked whom for what, and what was answered.


@verb(
    flag("--open", "only those that wait for an answer", dest="only_open"),
    arg("--kind", "only this kind", choices=[str(kind) for kind in RequestKind]),
    FIND,
)
def do_requests(call: Call) -> int:
    """List the requests: who asked whom, how long ago, what was answered."""
    options = call.options
    snapshot = call.snapshot()
    archived = 0 if options.only_open else ARCHIVED
    view = view_of_team(call.team, snapshot, me=call.actor, archived=archived, counted=False)
    now = view.now
    rows = [
        row for row in view.requests if (row.is_open or not options.only_open) and options.kind in (None, str(row.kind))
    ]
    if options.find is not None:
        query = parse_query(options.find, now=now, saved=load({}).preferences.filters)
        rows = [row for row in rows if query.fits(request_found(row, me=call.actor))]
    causes = causes_of(rows)
    listed = {"requests": [request_json(row, now, causes[row.key]) for row in rows]}
    nothing = "no open requests" if options.only_open else "no requests"
    print_rows(call, listed, snapshot, [_cells(row, now) for row in rows], nothing)
    return 0


def _cells(row: RequestRow, now: datetime) -> Cells:
    state = f"{row.state} by {row.answered_by}" if row.answered_by else str(row.state)
    if row.talk and row.is_open:
        word = "asked back" if row.asked_back is not None else "answered back"
        state = f"{state}, {word} {age_since(row.talk[-1].created_at, now)} ago"
    odd = [str(flag) for flag in row.flags if str(flag) != str(row.state)]
    return {
        "STATE": state,
        "KIND": str(row.kind),
        "WAITED": age(row.waiting_seconds(now)),
        "FROM": row.asker,
        "TO": row.addressee,
        "REQUEST": row.request_id,
        "WHAT": f"{row.title} ({', '.join(odd)})" if odd else row.title,
    }


# `decisions`: the ledger of who decided what, on what, and what of it is proved.


@verb(
    (
        flag("--csv", "as comma-separated values"),
        flag("--md", "as a Markdown document"),
    ),
    arg("--by", "only what this member decided", metavar="NAME"),
)
def do_decisions(call: Call) -> int:
    """List every decision, newest first: made from the archives and the audit trail, so the queue may be gone.
    AT is local time. PROOF is signed (by the key of who decided), by grant (a use of one, on record), recorded (the
    audit trail has it, and its chain holds), unverified (we did not write it) or not known. --json, --csv and --md
    say all: words, digests, evidence, gaps."""
    options = call.options
    if options.csv or options.md:
        call.refuse_json("--csv" if options.csv else "--md")
    snapshot = call.team.snapshot()
    ledger = ledger_of_team(call.team, snapshot)
    if options.by is not None:
        ledger = replace(ledger, decisions=tuple(item for item in ledger.decisions if item.by == options.by))
    if call.as_json:
        print_list(call, ledger_json(ledger), snapshot, ledger.problems)
        return 0
    if options.md:
        call.write("\n".join(markdown(ledger, call.team.config().name)))
        return 0
    if options.csv:
        print_csv(call, DECISION_FIELDS, map(decision_row, ledger.decisions))
    elif ledger.decisions:
        call.tell_zone()
        print_table(call, [_decisions_cells(decision) for decision in ledger.decisions])
    else:
        call.say("no decisions")
    call.warn([problem.sentence for problem in ledger.problems])
    return 0


def _decisions_cells(decision: DecidedRequest) -> Cells:
    words = decision.words.partition("\n")[0]
    return {
        "AT": local_time(decision.at, "minutes") if decision.at else "not known",
        "VERDICT": decision.verdict,
        "BY": decision.by,
        "KIND": decision.kind,
        "AFTER": age(decision.after_seconds),
        "PROOF": str(decision.proof),
        "REQUEST": decision.request_id,
        "WHAT": " · ".join(filter(None, (decision.title, words))),
    }


# `roster`: who is in the team, in which state, with how much unread; sent to the residents with `--send`.


@verb(flag("--send", "send every resident the complete roster as it is now"))
def do_roster(call: Call) -> int:
    """List the agents: role, state, unread messages, last seen."""
    if call.options.send:
        receipt = send_roster(call.caller)
        went_to = ", ".join(message.recipients[0] for message in receipt.messages)
        return call.finish(receipt, [f"the complete roster went to {went_to}"])
    view = view_now(call)
    rows = [_roster_cells(row, view) for row in view.roster]
    nothing = "no agents: the settings name none, and none has written yet"
    print_rows(call, roster_json(view), view.snapshot, rows, nothing)
    return 0


def _roster_cells(row: RosterRow, view: View) -> Cells:
    notes = [row.reason, "plans first" if row.plan_mode_required else ""]
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
        "STATE": "you" if row.name == view.me else str(row.state),
        "UNREAD": str(row.unread) if row.unread else "-",
        "OLDEST": age_since(row.oldest_unread, view.now),
        "SEEN": age_since(row.last_seen, view.now),
        "NOTE": "; ".join(filter(None, notes)),
    }


# `status`: the team on one screen.

_UNREADABLE = 4
_ROWS = 10
_COLOURS = {State.OK: "green", State.EMPTY: "green", State.LOCKED: "yellow"}


@verb()
def do_status(call: Call) -> int:
    """Show the condition of the team, what needs you, its agents and its problems. Exits with 4 when the queue
    cannot be read, so that a script never takes a broken team for a quiet one."""
    snapshot = watched(call.team)
    view = view_of_team(call.team, snapshot, me=call.looker(snapshot))
    if call.as_json:
        call.json(status_json(view, call.team))
    else:
        _status_show(call, snapshot, view)
    call.tell_stranger(snapshot)
    return 0 if snapshot.is_known else _UNREADABLE


def _status_show(call: Call, snapshot: Snapshot, view: View) -> None:
    team, say = call.team, call.say
    where = f"  {team.location}  ({team.kind}{', read-only' if team.read_only else ''})"
    say(snapshot.config.name, style="bold", rest=where)
    truth = assess(snapshot, view.now)
    first, *others = truth.reasons or (None,)
    about = f"{' ' if truth.state is State.LOCKED else ': '}{first.sentence}" if first is not None else ""
    if first is None and truth.holder is not None:  # a lock that is only being used is no condition
        about = f", being written {holder_words(truth.holder, truth.holder.since)}"
    say(f"condition  {_word(truth.state)}", style=_COLOURS.get(truth.state, "red"), rest=about)
    if snapshot.is_known:
        counts = ", ".join(f"{number:,} {status}" for status, number in view.counts.items() if number)
        changed = age_since(snapshot.changed_at, view.now)
        say(f"messages   {counts or 'none'}; last change {changed}{' ago' if snapshot.changed_at else ''}")
    for reason in filter(None, others):
        say(f"and        {_word(reason.state)}: {reason.sentence}")
    if snapshot.dropped:
        waiting = f"{counted(len(snapshot.dropped), 'message')} {'waits' if len(snapshot.dropped) == 1 else 'wait'}"
        say(f"drop/      {waiting} to be taken in, with the next write")
    _show_needs(call, view, truth)
    if view.roster:
        say()
        print_table(call, [_roster_cells(row, view) for row in view.roster])
    if view.findings:
        errors = sum(finding.severity == "error" for finding in view.findings)
        say("", f"{findings_of(len(view.findings), errors)}; team-console check lists them")


def _word(state: State) -> str:
    return "in doubt" if state is State.DOUBT else str(state)


def _show_needs(call: Call, view: View, truth: StoreStatus) -> None:
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
    for item in view.attention[:_ROWS]:
        about = f"{item.title} (blocks {', '.join(item.blocks)})" if item.blocks else item.title
        waits = age_since(item.since, view.now)
        rows.append({"WHAT": str(item.need), "WHO": item.who, "AGE": waits, "ABOUT": about})
    print_table(call, rows)
    if number > _ROWS:
        call.say(f"and {number - _ROWS} more")


# `inbox`: an agent's messages, without touching them.


@verb(
    *agent("whose inbox"),
    flag("--unread", "only what it has not read"),
    flag("--unanswered", "only what it has read and not answered"),
)
def do_inbox(call: Call) -> int:
    """List an agent's messages without touching them."""
    if call.agent is None:
        raise TeamError(Code.USAGE, "whose inbox? no agent is named", "team-console inbox NAME")
    agent = check_name(call.agent, field="NAME")
    view = view_now(call)
    _refuse_stranger(call, view, agent)
    messages = [inbox for inbox in view.inboxes.get(agent, ()) if not call.options.unread or inbox.is_unread_by(agent)]
    if call.options.unanswered:
        messages = list(view.unanswered.get(agent, ()))
        nothing = f"{agent} has answered everything it has read"
    else:
        nothing = f"nothing unread for {agent}" if call.options.unread else f"no messages for {agent} in the queue"
    records = [dict(message.record) for message in marked(call.team, messages)]
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
    return 0


def _refuse_stranger(call: Call, view: View, agent: str) -> None:
    known = [row.name for row in view.roster]
    if agent in (*known, USER) or agent in view.inboxes or not call.team.config().declared:
        return
    hint = guess(agent, [name for name in known if name != ALL], f"Agents: {', '.join(known)}.")
    raise TeamError(Code.AGENT_NOT_FOUND, f"no agent {agent} in team {call.team.config().name}", hint)


# `history`: archived and live messages, as log lines (seed 001), JSON or CSV.


@verb(
    *agent("only what this agent sent or got"),
    arg("--since", "2026-02-24, 2026-02-24T10:30:00Z, or an age: 30m, 12h, 7d", metavar="T"),
    arg("--type", "only this kind of message", metavar="T", source="kinds"),
    arg("--grep", "only messages with this regular expression in their text", metavar="RE"),
    FIND,
    arg("--format", "default: log, or json with --json", choices=("log", "json", "csv")),
)
def do_history(call: Call) -> int:
    """Print archived and live messages, oldest first, each once. With an agent the log lines say OUTGOING and
    INCOMING as that agent saw it; without, they name both ends. JSON holds the records as they are stored.
    Times of log lines, and of --since without a zone, are local; JSON and CSV say theirs. TZ=UTC gives UTC."""
    options = call.options
    form = options.format or ("json" if call.as_json else "log")
    if form != "json":
        call.refuse_json(f"--format {form}")
    for name in ("agent", "since", "type", "find"):
        value = call.agent if name == "agent" else getattr(options, name)
        if value == "":  # of a script whose variable is not set; everything is not what it asks for
            raise TeamError(Code.USAGE, f"--{name} is empty", f"Give a value, or leave --{name} out.")
    query = wanted(
        now=call.team.clock(),
        agent=call.agent,
        since=options.since,
        type=options.type,
        grep=options.grep,
        find=options.find,
        saved=load({}).preferences.filters,
    )
    snapshot = call.snapshot()
    is_empty, problems = _print_history(call, snapshot, query, form)
    call.warn([problem.sentence for problem in problems])
    if is_empty and not problems:
        _tell_slips(call, snapshot)
    call.warn(doubts(call, snapshot))
    return 0


def _print_history(call: Call, snapshot: Snapshot, query: Query, form: str) -> tuple[bool, list[Problem]]:
    """Return whether there was nothing to print, and what could not be read."""
    if form == "log":
        lines, problems = history_as(call.team, snapshot.messages, query, lambda message: log_line(message, call.agent))
        if lines:
            call.tell_zone()
            call.say(*lines)
        return not lines, problems
    messages, problems = history(call.team, snapshot.messages, query)
    if form == "json":
        print_list(call, history_json(messages), snapshot, problems)
    else:
        print_csv(call, CSV_FIELDS, map(csv_row, messages))
    return not messages, problems


def _tell_slips(call: Call, snapshot: Snapshot) -> None:
    """Whether nothing was found because nobody has that name, or no kind of message."""
    agent, kind = call.agent, call.options.type
    ever = wanted(now=call.team.clock(), agent=agent)
    names = unheard_agent(snapshot, agent, lambda: history(call.team, snapshot.messages, ever)[0])
    call.warn([*names, *unheard_kind(snapshot.config, kind)])


_LONGEST_WAITS = 3
"""Agents that waited longest for a human, of whom `digest` says how long."""

# `digest`: what happened since a moment, by kind.


@verb(
    arg(
        "--since",
        "2026-02-24, 2026-02-24T10:30:00Z, or an age: 30m, 12h, 7d (default: 12h)",
        metavar="T",
        default="12h",
    )
)
def do_digest(call: Call) -> int:
    """Show what happened since a time, from the records alone: what was asked, decided (and by whom), withdrawn,
    answered elsewhere, done, failed and written, who stopped or refused to, and what waits now. Times are local."""
    since = moment_of(call.options.since, call.team.clock(), named="--since")
    snapshot = call.snapshot()
    found = digest_of_team(call.team, view_of_team(call.team, snapshot, me=call.looker(snapshot)), since)
    if call.as_json:
        print_list(call, digest_json(found), snapshot)
        return 0
    call.say(f"since {local_time(found.since, 'minutes')}: {counted(len(found.happened), 'thing')} happened")
    for group in DigestGroup:
        items = found.of(group)
        if items:
            call.say(f"{group_head(group, len(items))}:")
        for item in items:
            at = local_time(item.at, "minutes")[5:] if item.at is not None else "           "
            call.say(f"  {at}  {happening_line(item)}")
    if found.waiting:
        call.say(f"waiting for you now: {counted(found.waiting, 'thing')}; team-console status lists them")
    longest = sorted((name for name in found.blocked if name), key=lambda name: -found.blocked[name].total)
    if longest:
        most = ", ".join(f"{name} {age(found.blocked[name].total)}" for name in longest[:_LONGEST_WAITS])
        middle = found.blocked[""].median
        usual = f", {age(middle)} in the median" if middle is not None else ""
        call.say(f"agents waited for a human {age(found.blocked[''].total)} in all{usual}: {most}")
    call.say(f"not known: {'; '.join(found.unknown)}")
    call.warn(doubts(call, snapshot))
    return 0
