"""The shutdown of a team to watch: one line per agent with the moment of each step, and who is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from team_console.store.model.safe import counted, safe_line
from team_console.store.views.stopping import Stage, StopRow
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
_NAME, _STAGE = 20, 11
_TO_THE_SECOND = 120.0
"""Seconds up to which a step is told to the second."""
_INDENT = 4
"""Cells before what does not fit into the line of an agent."""


def stopping_document(rows: Sequence[StopRow], *, now: datetime, busy: str = "") -> Document:
    """What there is to see of a shutdown; `busy` says, as safe text, whom the console asks just now."""
    blocks: list[Block] = []
    if busy:
        blocks.append(Lines((((f"◌ {busy}", "warn"), (" · x asks nobody else", "muted")),)))
    for title, stages in _GROUPS:
        if group := [row for row in rows if row.stage in stages]:
            blocks += [Heading(f"{title} · {len(group)}"), *_block(group, now)]
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


def _block(rows: Sequence[StopRow], now: datetime) -> Iterator[Block]:
    """A line for each; those that were never asked have nothing to tell but their names."""
    told = [row for row in rows if row.stage is not Stage.NOT_ASKED]
    if told:
        yield Lines(tuple(line for row in told for line in _lines(row, now)), indent=_INDENT)
    if names := [safe_line(row.agent, 64) for row in rows if row.stage is Stage.NOT_ASKED]:
        yield Lines((((" · ".join(names), "muted"),),))


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


def _lines(row: StopRow, now: datetime) -> Iterator[Line]:
    """Where it stands and when each step was, and below it why it refused."""
    sign = STAGES[row.stage]
    head: Line = (
        (f"{sign.glyph} ", sign.tone),
        (pad_name(safe_line(row.agent, 64), _NAME) + " ", "strong" if row.stage in (*_WAITING, Stage.REFUSED) else ""),
        (f"{sign.word:<{_STAGE}}", sign.tone),
    )
    writes: Line = ((" · ‼ still writes", "alert"),) if row.still_writes else ()
    yield (*head, *_steps(row, now), *_clock(row, now), *writes)
    if row.stage is Stage.REFUSED:
        words = f"“{safe_line(row.reason, 300)}”" if row.reason else "gave no reason"
        yield (" " * _INDENT, ""), (words, "bad")


def _steps(row: StopRow, now: datetime) -> Iterator[Part]:
    """The moments that are known, in their order, later ones as what passed since it was asked."""
    moments = (
        ("asked", row.asked_at),
        ("delivered", row.delivered_at),
        ("seen", row.seen_at),
        ("refused" if row.stage is Stage.REFUSED else "agreed", row.answered_at),
        ("last seen", row.ended_at),
    )
    known = [(word, moment) for word, moment in moments if moment is not None]
    if known:
        yield " · ".join(f"{word} {_moment(moment, row, now)}" for word, moment in known), "muted"


def _moment(moment: datetime, row: StopRow, now: datetime) -> str:
    since = (moment - row.asked_at).total_seconds() if row.asked_at is not None else 0.0
    if since <= 0:
        return clock_time(moment, now)
    return f"+{since:.0f} s" if since < _TO_THE_SECOND else f"+{span(since)}"


def _clock(row: StopRow, now: datetime) -> Iterator[Part]:
    """How long it waits, and until when it should have answered."""
    if row.stage not in _WAITING or row.asked_at is None:
        return
    yield f" · waits {span((now - row.asked_at).total_seconds())}", "warn"
    if row.due_at is not None:
        left = (row.due_at - now).total_seconds()
        yield (f" · due in {span(left)}", "muted") if left > 0 else (f" · ◷ overdue for {span(-left)}", "alert")
