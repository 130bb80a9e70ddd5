"""The shutdown of a team to watch: one line per agent with the moment of each step, and who is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from team_console.store.model.safe import safe_line
from team_console.store.model.words import counted
from team_console.store.views.agents.stopping import Stage, StopRow
from team_console.widgets.details.document import Block, Document, Heading, Lines
from team_console.widgets.text.ages import clock_time, span
from team_console.widgets.text.cells import Line, Part, pad_name
from team_console.widgets.text.glyphs import Sign

STAGES: Mapping[Stage, Sign] = {
    Stage.NOT_ASKED: Sign("·", "not asked", "muted"),
    Stage.WRITTEN: Sign("○", "written", "warn"),
    Stage.DELIVERED: Sign("◑", "delivered", "warn"),
    Stage.SEEN: Sign("◕", "seen", "warn"),
    Stage.REFUSED: Sign("⊘", "refused", "bad"),
    Stage.AGREED: Sign("✓", "agreed", "good"),
    Stage.ENDED: Sign("■", "ended", "muted"),
    Stage.WITHDRAWN: Sign("↶", "taken back", "muted"),
}
_NAME, _STAGE = 20, 12
_INDENT = _NAME + _STAGE + 2


def stopping_document(rows: Sequence[StopRow], *, now: datetime, busy: str = "") -> Document:
    """What there is to see of a shutdown; `busy` says, as safe text, whom the console asks just now."""
    blocks: list[Block] = []
    if busy:
        blocks.append(Lines((((f"◌ {busy}", "warn"), (" · x asks nobody else", "muted")),)))
    for title, stages in _GROUPS:
        lines = tuple(_line(row, now) for row in rows if row.stage in stages)
        if lines:
            blocks += [Heading(f"{title} · {len(lines)}"), Lines(lines, indent=_INDENT)]
    return Document(
        key="stopping",
        title="Shutdown of the team",
        headline=_headline(rows),
        facts=tuple(_counts(rows)),
        blocks=tuple(blocks),
    )


_WAITING = (Stage.WRITTEN, Stage.DELIVERED, Stage.SEEN)
_GROUPS = (
    ("refused", (Stage.REFUSED,)),
    ("asked, no answer yet", _WAITING),
    ("agreed, still there", (Stage.AGREED,)),
    ("not asked", (Stage.NOT_ASKED, Stage.WITHDRAWN)),
    ("ended", (Stage.ENDED,)),
)


def _headline(rows: Sequence[StopRow]) -> str:
    left = [safe_line(row.agent, 40) for row in rows if row.is_left]
    if not left:
        return "Nobody is left"
    names = ", ".join(left[:6]) + (f" and {len(left) - 6} more" if len(left) > 6 else "")
    return f"{counted(len(left), 'agent')} left: {names}"


def _counts(rows: Sequence[StopRow]) -> Iterator[Part]:
    asked = [row for row in rows if row.stage not in (Stage.NOT_ASKED, Stage.WITHDRAWN) and row.asked_at]
    yield f"{len(asked)} of {len(rows)} asked", ""
    for stages, words, tone in (
        ((Stage.AGREED, Stage.ENDED), "agreed", "good"),
        ((Stage.REFUSED,), "refused", "bad"),
        (_WAITING, "not answered yet", "warn"),
    ):
        if number := sum(row.stage in stages for row in asked):
            yield f"{number} {words}", tone
    if late := sum(row.is_overdue for row in rows):
        yield f"{late} overdue", "alert"
    if ended := sum(row.stage is Stage.ENDED for row in rows):
        yield f"{ended} ended", "muted"


def _line(row: StopRow, now: datetime) -> Line:
    sign = STAGES[row.stage]
    head: Line = (
        (f"{sign.glyph} ", sign.tone),
        (pad_name(safe_line(row.agent, 64), _NAME) + " ", "strong" if row.stage in (*_WAITING, Stage.REFUSED) else ""),
        (f"{sign.word:<{_STAGE}}", sign.tone),
    )
    return (*head, *_steps(row, now), *_clock(row, now), *_rest(row))


def _steps(row: StopRow, now: datetime) -> Iterator[Part]:
    """The moments that are known, in their order; what never left a trace is not claimed."""
    moments = (
        ("asked", row.asked_at),
        ("delivered", row.delivered_at),
        ("seen", row.seen_at),
        ("refused" if row.stage is Stage.REFUSED else "agreed", row.answered_at),
        ("last seen", row.ended_at),
    )
    known = [f"{word} {clock_time(moment, now)}" for word, moment in moments if moment is not None]
    if known:
        yield " · ".join(known), "muted"


def _clock(row: StopRow, now: datetime) -> Iterator[Part]:
    """How long it waits, and until when it should have answered."""
    if row.stage not in _WAITING or row.asked_at is None:
        return
    yield f" · waits {span((now - row.asked_at).total_seconds())}", "warn"
    if row.due_at is not None:
        left = (row.due_at - now).total_seconds()
        yield (f" · due in {span(left)}", "muted") if left > 0 else (f" · ◷ overdue for {span(-left)}", "alert")


def _rest(row: StopRow) -> Iterator[Part]:
    if row.stage is Stage.REFUSED:
        yield f" · “{safe_line(row.reason, 300)}”" if row.reason else " · gave no reason", "bad"
    if row.still_writes:
        yield " · ‼ still writes", "alert"
