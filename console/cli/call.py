"""One call of a verb: its options, the team it is about, who acts, and where the result goes."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from team_console.console.cli.printing.output import is_terminal
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import canonical, check_name
from team_console.store.model.safe import safe_line

if TYPE_CHECKING:
    from team_console.console.cli.printing.output import Output
    from team_console.store.contract.team import Snapshot, Team
    from team_console.store.model.errors import Problem
    from team_console.store.service.caller import Caller, Receipt
    from team_console.store.views.rows import View

LOCK_WAIT = 10.0
"""Seconds a verb waits for the lock (decision D7)."""


class Call:
    """What a verb's `run` gets. The team is opened when first asked for."""

    def __init__(self, options: Namespace, out: Output) -> None:
        self.options = options
        self.out = out
        self._team: Team | None = None

    @property
    def team(self) -> Team:
        """The team of `-t`, of the environment, or of the project around the current folder.

        Raises:
            TeamError: `TEAM_NOT_FOUND`.
        """
        if self._team is None:
            from team_console.store.backends.open import open_team

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
            given = _bound()
        else:
            self.refuse_to_rise(given, field="--as")
        return check_name(given, field="--as") if given is not None else None

    def refuse_to_rise(self, given: str, *, field: str) -> None:
        """Whoever's environment says that it is an agent acts as no human (decision D24).

        Args:
            given: Who is to act, as `field` says.

        Raises:
            TeamError: `ACTOR_BOUND`.
        """
        bound, given = _bound(), canonical(given)
        if bound is None or bound == given:
            return
        from team_console.store.protocol.verdicts import is_human

        config = self.team.config()
        if is_human(config, given) and not is_human(config, bound):
            text = f"this is the process of {bound} (TEAM_CONSOLE_AS), so it cannot act as {given}"
            hint = f"Leave out {field}. {given} acts at the console, or in a shell without TEAM_CONSOLE_AS."
            raise TeamError(Code.ACTOR_BOUND, text, hint)

    @property
    def agent(self) -> str | None:
        """The agent a verb is about, as `NAME` or `--agent NAME`; None when neither is given.

        Raises:
            TeamError: `USAGE` for two agents.
        """
        given = list(
            dict.fromkeys(canonical(name) for name in (self.options.named, self.options.agent) if name is not None)
        )
        if len(given) > 1:
            raise TeamError(Code.USAGE, f"two agents are named, {given[0]} and {given[1]}", "Name one of them.")
        return given[0] if given else None

    @property
    def actor(self) -> str:
        """Who acts: the given name, else the team's lead."""
        return self.given_actor or self.team.config().lead

    def looker(self, snapshot: Snapshot) -> str:
        """Who looks: the given name, else the lead as the snapshot knows it: a harmed store cannot tell it anew."""
        return self.given_actor or snapshot.config.lead

    @property
    def caller(self) -> Caller:
        """The actor at the team, for the desk."""
        from team_console.store.service.caller import Caller

        return Caller(self.team, self.actor, LOCK_WAIT)

    @property
    def decider(self) -> Caller:
        """The actor at the team, for what only a human or the one who is asked decides.

        Raises:
            TeamError: `ACTOR_UNNAMED` off a terminal, where a missing name is no proof that the lead sits there.
        """
        on_terminal = is_terminal(sys.stdin) or is_terminal(sys.stdout)
        if self.given_actor is None and not on_terminal:
            text = "nobody sits at a terminal here, so whoever decides has to be named"
            raise TeamError(Code.ACTOR_UNNAMED, text, "Say who decides with --as NAME, or with TEAM_CONSOLE_AS.")
        return replace(self.caller, on_terminal=on_terminal)

    def snapshot(self) -> Snapshot:
        """The team as it is now.

        Raises:
            TeamError: `STORE_UNREADABLE` when the queue cannot be read; an empty answer would be a lie.
        """
        snapshot = self.team.snapshot()
        if not snapshot.is_known:
            raise unreadable(snapshot, self.team.location)
        return snapshot

    def view(self) -> View:
        """Everything views know about the team now, for the actor.

        Raises:
            TeamError: `STORE_UNREADABLE`.
        """
        from team_console.store.views.truth import view_of_team

        snapshot = self.snapshot()
        return view_of_team(self.team, snapshot, me=self.looker(snapshot))

    def doubts(self, snapshot: Snapshot, problems: Sequence[Problem] = ()) -> list[str]:
        """Say why what is listed may not be all: lost, damaged, or of a team whose settings are gone (D16).

        Args:
            problems: What else kept the list from being whole.
        """
        from team_console.store.views.truth import judge

        reasons = judge(snapshot, self.team.clock()).doubts
        sentences = [problem.sentence for problem in problems] + [reason.sentence for reason in reasons]
        return list(dict.fromkeys(sentences))

    def print_list(self, listed: Mapping[str, Any], snapshot: Snapshot, problems: Sequence[Problem] = ()) -> None:
        """Print a list as JSON, with `doubt`: why it may not be all, or null."""
        self.out.json({**listed, "doubt": " ".join(self.doubts(snapshot, problems)) or None})

    def tell_doubt(self, snapshot: Snapshot) -> None:
        """Warn that what was listed may not be all."""
        self.out.warn(self.doubts(snapshot))

    def tell_stranger(self, snapshot: Snapshot | None = None) -> None:
        """Warn that whoever acts or looks is nobody of the team, as after a slip in `--as`.

        Without a `snapshot` the queue is read only for a name that the settings do not know.
        """
        name = self.given_actor
        if name is None:
            return
        from team_console.console.cli.unheard_names import is_in_settings, unheard_actor

        config = self.team.config() if snapshot is None else snapshot.config
        if not is_in_settings(config, name):
            self.out.warn(unheard_actor(snapshot or self.team.snapshot(), name))

    def tell_zone(self) -> None:
        """Say on standard error in which zone the times of a listing are, where it is not UTC."""
        zone = self.team.clock().astimezone().isoformat()[-6:]
        if zone != "+00:00":
            self.out.note(f"times are local, UTC{zone} (with TZ=UTC: UTC)")

    def tell_outage(self, words: str) -> None:
        """Say on standard error, while a verb waits, that its store is away or back."""
        self.out.note(f"team-console: {safe_line(words)}")

    def finish(self, receipt: Receipt, lines: list[str]) -> int:
        """Print what a write action did: its JSON object, or `lines` and its warnings."""
        if self.out.as_json:
            self.out.json(receipt.as_json())
            return 0
        for line in lines:
            self.out.say(line)
        self.out.warn([*receipt.warnings, *(notice.message for notice in receipt.notices)])
        return 0

    def close(self) -> None:
        """Release the team."""
        if self._team is not None:
            self._team.close()


def _bound() -> str | None:
    """The agent whose process this is, as its environment says; None when it does not say."""
    return canonical(os.environ.get("TEAM_CONSOLE_AS", "")) or None


def unreadable(snapshot: Snapshot, location: str) -> TeamError:
    """The error for a queue that is there and cannot be read, or is gone: never shown as empty (decision D16)."""
    from team_console.store.views.truth import judge

    truth = judge(snapshot, snapshot.taken_at)
    why = truth.reasons[0]
    message = why.text if location in why.text else f"{location}: {why.text}"
    hint = why.hint or "team-console status says more."
    return TeamError(Code.STORE_UNREADABLE, message, hint, condition=str(truth.state))


def split_names(values: list[str] | None) -> list[str]:
    """Names given as `A,B` or by repeating the option, each in its one spelling, in order, without empty ones."""
    return [canonical(name.strip()) for value in values or () for name in value.split(",") if name.strip()]
