"""Files of a team that another user keeps to itself: not shown to us, and no sign of harm."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from team_console.store.backends.yaml.layout import EFFECTIVE, Layout
from team_console.store.contract.team import KEPT_PRIVATE
from team_console.store.model.problem import Problem


def is_closed(error: OSError) -> bool:
    """Whether `error` says that a file or folder of another user may not be read by us.

    Our own file without the right to read it, and any other error, is harm.
    """
    if error.errno != errno.EACCES or not error.filename:
        return False
    try:
        return os.lstat(error.filename).st_uid != os.geteuid()
    except PermissionError:  # it lies in a closed folder
        return True
    except OSError:
        return False


def closed_problem(layout: Layout) -> Problem | None:
    """One notice for all that is closed to us beside the queue, None when nothing is."""
    closed = [path for path in (layout.archives, layout.attachments, layout.audit) if is_closed_path(path)]
    return _problem(closed) if closed else None


def is_closed_path(path: Path) -> bool:
    """Whether the file or folder is another user's and may not be read by us."""
    try:
        if os.lstat(path).st_uid == os.geteuid():
            return False
    except OSError:
        return False
    needed = os.R_OK | os.X_OK if path.is_dir() else os.R_OK
    return not os.access(path, needed, effective_ids=EFFECTIVE)


def _problem(closed: Iterable[Path]) -> Problem:
    *names, last = [path.name for path in closed]
    listed = f"{', '.join(names)} and {last}" if names else last
    text = f"{listed}: kept private by the user who runs the team, so what was archived or recorded is not shown"
    hint = "Nothing is wrong with the team. Reading it all needs the rights of that user or its group."
    return Problem(KEPT_PRIVATE, "notice", listed, text, hint)
