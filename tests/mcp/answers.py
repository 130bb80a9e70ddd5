"""What the SDK answers to all that a client asks before it calls a tool, kept in `console/mcp/answers.json`.

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

from tests.equipment.command_line import CommandLine, clean_environment

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions of the protocol that begin with `initialize`."""
GREETS_NOBODY = "2026-07-28"
"""The version in which each request says by itself what it needs."""
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_SERVE = "import sys; from team_console.console.mcp.server import serve; serve('file-manager', sys.argv[1])"


def request(number: int | str, method: str, **params: Any) -> dict[str, Any]:
    """A request as clients make it."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def greeting(version: str, number: int | str = 1) -> dict[str, Any]:
    """The first request of a client."""
    client = {"name": "test", "version": "1"}
    return request(number, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)


def asked(number: int | str, method: str, **params: Any) -> dict[str, Any]:
    """A request of a client that speaks the protocol without a greeting."""
    client = {"name": "test", "version": "1"}
    names = {"protocolVersion": GREETS_NOBODY, "clientInfo": client, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in names.items()}
    return request(number, method, _meta=meta, **params)


def answers_of_the_sdk(folder: Path) -> dict[str, Any]:
    """What a server answers where nothing stands between it and its client."""
    CommandLine(folder).ok("init", str(folder / "team"), "--name", "x", "--lead", "ceo", "--agent", "file-manager")
    greeted = []
    for version in VERSIONS:
        hello, *lists = _results(folder, greeting(version), INITIALIZED, *(request(name, name) for name in LISTS))
        assert hello.pop("protocolVersion") == version
        greeted.append({"initialize": hello, **dict(zip(LISTS, lists, strict=True))})
    assert all(answers == greeted[0] for answers in greeted), "the SDK answers versions differently now"
    names = ("server/discover", *LISTS)
    found = _results(folder, *(asked(name, name) for name in names))
    text = json.dumps({"greeted": greeted[0], GREETS_NOBODY: dict(zip(names, found, strict=True))})
    kept: dict[str, Any] = json.loads(text.replace(f'"version": "{__version__}"', '"version": ""'))
    return {"versions": list(VERSIONS), **kept}


def _results(folder: Path, *frames: dict[str, Any]) -> list[dict[str, Any]]:
    """What comes of these requests, in their order."""
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
        identities = [frame["id"] for frame in frames if "id" in frame]
        found = {
            answer["id"]: answer["result"] for answer in (json.loads(server.stdout.readline()) for _ in identities)
        }
        server.stdin.close()
    return [found[identity] for identity in identities]


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        found = answers_of_the_sdk(Path(folder))
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)
    Path(ANSWERS).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
