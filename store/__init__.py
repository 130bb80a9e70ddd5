"""Messages, protocols, teams on disk or in SQL, every write action, every derived view. No screen.

For programs: `join_team` and what it gives, see `team_console.store.api`. Loaded when first asked for.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
"""Type checkers take it for true; `typing` itself would cost each event of a client's hook a quarter of its time."""
if TYPE_CHECKING:
    from team_console.store.api import (
        AgentClient,
        Code,
        Message,
        Receipt,
        Received,
        Request,
        RequestRow,
        TeamError,
        join_team,
    )

__all__ = [
    "AgentClient",
    "Code",
    "Message",
    "Receipt",
    "Received",
    "Request",
    "RequestRow",
    "TeamError",
    "join_team",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(f"{__name__}.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
