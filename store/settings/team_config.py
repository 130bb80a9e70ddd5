"""Team settings: who is in the team, who leads it, and the limits it keeps (`messenger-config.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from team_console.store.model.errors import Problem
from team_console.store.model.names import USER

CONFIG_NAME = "messenger-config.yaml"
"""The settings' file name (seed 000, requirement 1)."""
QUEUE_NAME = "message-queue.yaml"
"""The queue's file name (seed 000, requirement 2)."""
PROJECT_FOLDER = Path("_bmad/core/messenger")
"""Where a project root keeps its settings (seed 000, requirement 1)."""
PROJECT_QUEUES = Path("_bmad-output/messenger")
"""Where it keeps its queue (seed 000, requirement 2)."""


def is_in_project_folder(path: Path) -> bool:
    """Return whether this is the path of settings in the folder that a project has for them."""
    return path.parent.parts[-len(PROJECT_FOLDER.parts) :] == PROJECT_FOLDER.parts


ASK_WORDS = (
    *("push", "publish", "delete", "network", "outside the project", "settings and hooks", "mcp"),
    "plans of teammates",
)
"""Actions of agents that a human may want to be asked for, in a human's words; a client's own rule is another."""
ASK_FOR = tuple(word for word in ASK_WORDS if word not in ("network", "mcp"))
"""What a team asks for whose settings do not say it."""


class Agent(Struct, frozen=True):
    """A configured member.

    Attributes:
        role: `master`, `resident`, `slave`, `temp` or `member`.
        plan_mode_required: Whether it must hand in a plan before it works (requirement 79).
        deliver: Command that takes pushed messages (record on stdin), empty for the inbox file.
        deliver_timeout: Seconds that command may take.
        may_message: Names this agent may write to; None for everybody.
        may_send: Kinds this agent may send; None for all.
        ask_for: Actions that need the human's answer even if its client asks nobody; None for the team's.
    """

    name: str
    role: str = "member"
    plan_mode_required: bool = False
    deliver: tuple[str, ...] = ()
    deliver_timeout: float = 30.0
    may_message: frozenset[str] | None = None
    may_send: frozenset[str] | None = None
    ask_for: tuple[str, ...] | None = None


class Route(Struct, frozen=True, rename={"sender": "from", "recipient": "to"}):
    """A standard handoff, checked when it is sent (`docs/contributing/requirements.md` B.2)."""

    key: str
    sender: str
    recipient: str
    payload: tuple[str, ...] = ()


class KindRule(Struct, frozen=True):
    """What the team's settings say about a kind of message (`message_types`).

    Attributes:
        required_fields: Fields a message of this kind must carry, in its envelope or its payload.
    """

    name: str
    description: str = ""
    required_fields: tuple[str, ...] = ()


class Human(Struct, frozen=True):
    """A human of the team, who signs verdicts.

    Attributes:
        keys: Public keys, each a line as in `~/.ssh/id_ed25519.pub`.
        sign_with: The file of the key to sign with on this machine, private or public; empty to look for it.
    """

    name: str
    keys: tuple[str, ...] = ()
    sign_with: str = ""


class ConfigProblem(Struct, frozen=True):
    """Something wrong in the settings; the rest of them counts all the same.

    Attributes:
        code: `CONFIG_WARNING` (unknown), `BAD_CONFIG` (wrong), `CONFIG_UNTRUSTED` or `BAD_KEY`.
        severity: `error`, `warning` or `notice`.
        line: Line in the settings, from 1; 0 for the whole of them.
        message: What is wrong, in one sentence.
        hint: The next step.
    """

    code: str
    severity: str
    line: int
    message: str
    hint: str

    @property
    def sentence(self) -> str:
        """The line and what is wrong in it."""
        return f"line {self.line}: {self.message}" if self.line else self.message


