"""Read the teams of other programs, which keep an inbox file for each agent; never write there.

Two forms are read: a team of Claude Code (`config.json` and `inboxes/AGENT.json`, one JSON array each) and the folder
`.team` that many small agent programs share (`config.json` and `inbox/AGENT.jsonl`, one JSON object a line). Both empty
an inbox when its agent takes its mail, so a message that is gone counts as read, and is kept here while we look.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.team import (
    FOREIGN_TEAM,
    AuditLine,
    Condition,
    Page,
    Snapshot,
    Team,
    WatchHint,
    WatchState,
)
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import Clock, from_file, from_text, to_text, utc_now
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, Status, from_record
from team_console.store.model.names import as_name, did_you_mean
from team_console.store.model.safe import counted, first_of, safe_line
from team_console.store.protocol.parsing import EARLIEST
from team_console.store.settings.team_config import Agent, KindRule, TeamConfig

LOOK_SECONDS = 0.2
"""How often the files are looked at. Claude Code takes mail out within a second, and what nobody saw is lost."""
_LARGEST = 16 << 20
"""Bytes of a file that is read; the largest inbox on record has 1.8 MB."""
_MOST_FILES, _MOST_PASSED = 1_000, 2_000
_TRIES, _PAUSE = 4, 0.02
"""Readers take no lock and older builds write in place: a few reads of a hundred see an empty or cut file."""
_TYPES = (
    *("message", "broadcast", "shutdown_request", "shutdown_response", "shutdown_approved", "shutdown_rejected"),
    *("plan_approval_request", "plan_approval_response", "permission_request", "permission_response"),
    *("sandbox_permission_request", "sandbox_permission_response", "mode_set_request", "team_permission_update"),
    *("idle_notification", "task_assignment", "task_completed", "teammate_terminated"),
)
_WORDS = ("content", "message", "planContent", "plan", "reason", "feedback", "description", "subject", "summary")
"""Fields that hold the words of a message, the one with most of them first."""
_ENVELOPE = {
    "type",
    "from",
    "sender",
    "to",
    "timestamp",
    "text",
    "content",
    "summary",
    "read",
    "color",
    "msgV",
    "msg_id",
}


class Form(Struct, frozen=True):
    """How a program keeps its team.

    Attributes:
        kind: `claude` or `lines`.
        words: What a team of this form is, for people.
        folder, suffix: Where the inboxes are, and how their names end.
        lead: Who leads where the settings do not say.
    """

    kind: str
    words: str
    folder: str
    suffix: str
    lead: str


CLAUDE = Form("claude", "a team of Claude Code", "inboxes", ".json", "team-lead")
LINES = Form("lines", "a team with a file of JSON lines for each inbox", "inbox", ".jsonl", "lead")


class OtherTeam(Struct, frozen=True):
    """A team of another program, as found.

    Attributes:
        location: What `-t` takes to open it.
    """

    location: str
    folder: Path
    form: Form


def claude_teams() -> Path:
    """The folder in which Claude Code keeps its teams."""
    root = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(root).expanduser() / "teams" if root else Path(os.path.expanduser("~/.claude/teams"))


def team_in(folder: Path) -> OtherTeam | None:
    """The team of another program that is `folder` itself, or `.team` in it; None when there is none."""
    if folder.parent == claude_teams() and _is_team_of_claude(folder):
        return OtherTeam(f"claude:{folder.name}" if as_name(folder.name) else str(folder), folder, CLAUDE)
    for place in (folder, folder / ".team"):
        if os.path.isfile(place / "config.json"):
            if os.path.isdir(place / CLAUDE.folder):
                return OtherTeam(str(place), place, CLAUDE)
            if os.path.isdir(place / LINES.folder) or place.name == ".team":
                return OtherTeam(str(place), place, LINES)
    return None


def _is_team_of_claude(folder: Path) -> bool:
    """Whether one of its two parts is there: a lone session has no inboxes yet, and some folders lost their roster."""
    return os.path.isfile(folder / "config.json") or os.path.isdir(folder / CLAUDE.folder)


def teams_under(folder: Path) -> list[OtherTeam]:
    """The teams of Claude Code that lie side by side in `folder`; empty when it cannot be looked into."""
    try:
        children = sorted(child for child in folder.iterdir() if child.is_dir() and not child.is_symlink())
    except OSError:
        return []
    found = [team_in(child) for child in children[:_MOST_FILES]]
    return [seen for seen in found if seen is not None and seen.form is CLAUDE]


def open_claude(name: str, *, clock: Clock = utc_now) -> ClaudeTeam:
    """Open the team of Claude Code with this name.

    Raises:
        TeamError: `TEAM_NOT_FOUND`, with the names that there are.
    """
    root = claude_teams()
    seen = team_in(root / name) if as_name(name) else None
    if seen is not None and os.path.isdir(seen.folder):
        return ClaudeTeam(seen, clock=clock)
    names = [other.folder.name for other in teams_under(root)]
    there = f"There are: {safe_line(first_of(names, 8))}{did_you_mean(name, names)}." if names else "There are none."
    text = f"{safe_line(str(root))} has no team of Claude Code named {safe_line(name, 80)!r}"
    raise TeamError(Code.TEAM_NOT_FOUND, text, f"{there} CLAUDE_CONFIG_DIR names another folder than ~/.claude.")


class _File(Struct):
    """An inbox as it was read last: what the file was, its messages by id, and what is wrong in it."""

    mark: tuple[int, ...] | None = None
    messages: Mapping[str, Message] = MappingProxyType({})
    problems: tuple[Problem, ...] = ()


class ClaudeTeam(Team):
    """A team of another program, opened read-only: its roster, and its messages while they are in an inbox or passed.

    Its messages have kinds of their own (`claude:plan_approval_request`), so that nothing said there opens, answers or
    decides anything here; with `taken_over` they have the kinds they name.
    """

    def __init__(self, seen: OtherTeam, *, clock: Clock = utc_now, taken_over: bool = False) -> None:
        self.location, self.root, self.clock = seen.location, seen.folder, clock
        self.kind, self.read_only = seen.form.kind, True
        self._form, self._folder, self._taken_over = seen.form, seen.folder, taken_over
        self._files: dict[str, _File] = {}
        self._live: dict[str, Message] = {}
        self._passed: dict[str, Message] = {}
        self._config = TeamConfig()
        self._config_problems: tuple[Problem, ...] = ()
        self._lock = threading.Lock()

    def taken_over(self) -> ClaudeTeam:
        """The same team as a source to copy, each message of the kind that it names.

        Raises:
            TeamError: `NOT_PERMITTED` for a team of Claude Code, which goes on writing where it is.
        """
        if self._form is CLAUDE:
            text = f"{self.location} is a team of Claude Code, which reads its own folder and no other"
            raise TeamError(Code.NOT_PERMITTED, text, "Let its agents join a team here: team-console join --help.")
        return ClaudeTeam(OtherTeam(self.location, self._folder, self._form), clock=self.clock, taken_over=True)

    def obstacle(self) -> str:
        """Say that nothing is ever written here."""
        return f"{self._form.words}: what is said in it decides nothing here"

    def snapshot(self, *, progress: Callable[[int, int], bool] | None = None) -> Snapshot:
        """Read what changed since the last look; see `Team.snapshot`."""
        with self._lock:
            if not os.path.isdir(self._folder):
                return self._snapshot(Condition.VANISHED, (self._gone(),))
            self._read_config()
            self._read_inboxes()
            problems = [Problem(FOREIGN_TEAM, "notice", self._form.kind, self.obstacle(), self._next_step())]
            problems += self._config_problems
            for file in self._files.values():
                problems += file.problems
            return self._snapshot(Condition.OK if self._live or self._passed else Condition.EMPTY, tuple(problems))

    def _snapshot(self, condition: Condition, problems: tuple[Problem, ...]) -> Snapshot:
        messages: tuple[Message, ...] = ()
        if condition is Condition.OK:
            every = (*self._passed.values(), *self._live.values())
            messages = tuple(sorted(every, key=lambda message: message.created_at or EARLIEST))
        marks = [file.mark for file in self._files.values() if file.mark is not None]
        changed = max((mark[-1] for mark in marks), default=None)
        said = repr((condition, self._config.name, sorted(self._files), marks, problems))
        return Snapshot(
            revision=hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest(),
            taken_at=self.clock(),
            changed_at=None if changed is None else from_file(changed),
            config=self._config,
            messages=messages,
            problems=problems,
            condition=condition,
        )

    def _gone(self) -> Problem:
        text = f"{self._folder} is gone, as when the session that led it ended"
        return Problem("VANISHED", "error", self._form.kind, text, "What passed before is not kept on disk.")

    def _next_step(self) -> str:
        own = "its agents can join a team here: team-console join"
        if self._form is LINES:
            own = f"take it over: team-console migrate {self.location} FOLDER"
        return f"To answer here, {own}. Mail taken out before now is not shown."

    def transaction(self, *, actor: str, action: str, wait: float) -> AbstractContextManager[Transaction]:
        """Refuse: another program's files are only read."""
        raise TeamError(Code.READ_ONLY, f"{self.location} is {self.obstacle()}", self._next_step())

    def history(self, *, agent: str | None = None, cursor: str | None = None, limit: int = 200) -> Page:
        """No archives: what passed while we looked is in the snapshot."""
        return Page((), None)

    def audit(self, *, limit: int = 200) -> list[AuditLine]:
        """No audit trail: nothing is done here."""
        return []

    def attachment(self, reference: str) -> bytes:
        """No attachments.

        Raises:
            TeamError: `INVALID_FIELD`.
        """
        raise TeamError(Code.INVALID_FIELD, f"{self.location} has no attachments")

    async def watch(self) -> AsyncIterator[WatchHint]:
        """Compare the files five times a second: mail is taken out so quickly that an event may come too late."""
        import asyncio  # 30 ms, which no verb but a waiting one needs

        seen = self._look()
        yield self._hint()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = self._look()
            if now != seen:
                seen = now
                yield self._hint()

    def _hint(self) -> WatchHint:
        is_there = os.path.isdir(self._folder)
        return WatchHint(WatchState.LIVE) if is_there else WatchHint(WatchState.STALLED, f"{self._folder} is gone")

    def config(self) -> TeamConfig:
        """The roster as it is now."""
        with self._lock:
            self._read_config()
            return self._config

    def places(self) -> Mapping[str, str]:
        """The folder of the inboxes stands for the queue."""
        return {"queue": str(self._folder / self._form.folder), "settings": str(self._folder / "config.json")}

    # Reading. Everything in these files may be of any type, size and length.

    def _look(self) -> list[tuple[str, tuple[int, ...] | None]]:
        return [(str(path), _mark(path)) for path in (self._folder / "config.json", *self._paths())]

    def _paths(self) -> list[Path]:
        folder = self._folder / self._form.folder
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(self._form.suffix))
        except OSError:
            return []
        return [folder / name for name in names[:_MOST_FILES]]

    def _read_config(self) -> None:
        path = self._folder / "config.json"
        mark = _mark(path)
        try:
            value = self._parsed(path, json.loads) if mark is not None else {}
            if not isinstance(value, dict):
                raise ValueError("holds no object")
        except (OSError, ValueError, RecursionError) as error:
            hint = "The members as they were read last are shown; it is read again when it changes."
            self._config_problems = (Problem("CONFIG_WARNING", "warning", str(path), _why(error), hint),)
            return
        self._config, self._config_problems = self._understood(value, str(path))

    def _understood(self, value: dict[str, Any], place: str) -> tuple[TeamConfig, tuple[Problem, ...]]:
        """Take the name, the lead and the members from the settings; what has no usable name is named as a problem."""
        agents: dict[str, Agent] = {}
        nameless = 0
        lead = self._form.lead
        listed = value.get("members")
        members = (
            [{"name": name, **_object(item)} for name, item in listed.items()] if isinstance(listed, dict) else listed
        )
        for item in members if isinstance(members, list) else []:
            member = {"name": item} if isinstance(item, str) else _object(item)
            name = as_name(member.get("name"))
            if name is None:
                nameless += 1
                continue
            role = as_name(member.get("role", member.get("agentType")))
            agents[name] = Agent(name, "member" if self._taken_over or role is None else role)
            if member.get("agentId") is not None and member.get("agentId") == value.get("leadAgentId"):
                lead = name
        if self._taken_over and lead not in agents:
            agents = {lead: Agent(lead, "master"), **agents}
        kinds = {} if self._taken_over else {self._kind(word): KindRule(self._kind(word)) for word in _TYPES}
        title = as_name(value.get("team_name", value.get("name"))) or as_name(self._folder.name.lstrip(".")) or "team"
        config = TeamConfig(name=title, lead=lead, agents=agents, declared=self._taken_over, kinds=kinds)
        text = f"{counted(nameless, 'member')} with a name that is none here left out"
        problem = Problem("CONFIG_WARNING", "warning", place, text, "Their inboxes are shown if they have any.")
        return config, (problem,) if nameless else ()

    def _kind(self, word: str) -> str:
        # guard: words-of-others-decide-nothing
        return word if self._taken_over else f"{self._form.kind}:{word}"

    def _read_inboxes(self) -> None:
        known = self._files
        live: dict[str, Message] = {}
        self._files = {str(path): self._read_inbox(path, known.get(str(path), _File())) for path in self._paths()}
        for file in self._files.values():
            live.update(file.messages)
        gone = {
            key: message for key, message in self._live.items() if key not in live and message.status != Status.READ
        }
        now = to_text(self.clock())
        self._passed.update({key: message.with_changes(status="read", read_at=now) for key, message in gone.items()})
        for key in [*live, *list(self._passed)[:-_MOST_PASSED]]:
            self._passed.pop(key, None)
        self._live = live

    def _read_inbox(self, path: Path, known: _File) -> _File:
        """The inbox as it is now; as it was, with the reason, when it cannot be read."""
        mark = _mark(path)
        if mark == known.mark and mark is not None:
            return known
        try:
            values = self._parsed(path, _array if self._form is CLAUDE else _lines)
        except (OSError, ValueError, RecursionError) as error:
            problem = Problem("DAMAGED_ENTRY", "error", str(path), _why(error), "It is read again when it changes.")
            return replace(known, mark=None, problems=(problem,))
        entries = [value for value in values if isinstance(value, dict)]
        left = len(values) - len(entries)
        text = f"{counted(left, 'entry')} of this inbox cannot be read as a JSON object"
        problem = Problem("DAMAGED_ENTRY", "error", str(path), text, "The program that keeps it drops them, too.")
        messages = dict(self._messages(entries, path.name.removesuffix(self._form.suffix)))
        same = {key: known.messages[key] for key in messages if known.messages.get(key) == messages[key]}
        return _File(mark, {**messages, **same}, (problem,) if left else ())

    def _parsed(self, path: Path, parse: Callable[[str], Any]) -> Any:
        """Read a file that another program may be writing just now."""
        for left in reversed(range(_TRIES)):
            try:
                text = _text_of(path)
                if text.strip() or self._form is LINES:
                    return parse(text)
                raise ValueError("is empty")
            except ValueError:
                if not left:
                    raise
                time.sleep(_PAUSE)
        raise AssertionError("unreachable")

    def _messages(self, entries: list[dict[str, Any]], inbox: str) -> Iterator[tuple[str, Message]]:
        to = as_name(inbox) or "unnamed"
        times: Counter[str] = Counter()
        for entry in entries:
            said = _said(entry)
            sender = as_name(said.pop("sender")) or "unnamed"
            own = json.dumps(
                [inbox, sender, said["created"], said["type"], said["content"], said["fields"]], default=str
            )
            digest = hashlib.sha256(own.encode()).hexdigest()[:16]
            times[digest] += 1
            key = f"{self._form.kind}-{digest}" + (f"-{times[digest]}" if times[digest] > 1 else "")
            yield key, from_record(self._record(key, sender, to, said))

    def _record(self, key: str, sender: str, to: str, said: Mapping[str, Any]) -> dict[str, Any]:
        word, fields = said["type"], said["fields"]
        payload: dict[str, Any] = {"content": said["content"]}
        summary = said["summary"] or (said["content"].strip().partition("\n")[0][:80] if self._taken_over else "")
        if summary:
            payload["summary"] = summary
        if self._taken_over:
            payload = {**fields, **payload}
        elif fields:
            payload["fields"] = fields
        return {
            "message_id": key,
            "type": self._kind(word if word in _TYPES else "message"),
            "from": sender,
            "to": to,
            "priority": "medium",
            "created": said["created"],
            "status": "read" if said["read"] else "pending",
            "payload": payload,
        }


