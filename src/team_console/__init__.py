"""team-console: the human's seat in a team of AI agents.

For programs: `join_team` opens a team for an agent, `TeamError` is what every refusal raises; see
`team_console.store.api` for all of it. Both are loaded when they are first asked for, so that the command line and
a client's hook, which import this package too, do not pay for them.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
"""Type checkers take it for true; `typing` itself would cost each event of a client's hook a quarter of its time."""
if TYPE_CHECKING:
    from team_console.store.api import TeamError, join_team

__version__ = "0.6.0"

__all__ = ["TeamError", "__version__", "join_team"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("team_console.store.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
