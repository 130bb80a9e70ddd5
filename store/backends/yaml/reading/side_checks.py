"""What lies beside the queue and deserves a look: torn ends, rejected messages, recent healings, loose permissions."""

from __future__ import annotations

from pathlib import Path

from team_console.store.backends.yaml.closed import closed_problem, is_closed
from team_console.store.backends.yaml.disk import Disk, Mark
from team_console.store.backends.yaml.layout import Layout, leads_out
from team_console.store.backends.yaml.reading.integrity import audit_problem
from team_console.store.backends.yaml.recovery.ledger import Ledger, Line
from team_console.store.backends.yaml.writing.generation import Generation
from team_console.store.backends.yaml.writing.obstacles import ASIDE, is_no_folder
from team_console.store.model.problem import Problem

_RECENT = 20
_HEALING = frozenset({"heal", "undo"})
_COUNTS = (
    ("restored", "messages put back"),
    ("changed", "states put back"),
    ("removed", "archived messages taken out again"),
)


class Beside:
    """Looks at the other files of a team; at the ledger only when it changed."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._lines: tuple[Mark | None, tuple[Line, ...]] = (None, ())
        self._lost: tuple[object, Problem | None] = (None, None)

    def problems(self, queue: Generation | None, lock_text: bytes) -> list[Problem]:
        """Everything to tell, and what of it cannot be looked at; `lock_text` is what the lock file says."""
        found = _loose(self._layout, queue)
        looks = ((self._leftovers, self._layout.folder), (lambda: self._of_ledger(lock_text), self._layout.audit))
        for look, path in looks:
            try:
                found += look()
            except OSError as error:
                if not is_closed(error):
                    found.append(_unusable(Path(error.filename or path), error.strerror or str(error)))
        found += self._folders()
        closed = closed_problem(self._layout)
        found += [closed] if closed is not None else []
        lock = self._disk.stat(self._layout.lock)
        if lock is not None and lock.kind != "file":
            found.append(_unusable(self._layout.lock, "not a plain file", "Nothing can be written while it is so."))
        return found

    def _folders(self) -> list[Problem]:
        """What stands in the place of a folder: nothing is written through a link that leads out of the team."""
        found: list[Problem] = []
        layout = self._layout
        for folder in (layout.archives, layout.inboxes, layout.attachments, layout.drop):
            there = self._disk.stat(folder)
            if there is None or there.kind == "folder":  # as nearly always: what follows looks again and closer
                continue
            if is_no_folder(self._disk, folder):
                found.append(_unusable(folder, "not a folder"))
            elif leads_out(self._disk, layout, folder):
                text = f"{folder} is a link that leads out of the team, and is not followed"
                hint = f"Remove the link: rm {folder}; the folder is made when it is needed."
                found.append(Problem("LINK_OUT", "error", str(folder), text, hint))
        return found

    def _leftovers(self) -> list[Problem]:
        layout = self._layout
        names = [name for folder in (layout.folder, layout.archives) for name in self._disk.names(folder)]
        torn = [name for name in names if ".torn-" in name]
        aside = [name for name in names if ASIDE in name]
        rejected = [f"drop/rejected/{name}" for name in self._disk.names(layout.rejected)]
        what = "holds what a crash or another program left unfinished"
        found = [
            Problem(
                "TORN_END",
                "notice",
                name,
                f"{name} {what}",
                "Look into it before you delete it: it may hold whole records.",
            )
            for name in torn
        ]
        what = "stood in the place of a file of the team and was moved aside"
        hint = "Find out who put it there, and delete it."
        found += [Problem("SET_ASIDE", "notice", name, f"{name} {what}", hint) for name in aside]
        hint = "It is no message, or another one has its id. Correct it and move it into drop/ again, or delete it."
        return found + [
            Problem("DROP_REJECTED", "warning", name, f"{name} was not taken in", hint) for name in rejected
        ]

    def _of_ledger(self, lock_text: bytes) -> list[Problem]:
        """Healings among the ledger's last lines, and whether it is still there as far as it was written."""
        lines = self._last_lines()
        healings = [_healing(line) for line in lines if line.action in _HEALING]
        key = self._lines[0], lock_text
        if self._lost[0] != key or self._lines[0] is None:
            self._lost = key, audit_problem(self._disk, self._layout, lock_text, lines)
        problem = self._lost[1]
        return [problem, *healings] if problem is not None else healings

    def _last_lines(self) -> tuple[Line, ...]:
        found = self._disk.stat(self._layout.audit)
        mark = found.mark if found else None
        if self._lines[0] != mark:
            self._lines = mark, tuple(Ledger(self._disk, self._layout.audit).last(_RECENT))
        return self._lines[1]


def _healing(line: Line) -> Problem:
    facts = line.facts
    if "undone" in facts:
        text = "a receive that was cut short was undone; its messages are pending again"
    elif "completed" in facts:
        text = f"{facts.get('action')} was cut short and was finished"
    else:
        counts = [(facts[name], what) for name, what in _COUNTS if isinstance(facts.get(name), list) and facts[name]]
        text = "; ".join(f"{len(ids)} {what}" for ids, what in counts)
        text = text or "what another program wrote was taken over"
    return Problem("HEALED", "notice", f"audit.jsonl, line {line.seq}", f"{line.at}: {text}")


def _unusable(path: Path, why: str, until: str = "The next write moves it aside if it can.") -> Problem:
    hint = f"{until} Look at what is there: ls -ld {path}"
    return Problem("UNUSABLE_FILE", "error", str(path), f"{path} cannot be used: {why}", hint)


def _loose(layout: Layout, queue: Generation | None) -> list[Problem]:
    if queue is None or queue.stat is None or not queue.stat.mode & 0o002:
        return []
    text = f"everybody on this machine may write {layout.queue.name} (mode {queue.stat.mode:04o})"
    return [Problem("LOOSE_MODE", "warning", str(layout.queue), text, f"chmod o-w {layout.queue}")]
