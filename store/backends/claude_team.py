"""Read the teams of other programs, which keep an inbox file for each agent; never write there.

Two forms are read: a team of Claude Code (`config.json` and `inboxes/AGENT.json`, one JSON array each) and the folder
`.team` that many small agent programs share (`config.json` and `inbox/AGENT.jsonl`, one JSON object a line). Both empty
an inbox when its agent takes its mail, so a message that is gone counts as read, and is kept here while we look.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.entry_splitter import EntrySplitter, PieceForm
from team_console.store.backends.locked_files import open_file
from team_console.store.contract.snapshot import FOREIGN_TEAM, Condition, Snapshot
from team_console.store.contract.team import AuditLine, Page, Progress, Team, WatchHint, WatchState
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import Clock, from_nanoseconds, from_text, to_text, utc_now
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import FieldDict, Message, Status, from_record
from team_console.store.model.names import as_name, did_you_mean
from team_console.store.model.safe import counted, first_of, safe_line
from team_console.store.protocol.kinds import KINDS
from team_console.store.protocol.placed_message import when_created
from team_console.store.settings.in_force import SettingsInForce
from team_console.store.settings.team_config import Agent, KindRule, TeamConfig

LOOK_SECONDS = 0.2
"""How often the files are looked at. Claude Code takes mail out within a second, and what nobody saw is lost."""
_LARGEST = 16 << 20
"""Bytes of a file that is read; the largest inbox on record has 1.8 MB."""
_MOST_FILES, _MOST_PASSED = 1_000, 2_000
_MOST_WRONG = 100
"""Broken entries of one file that are named."""
_WRONG_ROSTER, _WRONG_ENTRY = ("CONFIG_WARNING", "warning"), ("DAMAGED_ENTRY", "error")
"""Code and severity of what is wrong in a file."""
_TRIES, _PAUSE = 4, 0.02
"""Readers take no lock and older builds write in place: a few reads of a hundred see an empty or cut file."""
_TYPES = (
    *("message", "broadcast", "shutdown_request", "shutdown_response", "shutdown_approved", "shutdown_rejected"),
    *("plan_approval_request", "plan_approval_response", "permission_request", "permission_response"),
    *("sandbox_permission_request", "sandbox_permission_response", "mode_set_request", "team_permission_update"),
    *("idle_notification", "task_assignment", "task_completed", "teammate_terminated"),
)
_WORDS = ("content", "message", "planContent", "plan", "reason", "feedback", "description", "subject", "summary")
"""Fields that hold the words of a structured message, the one with most of them first."""


class TeamForm(Struct, frozen=True):
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


CLAUDE = TeamForm("claude", "a team of Claude Code", "inboxes", ".json", "team-lead")
LINES = TeamForm("lines", "a team with a file of JSON lines for each inbox", "inbox", ".jsonl", "lead")


def claude_teams() -> Path:
    """Return the folder in which Claude Code keeps its teams."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser() / "teams"


def team_in(folder: Path, clock: Clock = utc_now) -> ClaudeTeam | None:
    """Return the team of another program that is `folder` itself, or `.team` in it; None when there is none."""
    has_inboxes, has_settings = os.path.isdir(folder / CLAUDE.folder), os.path.isfile(folder / "config.json")
    # A lone session of Claude Code has no inboxes yet, and some of its folders lost their roster.
    if folder.parent == claude_teams() and (has_inboxes or has_settings):
        location = f"claude:{folder.name}" if as_name(folder.name) else str(folder)
        return ClaudeTeam(location, folder, CLAUDE, clock)
    if has_inboxes and has_settings:
        return ClaudeTeam(str(folder), folder, CLAUDE, clock)
    for place in (folder, folder / ".team"):
        if os.path.isfile(place / "config.json") and (os.path.isdir(place / LINES.folder) or place.name == ".team"):
            return ClaudeTeam(str(place), place, LINES, clock)
    return None


def teams_under(folder: Path) -> list[ClaudeTeam]:
    """Return the teams of Claude Code that lie side by side in `folder`; empty when it cannot be looked into."""
    try:
        children = sorted(child for child in folder.iterdir() if child.is_dir() and not child.is_symlink())
    except OSError:
        return []
    found = map(team_in, children[:_MOST_FILES])
    return [team for team in found if team is not None and team.form is CLAUDE]


