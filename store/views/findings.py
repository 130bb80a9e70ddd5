"""The findings: protocol violations and store problems, each with code, place and next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain

from msgspec.structs import replace
from team_console.store.contract.team import AuditLine, LineSeal
from team_console.store.model.delivery_schedule import CLOCKS_DIFFER, MAX_LEASE, lease_end
from team_console.store.model.errors import Problem
from team_console.store.model.message import PRIORITIES, STATUSES, Message, Priority, Status, changed_problem
from team_console.store.model.names import RULE, hint_with_nearest
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.checks import problems_of, self_addressed
from team_console.store.protocol.client_sessions import SESSION
from team_console.store.protocol.foreign_fields import text_in
from team_console.store.protocol.grants import GRANT, RECALLED
from team_console.store.protocol.keys_on_record import fingerprint, keys_of_humans, unsigned_confirmations
from team_console.store.protocol.kinds import KINDS, SHUTDOWN_REQUEST, UNKNOWN, RequestKind
from team_console.store.protocol.message_seal import Seal, message_seal
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import EARLIEST, PlacedMessage
from team_console.store.protocol.rights import breach, may_answer
from team_console.store.protocol.team_rules import TeamFacts, missing_fields, team_problems
from team_console.store.protocol.trust import NOT_ON_RECORD, objection
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.facts import Facts
from team_console.store.views.rows import ActionItem, Flag, RequestRow, RosterRow
from team_console.store.views.sprint import STEP_TITLES

UNREADABLE_DATE = "UNREADABLE_DATE"


def _message_findings(entry: PlacedMessage, facts: Facts, by: TeamFacts) -> Iterator[Problem]:
    """Judge a message of the queue by its protocol and by the rules of its team."""
    broken = breach(facts.config, entry.message, facts.recorded)
    yield from problems_of(entry.read)
    if broken is not None:
        text = (
            f"{broken[0]}; {'it stops nobody' if entry.read.name == SHUTDOWN_REQUEST else 'another program wrote it'}"
        )
        hint = f"Ask {entry.message.sender} why; nobody need answer it."
        yield Problem("NOT_PERMITTED", "error", entry.message.message_id, text, hint)
    yield from _record_findings(entry, facts.config)
    yield from _grant_findings(entry.message, facts)
    yield from team_problems(entry.read, by)


def _clock_findings(entry: PlacedMessage, now: datetime) -> Iterator[Problem]:
    """Yield a date that is yet to come, and a claim longer than any that can be made: somebody's clock is or was
    wrong.
    """
    message, lease = entry.message, lease_end(entry.message)
    if entry.when > now + CLOCKS_DIFFER:
        text = f"it says that it was written at {message.created}, which is yet to come"
        hint = f"Check the clock of {message.sender}. What came first is told by the audit trail, not by dates."
        yield Problem("FUTURE_DATE", "warning", message.message_id, text, hint)
    if message.status == Status.CLAIMED and lease is not None and lease > now + MAX_LEASE:
        text = f"it is claimed until {message.envelope('lease_until')}, longer than any claim may be"
        hint = "The claim counts as over; whoever receives next gets the message."
        yield Problem("LEASE_TOO_LONG", "warning", message.message_id, text, hint)


def _unknown_kinds(facts: Facts) -> Iterator[Problem]:
    """Yield the kinds that nobody here knows; their messages are shown and kept as they are."""
    reads = (entry.read for entry in facts.live)
    kinds = Counter(read.name for read in reads if read.kind is UNKNOWN and not read.frame_problems)
    for name, number in sorted(kinds.items()):
        if name in facts.config.kinds:
            continue
        are = "is" if number == 1 else "are"
        text = f"{counted(number, 'message')} {are} of a kind that is not known here; kept and shown as written"
        hint = hint_with_nearest(name, KINDS, "Check the spelling if it was meant otherwise.")
        yield Problem("UNKNOWN_KIND", "notice", f"type {name}", text, hint)


def _odd_words(entry: PlacedMessage) -> Iterator[Problem]:
    """Yield words of other programs for priority, status and time that decide the order of messages and who gets
    them.
    """
    message = entry.message
    hint = "It is understood as said here and stays as it is written."
    for key in message.odd:
        written, code = safe_line(str(message.record.get(key)), 64), "OTHER_WORD"
        text = f"{key} {written!r} is read as {message.priority if key == 'priority' else message.status}"
        if key == "to":
            text = f"it is addressed to several with commas between them, and goes to {', '.join(message.recipients)}"
        elif key == "priority" and message.priority not in PRIORITIES:
            code, text = "UNKNOWN_PRIORITY", f"priority {written!r} is none that is known, so it comes last"
            hint = f"Known are {', '.join(Priority)}."
        elif key == "status" and message.status not in STATUSES:
            code, text = "UNKNOWN_STATUS", f"status {written!r} is none that is known, so nobody will receive it"
            hint = "Set it to pending to send it."
        yield Problem(code, "notice", message.message_id, text, hint)
    if entry.when is EARLIEST and message.created:
        text = f"created {safe_line(message.created, 64)!r} is no time, so it counts as the oldest"
        yield Problem(UNREADABLE_DATE, "notice", message.message_id, text, "Correct it.")


def _grant_findings(grant: Message, facts: Facts) -> Iterator[Problem]:
    """Tell of a grant that its human did not make, so that it gives no answer."""
    if grant.type != GRANT or facts.recorded is None:
        return
    trouble, hint = objection(facts.config, grant, recorded=facts.recorded), "Find out who wrote it."
    # guard: forged-grant-named
    if trouble:
        text = f"the grant of {grant.sender} is forged or broken and gives no answer: {trouble}"
        yield Problem("FORGED_VERDICT", "error", grant.message_id, text, hint)
    elif not facts.recorded.is_by_desk(grant.message_id):
        text = f"the grant of {grant.sender} was not written by team-console, so it gives no answer"
        yield Problem("UNVERIFIED_VERDICT", "warning", grant.message_id, text, hint)


def _record_findings(entry: PlacedMessage, config: TeamConfig) -> Iterator[Problem]:
    """Yield what is odd in one record: words, an address to itself, missing fields, a wrong or missing signature."""
    message = entry.message
    yield from _odd_words(entry)
    if message.type not in (SESSION, GRANT, RECALLED):  # what we write ourselves, from a member to itself
        yield from self_addressed(message)
    needs = entry.read.kind.needs  # those are told with the rest of its body
    for name in missing_fields(config, message.type, message.payload) if message.type in config.kinds else ():
        if name not in needs:
            text, place = f"{message.type}: {name} is missing", f"{message.message_id} payload.{name}"
            hint = f"message_types.{message.type} in the team settings requires it; ask {message.sender} for it."
            yield Problem("BODY_INVALID", "warning", place, text, hint)
    if not config.key:
        return
    seal = message_seal(message, config.key)
    if seal is Seal.BROKEN:
        text = "the signature does not fit: the record was changed, or signed with another key"
        hint = f"Do not act on it; ask {message.sender} whether it wrote this."
        yield Problem("BROKEN_SIGNATURE", "error", message.message_id, text, hint)
    elif seal is Seal.UNSIGNED:
        hint = f"Ask {message.sender} to send through team-console, which signs."
        yield Problem("UNSIGNED", "warning", message.message_id, "the team has a key and this is not signed", hint)


# Quotations: live messages that reply to something, and which of them quote what nobody has.


def _unknown_replies(facts: Facts) -> Iterator[Problem]:
    """Yield `UNKNOWN_REPLY` for each live message that quotes what nobody else has, in stored order."""
    quotes = [(entry, text_in(entry.message.payload, "in_reply_to")) for entry in facts.live if facts.complete]
    quoting = [(entry, quoted) for entry, quoted in quotes if quoted]
    wanted = {quoted for _, quoted in quoting}
    every = chain(facts.live, facts.past) if wanted else ()
    carried = Counter(name for entry in every for name in _quotable_ids(entry) if name in wanted)
    for entry, quoted in quoting:
        if carried[quoted] > (quoted in _quotable_ids(entry)):  # one that carries an id itself does not make it known
            continue
        message = entry.message
        text = f"in_reply_to: no message or request {quoted:.120} is known, so this answers nothing"
        hint = f"Ask {message.sender} which message it means."
        yield Problem("UNKNOWN_REPLY", "notice", message.message_id, text, hint)


def _quotable_ids(entry: PlacedMessage) -> set[str]:
    """Return the ids by which the message can be quoted."""
    message = entry.message
    return {name for name in (message.message_id, message.request_id, entry.read.request_id) if name}


# Requests whose record somebody damaged after it was read: still shown, marked, and not to be answered.


def mark_damaged(rows: tuple[RequestRow, ...], ids: frozenset[str]) -> tuple[RequestRow, ...]:
    """Return the rows, those marked whose question is among these damaged ones."""
    return tuple(_marked_if_damaged(row, ids) for row in rows) if ids else rows


def withhold_answers(items: tuple[ActionItem, ...], ids: frozenset[str]) -> tuple[ActionItem, ...]:
    """Return the items; those that ask for an answer to one of these damaged questions without it."""
    why = "its record in the queue is damaged, so it cannot be answered"
    return tuple(
        replace(item, request=_marked_if_damaged(item.request, ids), answerable=False, why=why)
        if item.request is not None and item.request.question.message_id in ids
        else item
        for item in items
    )


def _marked_if_damaged(row: RequestRow, ids: frozenset[str]) -> RequestRow:
    return replace(row, flags=(*row.flags, Flag.DAMAGED)) if row.question.message_id in ids else row


# The audit trail: lines that were changed, left out or not sealed.


def trail_findings(lines: Sequence[AuditLine]) -> Iterator[Problem]:
    """Yield the faults of the audit trail up to the newest of `lines`, which are newest first.

    `AUDIT_BROKEN` where a line was changed, left out, or added without the team's key; `AUDIT_UNSEALED` for lines
    that no key vouches for although the team has one: the chain alone can be computed anew by anybody.
    """
    broken = [line for line in lines if not line.intact]
    open_to_edit = [line.seq for line in lines if line.seal is LineSeal.UNSEALED]
    if not broken and open_to_edit:
        last, is_last = max(open_to_edit), lines[0].seal is LineSeal.UNSEALED
        text = f"the audit trail up to line {last} has no seal of the team's key"
        hint = (
            "Each line that is written with the key from now on is sealed. Compare the others with a copy if in doubt."
        )
        severity = "warning" if is_last else "notice"
        yield Problem(
            "AUDIT_UNSEALED",
            severity,
            f"audit.jsonl, line {last}",
            f"{text}: it is older, or was written without it",
            hint,
        )
    if not broken:
        return
    first = min(broken, key=lambda line: line.seq)
    where = f"{'at or before' if len(broken) == len(lines) else 'at'} line {first.seq}"
    if first.seal is LineSeal.BROKEN:
        text = f"the audit trail is not what was written {where}: the seal does not fit the team's key"
    elif first.seal is LineSeal.UNSEALED:
        text = f"the audit trail was written without the team's key {where}, though lines before have its seal"
    else:
        text = f"the chain is broken {where}: a line of the audit trail was changed or left out"
    hint = "Compare audit.jsonl with a copy; what it says from there on need not be all that happened."
    yield Problem("AUDIT_BROKEN", "error", f"audit.jsonl, line {first.seq}", text, hint)


# Keys and settings that no human vouches for: somebody who may write the settings may have put them there.


def key_findings(config: TeamConfig, recorded: RecordedFacts | None) -> Iterator[Problem]:
    """Yield `KEY_NOT_ON_RECORD` for keys the trail never saw, `KEY_TAKEN_UNSIGNED` for those no known key vouches for.

    `SIGNING_GIVEN_UP` where verdicts were signed and need not be any more, `SETTINGS_TAKEN_UNSIGNED` for settings that
    asked less or were lost, and were confirmed by no key on record. `AUDIT_LOST` where the trail began anew. What the
    trail of the team said for good that this one was copied from, under the same codes.
    """
    if config.verdicts != "signed" and recorded is not None and recorded.signed_from is not None:
        text = "verdicts of humans were signed here, and the settings do not ask for that any more"
        hint = "If none of you wanted that, put humans and verdicts: signed back, and look at the decisions since."
        yield Problem("SIGNING_GIVEN_UP", "warning", "verdicts", text, hint)
    for line in recorded.losses if recorded is not None else ():
        text = "the audit trail was lost before this line: which keys and settings were known then, it cannot say"
        hint = "Compare it with a copy. Look whether the settings are yours, and at the decisions since."
        yield Problem("AUDIT_LOST", "warning", f"audit.jsonl, line {line}", text, hint)
    for confirmation in unsigned_confirmations(recorded):
        text = "settings that gave up what was in force were confirmed without a signature of a human's key on record"
        hint = f"Line {confirmation.line} of the audit trail says when and by whom; ask them, and look at what changed."
        yield Problem("SETTINGS_TAKEN_UNSIGNED", "warning", f"audit trail, line {confirmation.line}", text, hint)
    for line, code, text in recorded.carried if recorded is not None else ():
        hint = "It was so before the team was copied here; look at the decisions of that time."
        yield Problem(code, "warning", f"audit trail, line {line}", f"where this team was copied from: {text}", hint)
    for keys in keys_of_humans(config, recorded):
        name, place = keys.human.name, f"humans.{keys.human.name}.keys"
        for key in keys.unknown:
            text = f"a key of {name} is not on record: {fingerprint(key)} has signed nothing here, nor was it taken in"
            hint = f"If it is {name}'s: team-console check --accept-keys; else take it out of the settings."
            yield Problem("KEY_NOT_ON_RECORD", "warning", place, text, hint)
        for key, line in keys.unsigned:
            text = f"a key of {name} was taken on record without a signature of one that was known: {fingerprint(key)}"
            hint = f"Ask {name} whether it is theirs; line {line} of the audit trail says when and by whom."
            yield Problem("KEY_TAKEN_UNSIGNED", "warning", place, text, hint)


_TOLD_WHEN_ARCHIVED = frozenset({Flag.OVERDUE, Flag.ALTERED, Flag.FORGED})
"""Flags that are told whether or not the messages they are about are still in the queue."""
_ANSWER_COMMANDS: Mapping[RequestKind, str] = {
    RequestKind.QUESTION: "team-console answer {} --option LABEL, or --content WORDS",
    RequestKind.CLARIFICATION: "team-console answer {} --content WORDS",
    RequestKind.ESCALATION: "team-console answer {} --content WORDS",
}
"""How a request is answered that wants more than a yes or no."""
_SEVERITY_ORDER = {"error": 0, "warning": 1, "notice": 2}
_NOT_AMONG_THOSE = "among the messages that were looked at, and older archived ones were not"


def findings(facts: Facts, roster: Sequence[RosterRow], by: TeamFacts) -> tuple[Problem, ...]:
    """Return all findings, errors first; within a severity the store, then the team, then messages in stored order."""
    held = [entry for entry in facts.live if entry.when > facts.now or entry.message.status == Status.CLAIMED]
    general = [
        *dict.fromkeys(facts.problems),
        *key_findings(facts.config, facts.recorded),
        *(problem for entry in held for problem in _clock_findings(entry, facts.now)),
        *_twin_findings(facts),
        *_changed_messages(facts),
        *_name_findings(facts, roster),
        *_request_findings(facts),
        *_unasked_answers(facts),
        *facts.drift,
        *_lifecycle_findings(facts),
        *_unknown_kinds(facts),
        *_unknown_replies(facts),
    ]
    is_told = any(problem.code == UNREADABLE_DATE for problem in facts.problems)  # the store tells of each itself
    found = [problem for entry in facts.live for problem in _message_findings(entry, facts, by)]
    single = [problem for problem in found if not (is_told and problem.code == UNREADABLE_DATE)]
    notices = _merge_equal_notices(problem for problem in single if problem.severity == "notice")
    listed = [*general, *(problem for problem in single if problem.severity != "notice"), *notices]
    return tuple(sorted(listed, key=lambda problem: _SEVERITY_ORDER.get(problem.severity, len(_SEVERITY_ORDER))))


def _merge_equal_notices(notices: Iterable[Problem]) -> Iterator[Problem]:
    """Yield notices that say the same of several messages once: many of them would bury what is worse."""
    alike: dict[tuple[str, str], list[Problem]] = {}
    for notice in notices:
        alike.setdefault((notice.code, notice.message), []).append(notice)
    for first, *more in alike.values():
        also = f" (the first of {len(more) + 1:,} messages that do so)" if more else ""
        yield replace(first, message=f"{first.message}{also}")


def _twin_findings(facts: Facts) -> Iterator[Problem]:
    for request_id, entries in sorted(facts.requests.twins.items()):
        ids = sorted({entry.message.message_id for entry in entries} - {request_id})
        live = [item for item in ids if item in facts.ids]
        if live:
            text = f"{', '.join(live)} opens the request {request_id}, which another message opened before"
            yield Problem(
                "DUPLICATE_ID", "error", request_id, text, "Only the first counts; ask the sender for a new id."
            )


def _changed_messages(facts: Facts) -> Iterator[Problem]:
    """Yield live messages that the audit trail has found changed; the store tells of others."""
    for message_id, what in (facts.recorded.reworded if facts.recorded is not None else {}).items():
        if message_id in facts.ids:
            yield changed_problem(message_id, what)


_WORDS_FOR_ALL = frozenset({"all", "everyone", "everybody", "team", "broadcast", "*", "所有人"})
"""Words that writers use for everybody; `all` alone is understood."""


def _has_left(facts: Facts, row: RosterRow) -> bool:
    """Return whether it was a member, was taken out of the settings, and has said nothing since."""
    if facts.recorded is None or facts.recorded.is_member(row.name):
        return False
    departures = facts.recorded.departures_of(row.name)
    if not departures:
        return False
    at = departures[-1].at
    return row.last_seen is None or (at is not None and row.last_seen <= at)


def _name_findings(facts: Facts, roster: Sequence[RosterRow]) -> Iterator[Problem]:
    """Yield names nobody can write to, or that are on no roster, or easily taken for another."""
    names = [row.name for row in roster if not row.stranger]
    alike: dict[str, list[str]] = {}
    for row in roster:
        name = row.name
        alike.setdefault(name.casefold(), []).append(name)
        if not row.is_addressable:
            text = f"{name} writes or is written to, and is no name that anybody could write to"
            yield Problem("UNADDRESSABLE", "warning", name, text, f"Have it call itself otherwise. {RULE}")
        elif name.casefold() in _WORDS_FOR_ALL and row.last_seen is None:
            text = f"{name} is written to as if it were everybody, and nobody of that name was ever heard"
            yield Problem("STRANGER", "warning", name, text, "'to: all', in small letters, reaches everybody.")
        elif row.stranger and not _has_left(facts, row):
            hint = hint_with_nearest(name, names, "Add it to the settings if it belongs here.")
            where = "on no roster" if facts.complete else f"on no roster {_NOT_AMONG_THOSE}"
            text = f"{name} writes or is written to and is {where}"
            yield Problem("STRANGER", "warning", name, text, hint)
    for row in roster:
        if row.looks_like:
            text = f"{row.name} looks like {row.looks_like} and is another name, written with other letters"
            hint = "Find out who uses it before you trust what it says or write to it."
            yield Problem("LOOK_ALIKE", "warning", row.name, text, hint)
    for twins in alike.values():
        if len(twins) > 1:  # file systems and people take them for one
            text = f"{' and '.join(sorted(twins))} are names of several that differ in upper and lower case only"
            hint = "Have all but one of them take another name: mail may wait for whoever nobody meant."
            yield Problem("CASE_TWIN", "warning", min(twins), text, hint)


def _request_findings(facts: Facts) -> Iterator[Problem]:
    for row in sorted(facts.requests.flagged, key=lambda row: row.key):
        live = any(message.message_id in facts.ids for message in (row.question, *row.answers))
        for flag in row.flags:
            if live or flag in _TOLD_WHEN_ARCHIVED:
                yield from _flag_findings(facts, row, flag)


def _flag_findings(facts: Facts, row: RequestRow, flag: Flag) -> Iterator[Problem]:
    """Yield the finding for a flag of a request; flags without a case here are no fault."""
    request_id, verdict = row.request_id, row.verdict
    match flag:
        case Flag.UNAUTHORISED:
            hint = "It decides nothing; the request waits for whoever may answer it."
            for answer in row.answers:
                may = may_answer(facts.config.lead, actor=answer.sender, kind=row.kind, addressee=row.addressee)
                if answer.message_id in facts.ids and not may:
                    text = f"{answer.sender} answered the {row.kind.noun} {request_id}, which is not for it to decide"
                    yield Problem("UNAUTHORISED_VERDICT", "error", answer.message_id, text, hint)
        case Flag.CONTRADICTORY if verdict is not None:
            word = "yes" if parse_message(verdict).approve else "no"
            text = f"{request_id} has answers that contradict each other; the first stands: {word} by {verdict.sender}"
            hint = f"Tell {row.asker} which one counts: it may act on the other."
            yield Problem("CONTRADICTORY_ANSWER", "error", request_id, text, hint)
        case Flag.ANSWERED_TWICE:
            text = f"{request_id} was answered more than once; the first answer stands"
            yield Problem("ANSWERED_TWICE", "warning", request_id, text, "Nothing to do if the answers agree.")
        case Flag.OVERDUE:
            yield from _overdue_finding(facts, row)
        case Flag.STILL_ALIVE:
            text = f"the end asked for in {request_id} was agreed to, and the agent still writes"
            yield Problem("STILL_ALIVE", "warning", request_id, text, "End its process, or ask it to stop again.")
        case Flag.ALTERED:
            hint = "Find out who changed it; the next write puts it back: team-console check --heal"
            for item in row.altered:
                text = f"answer {item} to {request_id} was changed after it was recorded; it decides as it was written"
                yield Problem("ALTERED_VERDICT", "error", item, text, hint)
        case Flag.UNVERIFIED:
            said = {answer.message_id: answer for answer in row.answers}
            for item in row.unverified:
                text = f"answer {item} to {request_id} was not written by team-console, so anybody may have written it"
                hint = f"Ask {row.answered_by or row.addressee} whether it is theirs before you act on it."
                if objection(facts.config, said[item], row.question, recorded=facts.recorded) == NOT_ON_RECORD:
                    text = f"answer {item} to {request_id} decides nothing yet: {NOT_ON_RECORD}"
                    hint = f"If the key is {said[item].sender}'s: team-console check --accept-keys"
                yield Problem("UNVERIFIED_VERDICT", "warning", item, text, hint)
        case Flag.FORGED:
            still = " What the request asks for is still yours to decide." if row.is_open else ""
            for item, why in row.forged.items():
                text = f"answer {item} to {request_id} is forged or broken and decides nothing: {why}"
                yield Problem("FORGED_VERDICT", "error", item, text, f"Find out who wrote it.{still}")


def _overdue_finding(facts: Facts, row: RequestRow) -> Iterator[Problem]:
    """Yield an overdue request, unless an agent that is gone owes the answer to its stop; nobody reminds itself."""
    if row.kind is RequestKind.SHUTDOWN and row.addressee in facts.team.gone:
        return
    how = f"Answer it: {_ANSWER_COMMANDS.get(row.kind, 'team-console approve {}, or reject').format(row.request_id)}."
    if row.addressee in facts.mine:
        text, hint = f"the {row.kind.noun} of {row.asker} waits for your answer, longer than it should", how
    else:
        what = f"your {row.kind.noun}" if row.asker in facts.mine else f"the {row.kind.noun} of {row.asker}"
        text = f"{row.addressee} has not answered {what} in time"
        answers = may_answer(facts.config.lead, actor=facts.me, kind=row.kind, addressee=row.addressee)
        hint = how if answers else f"Remind {row.addressee}."
    yield Problem("OVERDUE_REQUEST", "warning", row.request_id, text, hint)


def _unasked_answers(facts: Facts) -> Iterator[Problem]:
    """Yield answers whose question is nowhere; not while it may be among archived messages nobody looked at."""
    for entry in sorted(facts.requests.orphans, key=lambda entry: entry.order) if facts.complete else ():
        message = entry.message
        if message.message_id in facts.ids:
            quoted = entry.read.request_id or entry.read.subject or "nothing"
            text = f"{entry.read.name} of {message.sender} answers {quoted}, which nobody asked as far as is known"
            hint = f"Ask {message.sender} which request it means."
            yield Problem("ANSWER_TO_NOTHING", "warning", message.message_id, text, hint)


def _lifecycle_findings(facts: Facts) -> Iterator[Problem]:
    """Yield the departures from the eleven steps of temporary agents."""
    for life in facts.lifecycles:
        if not any(step.message is not None and step.message.message_id in facts.ids for step in life.steps):
            continue
        at = {step.number: step.at for step in life.steps if step.message is not None and step.at is not None}
        hint = "Look whether it was made in another way; the order of the eleven steps is fixed."
        for number in life.missing:
            what = "is missing" if facts.complete else f"is not {_NOT_AMONG_THOSE}"
            text = f"{life.agent}: {_step_words(number)} {what}"
            severity = "warning" if facts.complete else "notice"
            yield Problem("STEP_MISSING", severity, f"{life.key} step {number}", text, hint)
        for number in life.out_of_order:
            before = max((item for item in at if item < number and at[item] > at[number]), default=number - 1)
            text = f"{life.agent}: {_step_words(number)} came before {_step_words(before)}"
            yield Problem("STEP_OUT_OF_ORDER", "warning", f"{life.key} step {number}", text, hint)


def _step_words(number: int) -> str:
    return f"step {number} ({STEP_TITLES[number - 1]})"
