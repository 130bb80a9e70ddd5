"""Every widget by itself, with something to show: `python -m tests.gallery [NAME]`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from team_console.console.tui.modes.agent_page import inbox_lines
from team_console.store.model.message import Message, new_record
from team_console.store.protocol.judgement import judge
from team_console.store.settings.team_config import TeamConfig
from team_console.widgets.bars import (
    POLLING,
    UNREADABLE,
    Banner,
    Head,
    HeadFacts,
    KeyBar,
    KeyHint,
    Notice,
    Tab,
)
from team_console.widgets.detail import Detail
from team_console.widgets.fields import LongNote, OptionLine, Options
from team_console.widgets.line_field import Completer, Field, with_name
from team_console.widgets.message_documents import message_document
from team_console.widgets.request_documents import request_document
from team_console.widgets.row_list import RowList
from textual.app import App, ComposeResult
from textual.widget import Widget

NOW = datetime(2026, 2, 24, 10, 34, tzinfo=UTC)
_NAMES = ("task-manager", "schedule-manager", "file-manager")
_PLAN = """\
## Goal
One query a month.

## Steps
1. Split the loader
2. Keep `REPORT_V1=1` for **one** release

> It took 95 s.
"""


def sample(number: int) -> Message:
    """One of many messages."""
    return new_record(
        message_id=f"MSG-20260224-{number:08d}",
        type="message",
        sender=_NAMES[number % len(_NAMES)],
        to="ceo",
        created=(NOW - timedelta(minutes=number)).isoformat(),
        priority=("medium", "high", "critical", "low")[number % 4],
        payload={"summary": f"Message number {number} of a hundred thousand", "content": _PLAN},
    )


def _showing(made: Head | KeyBar | Banner | Detail, *shown: Any) -> Widget:
    """A widget that shows this once it stands there."""
    made.call_after_refresh(made.show, *shown)
    return made


def _rows() -> Widget:
    made = RowList[Message](lambda row: row.message_id, inbox_lines, id="rows")
    made.call_after_refresh(made.set_rows, tuple(sample(number) for number in range(100_000)), now=NOW)
    return made


def _request() -> Widget:
    facts = {"type": "plan_approval_request", "payload": {**sample(0).payload, "request_id": "plan-1"}}
    question = sample(0).with_changes(**facts)
    row = judge([question], TeamConfig(lead="ceo"), None, NOW)[question]
    return _showing(Detail(), request_document(row, now=NOW))


_TABS = (Tab("a", "1", "Needs you", "5", "warn"), Tab("b", "2", "Agents"))
_KEYS = (KeyHint("a", "approve…"), KeyHint("r", "reject…"))
_NOTICE = Notice(UNREADABLE, "message-queue.yaml:47: a conflict marker", "Shown is what was read 10:30:12.")
WIDGETS: Mapping[str, Callable[[], Widget]] = {
    "row-list": _rows,
    "head": lambda: _showing(Head(), _TABS, "a", HeadFacts("sprint-42", "ceo", POLLING)),
    "key-bar": lambda: _showing(KeyBar(), _KEYS),
    "banner": lambda: _showing(Banner(), _NOTICE),
    "message-detail": lambda: _showing(Detail(), message_document(sample(1), now=NOW)),
    "request-detail": _request,
    "field": lambda: Field(suggester=Completer(lambda typed: with_name(typed, _NAMES))),
    "options": lambda: Options((OptionLine("once", "this call alone"), OptionLine("always"), OptionLine("no"))),
    "letter": lambda: LongNote(_PLAN),
}


class Gallery(App[None]):
    """One widget, or all of them below each other."""

    CSS = "Screen { layout: vertical; } RowList, Detail, LongNote { height: 1fr; }"

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._names = names or tuple(WIDGETS)

    def compose(self) -> ComposeResult:
        """The widgets named."""
        yield from (WIDGETS[name]() for name in self._names)


def main() -> int:
    """Show what the command line names; a name nobody knows lists all names."""
    if not set(sys.argv[1:]) <= WIDGETS.keys():
        print("\n".join(sorted(WIDGETS)))
        return 2
    Gallery(*sys.argv[1:]).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