def open_claude(name: str, clock: Clock) -> ClaudeTeam:
    """Open the team of Claude Code with this name.

    Raises:
        TeamError: `TEAM_NOT_FOUND`, with the names that there are.
    """
    root = claude_teams()
    team = team_in(root / name, clock) if as_name(name) else None
    if team is not None:
        return team
    names = [other.root.name for other in teams_under(root)]
    there = f"There are: {safe_line(first_of(names, 8))}{did_you_mean(name, names)}." if names else "There are none."
    text = f"{safe_line(str(root))} has no team of Claude Code named {safe_line(name, 80)!r}"
    raise TeamError(Code.TEAM_NOT_FOUND, text, f"{there} Set CLAUDE_CONFIG_DIR where they are not in ~/.claude.")


class _File(Struct, frozen=True):
    """A file as it was read last.

    Attributes:
        value: The roster, or the messages by key.
        problems: Parts of it that cannot be used.
        broken: Those parts, of an inbox.
        mark: Which version of the file it is; None while there is none.
    """

    value: Any
    problems: tuple[Problem, ...] = ()
    broken: frozenset[str] = frozenset()
    mark: tuple[int, ...] | None = None


class ClaudeTeam(Team):
    """A team of another program, opened read-only: its roster, and its messages while they are in an inbox or passed.

    Its messages have kinds of their own (`claude:plan_approval_request`), so that nothing said there opens, answers or
    decides anything here; with `taken_over` all but answers have the kinds they name.
    """

    root: Path

    def __init__(self, location: str, folder: Path, form: TeamForm, clock: Clock, *, taken_over: bool = False) -> None:
        self.location, self.root, self.form, self.clock = location, folder, form, clock
        self.kind, self.read_only, self._taken_over = form.kind, True, taken_over
        self._settings, self._inboxes = folder / "config.json", folder / form.folder
        self._roster = _File(self._members({}))
        self._files: dict[Path, _File] = {}
        self._live: dict[str, Message] = {}
        self._passed: dict[str, Message] = {}
        self._lock = threading.Lock()

    def taken_over(self) -> ClaudeTeam:
        """Return the same team as a source to copy, each message of the kind that it names.

        Raises:
            TeamError: `NOT_PERMITTED` for a team of Claude Code, which goes on writing where it is.
        """
        if self.form is CLAUDE:
            text = f"{self.location} is a team of Claude Code, which reads its own folder and no other"
            raise TeamError(Code.NOT_PERMITTED, text, "Let its agents join a team here: team-console join --help.")
        return ClaudeTeam(self.location, self.root, self.form, self.clock, taken_over=True)

    def obstacle(self) -> str:
        """Say that nothing is ever written here."""
        return f"{self.form.words}: what is said in it decides nothing here"

    def _next_step(self) -> str:
        """Return how its agents can be answered, as a hint."""
        own = "its agents can join a team here: team-console join"
        if self.form is LINES:
            own = f"take it over: team-console migrate {self.location} FOLDER"
        return f"To answer here, {own}. Mail taken out before now is not shown."

    def transaction(self, *, actor: str, action: str, wait: float) -> AbstractContextManager[Transaction]:
        """Refuse: another program's files are only read."""
        raise TeamError(Code.READ_ONLY, f"{self.location} is {self.obstacle()}", self._next_step())

    def history(self, *, agent: str | None = None, cursor: str | None = None, limit: int = 200) -> Page:
        """Return no archives: what passed while we looked is in the snapshot."""
        return Page((), None)

    def audit(self, *, limit: int = 200) -> list[AuditLine]:
        """Return no audit trail: nothing is done here."""
        return []

    def attachment(self, reference: str) -> bytes:
        """Refuse: there are no attachments.

        Raises:
            TeamError: `INVALID_FIELD`.
        """
        raise TeamError(Code.INVALID_FIELD, f"{self.location} has no attachments")

    def places(self) -> Mapping[str, str]:
        """Return the paths to look at; the folder of the inboxes stands for the queue."""
        return {"queue": str(self._inboxes), "settings": str(self._settings)}

    async def watch(self) -> AsyncIterator[WatchHint]:
        """Compare the files five times a second: mail is taken out so quickly that an event may come too late."""
        import asyncio  # 30 ms, which no verb but a waiting one needs

        seen: object = None
        while True:
            now = [(path, _mark(path)) for path in (self.root, self._settings, *self._paths())]
            if now != seen:
                seen = now
                gone = WatchHint(WatchState.STALLED, f"{self.root} is gone")
                yield gone if _mark(self.root) is None else WatchHint(WatchState.LIVE)
            await asyncio.sleep(LOOK_SECONDS)

    def settings_in_force(self) -> SettingsInForce:
        """Return the roster as it is now."""
        with self._lock:
            self._roster = self._look(self._settings, self._members_of, self._roster)
            return SettingsInForce(self._roster.value)

    def snapshot(self, *, progress: Progress | None = None) -> Snapshot:
        """Read what changed since the last look; see `Team.snapshot`."""
        config = self.config()
        with self._lock:
            self._read_inboxes()
            files = [self._roster, *self._files.values()]
            notice = Problem(FOREIGN_TEAM, "notice", self.form.kind, self.obstacle(), self._next_step())
            problems = (notice, *(problem for file in files for problem in file.problems))
            every = [*self._passed.values(), *self._live.values()]
            condition = Condition.OK if every else Condition.EMPTY
            if not os.path.isdir(self.root):
                text = f"{self.root} is gone, as when the session that led it ended"
                gone = Problem("VANISHED", "error", self.form.kind, text, "What passed before is not kept on disk.")
                condition, problems, every = Condition.VANISHED, (gone,), []
            marks = [file.mark for file in files if file.mark]
            said = repr((condition, config.name, sorted(self._files), marks, problems))
            return Snapshot(
                revision=hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest(),
                taken_at=self.clock(),
                changed_at=from_nanoseconds(max(mark[-1] for mark in marks)) if marks else None,
                config=config,
                messages=tuple(sorted(every, key=when_created)),
                problems=problems,
                condition=condition,
            )

    # Reading. Everything in these files may be of any type, size and length.

    def _paths(self) -> list[Path]:
        """Return the files of the inboxes, as many as are read."""
        try:
            names = sorted(name for name in os.listdir(self._inboxes) if name.endswith(self.form.suffix))
        except OSError:
            return []
        return [self._inboxes / name for name in names[:_MOST_FILES]]

    def _read_inboxes(self) -> None:
        """Read the inboxes anew, and keep messages that were taken out of them as read."""
        self._files = {
            path: self._look(path, self._messages_of, self._files.get(path, _File({}))) for path in self._paths()
        }
        live = {key: message for file in self._files.values() for key, message in file.value.items()}
        now = to_text(self.clock())
        for key, message in self._live.items():
            if key not in live and message.status != Status.READ:
                self._passed[key] = message.with_changes(status="read", read_at=now)
        for key in [*live, *list(self._passed)[:-_MOST_PASSED]]:
            self._passed.pop(key, None)
        self._live = live

    def _look(self, path: Path, understand: Callable[[Path, str, bool], _File], known: _File) -> _File:
        """Return the file as it is now; as it was, with the reason, when nothing in it can be read."""
        mark = _mark(path)
        if mark == known.mark:
            return known
        is_roster = path == self._settings
        code, severity = _WRONG_ROSTER if is_roster else _WRONG_ENTRY
        hint = "What it said before is shown; it is read again when it changes."
        for left in reversed(range(_TRIES)):
            try:
                found = understand(path, _text_of(path), left == 0)
            except (OSError, ValueError, RecursionError) as error:
                if left and isinstance(error, ValueError):  # it may be half written just now
                    time.sleep(_PAUSE)
                    continue
                problem = Problem(code, severity, str(path), _why(error), hint)
                return replace(known, mark=(), problems=(problem,))
            value = found.value
            if not is_roster:
                # What stood there before may be in what is broken now.
                # guard: entries-of-a-cut-file-kept
                is_new_harm = not found.broken <= known.broken
                old = {key: old for key, old in known.value.items() if is_new_harm or value.get(key) == old}
                value = {**value, **old} if old else value
            return replace(found, value=value, mark=mark)
        raise AssertionError("unreachable")

    def _members_of(self, path: Path, text: str, is_last: bool) -> _File:
        """Read the roster from the text of its file."""
        value = _parsed(text)
        if not isinstance(value, dict):
            raise ValueError("holds no object")
        listed = value.get("members")
        items = listed.items() if isinstance(listed, dict) else enumerate(listed if isinstance(listed, list) else [])
        named = [(item.get("name", key) if isinstance(item, dict) else item, item) for key, item in items]
        left = sum(as_name(name) is None for name, _ in named)
        wrong = f"{counted(left, 'member')} with a name that is none here left out"
        hint = "The program that keeps it drops them, too."
        return _File(self._members(value, named), (Problem(*_WRONG_ROSTER, str(path), wrong, hint),) if left else ())

    def _members(self, settings: Mapping[str, Any], named: Iterable[tuple[Any, Any]] = ()) -> TeamConfig:
        """Take the name, the lead and the members from the settings."""
        agents: dict[str, Agent] = {}
        lead = self.form.lead
        for given, item in named:
            name, member = as_name(given), item if isinstance(item, dict) else {}
            if name is not None:
                role = as_name(member.get("role", member.get("agentType")))
                agents[name] = Agent(name, "member" if self._taken_over or role is None else role)
                if member.get("agentId") is not None and member.get("agentId") == settings.get("leadAgentId"):
                    lead = name
        if self._taken_over:
            agents = {lead: Agent(lead, "master"), **agents}
        titles = (settings.get("team_name", settings.get("name")), self.root.name.lstrip("."), "team")
        title = next(name for name in map(as_name, titles) if name is not None)
        rules = {word: KindRule(word) for word in map(self._kind, _TYPES) if word not in _TYPES}
        return TeamConfig(name=title, lead=lead, agents=agents, declared=self._taken_over, kinds=rules)

    def _kind(self, word: str) -> str:
        """Return the kind that a word of the other program stands for here.

        Nobody can vouch for an answer, also once the team is taken over: then requests alone are what they were.
        """
        is_request = word in KINDS and KINDS[word].answers is None
        # guard: words-of-others-decide-nothing
        return word if self._taken_over and is_request else f"{self.form.kind}:{word}"

    def _messages_of(self, path: Path, text: str, is_last: bool) -> _File:
        """Read an inbox entry by entry.

        Raises:
            ValueError: It holds no entries; or it is not whole, and may be so in a moment (not when `is_last`).
        """
        if self.form is CLAUDE:
            if not text.strip():
                raise ValueError("is empty")
            if not text.lstrip().startswith("["):
                raise ValueError("holds no array")
            if not is_last:
                _parsed(text)
        inbox = path.name.removesuffix(self.form.suffix)
        messages: dict[str, Message] = {}
        times: Counter[str] = Counter()
        problems: list[Problem] = []
        broken: set[str] = set()
        for entry in _inbox_entries(text):
            if isinstance(entry.value, dict):
                record = self._record(entry.value)
                own = json.dumps([inbox, record["from"], record["created"], record["type"], record["payload"]])
                digest = f"{self.form.kind}-{hashlib.sha256(own.encode()).hexdigest()[:16]}"
                times[digest] += 1
                key = f"{digest}-{times[digest]}" if times[digest] > 1 else digest
                messages[key] = from_record({"message_id": key, "to": as_name(inbox) or "unnamed", **record})
            else:
                hint = "The others of this file are shown."
                problems.append(Problem(*_WRONG_ENTRY, f"{path}:{entry.line}", entry.value, hint))
                broken.add(entry.text)
        if not messages and problems and self.form is CLAUDE:
            raise ValueError(problems[0].message)
        return _File(messages, tuple(problems[:_MOST_WRONG]), frozenset(broken))

    def _record(self, entry: FieldDict) -> FieldDict:
        """Return an entry as a record without id and reader, whichever of the field names in use it has.

        Each field that is understood is taken out of the entry; `rest` is what is left. A text may be a message in JSON
        itself, whose fields count then in place of those around it.
        """
        rest = dict(entry)
        text = _take_out(rest, "text", "content", "message")
        when = _take_out(rest, "timestamp", "ts", "created_at")
        sender = _take_out(rest, "from", "sender")
        word = _take_out(rest, "type", "msg_type")
        summary = _take_out(rest, "summary")
        is_read = _take_out(rest, "read") is True
        _take_out(rest, "to", "color", "msgV", "msg_id")
        text = text if isinstance(text, str) else ""
        inner = _structured(text)
        if inner is not None:
            rest = inner
            word = _take_out(rest, "type")
            _take_out(rest, "from", "timestamp", "to")
            longest = next((key for key in _WORDS if isinstance(rest.get(key), str) and rest[key]), "")
            text = _take_out(rest, longest) or ""
        if word == "plan_approval_response" and "plan" in rest and rest.keys().isdisjoint(("approve", "approved")):
            word = "plan_approval_request"  # the form of `.team` has no type of its own for handing in a plan
        created = when if isinstance(when, str) else ""
        if isinstance(when, (int, float)) and (moment := from_text(str(when))) is not None:
            created = to_text(moment)
        fields = {key: value if isinstance(value, (str, int)) else json.dumps(value) for key, value in rest.items()}
        payload: FieldDict = {"content": text}
        # The summary of one that has none, where a list needs it, is the first line of its longest words.
        words = [text.strip(), *(rest[key] for key in _WORDS if isinstance(rest.get(key), str)), str(word)]
        title = summary if isinstance(summary, str) else ""
        if not title and (self._taken_over or not words[0]):
            title = next(filter(None, words)).partition("\n")[0][:80]
        if title:
            payload["summary"] = title
        if self._taken_over:
            payload = {**fields, **payload}
        elif fields:
            payload["fields"] = fields
        return {
            "type": self._kind(word if word in _TYPES else "message"),
            "from": as_name(sender) or "unnamed",
            "priority": "medium",
            "created": created,
            "status": "read" if is_read else "pending",
            "payload": payload,
        }


