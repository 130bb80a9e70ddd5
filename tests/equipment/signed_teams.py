"""Teams of signed verdicts on every kind of store, and what a stranger who may write there does to each."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from team_console.store.model.message import Message

from tests.equipment.command_line import CommandLine
from tests.equipment.postgresql import server_or_skip
from tests.equipment.signing_keys import settings_of_signed_team
from tests.equipment.statements import execute

Record = dict[str, Any]


def put(folder: Path, message_id: str, type: str, sender: str, to: str, /, **payload: Any) -> None:
    """Append a message to the queue of this team as another program would; `created` is a field of its own."""
    queue = folder / "message-queue.yaml"
    head = {"message_id": message_id, "type": type, "from": sender, "to": to, "priority": "high", "status": "pending"}
    record = {**head, "created": payload.pop("created", "2026-02-24T10:30:00.000Z"), "payload": payload}
    text = queue.read_text().replace("messages: []", "messages:") if queue.exists() else "messages:\n"
    queue.write_text(text + _entry(record))


TEAM_ID = "0123456789abcdef"


class Files:
    """A team in a folder, changed without team-console."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.location = folder, str(folder)

    def append(self, record: Record) -> None:
        """One message more, by an editor or by INSERT."""
        with (self.folder / "message-queue.yaml").open("a") as queue:
            queue.write(_entry(record))

    def hand_in(self, record: Record) -> None:
        """One message more, made to look as if it had come in by our own way."""
        (self.folder / "drop").mkdir(exist_ok=True)
        (self.folder / "drop" / "forged.yaml").write_text(yaml.safe_dump(record, sort_keys=False))

    def replace(self, *pairs: tuple[str, str]) -> None:
        """Other texts wherever they stand: messages, archives, and the trail, whose chain is computed anew."""
        for path in [self.folder / "message-queue.yaml", *(self.folder / "archive").glob("*.yaml")]:
            path.write_text(_replaced(path.read_text(), pairs))
        trail = _replaced((self.folder / "audit.jsonl").read_text(), pairs)
        self._write_trail([json.loads(raw) for raw in trail.splitlines()])

    def unseal(self, last: int = 0) -> None:
        """The seals of so many last lines of the trail are gone, or of all."""
        lines = [json.loads(raw) for raw in (self.folder / "audit.jsonl").read_bytes().splitlines()]
        for line in lines[-last:]:
            line.pop("seal", None)
        self._write_trail(lines)

    def _write_trail(self, lines: Iterable[Record]) -> None:
        rows: list[bytes] = []
        for line in lines:
            rows.append(_chained(line, rows))
        (self.folder / "audit.jsonl").write_bytes(b"".join(rows))

    def backdate(self, message: Message, created: str) -> None:
        """Another time on one message, everywhere."""
        self.replace((message.created, created))

    def empty(self) -> None:
        """No messages, no archive and no trail, as if nothing had ever been."""
        (self.folder / "message-queue.yaml").write_text("messages:\n")
        (self.folder / "audit.jsonl").unlink()
        shutil.rmtree(self.folder / "archive", ignore_errors=True)

    def archive(self, record: Record) -> None:
        """One archived message more."""
        with next((self.folder / "archive").glob("*.yaml")).open("a") as archive:
            archive.write(_entry(record))

    def trail(self, record: Record) -> None:
        """A line more at the end of the trail, by which the human approved; chained as anybody can."""
        rows = (self.folder / "audit.jsonl").read_bytes().splitlines(keepends=True)
        last = json.loads(rows[-1])
        facts = {"ids": [record["message_id"]], "request_id": record["payload"].get("request_id")}
        line = {**last, "seq": last["seq"] + 1, "action": "approve", "actor": "ceo", "facts": facts, "writes": [record]}
        (self.folder / "audit.jsonl").write_bytes(b"".join(rows) + _chained(line, rows))

    def remove_line(self, message_id: str) -> None:
        """The lines of the trail that name this message are gone."""
        path = self.folder / "audit.jsonl"
        rows = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(row for row in rows if message_id.encode() not in row))

    @contextmanager
    def settings(self, old: str, new: str) -> Iterator[None]:
        """Other settings for as long as the block lasts."""
        text = (self.folder / "messenger-config.yaml").read_text()
        self.write_settings(text.replace(old, new))
        yield
        self.write_settings(text)

    def write_settings(self, text: str) -> None:
        """Other settings for good."""
        (self.folder / "messenger-config.yaml").write_text(text)


