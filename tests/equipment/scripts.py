"""Scripts: commands of a team and what comes of them, as text that reads like a session at a terminal.

`$ ACTOR: COMMAND` prints its JSON, `% ACTOR: COMMAND` its words for people; `ACTOR@BOUND` is ACTOR in a process that
belongs to BOUND, and what stands behind ` << ` is its standard input. Before it, `NAME = ` keeps what was printed:
NAME.FIELD, in a longer text {NAME.FIELD}, is a field of that, or of the first message or request in it.
`! MEMBER: EVENT {CHANGES}` is an event that a real client sent (`proofs/clients/data`), told to the hook of the
member's session; `MEMBER/2` is another session of it, and a field that is null is left out. `NAME = ? MEMBER: COMMAND`
asks, as a client does, whether a command may run. `write FILE TEXT`, `append FILE TEXT`, `replace FILE OLD NEW`,
`sh COMMAND` (which finds `scenes/files` at $FILES) and, in a database, `sql PLACE STATEMENT` are what another program
does, and `holds FILE TEXT` is what it finds; `take ID` takes a message out of the queue, and `chain RECORD` puts one
into it, and the human's yes by it onto the trail. `signs` makes the team one of signed verdicts. Below a command
stands, indented, what must hold:

- of JSON, which a hook says, too, `PLACE: VALUE` and `PLACE ~ WORDS` (which are in it); a place is names and numbers
  with dots, `*` is each; of a hook that says nothing, `nothing`; a statement gives the `rows` that it finds;
- of words for people, and what `sh` prints, words that stand in them, behind `!` words that do not, `=` all of the
  standard error;
- of both `exits N`; otherwise the command succeeds, unless an `error: CODE` is named.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from team_console.store.backends.open import QUEUE_NAME, open_team

from tests.equipment.asking import ask
from tests.equipment.command_line import CommandLine, Result
from tests.equipment.places import found_at
from tests.equipment.signed_teams import Files
from tests.equipment.signing_keys import sign_verdicts
from tests.equipment.statements import execute

_DATA = Path(__file__).parents[1] / "proofs" / "clients" / "data" / "hook_inputs.json"
CAPTURED: Mapping[str, Mapping[str, Any]] = json.loads(_DATA.read_text(encoding="utf-8"))
"""Events of the real programs, with neutral paths and names."""
_FILES = Path(__file__).parents[1] / "scenes" / "files"
_CHANGES = ("write", "append", "replace", "holds", "take", "chain", "signs")
_FIELD = re.compile(r"\{((\w+)\.[\w.-]+)\}")


class Script:
    """A script that is played.

    Attributes:
        kept: What some commands printed, by the names that the script gives it.
    """

    def __init__(self, command: CommandLine) -> None:
        self.command = command
        self.kept: dict[str, Any] = {}

    def play(self, text: str) -> None:
        """Play all of it."""
        for step in text.replace("\n  ", "\0").splitlines():
            line, *expected = step.split("\0")
            if not line or line.startswith("#"):
                continue
            line = self._filled(line)
            if line.partition(" ")[0] in _CHANGES:
                self._change(*(word.replace("\\n", "\n") for word in shlex.split(line)))
                continue
            result = self.run(line)
            expected = [self._filled(one) for one in expected]
            status = next((int(one[6:]) for one in expected if one.startswith("exits ")), None)
            refused = any(one.startswith("error: ") for one in expected)
            assert (result.status == status) if status is not None else ((result.status != 0) is refused), (
                line,
                result,
            )
            is_json = "% " not in line and not line.startswith("sh ")
            for one in expected:
                assert one.startswith("exits ") or self._holds(one, result, is_json), (line, one, result)

    def run(self, line: str) -> Result:
        """Run the command of a line; its JSON is kept."""
        verb, _, rest = line.partition(" ")
        if verb == "sh":
            environment = {**os.environ, "FILES": str(_FILES)}
            done = subprocess.run(["sh", "-c", rest], cwd=self.command.folder, env=environment, capture_output=True)
            return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
        if verb == "sql":
            place, _, statement = rest.partition(" ")
            rows = execute(place if "://" in place else str(self.command.folder / place), statement)
            return Result(0, json.dumps({"rows": rows}, default=str), "")
        words, _, stdin = line.partition(" << ")
        name, _, words = words.rpartition(" = ")
        sort, _, words = words.partition(" ")
        actor, _, words = words.partition(": ")
        if sort == "!":
            return self._tell(actor, words)
        if sort == "?":
            return self._ask(name, actor, words)
        actor, _, bound = actor.partition("@")
        arguments = [self.value(word) for word in shlex.split(words)]
        given = ["--json"] if sort == "$" else []
        env = {"TEAM_CONSOLE_AS": bound} if bound else {}
        result = self.command("--as", actor, *arguments, *given, stdin=stdin, env=env)
        if given:
            assert result.out, (line, result)
            self.kept[name] = values(result)[0]
        return result

    def value(self, word: str) -> str:
        """What a word stands for: itself, or a field of what was kept."""
        name, *place = word.split(".")
        if not name or not place or name not in self.kept:
            return word
        found = self.kept[name]
        return str(found_at(found if place[0] in found else (found.get("messages") or found["requests"])[0], place))

    def _tell(self, who: str, words: str) -> Result:
        """Tell an event to the hook of a session."""
        member, _, session = who.partition("/")
        name, brace, changes = words.partition(" {")
        event = {**CAPTURED[name], "session_id": f"{session or 1}1111111-2222-3333-4444-555555555555"}
        event |= {"cwd": str(self.command.folder), **json.loads(brace.strip() + changes or "{}")}
        state = str(self.command.folder.parent / "state")
        env = {"TEAM_CONSOLE_AS": member, "TEAM_CONSOLE_TEAM": str(self.command.folder), "XDG_STATE_HOME": state}
        told = {key: value for key, value in event.items() if value is not None}
        return self.command("hook", stdin=json.dumps(told), env=env)

    def _ask(self, name: str, member: str, command: str) -> Result:
        """Ask for a permission as the hook of a client does."""
        team = open_team(str(self.command.folder))
        self.kept[name] = {"request_id": ask(team, {"command": command}, by=member)}
        team.close()
        return Result(0, "", "")

    def _filled(self, text: str) -> str:
        """The text with fields of what was kept in place of their names in braces."""
        return _FIELD.sub(lambda found: self.value(found[1]) if found[2] in self.kept else found[0], text)

    def _change(self, verb: str, file: str = "", text: str = "", new: str = "") -> None:
        path = self.command.folder / file
        if verb == "signs":
            sign_verdicts(self.command.folder)
            return
        if verb in ("take", "chain"):
            queue = self.command.folder / QUEUE_NAME
            messages = yaml.safe_load(queue.read_text("utf-8"))["messages"]
            kept = [message for message in messages if message["message_id"] != file]
            if verb == "chain":
                kept.append(yaml.safe_load(file))
                Files(self.command.folder).trail(kept[-1])
            queue.write_text(yaml.safe_dump({"messages": kept}, sort_keys=False), "utf-8")
            return
        if verb == "holds":
            assert text in path.read_text("utf-8"), (file, text)
            return
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch(0o600)  # a key that others may read is none
        before = "" if verb == "write" else path.read_text("utf-8")
        path.write_text(before.replace(text, new) if verb == "replace" else before + text, encoding="utf-8")

    def _holds(self, expected: str, result: Result, is_json: bool) -> bool:
        if not is_json:
            if expected.startswith("="):
                return result.err.strip() == expected[1:].strip()
            words = self.value(expected.removeprefix("! "))
            return (words in result.out + result.err) is not expected.startswith("! ")
        printed = values(result)
        if expected == "nothing" or not printed:
            return expected == "nothing" and not result.out
        place, sign, wanted = expected.partition(": ")
        if not sign:
            place, _, wanted = expected.partition(" ~ ")
        found = found_at(printed if len(printed) > 1 else printed[0], place.split("."))
        text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        return text == self.value(wanted) if sign else wanted in text


def values(result: Result) -> list[Any]:
    """The JSON values that a command printed, one a line."""
    return [json.loads(text) for text in result.out.splitlines()]