def _take_out(fields: FieldDict, *names: str) -> Any:
    """Take all fields of these names out; returns the first one that was there, None when there was none."""
    return next(iter([fields.pop(name) for name in names if name in fields]), None)


def _structured(text: str) -> FieldDict | None:
    """Return the structured message that rides as JSON in a text; None for prose, and for an object of two types."""
    try:
        value = _parsed(text, _with_one_type) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _with_one_type(pairs: list[tuple[str, Any]]) -> FieldDict:
    """Return the object of these pairs, unless it names its type twice."""
    if sum(key == "type" for key, _ in pairs) > 1:  # each reader would take another of them
        raise ValueError("two types")
    return dict(pairs)


def _parsed(text: str, build: Callable[[list[tuple[str, Any]]], FieldDict] = dict) -> Any:
    """Return the value of a JSON text. It may spell half a character, which no other file can hold: `?` stands for
    it.
    """
    if not text.strip():
        raise ValueError("is empty")
    value = json.loads(text, object_pairs_hook=build)
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


class _Entry(Struct, frozen=True):
    """An entry of an inbox: the line where it begins, its text, its fields or what is wrong with it."""

    line: int
    text: str
    value: FieldDict | str


def _inbox_entries(text: str) -> Iterator[_Entry]:
    """Yield each entry of an inbox, whether it is an array or one object a line, and what is none."""
    data = text.encode("utf-8", "replace")
    line, place = 1, 0
    for piece in EntrySplitter(data, _no_trouble).pieces():
        raw = data[piece.start : piece.end]
        shown = raw.lstrip()
        line += data.count(b"\n", place, piece.end - len(shown))
        place = piece.end - len(shown)
        if piece.form is PieceForm.OBJECT:
            yield _Entry(line, raw.decode(), _fields_of(shown.rstrip().removesuffix(b",").decode(), line))
        elif piece.form is not PieceForm.FRAME:
            yield _Entry(line, raw.decode(), "what stands here is no JSON object; it is left out")