def _said(entry: dict[str, Any]) -> dict[str, Any]:
    """What an entry says, whichever of the field names in use it has."""
    text = next((value for key in ("text", "content", "message") if isinstance(value := entry.get(key), str)), "")
    inner = _structured(text)
    body = inner or entry
    word = str(body.get("type", body.get("msg_type", "message")))
    if word == "plan_approval_response" and "approve" not in body and "approved" not in body and "plan" in body:
        word = "plan_approval_request"  # the form of `.team` has no type of its own for handing in a plan
    spoken = next((key for key in _WORDS if isinstance(body.get(key), str) and body[key]), "") if inner else ""
    if inner is not None:
        text = inner.get(spoken, "")
    when = entry.get("timestamp", entry.get("ts", entry.get("created_at", "")))
    moment = from_text(str(when)) if isinstance(when, (int, float)) and not isinstance(when, bool) else None
    summary = entry.get("summary")
    return {
        "type": word,
        "sender": entry.get("from", entry.get("sender")),
        "created": to_text(moment) if moment is not None else _plain(when if isinstance(when, str) else ""),
        "content": _plain(text),
        "summary": _plain(summary) if isinstance(summary, str) else "",
        "read": entry.get("read") is True,
        "fields": {_plain(key): _value(item) for key, item in body.items() if key not in {*_ENVELOPE, spoken}},
    }


