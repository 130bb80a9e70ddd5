"""A decision in the ledger: what was decided, by whom, on what, and what proves it."""

from __future__ import annotations

from collections.abc import Mapping

from team_console.store.model.safe import safe_line
from team_console.store.views.decisions.decision import Decision, Proof
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.text.ages import clock_time
from team_console.widgets.text.cells import Line, pad, pad_name, spread
from team_console.widgets.text.glyphs import Sign

PROOFS: Mapping[Proof, Sign] = {
    Proof.SIGNED: Sign("✓", "signed", "good"),
    Proof.RECORDED: Sign("·", "recorded", "muted"),
    Proof.UNVERIFIED: Sign("‼", "unverified", "alert"),
    Proof.NOT_KNOWN: Sign("?", "proof not known", "warn"),
}
"""What vouches for a decision. Only a signature is marked as good: a trail can be written anew by whoever owns it."""
_VERDICTS = {"approved": ("✓ ", "good"), "rejected": ("✗ ", "bad")}
_VERDICT, _KIND = 9, 13
_WIDE = 80
"""Cells from which on kind and proof are words; the detail says them anyway."""


def decision_lines(decision: Decision, drawing: Drawing) -> tuple[Line, ...]:
    """Verdict, who, kind and what on one line; the words and the proof on the second."""
    verdict = safe_line(decision.verdict, _VERDICT)
    glyph, tone = _VERDICTS.get(decision.verdict, ("· ", ""))
    sign = PROOFS[decision.proof]
    who = safe_line(decision.by, 64)
    head: Line = ((glyph, tone), (pad(verdict, _VERDICT), tone), (" ", ""), (pad_name(who, 14), "strong"), (" ", ""))
    what = safe_line(decision.title, 300) or f"request {safe_line(decision.request_id, 120)}"
    when = clock_time(decision.at, drawing.now) if decision.at is not None else "when not known"
    kind: Line = ((pad(safe_line(decision.kind, _KIND), _KIND), "muted"), (" ", ""))
    proof: Line = ((f" {sign.glyph} {sign.word}" if drawing.width >= _WIDE else f" {sign.glyph}", sign.tone),)
    if drawing.lines == 1:
        known = kind if drawing.width >= _WIDE else ()
        return (spread((*head, *known, (what, "")), proof, drawing.width),)
    words = safe_line(decision.words, 300)
    below: Line = (("  ", ""), (f"{when} ", "muted"), *kind, (f"“{words}”" if words else "no words", "muted"))
    return spread((*head, (what, "")), proof, drawing.width), below
