"""A scenario: a team, its console on a terminal, real clients on others, and the model that the clients believe in."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.equipment.command_line import COMMAND, clean_environment
from tests.equipment.terminal import Terminal
from tests.proofs.clients.model import ScriptedModel
from tests.proofs.clients.sessions import Place

PATIENCE = 60.0
"""Seconds after which something that was expected counts as missing: a client starts in some five, more under load."""
EDITED = " as-edited"
"""What the editor of the human at the console adds."""
_PAGE_DOWN = "\x1b[6~"
_AGAIN = "press it again"
"""What the console says of a key that came right after the list had changed, or while a form was closing."""
LEAD, AGENT, OTHER = "ceo", "file-manager", "schedule-manager"


class Scenario:
    """Everything of one scenario; what was started ends with its `with` block.

    Attributes:
        team: Folder of the team.
        place: Where the clients live.
    """

    def __init__(self, folder: Path, model: ScriptedModel) -> None:
        self.team = folder / "team"
        self.model = model
        home, project = folder / "home", folder / "project"
        for path in (home, project):
            path.mkdir()
        self.place = Place(home, project, model.address)
        self._terminals: list[Terminal] = []
        self._ending = ExitStack()
        self.verb("init", str(self.team), "--name", "sprint-42", "--lead", LEAD, "--agent", AGENT, team=False)

    def __enter__(self) -> Scenario:
        return self

    def __exit__(self, *details: object) -> None:
        self._ending.close()

    def watch(self, terminal: Terminal) -> Terminal:
        """A terminal that is read while anything is waited for, and ends with the scenario."""
        self._terminals.append(self._ending.enter_context(terminal))
        return terminal

    def open_console(self) -> Console:
        """The human at the console, in front of the list of what needs them."""
        command = [*COMMAND, "-t", str(self.team)]
        terminal = self.watch(Terminal(command, cwd=self.team, columns=120, lines=40, env=self._console_environment()))
        console = Console(self, terminal)
        self.wait(lambda: "Needs you" in terminal.text, "console")
        return console

    def _console_environment(self) -> dict[str, str]:
        """One in which ctrl+e puts words of ours behind what is edited."""
        editor = self.team.parent / "editor"
        editor.write_text(f'#!/bin/sh\nprintf %s "{EDITED}" >> "$1"\n')
        editor.chmod(0o755)
        state = str(self.place.home / ".local" / "state")
        return {"XDG_STATE_HOME": state, "TEXTUAL_ANIMATIONS": "none", "EDITOR": str(editor), "VISUAL": ""}

    def verb(self, *words: str, by: str = LEAD, team: bool = True) -> Any:
        """The JSON of a verb that must succeed."""
        place = ["-t", str(self.team), "--as", by] if team else []
        environment = clean_environment(HOME=str(self.place.home), XDG_STATE_HOME="", TEAM_CONSOLE_TEAM="")
        done = subprocess.run(
            [*COMMAND, *place, "--json", *words],
            cwd=self.place.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def requests(self) -> list[dict[str, Any]]:
        """All requests of the team."""
        rows: list[dict[str, Any]] = self.verb("requests")["requests"]
        return rows

    def states(self) -> list[tuple[str, str]]:
        """Kind and state of each request, in the order they were asked."""
        rows = sorted(self.requests(), key=lambda row: str(row["asked_at"]))
        return [(row["kind"], row["state"]) for row in rows]

    def wait(self, condition: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Read every terminal until `condition` holds; fails with all screens when it does not in time."""
        deadline = time.monotonic() + seconds
        while not condition():
            self._read()
            assert not self.model.problems, f"no {what}\n{self._report()}"
            assert time.monotonic() < deadline, f"no {what} within {seconds} s\n{self._report()}"

    def _read(self) -> None:
        for terminal in self._terminals:
            terminal.pump(0.02)

    def rest(self, seconds: float) -> None:
        """Read every terminal for so long: for what a client does by itself and shows nowhere."""
        end = time.monotonic() + seconds
        self.wait(lambda: time.monotonic() >= end, "end of the rest", seconds + PATIENCE)

    def wait_for(self, terminal: Terminal, *texts: str) -> None:
        """Read every terminal until the texts stand on this one."""
        self.wait(lambda: all(text in terminal.text for text in texts), " and ".join(map(repr, texts)))

    def press_until(self, terminal: Terminal, key: str, condition: Callable[[], bool], every: float = 1.0) -> None:
        """Press a key until it shows: a client drops keys that come right after its dialog, or while it starts."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            terminal.send(key)
            again = time.monotonic() + every
            while time.monotonic() < again and not condition():
                self._read()
            assert time.monotonic() < deadline, f"nothing came of {key!r}\n{self._report()}"

    def wait_for_result(self, text: str) -> None:
        """Wait until a tool call of the model gave a result with this text."""
        self.wait(lambda: any(text in result for result in self.model.results), f"result with {text!r}")

    def wait_for_words(self, text: str) -> None:
        """Wait until the model was told this text."""
        self.wait(lambda: text in self.model.told, f"word to the model of {text!r}")

    def _report(self) -> str:
        screens = [f"--- terminal {number}\n{_lines(each.text)}" for number, each in enumerate(self._terminals, 1)]
        heard = [f"{each.turns} turns, results {each.results}" for each in self.model.heard]
        inbox = [f"{mail['status']} {mail['message_id']}" for mail in self.verb("inbox", AGENT)["messages"]]
        stray = f"stray: {self.model.stray}"
        return "\n".join([*screens, "--- inbox", *inbox, "--- the model heard", *heard, stray, *self.model.problems])


class Console:
    """The human's keys."""

    def __init__(self, scenario: Scenario, terminal: Terminal) -> None:
        self.terminal = terminal
        self._scenario = scenario

    def wait_for(self, *texts: str) -> None:
        """Wait until the texts stand on the screen."""
        self._scenario.wait_for(self.terminal, *texts)

    def allow(self, what: str, *, choose: str = "1", verb: str = "allow once") -> None:
        """Allow the first thing on the list, which must show `what`, in one of the ways of the form."""
        self._decide("a", what, "enter allow once", choose, f"enter {verb}")

    def approve(self, what: str, *, choose: str = "") -> None:
        """Approve the first thing on the list, a plan that must show `what`, in one of its modes."""
        self._decide("a", what, "enter approve", choose, "enter approve")

    def answer(self, what: str, choose: str, *, note: str = "") -> None:
        """Answer the first thing on the list, a question, by the keys of its options, with a note beside them."""
        self._decide("a", what, "enter answer", choose, "enter answer", note=note)

    def reject(self, what: str, reason: str) -> None:
        """Refuse the first thing on the list with a reason."""
        self._decide("r", what, "enter reject", reason, reason)

    def edit(self, what: str, verb: str) -> None:
        """Edit the first thing on the list in the editor, and approve it as it is then."""
        self._decide("a", what, f"enter {verb.removesuffix(' as edited').lower()}", "\x05", verb)

    def leave_behind(self, what: str) -> None:
        """Go on from what ended while it was read: it stays until then, and then leaves the list."""
        self.wait_for("withdrawn", "n next")
        self._scenario.press_until(self.terminal, "n", lambda: what not in self.terminal.text)

    def _decide(self, key: str, what: str, form: str, keys: str, ready: str, *, note: str = "") -> None:
        """Ready says that the form has the keys; the form is gone with its own keys: what was typed may come again.

        A form wants to be read to its end, and drops an enter that comes before it was drawn.
        """
        self.wait_for(what)
        self._open_form(key, form)
        self.terminal.send(keys)
        self.wait_for(ready)
        if note:
            self.wait_for("beside what is chosen")
            self.terminal.send("\t")
            self._scenario.wait(lambda: f"›{keys}" not in self.terminal.text, "field of the note")
            self._scenario.press_until(self.terminal, note, lambda: note in self.terminal.text, every=3.0)
        hints = [text for text in (form, ready, "enter confirm") if text.startswith("enter ")]
        self._scenario.press_until(
            self.terminal, f"{_PAGE_DOWN}\r", lambda: not any(text in self.terminal.text for text in hints), every=3.0
        )

    def _open_form(self, key: str, ready: str) -> None:
        """Press a deciding key; the console wants a second look at a row that has just come under the cursor."""
        while True:
            self.terminal.send(key)
            self._scenario.wait(lambda: ready in self.terminal.text or _AGAIN in self.terminal.text, repr(ready))
            if ready in self.terminal.text:
                return
            self._scenario.wait(lambda: _AGAIN not in self.terminal.text, "end of the warning")


def prompt(scenario: Scenario, terminal: Terminal, words: str) -> None:
    """Hand a prompt to a client once it is ready for one."""
    terminal.send(words)
    scenario.wait_for(terminal, words)
    before = len(scenario.model.heard)
    scenario.press_until(terminal, "\r", lambda: len(scenario.model.heard) > before, every=10.0)


def _lines(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip())