def _structured(text: str) -> dict[str, Any] | None:
    """The structured message that rides as JSON in a text; None for prose, and for an object of two types."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if sum(key == "type" for key, _ in pairs) > 1:  # each reader would take another of them
        raise ValueError("two types")
    return dict(pairs)


def _value(value: object) -> Any:
    """A further field: short values as they are, all else as JSON text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    return _plain(value if isinstance(value, str) else json.dumps(value, default=str))


_LONE = re.compile("[\ud800-\udfff]")


def _plain(text: str) -> str:
    """JSON may spell half a character, which no other file can hold."""
    return _LONE.sub("\ufffd", text)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _array(text: str) -> list[Any]:
    value = json.loads(text)
    if not isinstance(value, list):
        raise ValueError("holds no array")
    return value


def _lines(text: str) -> list[Any]:
    """The value of each line, None for one that is no JSON; the last may still be on its way."""
    values: list[Any] = []
    for line in text.split("\n"):
        if line.strip():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError):
                values.append(None)
    return values


def _text_of(path: Path) -> str:
    """The text of a regular file; a pipe would block, and a link may lead anywhere."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as stream:
        # guard: only-plain-files-of-others
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("is no plain file")
        data = stream.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise OSError(f"is larger than {_LARGEST >> 20} MiB")
    return data.decode("utf-8-sig", "replace")


def _mark(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"is no JSON that can be read (line {error.lineno}, column {error.colno})"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
