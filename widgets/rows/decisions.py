"""A decision in the ledger: what was decided, by whom, on what, and what proves it."""

from __future__ import annotations

from collections.abc import Mapping

from team_console.store.model.safe import safe_line
from team_console.store.views.decisions import Decision, Proof
from team_console.widgets.rows.drawing import Drawing, age_column
from team_console.widgets.text.ages import clock_time
from team_console.widgets.text.cells import Line, pad, spread
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
_WITH_WORDS = 90
"""Cells from which on verdict, kind and proof have their words beside the title; before that their signs."""


def decision_lines(decision: Decision, drawing: Drawing) -> tuple[Line, ...]:
    """Verdict, who, kind and what on one line; the words and the proof on the second."""
    verdict = safe_line(decision.verdict, _VERDICT)
    glyph, tone = _VERDICTS.get(decision.verdict, ("· ", ""))
    sign = PROOFS[decision.proof]
    word = f"{pad(verdict, _VERDICT)} " if drawing.lines == 2 or drawing.width >= _WITH_WORDS else ""
    head: Line = ((glyph, tone), (word, tone), (drawing.name(decision.by, drawing.name_width()), ""), ("  ", ""))
    what = safe_line(decision.title, 300) or f"request {safe_line(decision.request_id, 120)}"
    when = clock_time(decision.at, drawing.now) if decision.at is not None else "when not known"
    kind: Line = ((pad(safe_line(decision.kind, _KIND), _KIND), "muted"), (" ", ""))
    proof: Line = ((f"  {sign.glyph} {sign.word}", sign.tone),)
    since = age_column(decision.at, drawing)
    if drawing.lines == 1 and drawing.width >= _WITH_WORDS:
        return (spread((*head, *kind, (what, "")), (*proof, *since), drawing.width),)
    if drawing.lines == 1:
        return (spread((*head, (what, "")), ((f"  {sign.glyph}", sign.tone), *since), drawing.width),)
    words = safe_line(decision.words, 300)
    below: Line = (("  ", ""), (f"{when} ", "muted"), *kind, (f"“{words}”" if words else "no words", "muted"))
    return spread((*head, (what, "")), proof, drawing.width), below
