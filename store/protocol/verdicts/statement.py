"""Statement of a verdict: the text that a human's key signs, rebuilt from the record of the verdict alone.

One line of JSON in ASCII: keys in alphabetical order, no blanks between them, everything else as `\\uXXXX`.

| Field | Is |
| --- | --- |
| `version`, `namespace` | 1 and `verdict@team-console` |
| `team` | the identity of the team, `team_id` in its settings |
| `request_id` | the request that is answered |
| `request_sha256` | digest of what the request says: `seen.digest_of` its record |
| `shown_sha256` | digest of all that the form showed: `seen.Seen.sha256`; else that of the request |
| `message_id`, `type`, `to`, `time`, `signer` | of the verdict's own record |
| `verdict` | `approve`, `reject`, `answer` or `shutdown` |
| `words` | the words said with it |
| `terms` | every other field of its payload: scope, suggestion, edited input, mode, answers, evidence, ... |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from team_console.store.model.message import Message
from team_console.store.protocol.checks.signing import plain
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.reading import reading
from team_console.store.protocol.seen import REQUEST, SHOWN
from team_console.store.protocol.verdicts.recognition import ORDER

NAMESPACE = "verdict@team-console"
VERSION = 1
SIGNATURE = "signature"
"""The field of a verdict's payload that holds its signature."""
_APART = frozenset({SIGNATURE, REQUEST, SHOWN, "request_id", "requestId", "content"})


def statement(team_id: str, verdict: Message) -> str:
    """The text that is signed of a verdict of the team with this identity."""
    payload = verdict.payload
    digest = payload.get(REQUEST)
    said = {
        "version": VERSION,
        "namespace": NAMESPACE,
        "team": team_id,
        "request_id": reading(verdict).request_id,
        REQUEST: digest,
        SHOWN: payload.get(SHOWN, digest),
        "message_id": verdict.message_id,
        "type": verdict.type,
        "to": list(verdict.recipients),
        "time": verdict.created,
        "signer": verdict.sender,
        "verdict": word_of(verdict),
        "words": verdict.content,
        "terms": _terms(payload),
    }
    return json.dumps(plain(said), sort_keys=True, separators=(",", ":"))


def word_of(verdict: Message) -> str:
    """What was decided, in one word."""
    read = reading(verdict)
    if read.name == ORDER:
        return "shutdown"
    if read.approve is None or (read.approve and read.answers is RequestKind.QUESTION):
        return "answer"
    return "approve" if read.approve else "reject"


def _terms(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in payload.items() if key not in _APART}
