"""New decisions are told once, together, as the user chose, and nothing an agent wrote acts on the terminal."""

from __future__ import annotations

import json
import re
import sys
import threading
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from team_console.console.preferences import Notices
from team_console.console.tui import notices as ways
from team_console.console.tui.notices import APART, Notifier, is_quiet
from team_console.store.views.projection import Projection
from team_console.store.views.rows import View

from tests.console.conftest import LEAD, hand_in_plan, opened
from tests.memory_team import MemoryTeam

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e; rm -rf /; `id` $(id)\nsecond line"


def view_of(team: MemoryTeam) -> View:
    """What waits for the lead."""
    return Projection(LEAD).update(team.snapshot(), team.clock())


class Listener:
    """A notifier and what it wrote to the terminal."""

    def __init__(self, notices: Notices, *, read_only: bool = False) -> None:
        self.moment, self.written = 0.0, ""
        self.notifier = Notifier(notices, self._write, lambda: self.moment, read_only=read_only)

    def _write(self, text: str) -> None:
        self.written += text

    def see(self, view: View, now: datetime = datetime(2026, 2, 24, 10, 30, tzinfo=UTC)) -> str:
        """Look at `view`, tell what is to be told now, and hand out what was written."""
        self.written = ""
        self.notifier.take(view, "sprint-42")
        if self.notifier.seconds_left() == 0.0:
            self.notifier.tell("sprint-42", now)
        return self.written


def test_only_new_decisions_are_told_and_many_at_once_are_one_notice(team: MemoryTeam) -> None:
    hand_in_plan(team, "It was there before the console")
    listener = Listener(Notices(title=False, status=False, bell=True))
    assert listener.see(view_of(team)) == "", "what was there at the start is no news"
    items = view_of(team).attention
    many = replace(view_of(team), attention=tuple(replace(items[0], key=f"new-{number}") for number in range(30)))
    assert listener.see(many) == "\x07"
    assert listener.see(many) == "", "told once"
    more = replace(many, attention=(*many.attention, replace(items[0], key="later")))
    assert listener.see(more) == "", "not again so soon"
    listener.moment += APART
    assert listener.see(more) == "\x07"


def test_a_decision_that_was_made_meanwhile_is_no_news(team: MemoryTeam) -> None:
    listener = Listener(Notices(title=False, status=False, bell=True))
    empty = view_of(team)
    listener.see(empty)
    hand_in_plan(team)
    listener.notifier.take(view_of(team), "sprint-42")
    assert listener.notifier.seconds_left() == 0.0
    listener.notifier.take(empty, "sprint-42")
    assert listener.notifier.seconds_left() is None
    listener.notifier.tell("sprint-42", team.clock())
    assert listener.written == ""


def test_messages_for_information_ring_no_bell(team: MemoryTeam) -> None:
    listener = Listener(Notices(bell=True))
    hand_in_plan(team)
    view = view_of(team)
    listener.see(replace(view, attention=()))
    letter = replace(view.attention[0], key="letter", need="MESSAGE", answerable=False)
    assert "\x07" not in listener.see(replace(view, attention=(letter,)))


def test_the_terminal_is_told_whether_something_waits_and_that_it_is_over(team: MemoryTeam) -> None:
    listener = Listener(Notices(title=False, progress=True))
    hand_in_plan(team)
    said = listener.see(view_of(team))
    assert re.fullmatch(
        r"\x1b]7501;state=blocked:kind=question:app=team-console:msg=(\w+=*)\x1b\\\x1b]9;4;4;100\x1b\\", said
    )
    assert b64decode(said.partition("msg=")[2].partition("\x1b")[0]) == b"1 decision in sprint-42"
    assert listener.see(view_of(team)) == ""
    assert listener.see(replace(view_of(team), attention=())) == (
        "\x1b]7501;state=idle:app=team-console\x1b\\\x1b]9;4;0\x1b\\"
    )
    listener.written = ""
    listener.notifier.close()
    assert listener.written == "\x1b]7501;state=clear\x1b\\\x1b]9;4;0\x1b\\"


def test_over_a_read_only_team_nothing_is_told_unless_the_user_wants_it(team: MemoryTeam) -> None:
    hand_in_plan(team)
    for notices, told in ((Notices(bell=True), ""), (Notices(bell=True, read_only=True), "\x07")):
        listener = Listener(notices, read_only=True)
        listener.see(replace(view_of(team), attention=()))
        assert listener.see(view_of(team)).endswith(told)
        assert bool(listener.written) == bool(told)


@pytest.mark.parametrize(("span", "hour", "quiet"), [("22:00-07:00", 23, True), ("22:00-07:00", 12, False)])
def test_quiet_hours_may_go_over_midnight(span: str, hour: int, quiet: bool) -> None:
    local = datetime.now().astimezone().replace(hour=hour, minute=30)
    assert is_quiet((span,), local) is quiet


def test_in_quiet_hours_news_counts_as_told(team: MemoryTeam) -> None:
    listener, now = Listener(Notices(title=False, status=False, bell=True, quiet=("00:00-23:59",))), team.clock()
    hand_in_plan(team)
    listener.see(replace(view_of(team), attention=()), now)
    assert listener.see(view_of(team), now) == ""
    listener.moment += timedelta(hours=1).total_seconds()
    assert listener.see(view_of(team), now) == ""


@pytest.mark.parametrize("sequence", [ways.title(HOSTILE), ways.desktop(HOSTILE, HOSTILE), ways.status(1, HOSTILE)])
def test_nothing_an_agent_wrote_ends_the_sequence_it_stands_in(sequence: str) -> None:
    assert sequence.count("\x1b\\") == sequence.count("\x1b]")
    body = sequence.replace("\x1b\\", "").replace("\x1b]", "")
    assert body.isprintable()
    assert sequence.partition("777;")[2].count(";") in (0, 2), "a head and a text, however many semicolons are in them"


def test_the_users_program_gets_the_sentence_as_one_argument_and_no_shell(tmp_path: Path) -> None:
    target = tmp_path / "told.json"
    script = "import json, sys; open(sys.argv[1], 'w').write(json.dumps(sys.argv[2:]))"
    ways.run((sys.executable, "-c", script, str(target)), f"--version {HOSTILE}")
    for thread in threading.enumerate():
        if thread.name == "notice":
            thread.join()
    [told] = json.loads(target.read_text())
    assert told.startswith(" --version")
    assert "$(id)" in told
    assert "\x1b" not in told
    assert "\n" not in told


def test_a_program_that_is_not_there_is_no_obstacle() -> None:
    ways.run(("/no/such/program",), "a plan")


@pytest.mark.anyio
async def test_a_toast_says_hostile_words_as_text(team: MemoryTeam) -> None:
    async with opened(team) as desk:
        desk.app.main.toast("✗ \x1b]0;PWNED\x07 of \u202eoec\nNext line", severity="warning")
        await desk.until(lambda: bool(desk.toasts), "the toast")
        assert desk.toasts == ["✗ ␛]0;PWNED␇ of \ufffdoec\nNext line"]
