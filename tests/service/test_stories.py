"""Stories of the service, told in `stories/`: who calls what, a second after the other, and what comes of it.

A story begins with its promise. A line is one of these; `$NAME` stands for the id of what was kept:

- `MEMBER: FUNCTION {ARGUMENTS}` calls a function of the service; `NAME = ` before it keeps the id of the request or the
  message that it makes. `permission`, `question` and `escalation` ask as clients do, `sprint {to: NAME, kind: KIND}`
  sends that kind with the body of the source, in which further fields are changed, `grant` and `recall` are those of a
  grant, `have` and `end` ask for an agent and for its end, `stop` agrees to stop or gives a reason not to, `treat` does
  something about messages by their ids, `stops` are those of each agent, `thread` gives the `turns` of a conversation,
  and `foresee` the `notes` of what an approval would do; `scopes` are those of
  the grants that run, and `send_many` sends so many messages.
- `on STORE ...` says which stores it is told on, if not in memory; `later SECONDS` lets time pass, `write {FIELDS}`
  puts a message into the queue as another program does, `members {NAME: ROLE}` puts more of them on the roster, in
  place of a role perhaps with other FIELDS, and `leave NAME` takes them off.

Below it stands, indented, as in the stories of views, what comes of it: fields of what the call gave, or of its error,
whose `code` says that it is refused; else rows of what the lead sees, messages of the `queue`, or lines of the `trail`,
the newest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from string import Template
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from msgspec import convert
from team_console.store.contract.team import Team
from team_console.store.model.clock import to_text
from team_console.store.model.errors import TeamError
from team_console.store.model.message import from_record
from team_console.store.protocol.grants import scope_in
from team_console.store.protocol.remarks import Remark
from team_console.store.service import (
    agents,
    asking,
    deliveries,
    inbox,
    maintenance,
    members,
    requests,
    router,
    sending,
)
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.decision import Decision
from team_console.store.service.grants import recall_grant, start_grant, trial_of
from team_console.store.service.running_grants import in_force
from team_console.store.settings.team_config import Agent
from team_console.store.views.conversation import gather_thread, turns_of
from team_console.store.views.history import HistoryPage
from team_console.store.views.stopping import stops_of

from tests.equipment.asking import COMMAND, DATABASE, lead, view
from tests.equipment.places import is_seen, steps_of, stories_beside
from tests.equipment.teams import FACTORIES, START, FakeClock, put
from tests.protocol.conftest import SPRINT_BODIES

WRITTEN = {
    **{"type": "message", "from": "ceo", "priority": "medium", "status": "pending"},
    **{"created": to_text(START), "payload": {"summary": "A summary of five words", "content": "x"}},
}
"""Fields of a message that another program writes."""
BODIES = {body["msg_type"]: body for body in SPRINT_BODIES}


class Acts:
    """What members do here in other words than those of the service."""

    @staticmethod
    def permission(caller: Caller, **changes: Any) -> Receipt:
        """Ask to run a command."""
        asked = {"tool": "Bash", "directory": "/srv/app", "client": "claude-code", "input": COMMAND, **changes}
        return asking.ask_permission(caller, **asked)

    @staticmethod
    def question(caller: Caller) -> Receipt:
        """Ask which database it is to be."""
        return asking.ask_question(caller, questions=(DATABASE,))

    @staticmethod
    def escalation(caller: Caller) -> Receipt:
        """Bring something before the human."""
        fields = {"issue": "i", "options": ["a"], "recommendation": "a", "severity": "high"}
        return sending.send(caller, to="user", type="escalate", summary="one two three four five", payload=fields)

    @staticmethod
    def sprint(caller: Caller, to: str, kind: str, **changes: Any) -> Receipt:
        """Send a kind of the sprint with the body of the source, changed."""
        body = {key: value for key, value in BODIES.get(kind, {}).items() if key != "msg_type"}
        payload = {**body, **changes, "summary": "A summary of five words here"}
        return sending.send(caller, to=to, type=kind, payload=payload)

    @staticmethod
    def ask_back(caller: Caller, request_id: str, content: str = "", remarks: Sequence[Remark] = ()) -> Receipt:
        """Ask the asker something about a request."""
        return requests.decide(
            caller, Decision(request_id, None, content or None, remarks=tuple(remarks), asks_back=True)
        )

    @staticmethod
    def send_many(caller: Caller, number: int, to: str) -> Receipt:
        """Send so many messages; what came of the last."""
        return [sending.send(caller, to=to, summary="one two three four five", content="x") for _ in range(number)][-1]

    @staticmethod
    def grant(caller: Caller, of: Sequence[str], hours: int | None = None, uses: int | None = None) -> Receipt:
        """Have the same answered again."""
        lasts = timedelta(hours=hours) if hours is not None else None
        return start_grant(caller, trial_of(lead(caller.team), of), lasts=lasts, uses=uses)

    @staticmethod
    def have(caller: Caller, agent: str) -> Receipt:
        """Ask for an agent and be given it."""
        wish = {"agent_type": "story-creator", "role_hint": "r", "requested_by": caller.actor}
        asked = Acts.sprint(caller, "ceo", "AGENT_CREATE_REQUEST", **wish)
        return requests.approve(lead(caller.team), request_id=asked.messages[0].message_id, agent_name=agent)

    @staticmethod
    def end(caller: Caller, agent: str) -> Receipt:
        """Ask for the end of an agent."""
        return Acts.sprint(caller, "ceo", "AGENT_DESTROY_REQUEST", agent_name=agent, requested_by=caller.actor)

    @staticmethod
    def stop(caller: Caller, reason: str = "") -> Receipt:
        """Agree to the open order to stop, or not, for a reason."""
        orders = [row for row in view(caller.team).requests if row.is_open and row.kind == "shutdown"]
        if reason:
            return requests.reject(caller, request_id=orders[0].request_id, reason=reason)
        return requests.approve(caller, request_id=orders[0].request_id)

    @staticmethod
    def treat(caller: Caller, what: str, ids: Sequence[str], **more: Any) -> Receipt:
        """Do something about messages that are under way or were given up."""
        return deliveries.apply_remedy(caller, deliveries.Remedy(what), ids, **more)

    @staticmethod
    def stops(caller: Caller) -> object:
        """Look at how far the `stops` of each agent are."""
        return SimpleNamespace(stops=stops_of(view(caller.team)))

    @staticmethod
    def thread(caller: Caller, request_id: str) -> object:
        """Look at the `turns` of the conversation of a request."""
        rows = view(caller.team).requests
        thread = gather_thread(caller.team, caller.team.snapshot(), request_id, HistoryPage(), rows)
        return SimpleNamespace(turns=list(turns_of(thread, rows)) if thread is not None else None)

    @staticmethod
    def foresee(caller: Caller, **given: Any) -> object:
        """Look at what an approval would do."""
        return SimpleNamespace(notes=requests.approval_forecast(caller.team.snapshot(), **given))

    @staticmethod
    def scopes(caller: Caller) -> object:
        """Look at the `scopes` of the grants that run."""
        return SimpleNamespace(scopes=[scope_in(one.grant).words for one in in_force(caller.team.snapshot())])

    @staticmethod
    def recall(caller: Caller, grant: str) -> object:
        """End a grant."""
        return recall_grant(caller, grant)


_DOORS = (Acts, requests, asking, sending, inbox, maintenance, router, agents, members)


class Teller:
    """Tells a story on a team."""

    def __init__(self, team: Team, clock: FakeClock) -> None:
        self.team, self.clock = team, clock
        self.kept: dict[str, str] = {}

    def tell(self, text: str) -> None:
        """Tell all of it."""
        for line, seen in steps_of(text):
            made = self._act(Template(line).safe_substitute(self.kept))
            assert isinstance(made, TeamError) is (any(one.startswith("code: ") for one in seen)), (line, made)
            for one in seen:
                expected = Template(one).safe_substitute(self.kept)
                assert is_seen(self._about(made, expected), expected), (line, expected, made)

    def _act(self, line: str) -> object:
        """Do what a line says; what came of it, an error, too."""
        words, brace, fields = line.partition(" {")
        name, _, words = words.rpartition(" = ")
        given = yaml.safe_load(brace + fields) if brace else {}
        member, sign, function = words.partition(": ")
        if words == "members":
            roles = {name: more if isinstance(more, dict) else {"role": more} for name, more in given.items()}
            added = [convert({"name": name, **roles[name]}, Agent) for name in roles]
            return members.add_members(lead(self.team), added)
        if words.startswith("leave "):
            return members.remove_members(lead(self.team), words.split()[1:])
        if words == "write":
            put(self.team, from_record({**WRITTEN, **given}))
            return None
        if not sign:
            self.clock.advance(float(words.removeprefix("later ")))
            return None
        self.clock.advance(1)
        if "remarks" in given:
            given["remarks"] = convert(given["remarks"], list[Remark])
        try:
            made = self.called(member, function, given)
        except TeamError as error:
            return error
        if name:
            self.kept[name] = made.request_id or made.messages[0].message_id
        return made

    def called(self, member: str, function: str, given: dict[str, Any]) -> Any:
        """Call a function of the service."""
        act = next(getattr(door, function) for door in _DOORS if hasattr(door, function))
        return act(Caller(self.team, member, wait=2.0), **given)

    def _about(self, made: object, expected: str) -> object:
        """What a place is looked for in."""
        first = expected.removeprefix("! ").split(".")[0].split(":")[0].split(" ")[0]
        if first in ("queue", "trail"):
            return SimpleNamespace(queue=self.team.snapshot().messages, trail=self.team.audit())
        return made if hasattr(made, first) else view(self.team)


def told_on(stories: Mapping[str, str]) -> Iterator[Any]:
    """Each story with each store that it is told on."""
    for name, text in stories.items():
        first, _, rest = text.partition("\n")
        stores = first.split()[1:] if first.startswith("on ") else ["memory"]
        for store in stores:
            told = rest if first.startswith("on ") else text
            marks = () if store == "memory" else pytest.mark.slow
            yield pytest.param(store, told, id=name if store == "memory" else f"{name}-{store}", marks=marks)


@pytest.mark.parametrize(("store", "text"), [*told_on(stories_beside(__file__))])
def test_what_a_story_says_comes_of_it(store: str, text: str, tmp_path: Path, clock: FakeClock) -> None:
    with FACTORIES[store](tmp_path, clock) as make:
        Teller(make(), clock).tell(text)


@pytest.mark.parametrize(
    "wrong",
    [
        "task-manager: submit_plan {content: '1. Do it'}\n  code: USAGE",
        "task-manager: submit_plan {content: '1. Do it'}\n  requests: []",
        "task-manager: approve {request_id: nothing}",
    ],
)
def test_a_story_that_says_something_else_fails(wrong: str, tmp_path: Path, clock: FakeClock) -> None:
    with FACTORIES["memory"](tmp_path, clock) as make, pytest.raises(AssertionError):
        Teller(make(), clock).tell(wrong)
