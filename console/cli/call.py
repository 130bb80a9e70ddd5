"""One call of a verb: its options, the team it is about, who acts."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from team_console.console.cli.streams import Output, is_terminal
from team_console.store.backends.open import open_team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import USER, canonical, check_name, did_you_mean
from team_console.store.protocol.kinds import KINDS
from team_console.store.protocol.membership import known_members
from team_console.store.service.caller import Caller

if TYPE_CHECKING:
    from team_console.store.contract.snapshot import Snapshot
    from team_console.store.contract.team import Team
    from team_console.store.service.caller import Receipt
    from team_console.store.settings.team_config import TeamConfig


class UsageError(TeamError):
    """The command line was not understood; the exit status is 2."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(Code.USAGE, message, hint)


def _agent_of_process() -> str | None:
    """Return the agent whose process this is, as `TEAM_CONSOLE_AS` says; None when it does not say."""
    return canonical(os.environ.get("TEAM_CONSOLE_AS", "")) or None


def split_names(values: list[str] | None) -> list[str]:
    """Return names given as `A,B` or by repeating the option, each in its one spelling, in order, without empty
    ones.
    """
    return [canonical(name.strip()) for value in values or () for name in value.split(",") if name.strip()]


# Words for names that nobody has and kinds that are none: a slip of the keyboard must not look like an empty list.


def unknown_agent_warning(
    snapshot: Snapshot, name: str | None, everything_of: Callable[[], Sequence[Message]]
) -> list[str]:
    """Return a warning when nobody is or was called `name`, for whom nothing was found.

    Args:
        everything_of: Reads all messages, archived ones too, that concern the name; called only when nothing else does.
    """
    if name is None or _is_known(snapshot, name) or everything_of():
        return []
    text = f"nobody called {name} is known in team {snapshot.config.name}, and nobody in its archives"
    return [f"{text}{did_you_mean(name, _known_names(snapshot))}"]


def unknown_kind_warning(config: TeamConfig, kind: str | None) -> list[str]:
    """Return a warning when nothing was found of `kind` because there is no such kind of message."""
    if kind is None or kind in KINDS or kind in config.kinds:
        return []
    return [f"no kind of message is called {kind}{did_you_mean(kind, [*KINDS, *config.kinds])}"]


def is_in_settings(config: TeamConfig, name: str) -> bool:
    """Return whether the settings alone tell that somebody is called `name`."""
    return name in config.agents or name in config.humans or name in (USER, config.lead)


def _is_known(snapshot: Snapshot, name: str) -> bool:
    """Return whether settings or live messages tell that somebody is or was called so."""
    if is_in_settings(snapshot.config, name):
        return True
    if any(name == message.sender or name in message.recipients for message in snapshot.messages):
        return True
    return name in _known_names(snapshot)


def _known_names(snapshot: Snapshot) -> Iterable[str]:
    return known_members(snapshot.config, snapshot.messages)


# One call: its options, its team, who acts.


