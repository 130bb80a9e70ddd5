"""The JSON of every verb as JSON Schema (2020-12): printed by `help json VERB`, held against real output by the tests.

Keys may be added in later versions; none is renamed or taken away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]


def _kind(name: str, meaning: str = "", **more: Any) -> Schema:
    schema: Schema = {"type": name, **more}
    return {**schema, "description": meaning} if meaning else schema


def text(meaning: str = "") -> Schema:
    """A text."""
    return _kind("string", meaning)


def count(meaning: str = "") -> Schema:
    """A whole number."""
    return _kind("integer", meaning)


def number(meaning: str = "") -> Schema:
    """A number."""
    return _kind("number", meaning)


def flag(meaning: str = "") -> Schema:
    """True or false."""
    return _kind("boolean", meaning)


def word(*words: str, meaning: str = "") -> Schema:
    """One of these texts."""
    return _kind("string", meaning, enum=list(words))


def array(items: Schema, meaning: str = "") -> Schema:
    """A list."""
    return _kind("array", meaning, items=items)


def mapping(values: Schema, meaning: str = "") -> Schema:
    """An object whose keys are data."""
    return _kind("object", meaning, additionalProperties=values)


def record(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, meaning: str = "") -> Schema:
    """An object with keys of its own."""
    properties = {**required, **(optional or {})}
    return _kind("object", meaning, properties=properties, required=list(required))


def or_null(schema: Schema) -> Schema:
    """The value, or null."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*kinds, "null"]}


# Shapes that the JSON of several verbs shares: a receipt, a request, an agent, a finding and their like.

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
        "ask_for": or_null(array(text(), "which of its actions come to the human's desk; null: the team's")),
    }
)
REMARK = record({"line": count("from 1"), "quote": text("what stands there"), "text": text("what is said to it")})
VERDICT = record(
    {
        "request_id": text(),
        "state": word("approved", "rejected", "answered", "withdrawn", "superseded", "open"),
        "approve": or_null(flag("the yes or no; null without one")),
        "reason": or_null(text("the words of the answer, or why it was withdrawn")),
        "message_id": or_null(text("the answer that stands")),
        "answered_by": or_null(text()),
        "answered_at": or_null(MOMENT),
        "asked_back": or_null(text("what the asker is asked before there is an answer")),
    },
    {
        "remarks": array(REMARK, "what is said to single lines"),
        "answers": ANY_OBJECT,
        "scope": word("once", "always"),
        "suggestion": {"description": "what is allowed always, as the client suggested it"},
        "mode": text("in which the asker of a plan goes on"),
        "updated_plan": text("the plan as it was edited before it was approved"),
        "updated_input": ANY_OBJECT,
    },
    "how one request stands",
)
_BLOCKED = record(
    {
        "total": number("seconds in which at least one of its requests waited"),
        "median": or_null(number("seconds that a request waited")),
        "now": or_null(number("seconds for which its oldest open request waits")),
        "requests": count("how many it put"),
    }
)
WHY = record(
    {
        "user": text("the last words of the user of the session"),
        "agent": text("the last words of the agent before the call"),
        "calls": array(record({"tool": text(), "subject": text(), "state": text("ok, failed, exit 1, no result yet")})),
        "missing": text("why nothing is known; empty where it is"),
    },
    meaning="what was said and done before it asked, from its client's transcript",
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
        "cause": text("the same for requests that are alike: the shape of a command, a file, a site, what is asked"),
        "talk": array(
            record({"by": text(), "at": text(), "content": text(), "asks": flag("it asks back; else it answers that")}),
            "what was asked back about it, and what its asker said, the oldest first",
        ),
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
        "source": or_null(word("hook", "queue")),
        "heard_at": or_null(MOMENT),
        "mode": or_null(text("in which its client decides on tools, in the client's word")),
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
        "verdict": word("approve", "reject", "answer", "askback", "shutdown"),
        "stands": flag("it is the one that decides"),
        "trouble": or_null(text("why it decides nothing")),
        "statement": text("the text that is signed"),
        "signature": or_null(text("SSHSIG, armoured")),
        "allowed_signers": array(text(), "the keys that may sign it, as ssh-keygen reads them"),
        "command": or_null(text("what a shell runs to check it")),
    }
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
    "grant": receipt(
        {
            "grant_id": text(),
            "dry_run": flag("nothing was written"),
            "scope": record(
                {"agent": text(), "tool": text(), "directory": text(), "client": text(), "inputs": array(ANY_OBJECT)}
            ),
            "would_have_answered": count("of your own decisions"),
            "differed": array(text(), "requests in its scope that you rejected"),
        }
    ),
    "grants": record(
        {},
        {
            **receipt()["properties"],
            "grants": array(
                record(
                    {
                        **{"id": text(), "by": text(), "scope": ANY_OBJECT},
                        **{"ends": or_null(MOMENT), "uses": or_null(count()), "used": count("answers it has given")},
                        "over": or_null(text("why it gives no answer any more")),
                    }
                )
            ),
            **DOUBT,
        },
        meaning="`grants` and `doubt`, or with recall what was written",
    ),
    "askback": receipt(),
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
            "blocked": record(
                {"team": _BLOCKED, "agents": mapping(_BLOCKED)}, meaning="how long agents waited for a human"
            ),
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
            "why": or_null(WHY),
            "remarks": array(
                record({**REMARK["properties"], "now": or_null(count("its line in this version; null: it is gone"))}),
                "what was said to lines of it and of its earlier versions",
            ),
            "before": array(REQUEST, "what was decided on the same before, the newest first, at most five"),
            "request": or_null(REQUEST),
            "versions": array(REQUEST, "the request and those it took the place of"),
            "thread": array(STORED, "messages that belong together, the oldest first"),
            "deliveries": array(TRY, "one for each recipient"),
            "doubles": array(STORED, "other messages with the same id"),
        }
    ),
    "history": MESSAGES,
    "digest": record(
        {
            "since": MOMENT,
            "until": MOMENT,
            "happened": array(
                record(
                    {
                        "group": text("asked, decided, withdrawn, answered elsewhere, failed, refused, done, stopped"),
                        "at": or_null(MOMENT),
                        "who": text("the agent it is about"),
                        "what": text("one line"),
                        "by": or_null(text("who decided")),
                        "ref": text("id of the request or message"),
                    }
                )
            ),
            "count": count(),
            "waiting": count("things that wait for whoever looks, now"),
            "unknown": array(text(), "what records cannot tell, as sentences"),
            **DOUBT,
        }
    ),
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
    "serve": record(
        {**ACTED, "url": text("the address to open; whoever has it is let in"), "port": count(), "write": flag()}
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
