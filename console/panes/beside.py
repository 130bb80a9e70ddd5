"""Evidence beside a request on the screen, looked for in a thread, and the digest of all that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.evidence.wish import Wish
from team_console.console.panes.pane import Pane
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import reading
from team_console.store.protocol.seen import Seen, seen_of
from team_console.store.views.evidence import Evidence, claimed_checks, rejected_before
from team_console.store.views.rows import RequestRow
from team_console.widgets.details.client_request import asked_blocks
from team_console.widgets.details.document import Block
from team_console.widgets.details.evidence import compared_blocks, evidence_blocks, looking_block
from team_console.widgets.details.request import earlier_plans
from textual.message import Message as TextualMessage

KINDS = frozenset({RequestKind.PLAN, RequestKind.PERMISSION})
"""Requests that evidence is looked for."""
FRESH = 2.0
"""Seconds for which evidence that is on the screen is not looked for again."""
NOT_YET = "evidence was still looked for"


class Gathered(Struct, frozen=True):
    """Evidence as it was found.

    Attributes:
        at: When, in seconds of `time.monotonic`.
        above, below: How it is shown, above and below the text of the request.
    """

    wish: Wish
    evidence: Evidence
    at: float
    seen: Seen
    above: tuple[Block, ...]
    below: tuple[Block, ...]


class Beside(Struct, frozen=True):
    """What is shown beside a request now.

    Attributes:
        seen: All that is shown, for the record of whoever decides.
        wish: What the evidence was looked for with; None where there is none to be had.
    """

    seen: Seen
    above: tuple[Block, ...] = ()
    below: tuple[Block, ...] = ()
    wish: Wish | None = None


@dataclass
class EvidenceWanted(TextualMessage):
    """The evidence for `wish` is not known, or it was looked for some time ago."""

    wish: Wish


def gathered(wish: Wish, evidence: Evidence, known: object = None) -> Gathered:
    """Evidence made ready to be shown; where it is `known` already, only the moment is another."""
    if isinstance(known, Gathered) and known.wish.is_for_the_same(wish) and known.evidence == evidence:
        return replace(known, at=monotonic())
    if wish.row is not None and wish.row.kind is RequestKind.PERMISSION:
        asked_blocks(wish.message)  # remembered: a change of thousands of lines is compared here, not while keys wait
    seen = seen_of(wish.message, before=evidence.before, evidence=evidence.lines)
    return Gathered(wish, evidence, monotonic(), seen, compared_blocks(evidence), evidence_blocks(evidence))


def beside(pane: Pane, row: RequestRow) -> Beside:
    """What stands beside a request; asks for evidence that is not known or not fresh."""
    wish = wish_of(pane, row)
    if wish is None:
        return Beside(seen_of(row.question))
    known = _known(pane, wish)
    if known is None:
        return Beside(seen_of(row.question, evidence=(NOT_YET,)), (), looking_block(), wish)
    return Beside(known.seen, known.above, known.below, wish)


def is_ready(pane: Pane, row: RequestRow) -> bool:
    """Whether all that stands beside a request is known, so that showing it now shows it once."""
    wish = wish_of(pane, row)
    if wish is None:
        return not pane.is_incomplete(row.question)
    known = pane.shelf.evidence.get(wish.key)
    return isinstance(known, Gathered) and known.wish.is_for_the_same(wish)


def beside_report(pane: Pane, message: Message, content: str | None) -> tuple[Block, ...]:
    """What stands below a report of an agent that claims to have checked something."""
    text = message.content if content is None else content
    is_report = message.sender != USER and reading(message).opens is None
    if not is_report or not text or not claimed_checks(text):
        return ()
    known = _known(pane, Wish(f"report:{message.message_id}", message, None, text))
    return known.below if known is not None else looking_block()


def wish_of(pane: Pane, row: RequestRow) -> Wish | None:
    """What evidence of a request is looked for with; None where there is none, or its text is still read."""
    view = pane.situation.view
    if row.kind not in KINDS or not row.is_open or view is None:
        return None
    rejected = rejected_before(row, earlier_plans(row, view.requests))
    # Both are asked for at once: the second would otherwise be read only when the first was shown.
    former = pane.content_of(rejected.question) if rejected is not None else None
    whole = pane.content_of(row.question)
    if pane.is_incomplete(row.question):
        return None
    if rejected is not None and pane.is_incomplete(rejected.question):
        rejected = None
    before = "" if rejected is None else rejected.question.content if former is None else former
    text = row.question.content if whole is None else whole
    return Wish(row.key, row.question, row, text, rejected, before, view.batches)


def _known(pane: Pane, wish: Wish) -> Gathered | None:
    known = pane.shelf.evidence.get(wish.key)
    if not isinstance(known, Gathered) or not known.wish.is_for_the_same(wish):
        pane.post_message(EvidenceWanted(wish))
        return None
    if monotonic() - known.at > FRESH:
        pane.post_message(EvidenceWanted(wish))
    return known
