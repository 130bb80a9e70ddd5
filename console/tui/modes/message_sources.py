"""Sources of a message beside its record: its whole content, its signature, and the evidence gathered for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Protocol

from msgspec.structs import replace
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.evidence import EvidenceRequest, ShownEvidence
from team_console.console.tui.screen_state import ScreenState
from team_console.store.contract.team import attachment_of
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.message_seal import Seal, message_seal
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.shown_when_decided import digest_of, seen_of
from team_console.store.views.evidence import claimed_checks, version_before
from team_console.store.views.rows import ActionItem, RequestRow
from team_console.widgets.document import Block, Document, Heading, one_line
from team_console.widgets.message_documents import message_document
from team_console.widgets.request_documents import earlier_plans, request_document
from textual.message import Message as TextualMessage

KINDS_WITH_EVIDENCE = frozenset({RequestKind.PLAN, RequestKind.PERMISSION})
"""Kinds of request that evidence is gathered for."""
FRESH_SECONDS = 2.0
"""Seconds for which evidence that is on the screen is not looked for again."""
NOT_YET = "evidence was still looked for"
_LOOKING = (
    Heading("evidence", is_evidence=True),
    replace(one_line("◔ looking for what it names, and for what ran", "muted"), is_evidence=True),
)
"""Stands in the place of evidence that is still looked for."""


@dataclass
class ContentWanted(TextualMessage):
    """The whole content of `message` is stored beside the queue and should be read."""

    message: Message


@dataclass
class EvidenceWanted(TextualMessage):
    """The evidence for `request` is not known, or it was looked for some time ago."""

    request: EvidenceRequest


class ListOfMessages(Protocol):
    """The list whose messages these are."""

    cache: ScreenCache
    situation: ScreenState
    now: datetime

    @property
    def requests(self) -> tuple[RequestRow, ...]:
        """Every request that is known."""

    @property
    def me(self) -> str:
        """The person the team is shown to."""

    def ask_screen(self, message: TextualMessage, /) -> object:
        """Ask the screen for what is not known yet."""


class MessageSources:
    """Give what belongs to a message beside its record, and ask the screen for what is missing or stale."""

    def __init__(self, host: ListOfMessages) -> None:
        self._host = host

    def content_of(self, message: Message) -> str | None:
        """Return the whole content of a message whose record holds only its beginning; asks for it when it is not
        read yet.
        """
        place = attachment_of(message)
        if place is None:
            return None
        text = self._host.cache.contents.get(place)
        if text is None:
            self._host.ask_screen(ContentWanted(message))
        return text

    def is_incomplete(self, message: Message | None) -> bool:
        """Return whether a part of the message's content has not been read yet."""
        place = attachment_of(message) if message is not None else None
        return place is not None and place not in self._host.cache.contents

    def seal_of(self, message: Message) -> Seal | None:
        """Return the state of the message's signature; None when the team has no key to check it with."""
        snapshot = self._host.situation.snapshot
        key = snapshot.config.key if snapshot else b""
        return message_seal(message, key) if key else None

    def document_of(self, message: Message, evidence: ShownEvidence | None = None) -> Document:
        """Return a message that can be answered, with what stands beside it and where it departs from its protocol."""
        content, view = self.content_of(message), self._host.situation.view
        findings = view.findings if view is not None else ()
        return message_document(
            message,
            now=self._host.now,
            reader=self._host.me,
            content=content,
            token=digest_of(message),
            problems=tuple(each for each in findings if each.place.partition(" ")[0] == message.message_id),
            seal=self.seal_of(message),
            seen=evidence.seen if evidence is not None else None,
            above=evidence.above if evidence is not None else (),
            below=evidence.below if evidence is not None else self._below_report(message, content),
        )

    def document_of_request(self, row: RequestRow, item: ActionItem | None = None) -> Document:
        """Return a request with what stands beside it; `item` tells why it stands in the list of what waits."""
        host, evidence = self._host, self.evidence_for(row)
        return request_document(
            row,
            now=host.now,
            requests=host.requests,
            me=host.me,
            item=item,
            content=self.content_of(row.question),
            seal=self.seal_of(row.question),
            seen=evidence.seen,
            above=evidence.above,
            below=evidence.below,
        )

    def evidence_for(self, row: RequestRow) -> ShownEvidence:
        """Return what stands beside a request; asks for evidence that is missing or stale."""
        request = self.evidence_request(row)
        if request is None:
            return ShownEvidence(seen_of(row.question))
        looking = ShownEvidence(seen_of(row.question, evidence=(NOT_YET,)), below=_LOOKING)
        return self._evidence_or_ask(request) or looking

    def is_ready(self, row: RequestRow) -> bool:
        """Return whether the evidence of a request is gathered, so that it need not be drawn twice."""
        request = self.evidence_request(row)
        if request is None:
            return not self.is_incomplete(row.question)
        return self._known_evidence(request) is not None

    def evidence_request(self, row: RequestRow) -> EvidenceRequest | None:
        """Return the request for a row's evidence; None where there is none to gather, or its text is still being
        read.
        """
        view = self._host.situation.view
        if row.kind not in KINDS_WITH_EVIDENCE or not row.is_open or view is None:
            return None
        former = version_before(row, earlier_plans(row, self._host.requests), self._host.cache.looked_at)
        # Both are asked for at once: the second would otherwise be read only when the first was shown.
        former_text = self.content_of(former.question) if former is not None else None
        whole = self.content_of(row.question)
        if self.is_incomplete(row.question):
            return None
        if former is not None and self.is_incomplete(former.question):
            former = None
        if former is None:
            before = ""
        elif former_text is None:
            before = former.question.content
        else:
            before = former_text
        text = row.question.content if whole is None else whole
        return EvidenceRequest(row.key, row.question, row, text, former, before, view.batches)

    def _below_report(self, message: Message, content: str | None) -> tuple[Block, ...]:
        """Return the blocks below an agent's report that claims to have run checks."""
        text = message.content if content is None else content
        is_report = message.sender != USER and parse_message(message).opens is None
        if not is_report or not text or not claimed_checks(text):
            return ()
        known = self._evidence_or_ask(EvidenceRequest(f"report:{message.message_id}", message, None, text))
        return known.below if known is not None else _LOOKING

    def _known_evidence(self, request: EvidenceRequest) -> ShownEvidence | None:
        known = self._host.cache.evidence.get(request.key)
        return known if known is not None and known.is_for(request) else None

    def _evidence_or_ask(self, request: EvidenceRequest) -> ShownEvidence | None:
        known = self._known_evidence(request)
        if known is None or monotonic() - known.at > FRESH_SECONDS:
            self._host.ask_screen(EvidenceWanted(request))
        return known
