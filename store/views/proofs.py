"""Proofs of verdicts: what a human signed, and what anybody needs to check it with stock `ssh-keygen`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from team_console.store.model.message import Message
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.ssh import armoured
from team_console.store.protocol.verdicts import (
    NAMESPACE,
    SIGNATURE,
    human_of,
    is_human,
    objection,
    order_of,
    statement,
    word_of,
)
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.rows import RequestRow


class Proof(Struct, frozen=True):
    """One verdict of a human, and what speaks for it.

    Attributes:
        verdict: `approve`, `reject`, `answer` or `shutdown`.
        stands: Whether it is the one that decides.
        trouble: Why it decides nothing, as the end of a sentence; empty when it may decide.
        statement: The text that is signed.
        signature: The armoured signature; empty where there is none that could be read.
        allowed_signers: The human's keys, a line each, as `ssh-keygen` reads them.
    """

    message_id: str
    signer: str
    time: str
    verdict: str
    stands: bool
    trouble: str
    statement: str
    signature: str
    allowed_signers: tuple[str, ...]

    @property
    def command(self) -> str:
        """What a shell runs to check the signature; empty where there is nothing to check."""
        if not self.signature or not self.allowed_signers:
            return ""
        files = {
            "statement": self.statement,
            "signature": self.signature,
            "allowed_signers": "\n".join(self.allowed_signers),
        }
        ends = {"statement": "", "signature": "", "allowed_signers": "\\n"}
        made = [f"printf '%s{ends[name]}' {shlex.quote(text)} > \"$d/{name}\"" for name, text in files.items()]
        check = (
            f"ssh-keygen -Y verify -n {NAMESPACE} -I {shlex.quote(self.signer)}"
            ' -f "$d/allowed_signers" -s "$d/signature" < "$d/statement"'
        )
        return " && ".join(["d=$(mktemp -d)", *made, check])

    def as_json(self) -> dict[str, Any]:
        """The object of `evidence --json`."""
        return {
            **asdict(self),
            "trouble": self.trouble or None,
            "signature": self.signature or None,
            "allowed_signers": list(self.allowed_signers),
            "command": self.command or None,
        }


def proofs(row: RequestRow, config: TeamConfig, recorded: RecordedFacts | None = None) -> tuple[Proof, ...]:
    """The proofs of what humans said to a request, or of the order that it is; the oldest first."""
    return tuple(_proof(message, row, config, recorded) for message in _of_humans(row, config))


def _of_humans(row: RequestRow, config: TeamConfig) -> Iterator[Message]:
    for message in (row.question, *row.answers):
        is_order = parse_message(message).opens is None or message.type == "shutdown_request"
        if is_human(config, message.sender) and is_order:
            yield message


def _proof(message: Message, row: RequestRow, config: TeamConfig, recorded: RecordedFacts | None) -> Proof:
    """Of the confirmation of an end the order that it rests on, which is what was signed."""
    signed = order_of(message) or message
    keys = human_of(config, message.sender).keys
    return Proof(
        message.message_id,
        message.sender,
        signed.created,
        word_of(signed),
        message is row.verdict,
        objection(config, message, row.question, recorded=recorded),
        statement(config.team_id, signed),
        armoured(signed.payload.get(SIGNATURE)),
        tuple(f'{message.sender} namespaces="{NAMESPACE}" {key}' for key in keys),
    )
