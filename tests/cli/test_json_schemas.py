"""What every verb prints with `--json` is what its schema says: each key it has, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from team_console.console.cli.main import VERBS
from team_console.console.cli.schemas import result_schemas
from team_console.console.results import RESULTS
from team_console.store.backends.open import open_team
from team_console.store.service.asking import ask_permission
from team_console.store.service.caller import Caller

from tests.equipment.command_line import CommandLine, next_line

pytestmark = pytest.mark.slow

SCHEMAS = result_schemas()
NO_JSON = {"completions", "_complete", "hook", "mcp"}
"""Verbs that print a script, words, what a client reads or a protocol of its own, whatever the flags."""


def departures(value: Any, verb: str) -> list[str]:
    """What keeps a value from being exactly one of what the verb may print; nothing where it is."""
    found = []
    for variant in RESULTS[verb]:
        try:
            TypeAdapter(variant).validate_python(value, strict=True, extra="forbid")
        except ValidationError as error:
            found.append(f"{variant.__name__}: {error}")
        else:
            return []
    return found


class _Day:
    """A day of a team in which every verb is used; `printed` has what each verb printed."""

    def __init__(self, command: CommandLine) -> None:
        self.command = command
        self.printed: dict[str, list[Any]] = {}
        self._start()
        self._talk()
        self._decide()
        self._deliver()
        self._look()

    def do(self, verb: str, *arguments: str, stdin: str = "", actor: str = "ceo") -> Any:
        """Run it; its JSON is kept, whatever its status is."""
        result = self.command("--as", actor, verb, *arguments, "--json", stdin=stdin)
        assert result.out, result
        values = [json.loads(line) for line in result.out.splitlines()]
        refused = any(value.get("success") is False and "error" in value for value in values)
        self.printed.setdefault("error" if refused else verb, []).extend(values)
        return values[0]

    def _start(self) -> None:
        self.do("demo", "--headless", "0.2")
        self.do("init", "--agent", "a1:plan", "--agent", "a2", "--agent", "a3:resident")
        self.do("member", "add", "a4:temp")
        self.do("member", "set", "a4", "--may-send", "message", "--deliver", "false")
        self.do("member", "list")
        self.do("join", "a5", "--for", "claude")
        self.do("instructions", "a5")
        self.do("leave", "a5")
        self.do("init")

    def _talk(self) -> None:
        self.do("send", "--to", "a1", "--summary", "Write the report of this week", "--content", "x", "--id", "M-1")
        self.do("send", "--to", "a1", "--summary", "Write the report of this week", "--content", "x", "--id", "M-1")
        self.do("send", "--to", "a1,a2", "--summary", "Both of you", "--content", "password: hunter2hunter2")
        self.do("send", "--to", "nobody", "--summary", "x", "--content", "x")
        self.do("broadcast", "--summary", "Code freeze starts today at four", "--content", "x", "--dry-run")
        self.do("broadcast", "--summary", "Code freeze starts today at four", "--content", "x", "--yes")
        document = {"type": "message", "recipient": "a2", "content": "x", "summary": "One more thing to look at"}
        self.do("sendmessage", stdin=json.dumps(document))
        self.do("sendmessage", stdin=json.dumps({"type": "broadcast", "content": "x", "summary": "For all of you"}))
        self.do("receive", "--agent", "a2", "--limit", "1")
        held = self.do("receive", "--agent", "a2", "--limit", "1", "--lease", "600")
        self.do("ack", held["messages"][0]["message_id"], actor="a2")

    def _decide(self) -> None:
        for verb, more in (("approve", ()), ("reject", ("--reason", "Not yet"))):
            plan = self.do("plan", "--content", "1. Split it in two", actor="a1")
            self.do(verb, plan["request_id"], *more)
        self.do("plan", "--content", "1. Split it in three", actor="a1")
        self.do("approve", "no-such-request")
        plan = self.do("plan", "--content", "1. Split it in four", "--wait", "0", actor="a1")
        self.do("approve", plan["request_id"])
        asked = self.do("ask", "Which one?", "--option", "A", "--option", "B", "--several", actor="a2")
        self.do("verdict", asked["request_id"])
        self.do("evidence", asked["request_id"])
        self.do("grants")
        permission = self._permission()
        self.do("approve", permission)
        self.do("grant", permission)
        made = self.do("grant", permission, "--uses", "2", "--yes")
        self.do("grants")
        self.do("grants", "recall", made["grant_id"])
        self.do("askback", asked["request_id"], "Which of them is cheaper?")
        self.do("answer", asked["request_id"], "--option", "A", "--option", "2")
        self.do("verdict", asked["request_id"], actor="a2")
        asked = self.do("ask", "Sure?", "--wait", "0", actor="a2")
        self.do("withdraw", asked["request_id"], "--reason", "Never mind", actor="a2")
        self.do("verdict", asked["request_id"])
        wanted = {"agent_type": "story-creator", "role_hint": "Story creator", "requested_by": "a2"}
        request = ("--type", "AGENT_CREATE_REQUEST", "--payload", json.dumps(wanted))
        asked = self.do("send", "--to", "ceo", *request, actor="a2")["message_id"]
        self.do("approve", asked, "--dry-run")
        self.do("approve", asked, "--agent-name", "tester-1")
        self.do("shutdown", "a3", "--reason", "All is done")

    def _permission(self) -> str:
        """As a hook asks for it."""
        team = open_team(str(self.command.folder))
        receipt = ask_permission(Caller(team, "a1"), tool="Bash", input={"command": "ls"})
        team.close()
        return receipt.request_id or ""

    def _deliver(self) -> None:
        self.do("send", "--to", "a4", "--summary", "This cannot be delivered", "--content", "x", "--id", "F-1")
        self.do("deliver")
        self.do("failures")
        self.do("retry", "F-1")
        self.do("redirect", "F-1", "--to", "a3")
        for name in ("F-2", "F-3"):
            self.do("send", "--to", "a4", "--summary", "This will not arrive", "--content", "x", "--id", name)
        self.do("recall", "F-2")
        self.command.ok("deliver")
        self.do("discard", "F-3", "--reason", "nobody waits for it")
        self._route()
        self.do("clear", "--older-than-days", "0", "--dry-run")
        self.do("config", "check")

    def _route(self) -> None:
        head = {"ORCHESTRATOR_INSTANCE_ID": "o-1"}
        for action in (
            {"ACTION": "poll", "RECIPIENT": "a1", "BATCH_SIZE": 2},
            {"ACTION": "deliver_all"},
            {"ACTION": "send", "RECIPIENT": "a1", "MESSAGE_TYPE": "spec_ready", "PAYLOAD": {"spec_id": "s"}},
            {"ACTION": "clear_old"},
            {"ACTION": "dance"},
        ):
            self.do("route", stdin=json.dumps({**action, **head}))

    def _look(self) -> None:
        for verb in ("requests", "roster", "status", "check", "history", "digest", "decisions"):
            self.do(verb)
        self.do("inbox", "a1")
        request = self.do("requests")["requests"][0]
        for message_id in ("F-1", request["message_id"]):
            self.do("show", message_id)
        self._watch()
        self.do("migrate", ".", str(Path("copy.db")))
        (self.command.folder / "messenger-config.yaml").write_text("")
        for verb in ("status", "check"):
            self.do(verb)
        self.do("check", "--heal")
        self.do("help", "settings")

        with self.command.running("--json", "serve", "--port", "0") as process:
            self.printed["serve"] = [json.loads(next_line(process.stdout))]

    def _watch(self) -> None:
        with self.command.running("watch", "--json") as process:
            next_line(process.stderr)
            self.do("send", "--to", "a1", "--summary", "Something new for you today", "--content", "x")
            self.printed.setdefault("watch", []).append(json.loads(next_line(process.stdout)))


def test_what_a_verb_prints_is_of_its_type(elsewhere: CommandLine) -> None:
    printed = _Day(elsewhere).printed
    assert sorted(printed) == sorted(RESULTS), "the day above does not use every verb"
    for value in printed.pop("error"):
        assert departures({key: value[key] for key in value if key in SCHEMAS["error"]["properties"]}, "error") == []
    for verb, values in printed.items():
        assert [found for value in values if (found := departures(value, verb))] == [], verb


def test_every_verb_with_json_has_a_schema_and_help_prints_it(elsewhere: CommandLine) -> None:
    assert set(SCHEMAS) == {verb.name for verb in VERBS} - NO_JSON | {"error"}
    for verb in ("status", "error"):
        assert elsewhere.ok("help", "json", verb).json == SCHEMAS[verb]
    assert elsewhere.ok("help", "json").out.split("Verbs:")[1].split() == list(SCHEMAS)
    refused = elsewhere("help", "json", "statsu", "--json")
    assert (refused.status, "status" in refused.json["hint"]) == (2, True)


def fields(schema: Mapping[str, Any], place: str) -> Iterator[str]:
    """What may be promised of each key at any depth: its place, its kind, and that it is always there, if it is."""
    inner = schema.get("items", schema)
    required = inner.get("required", ())
    for name, shape in inner.get("properties", {}).items():
        here = f"{place}.{name}"
        kinds = "|".join([shape["type"]] if isinstance(shape.get("type"), str) else shape.get("type", ["any"]))
        words = " ".join(shape.get("enum", ()))
        yield f"{here} {kinds} maybe {words}".rstrip()
        if name in required:
            yield f"{here} {kinds} {words}".rstrip()
        yield from fields(shape, here)
    if isinstance(more := inner.get("additionalProperties"), Mapping):
        yield from fields(more, f"{place}.*")


FROZEN = Path(__file__).with_name("json_fields.txt")
"""Every field that was ever promised; lines are added, none is changed or taken away."""


def test_no_field_that_was_promised_is_gone_or_another() -> None:
    current = {line for name, schema in SCHEMAS.items() for line in fields(schema, name)}
    promised = FROZEN.read_text(encoding="utf-8").splitlines()
    assert len(promised) > 700
    assert [line for line in promised if line not in current] == []
