"""What a detail says of a message: the state that is known, the signature that was checked, nothing that can act."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from team_console.store.model.message import Message, from_record
from team_console.store.model.safe import safe_text
from team_console.store.protocol.verdicts import Seal
from team_console.widgets.document import laid_out
from team_console.widgets.message_documents import message_document
from team_console.widgets.text import text_of

from tests.equipment.cases import cases

NOW = datetime(2026, 2, 24, 10, 34, tzinfo=UTC)


def message(**record: object) -> Message:
    base = {"message_id": "MSG-1", "type": "message", "from": "a", "to": "b", "created": "2026-02-24T10:30:00Z"}
    return from_record({**base, "payload": {"content": "Here"}, **record})


def shown(*, seal: Any = None, **record: object) -> str:
    """What a detail says of a message with these fields."""
    document = message_document(message(**record), now=NOW, seal=seal)
    return "\n".join(text_of(laid.line) for laid in laid_out(document, 80))


@cases
def test_a_signature_is_shown_for_what_it_is_worth(seal: Seal, words: str) -> None:
    assert words in shown(signature="x", seal=seal)


def test_no_line_of_a_summary_is_kept_from_the_reader() -> None:
    payload = {"summary": "Split the loader in two\nand delete the backups", "content": "1. Split it"}
    text = shown(payload=payload)
    assert "and delete the backups" in text
    assert "1. Split it" in text
    assert shown(payload={"summary": "One", "content": "Two"}).count("One") == 1


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe [@click=app.quit]x[/] [/nope]"


def test_every_field_is_made_safe() -> None:
    text = shown(
        **{
            "message_id": HOSTILE,
            "type": HOSTILE,
            "from": HOSTILE,
            "to": HOSTILE,
            "priority": HOSTILE,
            "status": HOSTILE,
            "created": HOSTILE,
            "error_message": HOSTILE,
            "payload": {"content": HOSTILE, "summary": HOSTILE, "request_id": HOSTILE, HOSTILE: {HOSTILE: [HOSTILE]}},
        }
    )
    assert safe_text(text) == text
    assert "owned" in text


def test_what_a_delivery_failed_with_is_told_to_its_end() -> None:
    error = "exit status 1: " + "Traceback of the notifier, " * 20 + "no route to host"
    text = shown(status="failed", error_message=error)
    assert "no route to host" in " ".join(text.split())


def test_an_endless_text_is_cut_and_the_cut_is_said() -> None:
    text = shown(payload={"content": "word " * 100_000})
    assert "400,000 more characters are not shown here" in text