class TeamConfig(Struct, frozen=True):
    """The settings of one team; every value has a default, so a team works without a file.

    Attributes:
        name: Team name, part of plan request ids.
        description, version: Words of whoever wrote the settings, kept as they are.
        lead: The member that answers plans and may ask for shutdowns.
        agents: Configured members by name; empty when the team has no declared roster.
        declared: Whether the settings name the members, so that other names are refused.
        language: Language of summaries: `any`, `zh` or `en` (001-g).
        wait_for_human: When the hook of a client waits for an answer: `always`, `present` (a console is open), `never`.
        ask_for: Actions of agents that need the human's answer even if their client asks nobody.
        content_max_bytes: Larger contents are refused (`CONTENT_TOO_LARGE`).
        attachment_bytes: Contents above this move to `attachments/`.
        content_soft_bytes: Contents above this give a warning.
        active_messages_max, archive_after_days, delete_archived_after_days: Retention, decision D18.
        overdue_seconds: Request kind -> seconds until an open request counts as overdue; `default` for the rest.
        priorities: Kind -> default priority, over the kind's own (000-d).
        ranks: Priority word -> its place in the order, 1 first; empty for the usual order.
        kinds: What the settings say about kinds of message, those included that only this team has.
        routes: Standard handoffs.
        humans: Who of the team is a human, by name, with the keys that sign their verdicts.
        verdicts: `signed` where nothing but a signed verdict of a human decides, else `open`.
        team_id: The identity of the team that its signed verdicts name; empty until the first of them.
        signed_since: Verdicts and requests from before that moment need no signature; None: all do.
        spawn: Command run when a creation request is approved; empty for none.
        queue, archives: Where the settings put the queue file and the archives; None for the usual places.
        key_path: The file that should hold the team's key, None for none.
        key: Team key for signatures, empty for none.
        key_trouble: Why the configured key cannot be used, empty when it can or there is none.
        distrust: Why no command in the settings may be run, empty when they may.
        misread: Settings that are there, or may be, and could not be understood, by key (`lead`, `agents`, ...).
        is_yaml: Whether the text of the settings is YAML as a whole; else here is what could be told apart in it.
        values: What the settings say, checked, by key; empty where nobody wrote any.
        problems: What is wrong in the settings; it never keeps the team from being read or written.
        lost: What happened to the settings, when these are those in force before and not what is there now; while it is
            not empty nothing that needs authority may be written.
        unconfirmed: SHA-256 of the text that is there now and waits to be confirmed, while the settings are lost.
    """

    name: str = "team"
    description: str = ""
    version: str = ""
    lead: str = "user"
    agents: Mapping[str, Agent] = {}
    declared: bool = False
    language: str = "any"
    wait_for_human: str = "present"
    ask_for: tuple[str, ...] = ASK_FOR
    content_max_bytes: int = 1_048_576
    attachment_bytes: int = 65_536
    content_soft_bytes: int = 16_384
    active_messages_max: int = 100
    archive_after_days: int = 7
    delete_archived_after_days: int = 30
    overdue_seconds: Mapping[str, float] = field(default_factory=lambda: OVERDUE_SECONDS)
    priorities: Mapping[str, str] = {}
    ranks: Mapping[str, int] = {}
    kinds: Mapping[str, KindRule] = {}
    routes: tuple[Route, ...] = ()
    humans: Mapping[str, Human] = {}
    verdicts: str = "open"
    team_id: str = ""
    signed_since: datetime | None = None
    spawn: tuple[str, ...] = ()
    queue: Path | None = None
    archives: Path | None = None
    key_path: Path | None = None
    key: bytes = b""
    key_trouble: str = ""
    distrust: str = ""
    misread: frozenset[str] = frozenset()
    is_yaml: bool = True
    values: Mapping[str, Any] = {}
    problems: tuple[ConfigProblem, ...] = ()
    lost: str = ""
    unconfirmed: str = ""

    def __repr__(self) -> str:
        """Return its name alone: the key belongs in no log and no traceback."""
        return f"TeamConfig({self.name!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return the same for tracebacks with the values of variables, which do not ask for `repr`."""
        return [("name", self.name)]

    @property
    def is_misread(self) -> bool:
        """Whether who leads or who is a member is there, or may be, and could not be understood."""
        return not self.misread.isdisjoint(("lead", "agents"))

    @property
    def is_misplaced(self) -> bool:
        """Whether the settings name a queue that is not used, so that mail may wait in another."""
        return not self.misread.isdisjoint(QUEUE_PLACES)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The faults of the settings, as sentences."""
        return tuple(problem.sentence for problem in self.problems)

    def agent(self, name: str) -> Agent:
        """Return the member's settings, or defaults for a name that is not configured."""
        return self.agents.get(name) or Agent(name)

    def is_human(self, name: str) -> bool:
        """Return whether `name` is a seat of a human: the lead, the human at the console, and those the settings
        name.
        """
        return name in (self.lead, USER) or name in self.humans

    def human(self, name: str) -> Human:
        """Return the human in this seat: the lead's keys are the console's, whose seat the lead has."""
        own = self.humans.get(name)
        if own is None and name in (self.lead, USER):
            own = self.humans.get(self.lead) or self.humans.get(USER)
        return own or Human("")

    @property
    def asks_for_signatures(self) -> bool:
        """Whether verdicts are signed, and some human has a key for it: only then a key can confirm settings."""
        return self.verdicts == "signed" and any(human.keys for human in self.humans.values())

    def must_be_signed(self, signer: str) -> bool:
        """Return whether a verdict of `signer` decides only when it is signed: by any human of such a team, with a key
        or without one.
        """
        return self.verdicts == "signed" and self.is_human(signer)

    def asked_for(self, name: str) -> tuple[str, ...]:
        """Return the actions of the member `name` that need the human's answer."""
        own = self.agent(name).ask_for
        return self.ask_for if own is None else own


