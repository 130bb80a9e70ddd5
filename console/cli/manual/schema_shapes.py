"""Shapes that the JSON of several verbs shares: a receipt, a request, an agent, a finding and their like."""

from __future__ import annotations

from collections.abc import Mapping

from team_console.console.cli.manual.schema_words import (
    Schema,
    array,
    count,
    flag,
    mapping,
    number,
    or_null,
    record,
    text,
    word,
)

MOMENT = text("time as 2026-02-24T10:30:15.123Z")
WARNINGS = array(text(), "what the caller should know, as sentences")
STORED: Schema = {
    "type": "object",
    "description": "a record as it is stored: envelope and payload",
    "additionalProperties": True,
}
ANY_OBJECT: Schema = {"type": "object", "additionalProperties": True}
DELIVERY = {
    "message_id": text("id of the record that was written"),
    "sender": text(),
    "recipient": text("one name, or several after commas for a record of others"),
    "message_type": text("kind of message"),
    "status": text("pending, claimed, retry, delivered, read, failed, expired or recalled"),
    "created_at": text("when it was created, as the record says it"),
}
REQUEST_ID = {"request_id": text("the request opened or answered")}
DELIVERIES = array(record(DELIVERY, REQUEST_ID), "one for each recipient, when there are several")
ACTED = {"success": flag(), "action": text("the verb")}


def receipt(more: Mapping[str, Schema] | None = None, *, meaning: str = "") -> Schema:
    """What a write action did."""
    optional = {**DELIVERY, **REQUEST_ID, "deliveries": DELIVERIES, "repeated": flag("it was there already")}
    optional["notes"] = array(text(), "what follows from it, as sentences")
    return record({**ACTED, "warnings": WARNINGS}, {**optional, **(more or {})}, meaning)


SENT = record(
    {**ACTED, **DELIVERY, "warnings": WARNINGS},
    {**REQUEST_ID, "deliveries": DELIVERIES, "repeated": flag("the same was there already; nothing was written")},
)
MEMBER = record(
    {
        "name": text(),
        "role": word("master", "resident", "slave", "temp", "member"),
        "plan_mode_required": flag("it works only after its plan was approved"),
        "deliver": array(text(), "command for pushed messages; empty: its inbox file"),
        "deliver_timeout": number("seconds"),
        "may_message": or_null(array(text(), "whom it may write to; null: everybody")),
        "may_send": or_null(array(text(), "which kinds it may send; null: all")),
    }
)
VERDICT = record(
    {
        "request_id": text(),
        "state": word("approved", "rejected", "answered", "withdrawn", "superseded", "open"),
        "approve": or_null(flag("the yes or no; null without one")),
        "reason": or_null(text("the words of the answer, or why it was withdrawn")),
        "message_id": or_null(text("the answer that stands")),
        "answered_by": or_null(text()),
        "answered_at": or_null(MOMENT),
    },
    {
        "answers": ANY_OBJECT,
        "scope": word("once", "always"),
        "suggestion": {"description": "what is allowed always, as the client suggested it"},
        "mode": text("in which the asker of a plan goes on"),
        "updated_plan": text("the plan as it was edited before it was approved"),
        "updated_input": ANY_OBJECT,
    },
    "how one request stands",
)
REQUEST = record(
    {
        "request_id": text(),
        "kind": text("plan, shutdown, create, destroy, permission, question, escalation, clarification, ..."),
        "from": text("who asked"),
        "to": text("who is asked"),
        "message_id": text("the message that asks"),
        "state": text("open, overdue, approved, rejected, answered, superseded or withdrawn"),
        "asked_at": or_null(MOMENT),
        "waiting_seconds": number(),
        "answered_at": or_null(MOMENT),
        "answered_by": or_null(text()),
        "reason": or_null(text("why not, or the note of the answer")),
        "flags": array(text("what is unusual about it")),
        "forged": mapping(text("why it decides nothing"), "by id, answers that are not signed as they must be"),
        "title": text(),
        "seen_at": or_null(MOMENT),
        "due_at": or_null(MOMENT),
        "expires_at": or_null(text("when it ends by itself, as timed out")),
        "withdrawn_at": or_null(text("when it was taken back or timed out")),
        "answers": array(text("ids of messages that answer it")),
        "supersedes": or_null(text("the request it takes the place of")),
        "superseded_by": or_null(text()),
    },
    {"content": or_null(text("what is asked"))},
)
AGENT = record(
    {
        "name": text(),
        "role": text("master, resident, slave, temp or member"),
        "state": text(),
        "plan_mode_required": flag(),
        "unread": count(),
        "oldest_unread_seconds": or_null(number()),
        "last_seen": or_null(MOMENT),
        "reason": text("why it is in that state"),
        "stranger": flag("it is on no roster"),
        "addressable": flag("its name is one that can be written to"),
        "looks_like": or_null(text("the agent its name is easily taken for, written with other letters")),
        "reported": or_null(text("what it last said of its own state")),
        "reported_at": or_null(MOMENT),
        "dropped": count("messages for it that wait beside the queue to be taken in"),
        "unanswered": count("messages to it alone that it read and did not answer"),
    }
)
FINDING = record(
    {
        "code": text("a stable word, such as DAMAGED_ENTRY"),
        "severity": word("error", "warning", "notice"),
        "place": text("file and line, message, agent or request"),
        "message": text(),
        "hint": text("the next step"),
    }
)
LOCK = record(
    {
        "pid": or_null(count()),
        "host": text(),
        "since": text(),
        "action": text(),
        "alive": or_null(flag()),
    },
    meaning="who holds the lock at this moment",
)
FAILURE = record(
    {
        "message_id": text(),
        "status": text(),
        "sender": text(),
        "recipient": text(),
        "message_type": text(),
        "attempts": count(),
        "max_attempts": count(),
        "error_message": or_null(text()),
        "next_attempt_at": or_null(MOMENT),
        "expires_at": or_null(MOMENT),
        "created_at": text(),
    }
)
CONDITION = text("ok, empty, polling, settings, locked, doubt, stale, vanished, unreadable or reading")
TRY = record(
    {
        "message_id": text(),
        "recipient": text(),
        "status": text("as of the record for this recipient"),
        "at": or_null(text("when that became so")),
        "tries": count(),
        "most_tries": count(),
        "next_try": or_null(text()),
        "error": or_null(text()),
    }
)
REASON = record({"state": text("as in condition"), "text": text(), "hint": text("the next step")})
SKIPPED = {
    "messages_skipped": count(),
    "skipped": array(record({"message_id": text(), "recipient": text(), "reason": text()})),
}
SUMMARY = array(record({"recipient": text(), "delivered": count(), "failed": count()}))
DOUBT = {"doubt": or_null(text("why this may not be all; null: nothing is known to be missing"))}
MESSAGES = record({"messages": array(STORED), "count": count(), **DOUBT})

AWAITED = record(
    {**ACTED, **DELIVERY, "warnings": WARNINGS},
    {**REQUEST_ID, "notes": array(text()), "verdict": VERDICT},
    "with --wait `verdict` says how it stands",
)

PROOF = record(
    {
        "message_id": text(),
        "signer": text(),
        "time": MOMENT,
        "verdict": word("approve", "reject", "answer", "shutdown"),
        "stands": flag("it is the one that decides"),
        "trouble": or_null(text("why it decides nothing")),
        "statement": text("the text that is signed"),
        "signature": or_null(text("SSHSIG, armoured")),
        "allowed_signers": array(text(), "the keys that may sign it, as ssh-keygen reads them"),
        "command": or_null(text("what a shell runs to check it")),
    }
)
