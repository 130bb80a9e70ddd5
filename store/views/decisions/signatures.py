"""Signatures of decisions: what the key of the human who decided vouches for."""

from __future__ import annotations

from team_console.store.model.message import Message
from team_console.store.protocol.verdicts.statement import REQUEST_DIGEST, SIGNATURE, request_digest, statement
from team_console.store.protocol.verdicts.trust import human_of
from team_console.store.protocol.verdicts.verification import NO_TOOL, signature_trouble
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.decisions.decision import Proof
from team_console.store.views.decisions.ledger import Signature


def signatures_of(config: TeamConfig) -> Signature:
    """What looks at the signatures of this team's verdicts; it keeps nothing, each is worked out once anyway."""

    def look(question: Message, verdict: Message) -> Proof | None:
        signature, keys = verdict.payload.get(SIGNATURE), human_of(config, verdict.sender).keys
        if signature is None or not keys or not config.team_id:
            return None
        trouble = signature_trouble(statement(config.team_id, verdict), signature, keys)
        if trouble == NO_TOOL:
            return Proof.NOT_KNOWN
        is_meant = verdict.payload.get(REQUEST_DIGEST) == request_digest(question)
        return Proof.SIGNED if not trouble and is_meant else Proof.UNVERIFIED

    return look