QUEUE_PLACES = ("queue_dir", "queue_file")
"""Settings that say where the queue is."""
OVERDUE_SECONDS: Mapping[str, float] = {
    "default": 900.0,
    "shutdown": 15.0,
    "create": 60.0,
    "destroy": 60.0,
    "escalation": 300.0,
    "browser": 30.0,
    "research": 300.0,
    "permission": 300.0,
    "question": 300.0,
}
"""Seconds after which an open request is overdue (`docs/contributing/requirements.md` B.5): `default` for those kinds
that are not here. They stay out, so that who sets `default` changes something."""
KINDS_WITH_PATIENCE = (
    "default",
    *("plan", "shutdown", "create", "destroy", "escalation", "clarification"),
    *("debug", "browser", "research", "permission", "question"),
)
"""What `overdue_seconds` may name."""

# What is wrong with settings, as findings: the codes, the next step, and the place with its line.

SETTINGS_LOST = "SETTINGS_LOST"
"""Code of the problem that settings which were in force are gone, emptied or cut."""
SETTINGS_UNREADABLE = "SETTINGS_UNREADABLE"
"""Code of the problem that the settings cannot be read, or do not say who leads and who is a member though they may."""
LOST_SETTINGS_HINT = (
    "Until then those in force before are used, and nothing that needs authority is written. Put them back with "
    "'team-console check --heal', or confirm them as they are with 'team-console check --accept-settings'."
)


def config_problems(config: TeamConfig, source: str) -> tuple[Problem, ...]:
    """Return the faults of the settings in `source`, as findings with the line."""
    return tuple(
        Problem(
            problem.code,
            problem.severity,
            f"{source}:{problem.line}" if problem.line else source,
            problem.message,
            problem.hint,
        )
        for problem in config.problems
    )


def misread_problems(config: TeamConfig, place: str) -> tuple[Problem, ...]:
    """Return the findings for settings at `place` that do not say who leads and who is a member, the reason first."""
    problems = config_problems(config, place)
    reason = next(problem for problem in problems if problem.severity == "error")
    others = (problem for problem in problems if problem is not reason)
    return Problem(SETTINGS_UNREADABLE, "error", reason.place, reason.message, reason.hint), *others
