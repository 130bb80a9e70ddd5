"""Messages in `drop/` that no lock holder took in yet, read without a lock and without touching them."""

from __future__ import annotations

from msgspec import Struct
from team_console.store.backends.yaml.codec import CodecError
from team_console.store.backends.yaml.disk import Disk, Mark
from team_console.store.backends.yaml.layout import Layout
from team_console.store.contract.team import DROP_UNREADABLE
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.model.problem import Problem


class Offers(Struct, frozen=True):
    """What `drop/` holds.

    Attributes:
        messages: Those of all files that can be read, in the order in which they will be taken in.
        problems: The files that cannot, and why.
        marks: The files, for comparing two looks.
    """

    messages: tuple[Message, ...] = ()
    marks: tuple[tuple[str, Mark], ...] = ()
    problems: tuple[Problem, ...] = ()


NOTHING = Offers()


class OfferedMessages:
    """Looks into `drop/`; a file that did not change is read once."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._seen: dict[tuple[str, Mark], tuple[Message, ...] | Problem] = {}

    def look(self) -> Offers:
        """What is there now; a file that is no message is told of, and left to whoever takes it in."""
        try:
            names = self._disk.names(self._layout.drop)
        except OSError:
            return NOTHING
        if not names:
            return NOTHING
        from team_console.store.backends.yaml.writing.drop import (
            is_offered,  # loads the writer's modules, which few looks need
        )

        marks = [(name, mark) for name in names if is_offered(name) and (mark := self._mark(name)) is not None]
        self._seen = {key: self._seen[key] if key in self._seen else self._read(key[0]) for key in marks}
        found = [self._seen[key] for key in marks]
        messages = tuple(message for item in found if not isinstance(item, Problem) for message in item)
        return Offers(messages, tuple(marks), tuple(item for item in found if isinstance(item, Problem)))

    def _mark(self, name: str) -> Mark | None:
        try:
            found = self._disk.stat(self._layout.drop / name)
        except OSError:
            return None
        return found.mark if found is not None else None

    def _read(self, name: str) -> tuple[Message, ...] | Problem:
        from team_console.store.backends.yaml.writing.drop import read_offered  # see above

        try:
            return tuple(read_offered(self._disk, self._layout.drop / name))
        except (CodecError, TeamError, ValueError, OSError) as error:
            why = getattr(error, "message", None) or getattr(error, "strerror", None) or str(error)
            hint = "Correct it; as it is, the next write moves it to drop/rejected/, if it can."
            return Problem(DROP_UNREADABLE, "warning", f"drop/{name}", f"drop/{name} is no message: {why}", hint)