def _no_trouble(raw: bytes, form: PieceForm) -> None:
    """Tell of no trouble in any entry: what each holds is looked at afterwards."""


def _fields_of(text: str, line: int) -> FieldDict | str:
    """Return the fields of the entry that begins in this line, or what is wrong with it."""
    try:
        found: FieldDict = _parsed(text)
    except json.JSONDecodeError as error:
        place = f"line {line + error.lineno - 1}, column {error.colno}"
        return f"this entry is no JSON that can be read ({place}: {error.msg}); it is left out"
    except (ValueError, RecursionError) as error:
        return f"this entry {_why(error)}; it is left out"
    return found


def _text_of(path: Path) -> str:
    """Return the text of a regular file; a pipe would block, and a link may lead anywhere."""
    with open(open_file(path), "rb") as stream:
        # guard: only-plain-files-of-others
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError("is no plain file")
        data = stream.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise OSError(f"is larger than {_LARGEST >> 20} MiB")
    return data.decode("utf-8-sig", "replace")


def _mark(path: Path) -> tuple[int, ...] | None:
    """Return which version of a file is there now; None where it cannot be told."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _why(error: Exception) -> str:
    """Return what is wrong with a file or an entry, as the end of a sentence."""
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"is no JSON that can be read (line {error.lineno}, column {error.colno})"
    return getattr(error, "strerror", None) or str(error)