class Database:
    """A database that anybody may write to who knows where it is."""

    def __init__(self, location: str) -> None:
        self.location = location

    def append(self, record: Record) -> None:
        names = ("message_id", "from", "to", "type", "payload", "status", "created")
        columns = "message_id, sender, recipient, message_type, payload, status, created_at"
        given = {**record, "status": record.get("status", "pending"), "payload": json.dumps(record["payload"])}
        values = {name: given[name] for name in names}
        self._run(f"INSERT INTO agent_message ({columns}) VALUES (:{', :'.join(names)})", **values)

    def hand_in(self, record: Record) -> None:
        envelope = {"priority": record["priority"], "request_id": record["payload"].get("request_id"), "#": 99}
        self.append({**record, "payload": {**record["payload"], "_envelope": envelope}})

    def replace(self, *pairs: tuple[str, str]) -> None:
        payload = "replace(CAST(payload AS TEXT), :old, :new)"
        payload = f"CAST({payload} AS JSON)" if "://" in self.location else payload
        for old, new in pairs:
            self._run(f"UPDATE agent_message SET payload = {payload}", old=old, new=new)
            self._run("UPDATE team_console_archive SET record = replace(record, :old, :new)", old=old, new=new)
            self._run("UPDATE team_console_audit SET facts = replace(facts, :old, :new)", old=old, new=new)
        self._chain()

    def unseal(self, last: int = 0) -> None:
        """The seals of so many last lines of the trail are gone, or of all."""
        rows = self._run("SELECT seq, facts FROM team_console_audit ORDER BY seq")
        for seq, facts in rows[-last:]:
            whole = {key: value for key, value in json.loads(facts).items() if key != "seal"}
            text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
            self._run("UPDATE team_console_audit SET facts = :text WHERE seq = :seq", text=text, seq=seq)
        self._chain()

    def backdate(self, message: Message, created: str) -> None:
        self._run("UPDATE agent_message SET created_at = :at WHERE message_id = :id", at=created, id=message.message_id)
        self.replace((message.created, created))

    def empty(self) -> None:
        for table in ("agent_message", "team_console_archive", "team_console_audit"):
            self._run(f"DELETE FROM {table}")
        self._run("UPDATE team_console_state SET audit_seq = 0, audit_hash = ''")

    def archive(self, record: Record) -> None:
        named = {"request_id": record["payload"].get("request_id"), "created": record["created"]}
        values = {"n": 999, "agent": record["to"], "message_id": record["message_id"], **named}
        values["record"] = json.dumps(record)
        self._run(f"INSERT INTO team_console_archive ({', '.join(values)}) VALUES (:{', :'.join(values)})", **values)

    def trail(self, record: Record) -> None:
        facts = {"ids": [record["message_id"]], "recorded": {"questions": [], "answers": [record]}}
        self._run(
            "INSERT INTO team_console_audit "
            "SELECT max(seq) + 1, :at, 'ceo', 'approve', :facts, '', '' FROM team_console_audit",
            at=record["created"],
            facts=json.dumps(facts),
        )
        self._chain()

    def remove_line(self, message_id: str) -> None:
        self._run("DELETE FROM team_console_audit WHERE facts LIKE :named", named=f"%{message_id}%")

    @contextmanager
    def settings(self, old: str, new: str) -> Iterator[None]:
        change = "UPDATE team_console_config SET value = replace(value, :old, :new)"
        self._run(change, old=old, new=new)
        yield
        self._run(change, old=new, new=old)

    def write_settings(self, text: str) -> None:
        self._run("UPDATE team_console_config SET value = :text WHERE key = 'settings'", text=text)

    def _chain(self) -> None:
        """As whoever has read our source."""
        prev = ""
        for seq, *said in self._run("SELECT seq, at, actor, action, facts FROM team_console_audit ORDER BY seq"):
            line = json.dumps([prev, seq, *said], separators=(",", ":")).encode()
            following = hashlib.sha256(line).hexdigest()
            link = "UPDATE team_console_audit SET prev = :prev, hash = :hash WHERE seq = :seq"
            self._run(link, prev=prev, hash=following, seq=seq)
            prev = following
        last = "audit_hash = :hash, audit_seq = (SELECT max(seq) FROM team_console_audit)"
        self._run(f"UPDATE team_console_state SET {last}", hash=prev)

    def _run(self, statement: str, **values: Any) -> list[Any]:
        """Run one statement on a connection of its own; its rows."""
        return execute(self.location, statement, **values)


Place = Files | Database


def _entry(record: Record) -> str:
    return yaml.safe_dump([record], sort_keys=False, allow_unicode=True)


def _replaced(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def _chained(line: Mapping[str, Any], rows: list[bytes]) -> bytes:
    prev = {"prev": hashlib.sha256(rows[-1]).hexdigest()} if rows else {}
    return json.dumps({**line, **prev}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@cache
def _model() -> Path:
    """A team of signed verdicts, made once and copied."""
    folder = Path(tempfile.mkdtemp(prefix="team-console-forged-")) / "team"
    folder.mkdir()
    agents = ("--agent", "bob:slave", "--agent", "alice:slave")
    CommandLine(folder).ok("init", ".", "--name", "sprint-42", "--lead", "ceo", *agents)
    with (folder / "messenger-config.yaml").open("a") as settings:
        settings.write(settings_of_signed_team(TEAM_ID))
    return folder


@cache
def _sqlite_model() -> Path:
    CommandLine(_model()).ok("migrate", ".", str(_model().parent / "model.db"))
    return _model().parent / "model.db"


@cache
def _postgresql_model() -> str:
    """The name of a database that new ones are copied from."""
    server = server_or_skip()
    model = _model()
    server.execute("CREATE DATABASE forged_model")
    CommandLine(model).ok("migrate", ".", server.url("forged_model"))
    return "forged_model"


def files(folder: Path) -> Place:
    """A new team in files."""
    return Files(Path(shutil.copytree(_model(), folder / "team")))


def sqlite_file(folder: Path) -> Place:
    """A new team in SQLite."""
    return Database(str(shutil.copy(_sqlite_model(), folder / "team.db")))


def postgresql(folder: Path) -> Place:
    """A new team on a real server."""
    server = server_or_skip()
    name = f"forged_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {_postgresql_model()}")
    return Database(server.url(name))


PLACES = {"yaml": files, "sqlite": sqlite_file, "postgresql": postgresql}
