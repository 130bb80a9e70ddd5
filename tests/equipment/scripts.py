"""Scripts: commands of a team and what comes of them, as text that reads like a session at a terminal.

`$ ACTOR: COMMAND` prints its JSON, `% ACTOR: COMMAND` its words for people; `ACTOR@BOUND` is ACTOR in a process that
belongs to BOUND, and what stands behind ` << ` is its standard input. Before it, `NAME = ` keeps what was printed:
NAME.FIELD, in a longer text {NAME.FIELD}, is a field of that, or of the first message or request in it. `until ` before
all of it repeats the command until what stands below holds.

`! MEMBER: EVENT {CHANGES}` is an event that a real client sent (`proofs/clients/data`), told to the hook of the
member's session; `MEMBER/2` is another session of it, words behind the member are flags of the hook, and a field that
is null is left out. `NAME = & MEMBER: EVENT` starts the hook and goes on, `ends NAME` waits for its end and has what
it said, `dismiss NAME` does so after the client has ended it, `kill NAME` ends it without a word, and nobody reads it
any more from `unread NAME` on. `> FILE: EVENT {CHANGES}` runs the line that the settings in FILE have for an event,
as the client does; a number behind the file is the session. `NAME = ? MEMBER: COMMAND` asks, as a client does,
whether a command may run. `@ AGENT: TOOL {ARGUMENTS}` calls a tool of its MCP server. `console opens` and `console
closes` are a human who comes and goes, `waits MEMBER` is there once a process waits beside the member's session, `set
NAME VALUE` is a variable of the environment, without a value none, and `signs` makes the team one of signed verdicts.

`write FILE TEXT`, `append FILE TEXT`, `replace FILE OLD NEW`, `merge FILE {FIELDS}`, `sh COMMAND` (which finds
`scenes/files` at $FILES) and, in a database, `sql PLACE STATEMENT` or `sql PLACE < FILE`, a file there, are what
another program does; `take ID` takes a message out of the queue, and `chain RECORD` puts one into it, and the human's
yes by it onto the trail. `holds FILE TEXT` is what it finds, `there FILE` waits for one, `gone FILE` wants none, `json
FILE` has what stands in it, and `same files` wants each to be what it was at `keep files`. A FILE is a pattern, from
the folder of the team or, behind `~/`, from home. Below a line stands, indented, what must hold:

- of JSON, which a hook says, too, `PLACE: VALUE` and `PLACE ~ WORDS` (which are in it), behind `! ` the contrary; a
  place is names and numbers with dots, `*` is each; of a hook that says nothing, `nothing`, and `says WORDS` of both
  its outputs as they are; a statement gives the `rows` that it finds;
- of words for people, and what `sh` prints, words that stand in them, behind `!` words that do not, `=` all of the
  standard error;
- of both `exits N`; otherwise the command succeeds, unless an `error: CODE` is named.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from team_console.console.clients.client_process import has_waker
from team_console.console.clients.session_files import SessionFiles
from team_console.store.backends.open import open_team
from team_console.store.settings.team_config import QUEUE_NAME

from tests.equipment.asking import ask
from tests.equipment.client_session import WAIT, Client, at_console
from tests.equipment.command_line import CommandLine, Result, clean_environment
from tests.equipment.places import found_at, steps_of
from tests.equipment.signed_teams import Files
from tests.equipment.signing_keys import sign_verdicts
from tests.equipment.statements import execute
from tests.equipment.waiting import until

_FILES = Path(__file__).parents[1] / "scenes" / "files"
_NAMED = re.compile(r"(?:(\w+) = )?(.*)", re.DOTALL)
_FIELD = re.compile(r"\{((\w+)\.[\w.-]+)\}")


class Script:
    """A script that is played.

    Attributes:
        kept: What some commands printed, by the names that the script gives it.
    """

    def __init__(self, command: CommandLine) -> None:
        self.command = command
        self.kept: dict[str, Any] = {"here": {"folder": str(command.folder), "process": os.getpid()}}
        self.home = command.folder.parent / "home"
        self.home.mkdir(exist_ok=True)
        self.environment = {"HOME": str(self.home), "XDG_STATE_HOME": str(command.folder.parent / "state")}
        self._clients: dict[str, Client] = {}
        self._begun: dict[str, subprocess.Popen[bytes]] = {}
        self._files: Mapping[str, bytes] = {}
        self._console = ExitStack()
        self._actions: Mapping[str, Callable[..., None]] = {
            **{"write": self._write, "append": self._append, "replace": self._replace, "merge": self._merge},
            **{"holds": self._finds, "there": self._wait_for, "gone": self._is_gone},
            **{"keep": self._keep_files, "same": self._compare_files, "set": self._set, "console": self._console_moves},
            **{"take": self._take, "chain": self._chain, "signs": self._sign},
            **{"waits": self._wait_for_waker, "kill": self._kill, "unread": self._close_outputs},
        }

    def play(self, text: str) -> None:
        """Play all of it."""
        with ExitStack() as ending:
            ending.callback(self._close)
            for step, expected in steps_of(text):
                line = self._filled(step)
                verb, _, rest = line.partition(" ")
                if verb in self._actions and not rest.startswith("= "):
                    self._actions[verb](*(word.replace("\\n", "\n") for word in shlex.split(rest)))
                elif verb == "until":
                    until(lambda: self._misses(rest, expected) is None, WAIT)  # noqa: B023
                else:
                    assert (missed := self._misses(line, expected)) is None, missed

    def _misses(self, line: str, expected: list[str]) -> tuple[str, str, Result] | None:
        """Run the command of a line; the line, what does not hold, and what was printed."""
        result = self.run(line)
        wanted = [self._filled(one) for one in expected]
        status = next((int(one[6:]) for one in wanted if one.startswith("exits ")), None)
        refused = any(one.startswith("error: ") for one in wanted)
        if not ((result.status == status) if status is not None else ((result.status != 0) is refused)):
            return line, f"status {result.status}", result
        rest = [one for one in wanted if not one.startswith("exits ")]
        is_json = "% " not in line and not line.startswith("sh ")
        return next(((line, one, result) for one in rest if not self._holds(one, result, is_json)), None)

    def run(self, line: str) -> Result:
        """Run the command of a line; its JSON is kept."""
        verb, _, rest = line.partition(" ")
        if verb == "sh":
            environment = {**os.environ, "FILES": str(_FILES)}
            done = subprocess.run(
                ["sh", "-c", rest], cwd=self.command.folder, env=environment, capture_output=True, check=False
            )
            return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
        if verb == "sql":
            place, _, statement = rest.partition(" ")
            if statement.startswith("< "):
                statement = (_FILES / statement.removeprefix("< ")).read_text(encoding="utf-8")
            rows = execute(place if "://" in place else str(self.command.folder / place), statement)
            return Result(0, json.dumps({"rows": rows}, default=str), "")
        words, _, stdin = line.partition(" << ")
        name, words = _NAMED.fullmatch(words).groups("")  # type: ignore[union-attr]
        sort, _, words = words.partition(" ")
        if sort in ("ends", "dismiss"):
            return self._ended(words, sort == "dismiss")
        if sort == "json":
            self.kept[name] = self._read(words)
            return Result(0, json.dumps(self.kept[name]), "")
        actor, _, words = words.partition(": ")
        if sort == "?":
            return self._ask(name, actor, words)
        if sort == "@":
            return self._call_tool(name, actor, words)
        if sort == ">":
            return self._run_settings(actor, words)
        if sort in ("!", "&"):
            member, *flags = actor.split()
            event, changes = _event(words)
            self._begun[name or "!"] = self._client(member).begin(event, *flags, **changes)
            return self._ended("!") if sort == "!" else Result(0, "", "")
        actor, _, bound = actor.partition("@")
        arguments = [self.value(word) for word in shlex.split(words)]
        given = ["--json"] if sort == "$" else []
        env = {**self.environment, **({"TEAM_CONSOLE_AS": bound} if bound else {})}
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

    @property
    def state(self) -> Path:
        """The folder in which sessions and joins are remembered."""
        return Path(self.environment["XDG_STATE_HOME"])

    def _client(self, who: str) -> Client:
        """The session of a member."""
        member, _, session = who.partition("/")
        made = Client(self.command.folder, self.state, member, _session(session))
        client = self._clients.setdefault(who, made)
        own = ("XDG_STATE_HOME", "TEAM_CONSOLE_TEAM")
        client.extra = {key: value for key, value in self.environment.items() if key not in own}
        client.location = self.environment.get("TEAM_CONSOLE_TEAM", "")
        return client

    def _ended(self, name: str, is_dismissed: bool = False) -> Result:
        process = self._begun.pop(name)
        if is_dismissed:
            process.terminate()
        out, err = process.communicate(timeout=WAIT)
        return Result(process.returncode, out.decode(), err.decode())

    def _run_settings(self, place: str, words: str) -> Result:
        """Run the line that a client's settings have for an event."""
        file, _, session = place.partition(" ")
        name, changes = _event(words)
        event = Client(self.command.folder, self.state, session=_session(session)).event(name, **changes)
        line = self._read(file)["hooks"][event["hook_event_name"]][0]["hooks"][0]["command"]
        environment = clean_environment(CLAUDE_CODE_SESSION_ID=event["session_id"], **self.environment)
        done = subprocess.run(
            ["/bin/sh", "-c", line], input=json.dumps(event).encode(), capture_output=True, env=environment, check=False
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def _filled(self, text: str) -> str:
        """The text with fields of what was kept in place of their names in braces."""
        return _FIELD.sub(lambda found: self.value(found[1]) if found[2] in self.kept else found[0], text)

    def _paths(self, file: str) -> list[Path]:
        """The files of a pattern, or the one that is to be."""
        root = self.home if file.startswith("~/") else self.command.folder
        folder, _, name = file.removeprefix("~/").rpartition("/")
        place = next(iter(sorted(root.glob(folder))), root / folder) if folder else root
        return sorted(root.glob(file.removeprefix("~/"))) or [place / name]

    def _path(self, file: str) -> Path:
        return self._paths(file)[0]

    def _read(self, file: str) -> Any:
        text = self._path(file).read_text("utf-8")
        return tomllib.loads(text) if file.endswith(".toml") else json.loads(text)

    def _write(self, file: str, text: str) -> None:
        path = self._path(file)
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch(0o600)  # a key that others may read is none
        path.write_text(text, encoding="utf-8")

    def _append(self, file: str, text: str) -> None:
        self._write(file, self._path(file).read_text("utf-8") + text)

    def _replace(self, file: str, old: str, new: str) -> None:
        text = self._path(file).read_text("utf-8")
        assert old in text, (file, old)
        self._write(file, text.replace(old, new))

    def _merge(self, file: str, fields: str) -> None:
        merged = {**self._read(file), **json.loads(fields)}
        self._write(file, json.dumps({key: value for key, value in merged.items() if value is not None}))

    def _take(self, identity: str, *more: Any) -> None:
        """Take a message out of the queue, and put others into it."""
        queue = self.command.folder / QUEUE_NAME
        messages = yaml.safe_load(queue.read_text("utf-8"))["messages"]
        kept = [message for message in messages if message["message_id"] != identity]
        queue.write_text(yaml.safe_dump({"messages": [*kept, *more]}, sort_keys=False), "utf-8")

    def _chain(self, record: str) -> None:
        message = yaml.safe_load(record)
        self._take("", message)
        Files(self.command.folder).trail(message)

    def _sign(self) -> None:
        sign_verdicts(self.command.folder)

    def _ask(self, name: str, member: str, command: str) -> Result:
        """Ask for a permission as the hook of a client does."""
        team = open_team(str(self.command.folder))
        self.kept[name] = {"request_id": ask(team, {"command": command}, by=member)}
        team.close()
        return Result(0, "", "")

    def _call_tool(self, name: str, agent: str, words: str) -> Result:
        """Call a tool of the MCP server of an agent."""
        pytest.importorskip("mcp.server.mcpserver", reason="the extra [mcp] is not installed")
        from mcp import Client as ToolClient
        from team_console.console.mcp.acting import ActingAgent
        from team_console.console.mcp.server import make_server

        tool, _, given = words.partition(" ")

        async def call() -> Any:
            async with ToolClient(make_server(ActingAgent(agent, str(self.command.folder)), settled=0.0)) as client:
                return await client.call_tool(tool, json.loads(given or "{}"))

        told = asyncio.run(asyncio.wait_for(call(), WAIT))
        self.kept[name] = told.structured_content
        return Result(int(told.is_error), json.dumps(told.structured_content), "")

    def _finds(self, file: str, text: str) -> None:
        assert text in self._path(file).read_text("utf-8"), (file, text)

    def _wait_for(self, file: str) -> None:
        until(lambda: self._path(file).exists(), WAIT)

    def _is_gone(self, file: str) -> None:
        assert not self._path(file).exists(), file

    def _console_moves(self, verb: str) -> None:
        self._console.close()
        if verb == "opens":
            location = self.environment.get("TEAM_CONSOLE_TEAM", str(self.command.folder))
            self._console.enter_context(at_console(location))

    def _kill(self, name: str) -> None:
        self._begun[name].kill()
        self._begun[name].wait(WAIT)

    def _close_outputs(self, name: str) -> None:
        for stream in (self._begun[name].stdout, self._begun[name].stderr):
            assert stream is not None
            stream.close()
        assert self._begun[name].wait(WAIT) == 0

    def _wait_for_waker(self, who: str) -> None:
        folder = self.state / "team-console" / "sessions"
        until(lambda: any(has_waker(SessionFiles(str(path))) for path in folder.iterdir()), WAIT)

    def _set(self, name: str, *value: str) -> None:
        self.environment.pop(name, None)
        self.environment |= {name: value[0]} if value else {}

    def _found_files(self) -> Mapping[str, bytes]:
        paths = (path for root in (self.command.folder, self.home) for path in root.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in paths}

    def _keep_files(self, _: str) -> None:
        self._files = self._found_files()

    def _compare_files(self, _: str) -> None:
        found = self._found_files()
        changed = {path for path in {*found, *self._files} if found.get(path) != self._files.get(path)}
        assert not changed

    def _close(self) -> None:
        self._console.close()
        for client in self._clients.values():
            client.close()

    def _holds(self, expected: str, result: Result, is_json: bool) -> bool:
        if expected.startswith("! "):
            return not self._holds(expected.removeprefix("! "), result, is_json)
        if expected.startswith("says "):
            return expected.removeprefix("says ") in result.out + result.err
        if not is_json:
            if expected.startswith("="):
                return result.err.strip() == expected[1:].strip()
            return self.value(expected) in result.out + result.err
        printed = values(result)
        if expected == "nothing" or not printed:
            return expected == "nothing" and not result.out
        place, _, wanted = expected.partition(" ")
        assert place.endswith(":") or wanted.startswith("~ "), expected
        found = found_at(printed if len(printed) > 1 else printed[0], place.removesuffix(":").split("."))
        text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        return text == self.value(wanted) if place.endswith(":") else wanted.removeprefix("~ ") in text


def _event(words: str) -> tuple[str, dict[str, Any]]:
    """The name of a captured event, and what is changed in it."""
    name, brace, changes = words.partition(" {")
    return name, json.loads(brace.strip() + changes or "{}")


def _session(number: str) -> str:
    return f"{number or 1}1111111-2222-3333-4444-555555555555"


def values(result: Result) -> list[Any]:
    """The JSON values that a command printed, one a line."""
    return [json.loads(text) for text in result.out.splitlines()]
