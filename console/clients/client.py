"""What a client is to the flows: its files, how its events are read and answered, and how its session is woken."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from team_console.console.clients.client_file import ClientFile, Joining
from team_console.console.clients.event import Event, EventName, Reply, Wish, specific_reply
from team_console.console.clients.transcript import TranscriptExtract, TranscriptRow
from team_console.store.model.errors import Problem
from team_console.store.protocol.client_answer import SentBack
from team_console.store.protocol.foreign_fields import mapping_in, mappings_in, text_in

LONGEST_CONTEXT = 9_500
"""Characters of text that a hook may add; clients cut at 10,000."""
MOST_BLOCKS = 8
"""How often in a row a hook may keep a turn from ending: a model's patience, where the client has no limit."""


class Running(Struct, frozen=True):
    """A session of a client that runs, as the client's own records say.

    Attributes:
        client: What people call the client.
        name: What the client calls the session, if anything.
        doing: What it does, in the client's word.
        process: Its number; None where the client does not say it.
    """

    session: str
    client: str
    folder: str
    name: str = ""
    doing: str = ""
    process: int | None = None

    @property
    def line(self) -> str:
        """One line for people."""
        return ", ".join(word for word in (self.client, self.name, self.folder, self.doing, self.session) if word)


class Program(ABC):
    """What an agent runs in, as `join` and `leave` know it; a subclass says what differs.

    Attributes:
        word: As `join --for` has it.
        scopes: Whose settings it reads, all of them together: `project`, `local` for the project on this machine alone,
            `user`.
        asks: Whether the team's `ask_for` counts for its calls.
        offers_tools: Whether its model is offered the tools of our MCP server.
        needs_server: Whether a member takes part by our MCP server alone.
        note_for_all: What the user should know when all of its sessions join; empty where they cannot.
    """

    word: str
    scopes: tuple[str, ...] = ("project",)
    asks = False
    offers_tools = True
    needs_server = False
    note_for_all = ""

    @abstractmethod
    def files(self, scope: str, joining: Joining) -> list[ClientFile]:
        """Return the files that change when a member joins; the one that says who acts is the first."""

    def files_for_all(self, joining: Joining) -> list[ClientFile]:
        """Return the files that change when all of its sessions join, each as a member of its own; none where it
        cannot.
        """
        return []

    @abstractmethod
    def notes_for_user(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know: from when on it joins, what reaches whom and what does not."""

    def can_hold(self, rules: Sequence[str]) -> bool:
        """Return whether it has rules of its own by which such calls can be held until somebody decides."""
        return False

    def sessions(self) -> Iterator[Running]:
        """Yield the sessions that run as its records say; the process of one may be gone."""
        yield from ()

    def problems(self) -> list[Problem]:
        """Return findings on what else may let its calls pass."""
        return []


class Client(Program):
    """A program whose sessions call our hook.

    Attributes:
        name: As requests and the roster have it.
        plan_tool: The tool by which a plan is handed in; empty for none.
        question_tools: Those by which the user is asked.
        plan_modes: In which a session can go on after its plan.
        can_raise_dialog: Whether it takes `ask` of a hook before a tool, and shows its own dialog then.
        shows_dialog_beside: Whether its own dialog stands beside a hook that waits, and its record says when that is
            answered.
        shows_title: Whether it shows the name that is given to a session.
        asks_by_tool: The tool by whose use the user is asked without a request for it; empty for none.
        attended_variable: Of the environment of its hooks: `1` where somebody is at its terminal, `0` for a run without
            one, which ends only when its hooks have.
        project_variable: The same for the folder that a session works in.
    """

    name: str
    plan_tool = ""
    question_tools: tuple[str, ...] = ()
    plan_modes: tuple[str, ...] = ()
    can_raise_dialog = False
    shows_dialog_beside = False
    shows_title = False
    asks_by_tool = ""
    attended_variable = ""
    project_variable = ""

    @property
    def is_attended(self) -> bool:
        """Whether somebody is at its terminal, as it says itself."""
        return os.environ.get(self.attended_variable) == "1"

    @property
    def is_unattended(self) -> bool:
        """Whether this is a run without a terminal, as it says itself; one that says nothing is neither."""
        return os.environ.get(self.attended_variable) == "0"

    def has_sent(self, data: Mapping[str, Any]) -> bool:
        """Return whether an event that names no client looks like one of this."""
        return False

    def event_of(self, data: Mapping[str, Any]) -> Event:
        """Read one event."""
        name, tool, given = text_in(data, "hook_event_name"), text_in(data, "tool_name"), mapping_in(data, "tool_input")
        asks_questions = tool in self.question_tools and mappings_in(given, "questions")
        is_plan = tool == self.plan_tool and text_in(given, "plan").strip()
        if is_plan:
            wish = Wish.PLAN
        elif asks_questions:
            wish = Wish.QUESTION
        else:
            wish = Wish.PERMISSION
        asks = bool(tool) and name in (EventName.PERMISSION, EventName.BEFORE_TOOL)
        tasks = mappings_in(data, "background_tasks")
        works = any(task.get("type") == "teammate" and task.get("status") == "running" for task in tasks)
        return Event(
            client=self.name,
            name=name,
            session=text_in(data, "session_id"),
            directory=text_in(data, "cwd"),
            tool=tool,
            input=given,
            thread=text_in(data, "agent_id"),
            teammate=self.teammate_of(data),
            suggestions=mappings_in(data, "permission_suggestions"),
            wish=wish if asks else None,
            last_words=text_in(data, "last_assistant_message"),
            keeps_going=data.get("stop_hook_active") is True,
            reason=text_in(data, "reason"),
            mode=text_in(data, "permission_mode"),
            patience=self.patience_of(data) if wish is Wish.PERMISSION else None,
            teammates_work=works if isinstance(data.get("background_tasks"), list) else None,
            transcript=self.transcript_of(data),
        )

    def teammate_of(self, data: Mapping[str, Any]) -> str | None:
        """Return the teammate whose event it is; None for the session itself."""
        return None

    def patience_of(self, data: Mapping[str, Any]) -> float | None:
        """Return the seconds after which it says no by itself to what it asks permission for; None when it does not."""
        return None

    def transcript_of(self, data: Mapping[str, Any]) -> str:
        """Return the file that holds what was said and done by who acts; empty for none."""
        return text_in(data, "transcript_path")

    def is_headless(self, event: Event) -> bool:
        """Return whether the session is a run without a terminal, as its transcript says."""
        return False

    def record_of(self, session: str) -> Running | None:
        """Return what it says of a session now, whose `doing` is `idle`, `busy`, or `waiting` while a dialog is open;
        None where it keeps no such record.
        """
        return None

    @abstractmethod
    def take_row(self, extract: TranscriptExtract, row: TranscriptRow) -> None:
        """Take one row of a transcript, while rows are read from the newest to the oldest."""

    def permission_reply(self, event: Event, decided: SentBack) -> Reply | None:
        """Return the answer to what is asked for; None where the decision says neither yes nor no."""
        if decided.approve is False:
            return self.refusal(event, decided.words or "The human refused.")
        # guard: clients-need-a-yes-or-no
        if decided.approve is not True:
            return None
        return self.approval(event, decided)

    @abstractmethod
    def approval(self, event: Event, decided: SentBack) -> Reply | None:
        """Return the yes to what is asked for; None for one that it has no words for.

        Of the event it says no more than which one it answers: what goes back is what was shown.
        """

    def answer_by_refusal(self, event: Event, decided: SentBack) -> Reply:
        """Return the answer to a question as a no, whose words are all that reaches the model, as the result of it."""
        return self.refusal(event, f"The human answered in the console: {decided.answers_in_words}")

    def allow_reply(self, event: Event, instead: Mapping[str, Any] | None) -> Reply | None:
        """Let a tool be used without asking, with another input where the human changed it; None where that cannot be
        said.
        """
        changed: Reply = {} if instead is None else {"updatedInput": dict(instead)}
        why = "allowed once by the human"
        return specific_reply(event, permissionDecision="allow", permissionDecisionReason=why, **changed)

    def refusal(self, event: Event, words: str) -> Reply:
        """Return a no with words for the model."""
        if event.name != EventName.PERMISSION:
            return specific_reply(event, permissionDecision="deny", permissionDecisionReason=words)
        return specific_reply(event, decision={"behavior": "deny", "message": words})


class TakesPrompts(ABC):
    """A client whose sessions no hook wakes: a process of ours waits beside each, and hands it a prompt."""

    @abstractmethod
    def wake(self, session: str, words: str) -> None:
        """Hand a session that rests a prompt."""


def yes_reply(event: Event, updated: Mapping[str, Any] | None = None, rules: Sequence[Any] = ()) -> Reply:
    """Return a yes: with another input, and with rules for the client, where they are given."""
    changed = {} if updated is None else {"updatedInput": dict(updated)}
    if event.name != EventName.PERMISSION:
        return specific_reply(event, permissionDecision="allow", **changed)
    more = {"updatedPermissions": list(rules)} if rules else {}
    return specific_reply(event, decision={"behavior": "allow", **changed, **more})
