"""Find what archives and audit trail have lost, by what the end of the trail and the lock file say of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from team_console.store.backends.yaml.archives import Archives, closed_ids, usable_size
from team_console.store.backends.yaml.audit_trail import AuditTrail, TransactionLine
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.layout import Layout, archive_part, is_private_to_other
from team_console.store.backends.yaml.lock import parse_released, read_text
from team_console.store.backends.yaml.recovery import audit_problem
from team_console.store.contract.problem_codes import ARCHIVE_LOST, AUDIT_LOST
from team_console.store.model.counted import counted
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.names import is_name
from team_console.store.model.safe import safe_line

DELETE_ARCHIVED = "delete_archived"
"""The one action that takes messages out of archives; its fact `left` says what stays of which file."""
_LOOK_BACK = 1 << 19
"""Bytes of the trail's end that are believed; what older lines say is not looked at."""
_SPAN = 1 << 21
"""Bytes at the end of each part of an archive in which messages are looked for."""
_ASKED = 20
"""How many missing messages are looked for in whole files, one by one."""
_TRIES = 3
_RECOVERY = frozenset({"heal", "undo", "abort"})
_RESTORE = "Restore it from a copy; until then history shows only what is left."


Claims = dict[str, tuple[int, set[str]]]
"""What must be in the archives of each agent: bytes that the current file has at least, ids of messages they hold."""


def _claims(lines: Iterable[TransactionLine]) -> Claims:
    """Collect what lines of the trail, newest first, say of archives; what a deletion shortened ends it for an agent.

    A line that was declared undone says nothing, and a deletion that does not say what it left ends all of it.
    """
    claims: Claims = {}
    undone, shortened = set[int](), set[str]()
    for line in lines:
        undone.add(line.void)
        if line.seq in undone:
            continue
        left = _sizes_left(line)
        if left is None:
            break
        for name, size in left.items():
            agent, number = archive_part(name) or ("", None)
            if number is None and is_name(agent) and agent not in shortened:
                claims.setdefault(agent, (size, set()))
            shortened.add(agent)
        sizes = {archive_part(Path(name).name): size for name, size in line.sizes.items()}
        for agent, message_id, _ in line.archived:
            if (agent, None) in sizes and is_name(agent) and agent not in shortened:
                claims.setdefault(agent, (sizes[agent, None], set()))[1].add(message_id)
    return claims


def history_losses(disk: Disk, layout: Layout) -> tuple[Problem, ...]:
    """Return what archives lack by the audit trail, and harm to the trail; nothing during a write. Takes no lock.

    Legitimate deletions (`Team.delete_archived`) are on the trail themselves.
    """
    for _ in range(_TRIES):
        before = _marks_of_trail(disk, layout)
        try:
            found = _find_losses(disk, layout)
        except FileNotFoundError:
            continue
        except TeamError:
            return ()
        except OSError as error:
            return () if is_private_to_other(error) else (_unreadable(layout, error),)
        if not found or _marks_of_trail(disk, layout) == before:
            return found
    return ()


def _unreadable(layout: Layout, error: OSError) -> Problem:
    text = f"{error.filename or layout.audit} cannot be read: {error.strerror or error}; archives were not checked"
    return Problem(AUDIT_LOST, "error", layout.audit.name, text, "Look at what is there and its permissions.")


def _marks_of_trail(disk: Disk, layout: Layout) -> object:
    found = disk.stat(layout.audit)
    return found.mark if found else None, read_text(disk, layout.lock)


def _find_losses(disk: Disk, layout: Layout) -> tuple[Problem, ...]:
    released = parse_released(read_text(disk, layout.lock))
    trail = AuditTrail(disk, layout.audit)
    lines = trail.last(window=_LOOK_BACK)
    lost = audit_problem(disk, layout, released, trail.tip().seq)
    finished = released.seq if released is not None else _finished_through(lines)
    claims = _claims(line for line in reversed(lines) if line.seq <= finished)
    archives = Archives(disk, layout)
    checked = (_archive_loss(disk, layout, archives, agent, *claim) for agent, claim in sorted(claims.items()))
    return tuple(problem for problem in (lost, *checked) if problem is not None)


def _finished_through(lines: Sequence[TransactionLine]) -> int:
    """Return the number of the last line that surely reached the archives while somebody writes, or died in writing.

    The last line may be under way. A recovery cuts archives before it does or undoes the line before its own again.
    """
    end = len(lines)
    while end and lines[end - 1].action in _RECOVERY:
        end -= 1
    return lines[end - 2].seq if end > 1 else 0


def _sizes_left(line: TransactionLine) -> dict[str, int] | None:
    """Return the size of each file that a deletion shortened; None for a deletion that does not say."""
    for action, facts in ((line.action, line.facts), *line.also):
        if action == DELETE_ARCHIVED:
            left = facts.get("left")
            if not isinstance(left, dict):
                return None
            return {name: size for name, size in left.items() if isinstance(size, int)}
    return {}


def _archive_loss(
    disk: Disk, layout: Layout, archives: Archives, agent: str, least: int, claimed: set[str]
) -> Problem | None:
    """Return what the archive of an agent lacks of what is claimed of it; None where it lacks nothing.

    Args:
        least: Bytes that its current file has had.
        claimed: Ids of messages that were put into it.
    """
    files = archives.files(agent)
    try:
        found = [(path, usable_size(disk, path)) for path in files]
    except OSError:  # told with the history
        return None
    missing = _missing(disk, archives, agent, found, claimed)
    size = max((size for _, size in found), default=0)
    if not missing and size >= least:
        return None
    what = f"the archive of {agent} lacks what was put into it" if missing else f"the archive of {agent} was cut short"
    if not files:
        what = f"the archive of {agent} is gone"
    if missing:
        what += f": {counted(len(missing), 'message')}, {safe_line(min(missing), 64)} among them"
    elif files:
        what += f": {size:,} bytes are there, and {least:,} were"
    place = f"{layout.archives.name}/{archives.current(agent).name}"
    return Problem(ARCHIVE_LOST, "error", place, f"{what} (told by {layout.audit.name})", _RESTORE)


def _missing(disk: Disk, archives: Archives, agent: str, found: list[tuple[Path, int]], claimed: set[str]) -> set[str]:
    """Find those of the claimed ids that no file has, newest file and its end first, where they nearly always are."""
    missing = set(claimed)
    for path, size in reversed(found):
        if missing:
            missing -= set(closed_ids(disk.read(path, max(0, size - _SPAN))[0]))
    asked = sorted(missing)[:_ASKED]
    lost = {question for question in asked if archives.find(question, agent) is None}
    return missing if len(lost) == len(asked) else lost
