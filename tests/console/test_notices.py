"""New decisions are told once, together, as the user chose, and nothing an agent wrote acts on the terminal."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Literal

from msgspec.structs import replace
from team_console.console.preferences import Preferences
from team_console.console.tui import notices as ways
from team_console.console.tui.notices import APART, Notifier
from team_console.store.views.projection import Projection
from team_console.store.views.rows import View

from tests.console.conftest import LEAD, hand_in_plan
from tests.equipment.memory_team import MemoryTeam

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e; rm -rf /; `id` $(id)\nsecond line"


def view_of(team: MemoryTeam) -> View:
    """What waits for the lead."""
    return Projection(LEAD).update(team.snapshot(), team.clock())


class Listener:
    """A notifier and what it wrote to the terminal."""

    def __init__(self, notify: Literal["title", "bell", "none"] = "bell", *, read_only: bool = False) -> None:
        self.moment, self.written = 0.0, ""
        self.notifier = Notifier(Preferences(notify=notify), self._write, lambda: self.moment, read_only=read_only)

    def _write(self, text: str) -> None:
        self.written += text

    def see(self, view: View) -> str:
        """Look at `view`, tell what is to be told now, and hand out what was written."""
        self.written = ""
        self.notifier.take(view, "sprint-42")
        if self.notifier.seconds_left() == 0.0:
            self.notifier.tell("sprint-42")
        return self.written


def test_only_new_decisions_are_told_and_many_at_once_are_one_notice(team: MemoryTeam) -> None:
    hand_in_plan(team, "It was there before the console")
    listener = Listener()
    assert "\x07" not in listener.see(view_of(team)), "what was there at the start is no news"
    items = view_of(team).attention
    many = replace(view_of(team), attention=tuple(replace(items[0], key=f"new-{number}") for number in range(30)))
    assert listener.see(many).endswith("\x07")
    assert listener.see(many) == "", "told once"
    more = replace(many, attention=(*many.attention, replace(items[0], key="later")))
    assert "\x07" not in listener.see(more), "not again so soon"
    listener.moment += APART
    assert listener.see(more) == "\x07"


def test_the_title_says_how_many_wait_and_is_given_back(team: MemoryTeam) -> None:
    listener = Listener("title")
    hand_in_plan(team)
    assert listener.see(view_of(team)) == "\x1b[22;2t\x1b]2;(1) sprint-42\x1b\\"
    assert listener.see(view_of(team)) == ""
    assert listener.see(replace(view_of(team), attention=())) == "\x1b]2;sprint-42\x1b\\"
    listener.notifier.preferences = Preferences(notify="none")
    assert listener.see(view_of(team)) == "\x1b[23;2t"
    assert listener.see(view_of(team)) == ""


def test_nothing_an_agent_wrote_ends_the_title_it_stands_in() -> None:
    sequence = ways.title(HOSTILE)
    assert sequence.startswith("\x1b]2;")
    assert sequence.endswith("\x1b\\")
    assert sequence[len("\x1b]2;") : -len("\x1b\\")].isprintable()


def test_the_users_program_gets_the_sentence_as_one_argument_and_no_shell(tmp_path: Path) -> None:
    target = tmp_path / "told.json"
    script = "import json, sys; open(sys.argv[1], 'w').write(json.dumps(sys.argv[2:]))"
    ways.start_program((sys.executable, "-c", script, str(target)), f"--version {HOSTILE}")
    for thread in threading.enumerate():
        if thread.name == "notice":
            thread.join()
    [told] = json.loads(target.read_text())
    assert told.startswith(" --version")
    assert "$(id)" in told
    assert "\x1b" not in told
    assert "\n" not in told
