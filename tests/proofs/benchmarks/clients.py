"""The two programs whose screens are compared, the console and neomutt, and how each is driven by keys."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.proofs.benchmarks.data import LEAD, Letter, letter, letters, write_maildir, write_team
from tests.proofs.benchmarks.peers import ROOT
from tests.proofs.benchmarks.processes import command
from tests.proofs.benchmarks.terminal import COLUMNS, LINES, Terminal

_NEOMUTT_SETTINGS = """\
set folder = "{home}"
set sort = date
set index_format = "%4C %Z %{{%b %d %H:%M}} %-15.15L %s"
set mail_check = 1
set timeout = 1
set mark_old = no
set quit = yes
unset header_cache
"""
"""The whole folder is read at every start, as the console reads the whole queue."""


@dataclass(frozen=True, slots=True)
class Client:
    """A program on a terminal with a list of messages.

    Attributes:
        to_list: Keys that lead from the first screen to a long list of messages.
        down: The arrow key as it is sent to this program.
        switch: Pairs of keys there and back that change the whole screen.
        deliver: Puts one more message into its store.
    """

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]
    to_list: tuple[bytes, ...]
    down: bytes
    switch: tuple[tuple[str, bytes, bytes], ...]
    deliver: Callable[[], None]

    def start(self, size: tuple[int, int] = (COLUMNS, LINES)) -> Terminal:
        """Run it on a terminal of its own, of so many columns and lines."""
        return Terminal(self.command, self.environment, size=size)

    @staticmethod
    def shows_list(text: str) -> bool:
        """Whether the first messages are on the screen."""
        return re.search(r"job \d{6}", text) is not None

    @classmethod
    def is_ready(cls, text: str) -> bool:
        """Whether they are there and no older ones are still being read."""
        return cls.shows_list(text) and "READING" not in text


def console(folder: Path, size: int, *, archived: int = 0, messages: Iterable[Letter] = ()) -> Client:
    """The console on a new team of `size` queued messages, of those given if any, and `archived` archived ones."""
    team = folder / "team"
    write_team(team, messages or letters(size, first=archived), archived=archived)
    numbers = count(size + archived)
    deliver = courier(team)
    return Client(
        name="team-console",
        command=console_command(team),
        environment=environment(folder),
        to_list=(b"2", b"\t"),
        down=b"\x1b[B",
        switch=(("requests and back", b"3", b"2"), ("history and back", b"6", b"2")),
        deliver=lambda: deliver(letter(next(numbers), to=LEAD)),
    )


def neomutt(folder: Path, program: Path, size: int) -> Client:
    """neomutt on a new Maildir of the same messages."""
    box, settings = folder / "Maildir", folder / "neomuttrc"
    write_maildir(box, letters(size))
    settings.write_text(_NEOMUTT_SETTINGS.format(home=folder), encoding="utf-8")
    numbers = count(size)

    def deliver() -> None:
        number = next(numbers)
        (box / "tmp" / str(number)).write_bytes(letter(number, to=LEAD).mail())
        (box / "tmp" / str(number)).rename(box / "new" / f"{1771900000 + number}.M{number:06}.bench")

    return Client(
        name="neomutt",
        command=(str(program), "-n", "-F", str(settings), "-f", str(box)),
        environment=environment(folder),
        to_list=(),
        down=b"\x1bOB",
        switch=(("open a message and back", b"\r", b"i"),),
        deliver=deliver,
    )


def empty_textual(folder: Path) -> Client:
    """The smallest application of the console's toolkit, to tell its share of a start from ours; for starts only."""
    code = (
        "from textual.app import App\nfrom textual.widgets import Static\n"
        "class Empty(App):\n    def compose(self):\n        yield Static('job 000000')\n"
        "Empty().run()"
    )
    return Client(
        name="empty Textual app",
        command=(sys.executable, "-c", code),
        environment=environment(folder),
        to_list=(),
        down=b"",
        switch=(),
        deliver=lambda: None,
    )


def courier(team: Path) -> Callable[[Letter], None]:
    """Sends letters to `team` through the desk, from this process."""
    from team_console.store.backends.open import open_team
    from team_console.store.service.caller import Caller
    from team_console.store.service.sending import send

    opened = open_team(str(team))

    def deliver(toast: Letter) -> None:
        caller = Caller(opened, toast.sender)
        send(
            caller,
            to=toast.to,
            type=toast.type,
            content=toast.content[0],
            summary=toast.summary,
            message_id=toast.message_id,
        )

    return deliver


def console_command(team: Path) -> tuple[str, ...]:
    """How the console is opened on `team`."""
    return (*command(), "-t", str(team), "--as", LEAD)


def environment(home: Path) -> dict[str, str]:
    """Variables of a modern terminal, with everything personal below `home`."""
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "TMPDIR")}
    state = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PYTHONPATH": str(ROOT)}
    return {**kept, **state, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": kept.get("LANG", "C.UTF-8")}
