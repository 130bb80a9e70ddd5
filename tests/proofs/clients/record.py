"""Record what the real clients write: `python -m tests.proofs.clients.record [NAME...]`.

Plays each session of `tests/hook/recorded.py`, and keeps its transcript as it was when the client asked its hook.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.hook.recorded import ASKED, RECORDINGS, SUBAGENT, TRANSCRIPTS, Recording
from tests.proofs.clients import network, packages
from tests.proofs.clients.model import ScriptedModel
from tests.proofs.clients.sessions import Claude, Codex, Place

_HOOK = """
import json, shutil, sys
event = json.load(sys.stdin)
if event.get("tool_input", {}).get("command") == sys.argv[1]:
    path = event["transcript_path"]
    if event.get("agent_id"):
        path = path.removesuffix(".jsonl") + "/subagents/agent-" + event["agent_id"] + ".jsonl"
    shutil.copy(path, sys.argv[2])
"""
_SAID = ("user", "assistant", "last-prompt", "response_item", "event_msg")
"""Kinds of rows that hold what was said and done."""
_LONGEST = 120
"""Characters of JSON from which on a value in another row is cut."""


def main(names: list[str]) -> int:
    """Record the sessions of these names, or all; an exit status."""
    if not network.is_own() and "--inside" not in names:
        print(f"not run: {network.enter(['tests.proofs.clients.record', '--inside', *names])}")
        return 1
    network.lift_loopback()
    if packages.missing():
        print("the clients are not installed: make clients")
        return 1
    wanted = [name for name in names if name != "--inside"]
    for name, recording in RECORDINGS.items():
        if not wanted or name in wanted:
            print(name, "recorded" if _record(name, recording) else "was NOT recorded", flush=True)
    return 0


def _record(name: str, recording: Recording) -> bool:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        home, project, kept = folder / "home", folder / "project", folder / "kept.jsonl"
        for path in (home, project):
            path.mkdir()
        with ScriptedModel({"SUB": SUBAGENT, "": recording.turns}) as model:
            place = Place(home, project, model.address)
            hook = f"{sys.executable} {folder / 'hook.py'} {ASKED!r} {kept}"
            (folder / "hook.py").write_text(_HOOK)
            hooks = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": hook}]}]}}
            play = _claude if name.startswith("claude") else _codex
            told = play(place, recording, hooks)
        if not kept.exists():
            print(told[-2000:])
            return False
        rows = [_cut(json.loads(line)) for line in kept.read_text(encoding="utf-8").splitlines()]
        text = "".join(f"{json.dumps(row, ensure_ascii=False, separators=(',', ':'))}\n" for row in rows)
        (TRANSCRIPTS / f"{name}.jsonl").write_text(text.replace(str(folder), "/home/you"), encoding="utf-8")
        return True


def _claude(place: Place, recording: Recording, hooks: Mapping[str, Any]) -> str:
    client = Claude(place)
    settings = place.home / ".claude" / "settings.json"
    (settings.parent / "commands").mkdir(parents=True)
    (settings.parent / "commands" / "review.md").write_text("Review $ARGUMENTS and make it ready.\n")
    settings.write_text(json.dumps(hooks))
    done = [client.run(prompt, *(["--continue"] if number else [])) for number, prompt in enumerate(recording.prompts)]
    return str(done)


def _codex(place: Place, recording: Recording, hooks: Mapping[str, Any]) -> str:
    client = Codex(place)
    (client.folder / "hooks.json").write_text(json.dumps(hooks))
    done = [client.run(prompt, again=number > 0) for number, prompt in enumerate(recording.prompts)]
    return str(done)


def _cut(row: dict[str, Any]) -> dict[str, Any]:
    """The row without what is long and no word of a session: instructions, tool lists, environments."""
    payload = row.get("payload")
    is_said = row.get("type") in _SAID and not (isinstance(payload, dict) and payload.get("role") == "developer")
    return {key: _short(value, 600) if is_said else _cut_off(value) for key, value in row.items()}


def _cut_off(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST else {"type": "cut", "text": text[:60]}


def _short(value: Any, most: int) -> Any:
    """The value with every text in it cut to `most` characters."""
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]}..."
    if isinstance(value, dict):
        return {key: _short(item, most) for key, item in value.items()}
    return [_short(item, most) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
