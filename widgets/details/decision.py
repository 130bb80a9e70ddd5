"""A decision to look into: who decided what, on which digest, with which words and evidence, and what is not proved."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from team_console.store.model.errors import Problem
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.views.decisions import Decision
from team_console.widgets.details.document import Block, Document, Fact, Heading, Lines, Text
from team_console.widgets.rows.decisions import PROOFS
from team_console.widgets.text.ages import ago, span
from team_console.widgets.text.cells import Line, Part

_UNKNOWN: Line = (("not known", "warn"),)


def decision_document(decision: Decision, *, now: datetime, problems: tuple[Problem, ...] = ()) -> Document:
    """What the ledger knows of a decision; `problems` are what keeps it from being whole or proved."""
    what = decision.title or f"request {decision.request_id}"
    return Document(
        key=f"decision:{decision.key}",
        title=f"{safe_line(decision.verdict, 20).capitalize()} · {safe_line(decision.by, 64)}",
        headline=safe_line(what, 400),
        facts=tuple(_facts(decision, now)),
        more=tuple(_ids(decision)),
        blocks=tuple(_blocks(decision, problems)),
        source=decision.words or decision.title,
    )


def _blocks(decision: Decision, problems: tuple[Problem, ...]) -> Iterator[Block]:
    if "\n" in decision.title.strip():
        yield Heading("what was asked")
        yield Text(safe_text(decision.title))
    yield Heading("its words")
    yield Text(safe_text(decision.words)) if decision.words else Lines(((("none", "muted"),),))
    yield Heading("what was shown")
    yield from _shown(decision)
    gaps = [*decision.gaps, *(problem.sentence for problem in problems)]
    if gaps:
        yield Heading("not proved")
        yield Lines(tuple((("△ ", "warn"), (safe_line(gap, 500), "")) for gap in gaps), indent=2)


def _facts(decision: Decision, now: datetime) -> Iterator[Part]:
    """Who asked whom, when it was decided and how soon, and what vouches for it."""
    asker = safe_line(decision.asked_by, 64) if decision.asked_by else "asker not known"
    yield f"{asker} → {safe_line(decision.by, 64)}", ""
    yield (safe_line(decision.kind, 40), "muted") if decision.kind else ("kind not known", "warn")
    yield (ago(decision.at, now), "muted") if decision.at else ("when is not known", "warn")
    if decision.after_seconds is not None:
        yield f"after {span(decision.after_seconds)}", "muted"
    sign = PROOFS[decision.proof]
    line = f", line {decision.audit_line} of the audit trail" if decision.audit_line is not None else ""
    glyph = f"{sign.glyph} " if sign.glyph != "·" else ""
    yield f"{glyph}{sign.word}{line}", sign.tone


def _ids(decision: Decision) -> Iterator[Fact]:
    yield Fact("id", ((safe_line(decision.request_id, 200), "muted"),))
    yield Fact("request", _digest(decision.request_sha256))
    yield Fact("shown", _digest(decision.shown_sha256))


def _digest(text: str) -> Line:
    return (("sha256 ", "muted"), (safe_line(text, 64), "muted")) if text else _UNKNOWN


def _shown(decision: Decision) -> Iterator[Block]:
    if decision.shown_by:
        yield Lines((((safe_line(decision.shown_by, 300), ""),),))
    if decision.evidence:
        yield Lines(tuple(((safe_line(piece, 300), ""),) for piece in decision.evidence), indent=2)
    elif decision.shown_sha256:
        yield Lines(((("the question alone", "muted"),),))
    elif not decision.shown_by:
        yield Lines((_UNKNOWN,))
