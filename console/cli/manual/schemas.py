"""The JSON of every verb as JSON Schema (2020-12): printed by `help json VERB`, held against real output by the tests.

Keys may be added in later versions; none is renamed or taken away.
"""

from __future__ import annotations

from collections.abc import Mapping

from team_console.console.cli.manual.schema_shapes import (
    ACTED,
    AGENT,
    AWAITED,
    CONDITION,
    DELIVERIES,
    DELIVERY,
    DOUBT,
    FAILURE,
    FINDING,
    LOCK,
    MEMBER,
    MESSAGES,
    MOMENT,
    PROOF,
    REASON,
    REQUEST,
    SENT,
    SKIPPED,
    STORED,
    SUMMARY,
    TRY,
    VERDICT,
    WARNINGS,
    receipt,
)
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

_FILE = record(
    {
        "path": text(),
        "change": word("created", "changed", "removed", "unchanged"),
        "diff": text("the change as a unified diff; empty for none"),
    }
)
_CHANGED: Mapping[str, Schema] = {
    "agent": text(),
    "member_changed": flag("the member was put into the team's settings, or taken out of them"),
    "files": array(_FILE, "every file of the client that is concerned"),
    "notes": array(text(), "what the user should know, as sentences"),
    "written": flag("it was done, and not only shown"),
}
_DECISION = record(
    {
        "request_id": text(),
        "kind": text("plan, permission, question, shutdown, create, destroy, clarification or escalation"),
        "verdict": word("approved", "rejected", "answered"),
        "by": text("who decided"),
        "asked_by": or_null(text()),
        "asked_at": or_null(MOMENT),
        "at": or_null(MOMENT),
        "after_seconds": or_null(number("from question to decision")),
        "title": or_null(text("what was asked")),
        "words": or_null(text("of the decision")),
        "request_sha256": or_null(text("digest of the question as it was decided on")),
        "shown_sha256": or_null(text("digest of all that was shown to whoever decided; null: not known")),
        "evidence": array(text(), "what was shown beside the question, one line a piece"),
        "shown_by": or_null(text("what showed it, and how much of it, in words; null: not known")),
        "proof": word("signed", "recorded", "unverified", "not known"),
        "message_id": or_null(text("the message that decided")),
        "audit_line": or_null(count("its line in the audit trail")),
        "gaps": array(text(), "what cannot be proved or is not known, as sentences"),
    }
)
_PROBLEM = record({"code": text(), "severity": word("error", "warning", "notice"), "message": text(), "hint": text()})

SCHEMAS: Mapping[str, Schema] = {
    "demo": record({**ACTED, "location": text("the folder of the team")}),
    "init": record(
        {
            **ACTED,
            "team": text(),
            "location": text(),
            "lead": text(),
            "agents": array(text(), "the members, lead first"),
        }
    ),
    "member": record(
        {"team": text(), "members": array(MEMBER)},
        {**ACTED, "warnings": WARNINGS, "lead": text(), "declared": flag("the settings name the members")},
        "what add, set and remove did, or what list found",
    ),
    "join": record(ACTED, {**_CHANGED, "command": text("with --plugin: starts the client with the plugin")}),
    "leave": record({**ACTED, **_CHANGED}),
    "instructions": record({"agent": text(), "team": text(), "instructions": text("for the agent's model")}),
    "migrate": record(
        {
            **ACTED,
            "location": text("the target"),
            **{name: count() for name in ("live", "archived", "attachments", "audit", "updated", "already")},
            "differing": array(text("id that the target has in another state")),
            "warnings": WARNINGS,
        }
    ),
    "send": SENT,
    "broadcast": receipt(
        {
            "dry_run": flag(),
            "recipients": array(text()),
            "not_listening": array(text("member that has stopped or was asked to")),
            "left_out": array(text("sender or recipient whose name is none, so that it gets nothing")),
        }
    ),
    "receive": record(
        {"messages": array(STORED), "count": count(), "status_message": text()}, meaning="an error has these keys, too"
    ),
    "ack": receipt(),
    "plan": AWAITED,
    "ask": AWAITED,
    "answer": receipt(),
    "withdraw": receipt(),
    "verdict": VERDICT,
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
            "evidence": array(PROOF, "what humans said, the oldest first"),
        }
    ),
    "requests": record({"requests": array(REQUEST), **DOUBT}),
    "roster": record(
        {},
        {"agents": array(AGENT), **DOUBT, **ACTED, **DELIVERY, "deliveries": DELIVERIES, "warnings": WARNINGS},
        meaning="`agents` and `doubt`, or with --send what was sent",
    ),
    "status": record(
        {
            "team": text(),
            "location": text(),
            "backend": text("yaml, sql, claude or memory"),
            "read_only": flag(),
            "condition": CONDITION,
            "agents": count(),
            "messages": or_null(mapping(count(), "number by status; null while the queue cannot be read")),
            "needs_you": or_null(count("null while the queue cannot be read")),
            "problems": count("findings of check"),
            "last_change": or_null(MOMENT),
            **DOUBT,
            "missing": count("messages known to be missing"),
            "damaged": count("entries that cannot be read"),
            "lock": or_null(LOCK),
            "reasons": array(REASON, "all that is the matter, worst first"),
            "dropped": count("messages that wait beside the queue to be taken in"),
        },
        {"needs": {"type": ["array", "null"], "description": "what waits for you", "items": {"type": "object"}}},
    ),
    "inbox": record({"agent": text(), "messages": array(STORED), "count": count(), **DOUBT}),
    "show": record(
        {
            "message": STORED,
            "live": flag("it is in the queue, not in the archive"),
            "seen": or_null(text("of an open request: what an answer to exactly this gives with --seen")),
            "seen_words": mapping(text("what an answer to it gives with --seen"), "by message id, the open requests"),
            "request": or_null(REQUEST),
            "versions": array(REQUEST, "the request and those it took the place of"),
            "thread": array(STORED, "messages that belong together, the oldest first"),
            "deliveries": array(TRY, "one for each recipient"),
            "doubles": array(STORED, "other messages with the same id"),
        }
    ),
    "history": MESSAGES,
    "decisions": record(
        {
            "decisions": array(_DECISION),
            "count": count(),
            "problems": array(_PROBLEM, "what keeps the ledger from being whole or proved"),
            **DOUBT,
        }
    ),
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
    "check": record({"condition": CONDITION, "findings": array(FINDING), "healed": array(FINDING), **DOUBT}),
    "deliver": record(
        {
            **ACTED,
            "messages_delivered": count(),
            "messages_failed": count(),
            "messages_expired": count(),
            "delivery_summary": SUMMARY,
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
            **SKIPPED,
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
    "failures": record({"failures": array(FAILURE), "count": count(), **DOUBT}),
    "retry": receipt(),
    "redirect": receipt(),
    "discard": receipt(),
    "recall": receipt(),
    "clear": record(
        {
            **ACTED,
            "dry_run": flag(),
            "messages_deleted": count(),
            "disk_space_freed_mb": number(),
            "deleted_statuses": mapping(count()),
            "messages_kept": count(),
            "archived_deleted": count(),
        }
    ),
    "route": record(
        ACTED,
        {
            **DELIVERY,
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
            "delivery_summary": SUMMARY,
            **SKIPPED,
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
