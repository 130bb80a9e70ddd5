"""The command `team-console`, also `python -m console`."""

from __future__ import annotations

import gc
import os
import sys

from team_console.store.version import VERSION

_COLLECT_AFTER = 50_000


def main() -> int:
    """Run the command line with the arguments of this process; returns its exit status.

    Imports allocate much that stays, so the collector's small first threshold would only cost time. A client's hook
    has a start of its own: it is called for every event, and most of them need nothing. So has `--version`, by which
    scripts see whether we are there.
    """
    if sys.argv[1:] == ["--version"] and _say_version():
        return 0
    gc.set_threshold(_COLLECT_AFTER)
    try:
        if "hook" in sys.argv:
            from team_console.console.clients.quick.start import is_hook, run_hook

            if is_hook(sys.argv[1:]):
                return run_hook(sys.argv[1:], prepare=_load_msgspec)
        _load_msgspec()
        from team_console.console.cli.main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


def _load_msgspec() -> None:
    """Load it without `typing_extensions`: that and what it loads itself would take a tenth of a send.

    Where it is installed `msgspec` prefers it to `typing`, which has all that it asks for from Python 3.11 on.
    """
    modules: dict[str, object] = sys.modules  # type: ignore[assignment]
    hidden = modules.setdefault("typing_extensions", None) is None
    import msgspec  # noqa: F401

    if hidden:
        del modules["typing_extensions"]


def _say_version() -> bool:
    """Print it; False where standard output takes nothing, which the command line then tells."""
    try:
        text = f"team-console {VERSION}\n".encode()
        return os.write(1, text) == len(text)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
