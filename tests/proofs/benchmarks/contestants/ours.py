"""team-console's YAML team, through the desk as the console uses it."""

from __future__ import annotations

from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.sending import send

from tests.proofs.benchmarks.contestants.serving import serve
from tests.proofs.benchmarks.data import Letter, letter, letters, write_team


class Ours:
    """One open team that is measured, and a second opening of it that writes behind its back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, count: int) -> None:
        """See `Store.fill`. The first write looks at the whole foreign queue once, so it is not measured."""
        write_team(self.folder, letters(count - 1))
        self.team = open_team(str(self.folder))
        self.writer = open_team(str(self.folder))
        self.send(letter(count - 1))
        self.team.snapshot()
        self.writer.snapshot()

    def send(self, toast: Letter) -> None:
        """See `Store.send`."""
        _send(Caller(self.team, toast.sender), toast)

    def other(self, toast: Letter) -> None:
        """See `Store.other`."""
        _send(Caller(self.writer, toast.sender), toast)

    def reload(self) -> int:
        """See `Store.reload`."""
        return len(self.team.snapshot().messages)

    def cold(self) -> int:
        """See `Store.cold`."""
        return len(open_team(str(self.folder)).snapshot().messages)


def _send(caller: Caller, toast: Letter) -> None:
    receipt = send(
        caller,
        to=toast.to,
        content="".join(f"{line}\n" for line in toast.content),
        summary=toast.summary,
        priority=toast.priority,
        message_id=toast.message_id,
    )
    if receipt.repeated:
        raise AssertionError(f"{toast.message_id} was there already")


if __name__ == "__main__":
    serve(Ours)
