"""What the SDK answers to `initialize` and `tools/list`, kept in `console/mcp/answers.json`.

`python -m tests.mcp.answers` writes it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from team_console import __version__
from team_console.console.mcp.start import ANSWERS

from tests.conftest import CommandLine, clean_environment

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions of the protocol that begin with `initialize`."""
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_SERVE = "import sys; from team_console.console.mcp.server import serve; serve('file-manager', sys.argv[1])"


def request(number: int | str, method: str, **params: Any) -> dict[str, Any]:
    """A request as clients make it."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def greeting(version: str, number: int | str = 1) -> dict[str, Any]:
    """The first request of a client."""
    client = {"name": "test", "version": "1"}
    return request(number, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)


def answers_of_the_sdk(folder: Path) -> dict[str, Any]:
    """What a server answers where nothing stands between it and its client."""
    CommandLine(folder).ok("init", str(folder / "team"), "--name", "x", "--lead", "ceo", "--agent", "file-manager")
    found: list[dict[str, Any]] = []
    for version in VERSIONS:
        frames = [greeting(version), INITIALIZED, request(2, "tools/list")]
        with subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE, str(folder / "team")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=clean_environment(),
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write("".join(f"{json.dumps(frame)}\n" for frame in frames).encode())
            server.stdin.flush()
            result = json.loads(server.stdout.readline())["result"]
            tools = json.loads(server.stdout.readline())["result"]["tools"]
            server.stdin.close()
        assert result.pop("protocolVersion") == version
        assert result["serverInfo"].pop("version") == __version__
        found.append({"versions": list(VERSIONS), "initialize": result, "tools": tools})
    assert all(answers == found[0] for answers in found), "the SDK answers versions differently now"
    return found[0]


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        found = answers_of_the_sdk(Path(folder))
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)
    Path(ANSWERS).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
