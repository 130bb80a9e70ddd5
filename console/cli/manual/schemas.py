"""The JSON of every verb as JSON Schema (2020-12): printed by `help json VERB`, held against real output by the tests.

Keys may be added in later versions; none is renamed or taken away.
"""

from __future__ import annotations

from collections.abc import Mapping

from team_console.console.cli.manual.decision_schemas import decision_schemas
from team_console.console.cli.manual.joining_schemas import joining_schemas
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
_ANY_OBJECT: Schema = {"type": "object", "additionalProperties": True}
_DELIVERY = {
    "message_id": text("id of the record that was written"),
    "sender": text(),
    "recipient": text("one name, or several after commas for a record of others"),
    "message_type": text("kind of message"),
    "status": text("pending, claimed, retry, delivered, read, failed, expired or recalled"),
    "created_at": text("when it was created, as the record says it"),
}
_REQUEST_ID = {"request_id": text("the request opened or answered")}
_DELIVERIES = array(record(_DELIVERY, _REQUEST_ID), "one for each recipient, when there are several")
_ACTED = {"success": flag(), "action": text("the verb")}


def receipt(more: Mapping[str, Schema] | None = None, *, meaning: str = "") -> Schema:
    """What a write action did."""
    optional = {**_DELIVERY, **_REQUEST_ID, "deliveries": _DELIVERIES, "repeated": flag("it was there already")}
    optional["notes"] = array(text(), "what follows from it, as sentences")
    return record({**_ACTED, "warnings": WARNINGS}, {**optional, **(more or {})}, meaning)