class Call(Output):
    """What a verb's `run` gets. The team is opened when first asked for.

    Attributes:
        options: What the command line says: an attribute for each argument of the verb, and for those of every verb.
    """

    options: Namespace
    _team: Team | None = None

    @property
    def team(self) -> Team:
        """The team of `-t`, of the environment, or of the project around the current folder.

        Raises:
            TeamError: `TEAM_NOT_FOUND`.
        """
        if self._team is None:
            self._team = open_team(self.options.team, read_only=self.options.read_only)
        return self._team

    @property
    def given_actor(self) -> str | None:
        """The name given with `--as` or `TEAM_CONSOLE_AS`, None when neither is.

        Raises:
            TeamError: `INVALID_NAME`; `ACTOR_BOUND` for a human's name in the process of an agent.
        """
        given = self.options.actor
        if given is None:  # an empty --as of a script whose variable is not set must not act as the lead
            given = _agent_of_process()
        else:
            self.refuse_acting_as_human(given, field="--as")
        return check_name(given, field="--as") if given is not None else None

    def refuse_acting_as_human(self, given: str, *, field: str) -> None:
        """Refuse that the process of an agent, as its environment says, acts as a human (decision D24).

        Args:
            given: Who is to act, as `field` says.

        Raises:
            TeamError: `ACTOR_BOUND`.
        """
        bound, given = _agent_of_process(), canonical(given)
        if bound is None or bound == given:
            return
        config = self.team.config()
        # guard: agent-acts-as-no-human
        if config.is_human(given) and not config.is_human(bound):
            text = f"this is the process of {bound} (TEAM_CONSOLE_AS), so it cannot act as {given}"
            hint = f"Leave out {field}. {given} acts at the console, or in a shell without TEAM_CONSOLE_AS."
            raise TeamError(Code.ACTOR_BOUND, text, hint)

    @property
    def agent(self) -> str | None:
        """The agent a verb is about, as `NAME` or `--agent NAME`; None when neither is given.

        Raises:
            TeamError: `USAGE` for two agents.
        """
        named, by_option = (
            canonical(name) if name is not None else None for name in (self.options.named, self.options.agent)
        )
        if named is None or by_option is None or named == by_option:
            return named if named is not None else by_option
        raise UsageError(f"two agents are named, {named} and {by_option}", "Name one of them.")

    @property
    def actor(self) -> str:
        """The actor: the given name, else the team's lead."""
        return self.given_actor or self.team.config().lead

    def viewer(self, snapshot: Snapshot) -> str:
        """Return who looks: the given name, else the lead as the snapshot knows it, because a damaged store cannot be
        asked again.
        """
        return self.given_actor or snapshot.config.lead

    @property
    def caller(self) -> Caller:
        """The actor at the team, for the service."""
        return Caller(self.team, self.actor)

    @property
    def decider(self) -> Caller:
        """The actor at the team, for what only a human or the one who is asked decides.

        Raises:
            TeamError: `ACTOR_UNNAMED` off a terminal, where a missing name is no proof that the lead sits there.
        """
        on_terminal = is_terminal(sys.stdin) or is_terminal(sys.stdout)
        # guard: decider-is-named
        if self.given_actor is None and not on_terminal:
            text = "this is not a terminal: say who decides"
            raise TeamError(Code.ACTOR_UNNAMED, text, "Give --as NAME, or set TEAM_CONSOLE_AS.")
        return replace(self.caller, on_terminal=on_terminal)

    def snapshot(self) -> Snapshot:
        """Return the team as it is now.

        Raises:
            TeamError: `STORE_UNREADABLE` where the queue cannot be read or is gone: never shown as empty (D16).
        """
        snapshot = self.team.snapshot()
        if snapshot.is_known:
            return snapshot
        from team_console.store.views.status import assess  # 10 ms: views, which only this error needs

        truth, location = assess(snapshot, snapshot.taken_at), self.team.location
        why = truth.reasons[0]
        message = why.text if location in why.text else f"{location}: {why.text}"
        hint = why.hint or "team-console status says more."
        raise TeamError(Code.STORE_UNREADABLE, message, hint, condition=str(truth.state))

    def warn_of_stranger(self, snapshot: Snapshot | None = None) -> None:
        """Warn that whoever acts or looks is nobody of the team, as after a slip in `--as`.

        Without a `snapshot` the queue is read only for a name that the settings do not know.
        """
        name = self.given_actor
        if name is None:
            return
        config = self.team.config() if snapshot is None else snapshot.config
        if is_in_settings(config, name) or not config.declared:
            return
        snapshot = snapshot or self.team.snapshot()
        if not _is_known(snapshot, name):
            self.warn([f"no member of team {config.name} is called {name}{did_you_mean(name, _known_names(snapshot))}"])

    def note_zone(self) -> None:
        """Say on standard error in which zone the times of a listing are, where it is not UTC."""
        zone = self.team.clock().astimezone().isoformat()[-6:]  # as +02:00
        if zone != "+00:00":
            self.note(f"times are local, UTC{zone} (with TZ=UTC: UTC)")

    def note_outage(self, words: str) -> None:
        """Say on standard error, while a verb waits, that its store is away or back."""
        self.note(f"team-console: {words}")

    def print_receipt(self, receipt: Receipt, lines: list[str]) -> None:
        """Print what a write action did: its JSON object, or `lines` and its warnings."""
        self.print_result(receipt.as_json(), *lines, warnings=receipt.told)

    def refuse_json(self, form: str) -> None:
        """Refuse `--json` beside another form of the result.

        Raises:
            TeamError: `USAGE`.
        """
        if self.as_json:
            raise UsageError(f"--json and {form} exclude each other", "Leave one of them out.")

    def refuse_useless(self, given: Mapping[str, object], why: str) -> None:
        """Refuse an option that would change nothing here: whoever gives it expects more than would be done.

        Args:
            given: Option -> its value, which is empty or None where it is not given.

        Raises:
            TeamError: `USAGE` for the first of them.
        """
        for option, value in given.items():
            if value:
                raise UsageError(f"{option} {why}", f"Leave out {option}.")

    def print_result(self, value: Mapping[str, Any], *lines: object, warnings: Sequence[str] = ()) -> None:
        """Print a result: `value` as JSON, or `lines` and `warnings`."""
        if self.as_json:
            self.json(value)
        else:
            self.say(*lines)
            self.warn(warnings)

    def close(self) -> None:
        """Release the team."""
        if self._team is not None:
            self._team.close()
