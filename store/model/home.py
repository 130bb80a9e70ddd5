"""Home: the folder of the user, also where the system knows none, as for a user id without an account."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The user's folder; `/`, as in most containers, where neither `HOME` nor an account names an absolute one.

    `Path.home` raises there, and what is kept at home is nothing that anybody should fail without.
    """
    found = os.path.expanduser("~")
    return Path(found if os.path.isabs(found) else "/")