_SENT = record(
    {**_ACTED, **_DELIVERY, "warnings": WARNINGS},
    {**_REQUEST_ID, "deliveries": _DELIVERIES, "repeated": flag("the same was there already; nothing was written")},
)
_MEMBER = record(
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
_VERDICT = record(
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
        "answers": _ANY_OBJECT,
        "scope": word("once", "always"),
        "suggestion": {"description": "what is allowed always, as the client suggested it"},
        "mode": text("in which the asker of a plan goes on"),
        "updated_plan": text("the plan as it was edited before it was approved"),
        "updated_input": _ANY_OBJECT,
    },
    "how one request stands",
)
_REQUEST = record(
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
_AGENT = record(
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
        "reported": or_null(text("what it last said of its own state")),
        "reported_at": or_null(MOMENT),
        "dropped": count("messages for it that wait beside the queue to be taken in"),
        "unanswered": count("messages to it alone that it read and did not answer"),
    }
)
_FINDING = record(
    {
        "code": text("a stable word, such as DAMAGED_ENTRY"),
        "severity": word("error", "warning", "notice"),
        "place": text("file and line, message, agent or request"),
        "message": text(),
        "hint": text("the next step"),
    }
)
_LOCK = record(
    {
        "pid": or_null(count()),
        "host": text(),
        "since": text(),
        "action": text(),
        "alive": or_null(flag()),
    },
    meaning="who holds the lock at this moment",
)
_FAILURE = record(
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
_CONDITION = text("ok, empty, polling, settings, locked, doubt, stale, vanished, unreadable or reading")
_TRY = record(
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
_REASON = record({"state": text("as in condition"), "text": text(), "hint": text("the next step")})
_SKIPPED = {
    "messages_skipped": count(),
    "skipped": array(record({"message_id": text(), "recipient": text(), "reason": text()})),
}
_SUMMARY = array(record({"recipient": text(), "delivered": count(), "failed": count()}))
_MESSAGES = record({"messages": array(STORED), "count": count()})

_AWAITED = record(
    {**_ACTED, **_DELIVERY, "warnings": WARNINGS},
    {**_REQUEST_ID, "notes": array(text()), "verdict": _VERDICT},
    "with --wait `verdict` says how it stands",
)

_PROOF = record(
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

SCHEMAS: Mapping[str, Schema] = {
    "demo": record({**_ACTED, "location": text("the folder of the team")}),
    "init": record(
        {
            **_ACTED,
            "team": text(),
            "location": text(),
            "lead": text(),
            "agents": array(text(), "the members, lead first"),
        }
    ),
    "member": record(
        {"team": text(), "members": array(_MEMBER)},
        {**_ACTED, "warnings": WARNINGS, "lead": text(), "declared": flag("the settings name the members")},
        "what add, set and remove did, or what list found",
    ),
    **joining_schemas(_ACTED),
    "migrate": record(
        {
            **_ACTED,
            "location": text("the target"),
            **{name: count() for name in ("live", "archived", "attachments", "audit", "updated", "already")},
            "differing": array(text("id that the target has in another state")),
            "warnings": WARNINGS,
        }
    ),
    "send": _SENT,
    "broadcast": receipt(
        {
            "dry_run": flag(),
            "recipients": array(text()),
            "not_listening": array(text("member that has stopped or was asked to")),
        }
    ),
    "receive": record({"messages": array(STORED), "count": count(), "status_message": text()}),
    "ack": receipt(),
    "plan": _AWAITED,
    "ask": _AWAITED,
    "answer": receipt(),
    "withdraw": receipt(),
    "verdict": _VERDICT,
    "approve": receipt({"dry_run": flag("nothing was written")}),
    "reject": receipt(),
    "shutdown": receipt(
        {"approve": or_null(flag("the answer that was waited for")), "reason": or_null(text())},
        meaning="with --all or --wait `success` says whether all agreed",
    ),
    "evidence": record(
        {
            "request_id": text(),
            "state": text("as in `requests`"),
            "verdicts": word("open", "signed"),
            "proven": flag("the verdict that stands, or the order to stop, is signed and fits"),
            "evidence": array(_PROOF, "what humans said, the oldest first"),
        }
    ),
    "requests": record({"requests": array(_REQUEST)}),
    "roster": record({"agents": array(_AGENT)}),
    "status": record(
        {
            "team": text(),
            "location": text(),
            "backend": text("yaml, sql, claude or memory"),
            "read_only": flag(),
            "condition": _CONDITION,
            "agents": count(),
            "messages": or_null(mapping(count(), "number by status; null while the queue cannot be read")),
            "needs_you": or_null(count("null while the queue cannot be read")),
            "problems": count("findings of check"),
            "last_change": or_null(MOMENT),
            "doubt": or_null(text("why messages may be missing")),
            "missing": count("messages known to be missing"),
            "damaged": count("entries that cannot be read"),
            "lock": or_null(_LOCK),
            "reasons": array(_REASON, "all that is the matter, worst first"),
            "dropped": count("messages that wait beside the queue to be taken in"),
        },
        {"needs": {"type": ["array", "null"], "description": "what waits for you", "items": {"type": "object"}}},
    ),
    "inbox": record({"agent": text(), "messages": array(STORED), "count": count()}),
    "show": record(
        {
            "message": STORED,
            "live": flag("it is in the queue, not in the archive"),
            "seen": or_null(text("of an open request: what an answer to exactly this gives with --seen")),
            "request": or_null(_REQUEST),
            "versions": array(_REQUEST, "the request and those it took the place of"),
            "thread": array(STORED, "messages that belong together, the oldest first"),
            "deliveries": array(_TRY, "one for each recipient"),
            "doubles": array(STORED, "other messages with the same id"),
        }
    ),
    "history": _MESSAGES,
    **decision_schemas(),
    "watch": record(
        {"at": MOMENT, "change": text("new, status, gone, dropped, condition or problem")},
        {
            **{name: text() for name in ("message_id", "from", "message_type", "status", "was", "condition")},
            **{name: text() for name in ("priority", "code", "severity", "place", "message", "hint")},
            "summary": or_null(text()),
            "to": array(text()),
            "read_by": array(text("agents that have read it just now")),
        },
        "one object on a line for each change",
    ),
    "check": record({"condition": _CONDITION, "findings": array(_FINDING), "healed": array(_FINDING)}),
    "deliver": record(
        {
            **_ACTED,
            "messages_delivered": count(),
            "messages_failed": count(),
            "messages_expired": count(),
            "delivery_summary": _SUMMARY,
            "failures": array(
                record(
                    {
                        "message_id": text(),
                        "recipient": text(),
                        "status": text(),
                        "error": text(),
                        "next_attempt_at": or_null(MOMENT),
                    }
                )
            ),
            **_SKIPPED,
            "next_due": or_null(MOMENT),
            "timestamp": MOMENT,
        }
    ),
    "config": record(
        {
            "path": text(),
            "exists": flag(),
        },
        {"mistakes": array(record({"line": count(), "message": text(), "hint": text()}))},
    ),
    "failures": record({"failures": array(_FAILURE), "count": count()}),
    "retry": receipt(),
    "redirect": receipt(),
    "discard": receipt(),
    "recall": receipt(),
    "clear": record(
        {
            **_ACTED,
            "dry_run": flag(),
            "messages_deleted": count(),
            "disk_space_freed_mb": number(),
            "deleted_statuses": mapping(count()),
            "messages_kept": count(),
            "archived_deleted": count(),
        }
    ),
    "route": record(
        _ACTED,
        {
            **_DELIVERY,
            "messages_pending": count(),
            "messages": array(
                record(
                    {
                        "message_id": text(),
                        "sender": text(),
                        "message_type": text(),
                        "payload": {"type": "object", "additionalProperties": True},
                        "created_at": text(),
                    }
                )
            ),
            "messages_delivered": count(),
            "messages_failed": count(),
            "delivery_summary": _SUMMARY,
            **_SKIPPED,
            "warnings": WARNINGS,
            "delivered_at": or_null(MOMENT),
            "messages_deleted": count(),
            "disk_space_freed_mb": number(),
            "deleted_statuses": mapping(count()),
            "orchestrator_instance_id": {"description": "as it was given"},
            "timestamp": MOMENT,
        },
        "the replies of poll, deliver, deliver_all, send, clear and clear_old",
    ),
    "sendmessage": receipt(
        {
            "message": text("what happened, as a sentence"),
            "routing": record({"sender": text(), "target": text()}, {"summary": text(), "content": text()}),
            "recipients": array(text()),
            "target": text(),
        }
    ),
    "help": record(
        {
            "settings": array(
                record(
                    {"path": text(), "value": text(), "default": text(), "meaning": text(), "also": array(text())},
                )
            )
        },
        meaning="of 'help settings --json'",
    ),
    "error": record(
        {
            "success": {"const": False, "type": "boolean"},
            "error": text("a stable word, such as NOT_PERMITTED"),
            "message": text(),
        },
        {"hint": text("the next step")},
        "what every verb prints when it refuses or fails; facts of the error may follow",
    ),
}
"""Verb -> the schema of what it prints with `--json`; `error` is that of every refusal."""


def schema_of(name: str) -> Schema:
    """A schema as a document of its own."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"team-console {name} --json"}
    return {**head, **SCHEMAS[name]}
