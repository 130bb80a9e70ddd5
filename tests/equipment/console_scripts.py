"""Scripts of the console: keys that are pressed, what others do meanwhile, and what stands on the screen then, as text.

A line is one of these; `$NAME` in it stands for what was kept:

- `MEMBER: FUNCTION {ARGUMENTS}` calls a function of the service for a member; `NAME = ` before it keeps the id of the
  request or of the message that it makes. What another program does: `write {FIELDS}` puts a message into the queue,
  `rewrite ID {FIELDS}` changes the payload of one, `change ID {FIELDS}` the message itself.
- `member NAME ROLE` puts somebody on the roster, `rejoin NAME` notes that somebody left and came back, `lead NAME`
  makes that one the lead, `later SECONDS` moves the clock, `set NAME VALUE` the environment, `patch MODULE.NAME
  NUMBER` a number of the code, `lines NAME NUMBER` keeps a text of so many lines, `news NUMBER` are so many messages
  to the lead, `file NAME TEXT` is a file of long ago in the folder $FOLDER, `editor OLD NEW` says what the human's
  editor replaces (without words it fails), `config TEXT` writes the human's own settings, from `keep-trail` on the
  team knows what it wrote, and `undeclared` is a team without a roster.
- `open` opens the console, at most `open 80x24 as NAME read-only`; another `open` closes it first. `leave` closes it
  as a human does, `step-aside` is what an editor or ctrl+z does to it, and ctrl+z `stop`, until `go-on`.
- `press KEY ...`, `ask KEY ...` for keys that open a form, `type WORDS`, `paste WORDS`, `together KEY ...` for keys
  that arrive at once, `perform ACTION ...`, `fill FIELD TEXT`, and `select NAME` for an agent of the roster.
- `form` waits until one is open, `back` until none is, `calm` until a change is no longer fresh; `look` reads the
  team now, `drag 60,4 70,5` selects with the mouse, `double-click 10,3` clicks, `click WORDS` on words, `tick` lets a
  second be over, `look-through` stands on each row once, `resize 80x24` gives the terminal another size, `cover NUMBER`
  draws over so many lines and `cover WORDS` over those with these words; `cut NUMBER PARTS` is a kill once so many
  decisions that wait are written, and perhaps so many parts of the next.

Below it stands, indented, what must hold, or must come to hold:

- words on the screen, those behind ` ... ` later than those before; with `detail: `, `toast: `, `form: `, `about: `
  (what a form is about), `changed: ` (what it says is new), `busy: `, `mode: `, `trail: `, `unread: `, `clipboard: `,
  `left: ` (what is named when one leaves), `human: ` (what agents are told: `is there` or `is away`) or
  `draft PURPOSE: ` before them words of that; with `! ` before all of it, words that do not stand there at that moment;
- `rows: NUMBER` of the list, `pending: NUMBER` of what waits to be written, `by MEMBER: NUMBER` and `to MEMBER: NUMBER`
  of messages, `type TYPE: NUMBER` and `status STATUS: NUMBER` of messages of a type or status, which may have `*`;
- `last PLACE: VALUE` and `last PLACE ~ WORDS` of the newest message.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from fnmatch import fnmatch
from functools import partial
from string import Template
from typing import Any

import pytest
import yaml
from msgspec.structs import replace
from team_console.console.actions import configure_keys
from team_console.store.model.home import state_folder
from team_console.store.model.message import new_record
from team_console.store.model.recorded_facts import RecordedSettings
from team_console.store.service import asking, inbox, requests, sending
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.waiting import human_present
from team_console.store.settings.team_config import Agent, TeamConfig
from team_console.widgets.form import Excerpt
from textual.events import Key, MouseDown, MouseUp, Paste
from textual.widgets import Input, Static, TextArea

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, change, edited_by, opened, rewrite
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.places import found_at, steps_of

_DOORS = (requests, asking, sending, inbox)
_PLACES = (
    "detail",
    "toast",
    "form",
    "about",
    "changed",
    "busy",
    "mode",
    "trail",
    "unread",
    "clipboard",
    "left",
    "human",
)


class ConsoleScript:
    """A script that is played on a team in memory.

    Attributes:
        kept: Ids and texts by the names that the script gives them.
        left: What was named when the console was left.
    """

    def __init__(self, team: MemoryTeam, clock: Clock, environment: pytest.MonkeyPatch) -> None:
        self.team, self.clock, self.environment = team, clock, environment
        self.kept: dict[str, str] = {}
        self.left: list[str] = []
        self.console = AsyncExitStack()

    async def play(self, text: str) -> None:
        """Play all of it."""
        async with self.console:
            for step, expected in steps_of(text):
                line = Template(step).safe_substitute(self.kept)
                verb, _, rest = line.partition(" ")
                if verb.endswith(":") or rest.startswith("= "):
                    self._call(line)
                elif not self._prepare(verb, rest):
                    await self._act(verb, rest)
                for one in expected:
                    await self._holds(line, Template(one).safe_substitute(self.kept))
        configure_keys({})

    def _call(self, line: str) -> None:
        """Call a function of the service for a member."""
        kept, _, call = line.rpartition(" = ") if " = " in line.partition("{")[0] else ("", "", line)
        member, _, words = call.partition(": ")
        function, _, arguments = words.partition(" ")
        door = next(module for module in _DOORS if hasattr(module, function))
        made = getattr(door, function)(Caller(self.team, member), **yaml.safe_load(arguments))
        if kept:
            assert isinstance(made, Receipt)
            self.kept[kept] = made.request_id or made.messages[0].message_id

    def _prepare(self, verb: str, rest: str) -> bool:
        """Change what is around the console; whether the line says that."""
        name, _, value = rest.partition(" ")
        if verb == "set":
            self.environment.setenv(name, value)
        elif verb == "patch":
            self.environment.setattr(f"team_console.{name}", float(value))
        elif verb == "later":
            self.clock.advance(float(rest))
        elif verb == "lines":
            self.kept[name] = "\\n".join(f"{number}. step {number}." for number in range(1, int(value) + 1))
        elif verb in ("rewrite", "change"):
            messages = self.team.snapshot().messages
            meant = next(message for message in messages if name in (message.request_id, message.message_id))
            (rewrite if verb == "rewrite" else change)(self.team, meant.message_id, **yaml.safe_load(value))
        elif verb == "write":
            envelope = {"type": "message", "priority": "low", "created": "2026-02-24T10:29:00Z"}
            payload = {"summary": "s", "content": "c"}
            given = {**envelope, "payload": payload, **yaml.safe_load(rest)}
            self.team._state.messages += (new_record(**given),)
        elif verb == "member":
            self.team.set_member(Agent(name, value or "member"))
        elif verb == "rejoin":
            assert self.team.recorded is not None, "keep-trail comes first"
            for line, members in enumerate(({name}, (), {name}), start=100):
                self.team.recorded.add_settings(RecordedSettings(line, None, partial(frozenset, members)))
        elif verb == "lead":
            self.team._config = replace(self.team.config(), lead=name)
        elif verb == "editor":
            edited_by(self.environment, *(word.replace("\\n", "\n") for word in shlex.split(rest)))
        elif verb == "news":
            for number in range(int(rest)):
                summary = f"News {number} of this day with words of its own"
                sending.send(Caller(self.team, AUTHOR), to=LEAD, summary=summary, content="Here it is")
        elif verb == "file":
            path = state_folder() / "project" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(value, encoding="utf-8")
            os.utime(path, (0, 0))
            self.kept["FOLDER"] = str(path.parent)
        elif verb == "config":
            path = state_folder() / "config.toml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rest.replace("\\n", "\n"), encoding="utf-8")
            self.environment.setenv("TEAM_CONSOLE_CONFIG", str(path))
        elif verb == "keep-trail":
            self.team = MemoryTeam(config=self.team.config(), clock=self.clock, keeps_trail=True)
        elif verb == "undeclared":
            self.team = MemoryTeam(config=TeamConfig(name="t", lead=LEAD), clock=self.clock)
        else:
            return False
        return True

    async def _act(self, verb: str, rest: str) -> None:
        """Do something at the console."""
        words = rest.split()
        if verb == "open":
            return await self._open(words)
        desk = self.desk
        if verb == "paste":
            desk.app.post_message(Paste(rest))
        elif verb == "together":
            for key in words:
                desk.app.post_message(Key(key, key if len(key) == 1 else None))
        elif verb == "fill":
            name, text = shlex.split(rest)
            field: Any = desk.front.query_one(f"#{name}")
            assert isinstance(field, Input | TextArea)
            field.focus()
            setattr(field, "text" if isinstance(field, TextArea) else "value", text)
        elif verb == "select":
            pane: Any = desk.app.main.pane
            await desk.until(lambda: bool(pane.roster.select(rest)), f"the agent {rest}")
        elif verb == "cover":
            with_words = [row for row, line in enumerate(desk.text.split("\n"), start=1) if rest in line]
            for line in range(1, int(rest) + 1) if rest.isdigit() else with_words:
                desk.app.canvas.update(f"\x1b[{line};1H{'a toast ' * 15}\x1b[1;1H")
        elif verb == "leave":
            await self.console.aclose()
            self.left = desk.app.write_decided()
        elif verb == "step-aside":
            desk.app._suspend_signal()
        elif verb == "stop":
            desk.app.stopping()
        elif verb == "go-on":
            desk.app.going_on()
        elif verb == "cut":
            waiting = desk.app.main.pending_decisions._waiting
            whole, part = int(words[0]), int(words[1]) if words[1:] else 0
            written = [act for entry in waiting[:whole] for act in entry.pending.writes]
            for act in [*written, *(waiting[whole].pending.writes[:part] if part else ())]:
                act.do(desk.app.main.caller)
            await self.console.aclose()
        elif verb == "tick":
            desk.app._tick()
        elif verb == "look":
            desk.app.look()
        elif verb == "type":
            await desk.type(rest)
        elif verb == "double-click":
            await desk.pilot.double_click(offset=(int(rest.partition(",")[0]), int(rest.partition(",")[2])))
        elif verb == "click":
            y, x = next((y, line.index(rest)) for y, line in enumerate(desk.text.split("\n")) if rest in line)
            for kind in (MouseDown, MouseUp):  # as a terminal sends them: the pilot's own pass by the keys
                desk.app.post_message(kind(None, x, y, 0, 0, 1, False, False, False))
            await desk.settle()
        elif verb == "drag":
            begin, end = ((int(word.partition(",")[0]), int(word.partition(",")[2])) for word in words)
            await desk.pilot.mouse_down(offset=begin)
            await desk.pilot.hover(offset=end)
            await desk.pilot.mouse_up(offset=end)
        elif verb == "resize":
            await desk.pilot.resize_terminal(*map(int, rest.split("x")))
        else:
            acts: dict[str, Callable[..., Awaitable[object]]] = {
                "press": desk.press,
                "ask": desk.asks,
                "perform": desk.performs,
                "form": desk.form,
                "back": desk.is_back,
                "calm": desk.calm,
                "look-through": desk.looks_through,
            }
            assert verb in acts, f"no line begins with {verb}"
            await acts[verb](*words)

    async def _open(self, words: Sequence[str]) -> None:
        await self.console.aclose()
        sizes = [word.split("x") for word in words if word[0].isdigit()]
        width, height = map(int, sizes[0] if sizes else (120, 40))
        me = words[words.index("as") + 1] if "as" in words else LEAD
        console = opened(self.team, me=me, size=(width, height), read_only="read-only" in words)
        self.desk: Desk = await self.console.enter_async_context(console)

    async def _holds(self, line: str, expected: str) -> None:
        """Wait until what is expected holds."""
        what, _, wanted = expected.removeprefix("! ").partition(": ")
        is_elsewhere = what in (*_PLACES, "human") or what.startswith("draft ")
        place, words = (what, wanted) if is_elsewhere else ("", expected.removeprefix("! "))
        if expected.startswith("! "):
            assert not self._stands(words, place), (line, expected)
        elif place == "left":
            assert self._stands(words, place), (line, expected, self.left)
        elif what.startswith(("by ", "to ", "type ", "status ")) or what in ("rows", "pending"):
            await self.desk.until(lambda: self._number(what) == int(wanted), f"{line}: {expected}")
            assert self._number(what) == int(wanted), (line, expected)
        elif expected.startswith("last "):
            await self.desk.until(lambda: self._is_last(expected.removeprefix("last ")), f"{line}: {expected}")
        else:
            await self.desk.until(lambda: self._stands(words, place), f"{line}: {expected}")

    def _is_last(self, expected: str) -> bool:
        """Whether the newest message is as a line says."""
        exactly = " ~ " not in expected
        path, _, value = expected.partition(": " if exactly else " ~ ")
        found = [found_at(message.record, path.split(".")) for message in self.team.snapshot().messages[-1:]]
        texts = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in found]
        return any(text == value if exactly else value in text for text in texts)

    def _stands(self, words: str, place: str) -> bool:
        """Whether words stand at a place; where they have ` ... ` between them, one after the other."""
        parts = ".*".join(map(re.escape, words.split(" ... ")))
        return re.search(parts, self._words_at(place), re.DOTALL) is not None

    def _words_at(self, place: str) -> str:
        """What stands at a place of the screen, or on all of it."""
        if place == "left":
            return "\n".join(self.left)
        desk, main = self.desk, self.desk.app.main
        if place == "human":
            return "is there" if human_present(self.team) else "is away"
        if place.startswith("draft "):
            return str(main.drafts.get(place.removeprefix("draft ")))
        if place in ("toast", "trail"):
            return "\n".join(desk.toasts if place == "toast" else [line.action for line in self.team.audit()])
        if place == "unread":
            return "\n".join(str(one.payload) for one in self.team.snapshot().messages if one.status == "pending")
        if place == "about":
            return "\n".join(str(line.content) for line in desk.front.query(".form--about").results(Static))
        if place == "changed":
            excerpts = desk.front.query("#changed").results(Excerpt)
            return "\n".join("".join(text for text, _ in line) for excerpt in excerpts for line in excerpt._lines)
        if place == "clipboard":
            return desk.app.clipboard
        if place in ("busy", "mode"):
            return main.bars.busy if place == "busy" else str(main.lists.mode)
        return desk.detail if place == "detail" else desk.said if place == "form" else desk.text

    def _number(self, what: str) -> int:
        """How many rows the list has, how many decisions wait, or how many messages are as it says."""
        if what in ("rows", "pending"):
            return len(self.desk.rows if what == "rows" else self.desk.app.main.pending_decisions)
        sort, _, name = what.partition(" ")
        messages = self.team.snapshot().messages
        if sort == "to":
            return sum(name in message.recipients for message in messages)
        part = {"by": "sender", "type": "type", "status": "status"}[sort]
        return sum(fnmatch(getattr(message, part), name) for message in messages)
