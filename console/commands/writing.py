"""Writing to agents: a message, a broadcast, a request to stop, a correction of the course."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.commands.agreeing import agree, ask, nothing, single, told_of_many
from team_console.console.commands.looking import watch_stops
from team_console.console.decisions import Act, Agreed, Workspace
from team_console.console.selection import MESSAGE, Mode, Subject
from team_console.console.words import listed, written
from team_console.console.words import quoted as quoted_words
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.checks import count_words, summary_warnings
from team_console.store.protocol.kinds import KINDS, Family, phrase, routes_of
from team_console.store.protocol.parsing import required_fields
from team_console.store.protocol.titles import said_in
from team_console.store.service import deliveries, inbox, requests, sending
from team_console.store.service.agents import send_roster as deliver_roster
from team_console.store.service.agents import trigger_course_correction
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.deliveries import Forecast, Remedy
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.rows import AgentState, View

if TYPE_CHECKING:
    from team_console.widgets.forms import Handoff, Written


_QUIET = (AgentState.STOPPED, AgentState.STOPPING)


def message(workspace: Workspace, subject: Subject) -> None:
    """Write to the agents chosen, quoting the message under the cursor when it is theirs."""
    from team_console.widgets.forms import Compose

    quoted = _quoted(subject)
    purpose = f"message:{quoted.message_id if quoted else ','.join(subject.selection.agents)}"
    draft = workspace.drafts.get(purpose) or _first_draft(subject, quoted, _language(workspace))

    def meant(letter: Written) -> Written:
        return replace(letter, to=named(workspace.view, subject.me, letter.to))

    title = f"Reply to {safe_line(quoted.sender, 64)}" if quoted else "Message"
    form = Compose[Agreed](
        title,
        lambda letter: agree(workspace, _sending(subject, quoted, meant(letter), purpose)),
        names=partial(known_names, workspace, subject),
        kinds=_kinds(workspace),
        handoffs=_handoffs(workspace),
        foresee=partial(_foresee, workspace),
        words=partial(_words, workspace),
        quote=_quote_of(quoted),
        draft=draft,
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    ask(workspace, form, about=subject.selection.request if subject.wants_words and quoted is not None else None)


def broadcast(workspace: Workspace, subject: Subject) -> None:
    """Write to everybody; how many that is and who is not listening comes before it is written."""
    look = partial(sending.preview, workspace.caller, to=ALL)
    workspace.background.run(look, None, then=partial(_write_broadcast, workspace))


def shutdown(workspace: Workspace, subject: Subject) -> None:
    """Ask the chosen agents to stop."""
    from team_console.widgets.forms import Confirm

    names = subject.stoppable
    quiet = _silent(subject)
    lines = [f"{listed(names, 12)} will be asked to stop: {counted(len(names), 'request')}."]
    lines += _not_listening([name for name in names if name in quiet])
    lines.append("Each answers for itself; a refusal comes back to you with its reason.")
    purpose = f"shutdown:{','.join(names)}"
    form = Confirm[Agreed](
        "Shut down",
        tuple(lines),
        lambda reason: agree(workspace, _stopping(names, reason, purpose)),
        verb=f"Ask {counted(len(names), 'agent')} to stop",
        field="reason",
        wanted="if you like; the agents read it",
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    ask(workspace, form)


def shutdown_all(workspace: Workspace, subject: Subject) -> None:
    """Ask every listening member to stop, one after the other, each answer awaited before the next is asked."""
    look = partial(sending.preview, workspace.caller, to=ALL)
    workspace.background.run(look, None, then=partial(_confirm_shutdown_all, workspace, subject))


def correct_course(workspace: Workspace, subject: Subject) -> None:
    """Ask the scrum master to plan again (requirement 185)."""
    from team_console.widgets.fields import OptionLine
    from team_console.widgets.forms import Prompt, Way

    prompt = Prompt[Receipt](
        "Correct the course",
        "CC_TRIGGER goes to the scrum master, who plans the sprint again.",
        lambda made: trigger_course_correction(workspace.caller, user_input=made.words),
        ways=(Way(OptionLine("trigger"), "Trigger"),),
        label="change",
        required=True,
        draft=workspace.drafts.get("correct_course"),
        on_draft=partial(workspace.drafts.keep, "correct_course"),
    )
    workspace.ask(prompt, lambda receipt: written("asked for a correction of the course", receipt))


def send_roster(workspace: Workspace, subject: Subject) -> None:
    """Send the residents the complete roster (requirement 178)."""
    from team_console.widgets.forms import Confirm

    view = workspace.view
    residents = [row.name for row in view.roster if row.role == "resident"] if view is not None else []
    form = Confirm[Receipt](
        "Send roster",
        (f"The complete roster goes to {listed(residents) or 'nobody: the team has no residents'}.",),
        lambda _: deliver_roster(workspace.caller),
        verb="Send",
    )
    workspace.ask(form, lambda receipt: written("sent the roster", receipt))


def known_names(workspace: Workspace, subject: Subject) -> tuple[str, ...]:
    """Names a message may go to."""
    view = workspace.view
    rows = view.roster if view else ()
    names = [row.name for row in rows if row.name != subject.me and row.is_addressable]
    states = dict.fromkeys(f"@{row.state.partition(' ')[0]}" for row in rows if row.name in names)
    return (*names, *states, ALL)


def named(view: View | None, me: str, to: Sequence[str]) -> tuple[str, ...]:
    """The names that are meant: `@backend*` for those whose names fit, `@idle` for those in that state.

    Raises:
        TeamError: `INVALID_FIELD` for a group that nobody is in.
    """
    found: list[str] = []
    for name in to:
        if not name.startswith("@"):
            found.append(name)
            continue
        others = [row for row in (view.roster if view else ()) if row.name not in (me, USER) and row.is_addressable]
        word = name[1:]
        fits = [row.name for row in others if fnmatchcase(row.name, word) or row.state.partition(" ")[0] == word]
        if not fits:
            hint = "A group is @ with a state (@idle, @waiting) or a part of names (@backend*)."
            raise TeamError(Code.INVALID_FIELD, f"{safe_line(name, 60)}: nobody is in this group", hint)
        found += fits
    return tuple(dict.fromkeys(found))


def _sending(subject: Subject, quoted: Message | None, letter: Written, purpose: str) -> Agreed:
    """The decision to send a letter; what it answers shows that an answer is under way."""
    kind = letter.kind or "message"
    if kind == "message" and ALL in letter.to:
        raise TeamError(
            Code.INVALID_FIELD, "a message goes to some, not to everyone", "Use broadcast (b) to write to everyone."
        )

    request = subject.selection.request if quoted is not None else None
    is_done = request is None or not request.is_open or subject.wants_words
    reader = subject.reader_of(quoted) if quoted is not None and is_done else None

    def do(caller: Caller) -> Receipt:
        receipt = sending.send(
            caller,
            to=letter.to,
            type=kind,
            content=letter.content or None,
            summary=letter.summary or None,
            priority=letter.priority or None,
            payload={name: _value(kind, name, text) for name, text in letter.fields.items()},
            in_reply_to=quoted.message_id if quoted else None,
        )
        if quoted is not None and reader is not None:
            with suppress(TeamError):  # the answer is written, whatever became of the question meanwhile
                inbox.read_message(caller, agent=reader, message_id=quoted.message_id)
        return receipt

    about = request.request_id if request is not None else quoted.message_id if quoted is not None else purpose
    words = f"message to {listed(letter.to or ('the human',))}"
    return single(about, MESSAGE, words, do, told=partial(written, "sent"), purposes=(purpose,))


def _quote_of(message: Message | None) -> str:
    """The beginning of what a letter answers, as safe text."""
    return f"answers {quoted_words(message.content or said_in(message))}" if message is not None else ""


def _kinds(workspace: Workspace) -> Mapping[str, tuple[str, ...]]:
    """What a human may write, each with the fields it needs here and by the protocol (`docs/requirements.md` B.1)."""
    config = workspace.view.snapshot.config if workspace.view else TeamConfig()
    needs = {kind.name: kind.needs for kind in KINDS.values() if kind.family is Family.MESSENGER}
    names = dict.fromkeys(("message", *needs, *(kind for kind in config.kinds if kind not in KINDS)))
    return {kind: tuple(dict.fromkeys((*needs.get(kind, ()), *required_fields(config, kind)))) for kind in names}


def _handoffs(workspace: Workspace) -> tuple[Handoff, ...]:
    """The team's standard handoffs, the actor's own first."""
    from team_console.widgets.forms import Handoff

    routes = routes_of(workspace.view.snapshot.config) if workspace.view else ()
    mine = sorted(routes, key=lambda route: route.sender != workspace.caller.actor)
    return tuple(Handoff(safe_line(route.key, 40), route.recipient, "handoff", route.payload) for route in mine)


def _value(kind: str, name: str, text: str) -> str | list[str]:
    """A list where the kind wants one: its parts stand between semicolons."""
    if (kind, name) == ("handoff", "next_actions"):
        return [part.strip() for part in text.split(";") if part.strip()]
    return text


def _write_broadcast(workspace: Workspace, seen: sending.Preview) -> None:
    from team_console.widgets.forms import Compose, Written

    keep = partial(workspace.drafts.keep, "broadcast")
    form = Compose[Written](
        "Broadcast",
        _with_summary,
        foresee=lambda _: _foreseen(seen),
        words=partial(_words, workspace),
        to=f"everybody · {counted(len(seen.recipients), 'delivery')}",
        verb="Go on",
        draft=workspace.drafts.get("broadcast"),
        on_draft=lambda draft: keep(draft) if draft else None,
    )
    workspace.ask(form, None, then=partial(_look_before_broadcast, workspace))


def _with_summary(letter: Written) -> Written:
    if not letter.summary:
        raise TeamError(
            Code.MISSING_SUMMARY, "a broadcast needs a summary", "Say in five to ten words what it is about."
        )
    return letter


def _look_before_broadcast(workspace: Workspace, letter: Written) -> None:
    """Count again: who is in the team may be others than when the writing began."""
    look = partial(sending.preview, workspace.caller, to=ALL)
    workspace.background.run(look, None, then=partial(_confirm_broadcast, workspace, letter))


def _confirm_broadcast(workspace: Workspace, letter: Written, seen: sending.Preview) -> None:
    from team_console.widgets.forms import Confirm

    number = len(seen.recipients)
    lines = [f"“{safe_line(letter.summary, 120)}”", f"{counted(number, 'delivery')}: {listed(seen.recipients, 16)}."]
    lines += _not_listening(seen.not_listening) + _left_out(seen.left_out)
    lines.append("Everybody is interrupted. For one agent or a few, a message is better.")

    def do(caller: Caller) -> Receipt:
        return sending.broadcast(caller, summary=letter.summary, content=letter.content)

    words = f"broadcast to {counted(number, 'agent')}"
    agreed = single("broadcast", "broadcast", words, do, told=partial(written, "sent"), purposes=("broadcast",))
    verb = f"Send {counted(number, 'message')}"
    ask(workspace, Confirm[Agreed]("Broadcast", tuple(lines), lambda _: agree(workspace, agreed), verb=verb))


def _confirm_shutdown_all(workspace: Workspace, subject: Subject, seen: sending.Preview) -> None:
    from team_console.widgets.forms import Confirm

    quiet = set(seen.not_listening)
    names = tuple(name for name in _in_turn(subject.view, seen.recipients) if name not in quiet)
    if not names:
        workspace.toast("Nobody is left to ask.", severity="warning")
        return
    lines = [f"{listed(names, 20)} will be asked to stop, one after the other: {counted(len(names), 'request')}."]
    lines += _not_listening(seen.not_listening) + _left_out(seen.left_out)
    lines.append("The next one is asked when one has answered, or kept silent for too long. x stops questions.")
    form = Confirm[Agreed](
        "Shut down the team",
        tuple(lines),
        lambda reason: agree(workspace, _stopping_all(workspace, names, reason)),
        verb=f"Ask {counted(len(names), 'agent')} to stop",
        field="reason",
        wanted="if you like; the agents read it",
        draft=workspace.drafts.get("shutdown_all"),
        on_draft=partial(workspace.drafts.keep, "shutdown_all"),
    )
    ask(workspace, form)


def _stopping_all(workspace: Workspace, names: tuple[str, ...], reason: str) -> Agreed:
    """The decision to stop the team; asking begins after its grace, and is watched."""

    def begin(_: object) -> None:
        workspace.background.stop_in_turn(names, reason or None)
        watch_stops(workspace)

    act = Act("shutdown_all", f"ask {counted(len(names), 'agent')} to stop, one after the other", nothing)
    return Agreed("shut down", (act,), lambda _: "", ("shutdown_all",), then=begin, needs_console=True)


def _stopping(names: tuple[str, ...], reason: str, purpose: str) -> Agreed:
    """The decision to ask agents to stop, one request each."""

    def stop(name: str, caller: Caller) -> Receipt:
        return requests.request_shutdown(caller, agent=name, reason=reason or None)

    acts = tuple(Act(f"stop:{name}", f"ask {safe_line(name, 64)} to stop", partial(stop, name)) for name in names)
    return Agreed("ask to stop", acts, told_of_many("asked to stop"), (purpose,))


def _quoted(subject: Subject) -> Message | None:
    """The message a reply answers: the one under the cursor, when it alone is meant and another wrote it."""
    item = subject.selection.message
    if item is None or subject.selection.marked or item.sender == subject.me or subject.mode is Mode.DELIVERIES:
        return None
    return item


def _first_draft(subject: Subject, quoted: Message | None, language: str) -> Mapping[str, str]:
    names = (quoted.sender,) if quoted else subject.selection.agents
    summary = ""
    if quoted:
        former = safe_line(said_in(quoted), 120)
        head = phrase(language, "{}: {}", phrase(language, "Re"), "")
        summary = former if former.startswith(head) else f"{head}{former}"
    return {"to": ", ".join(safe_line(name, 64) for name in names), "summary": summary}


def _foresee(workspace: Workspace, names: tuple[str, ...]) -> str:
    try:
        meant = named(workspace.view, workspace.caller.actor, names)
    except TeamError as error:
        return f"△ {error.message}. {error.hint}"
    return _foreseen(sending.preview(workspace.caller, to=meant))


def _foreseen(seen: sending.Preview) -> str:
    parts = [f"{counted(len(seen.recipients), 'delivery')}: {listed(seen.recipients)}"]
    if seen.not_listening:
        parts.append(f"not listening: {listed(seen.not_listening)}")
    parts += [safe_line(warning, 120) for warning in seen.warnings]
    return " · ".join(parts)


def _words(workspace: Workspace, summary: str) -> tuple[int, list[str]]:
    return count_words(summary), summary_warnings(summary, language=_language(workspace))


def _language(workspace: Workspace) -> str:
    return workspace.view.snapshot.config.language if workspace.view else "any"


def _in_turn(view: View | None, names: Sequence[str]) -> list[str]:
    """Temporary agents first, residents last, so that nobody loses its contact too early; the lead never."""
    order = {"temp": 0, "slave": 1, "resident": 3}
    roles = {row.name: row.role for row in view.roster} if view else {}
    asked = [name for name in names if roles.get(name) != "master"]
    return sorted(asked, key=lambda name: order.get(roles.get(name, ""), 2))


def _silent(subject: Subject) -> frozenset[str]:
    rows = subject.view.roster if subject.view else ()
    return frozenset(row.name for row in rows if row.state in _QUIET)


def _not_listening(names: Sequence[str]) -> list[str]:
    return [f"△ Not listening: {listed(names)}. What they get waits in their inbox."] if names else []


def _left_out(names: Sequence[str]) -> list[str]:
    return [f"△ Left out, because it is no name that could be written to: {listed(names)}."] if names else []


HANDLERS: dict[str, Callable[[Workspace, Subject], None]] = {
    "message": message,
    "broadcast": broadcast,
    "shutdown": shutdown,
    "shutdown_all": shutdown_all,
    "correct_course": correct_course,
    "send_roster": send_roster,
}


# The failure desk on the screen: try again, redirect, discard, recall, one or many.


class _Treatment(Struct, frozen=True):
    """What is said and asked of one remedy; `field` is what it wants typed, `wanted` stands there while it is empty."""

    title: str
    effect: str
    told: str
    field: str = ""
    wanted: str = ""


_TREATMENTS = {
    Remedy.RETRY: _Treatment("Try again", "starts again with all its tries", "tried again"),
    Remedy.REDIRECT: _Treatment(
        *("Redirect", "goes to another agent instead", "redirected"),
        *("to", "the agent it goes to instead"),
    ),
    Remedy.DISCARD: _Treatment(
        *("Discard", "leaves the queue; its record and your reason stay in the archive", "discarded"),
        *("reason", "stays with its record in the archive"),
    ),
    Remedy.RECALL: _Treatment("Recall", "is taken back, unless somebody reads it first", "recalled"),
}


def _treat(remedy: Remedy, workspace: Workspace, subject: Subject) -> None:
    ids = list(dict.fromkeys(message.message_id for message in subject.selection.messages))
    look = partial(deliveries.forecast, workspace.caller, remedy, ids)
    workspace.background.run(look, None, then=partial(_confirm, workspace, subject))


def _confirm(workspace: Workspace, subject: Subject, seen: Forecast) -> None:
    from team_console.widgets.forms import Confirm

    how = _TREATMENTS[seen.remedy]
    fit = [message.message_id for message in seen.possible]
    if not fit:
        workspace.toast("\n".join(safe_line(why, 300) for why in seen.refused.values()), severity="warning")
        return
    lines = [f"It {how.effect}." if len(fit) == 1 else f"{counted(len(fit), 'message')}: each {how.effect}."]
    lines += [_named(message) for message in seen.possible[:5]]
    if len(fit) > 5:
        lines.append(f"  and {len(fit) - 5} more")
    lines += [f"△ left alone: {safe_line(why, 160)}" for why in list(seen.refused.values())[:3]]
    purpose = f"{seen.remedy}:{','.join(fit)}"
    form = Confirm[Receipt](
        how.title,
        tuple(lines),
        lambda words: deliveries.REMEDIES[seen.remedy](
            workspace.caller, ids=fit, **({how.field: words} if how.field else {})
        ),
        verb=f"{how.title} {len(fit)}",
        field=how.field,
        wanted=how.wanted,
        required=bool(how.field),
        names=partial(known_names, workspace, subject) if how.field == "to" else None,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    workspace.ask(
        form,
        lambda receipt: f"✓ {counted(len(receipt.messages), 'message')} {how.told}{_warned(receipt)}",
        then=lambda receipt: workspace.step_on(fit),
    )


def _named(message: Message) -> str:
    """What the message is, where it goes, and its id."""
    what = f"{safe_line(message.summary, 60)} → {safe_line(', '.join(message.recipients), 60)}"
    return f"• {what}\n  {safe_line(message.message_id, 120)}"


def _warned(receipt: Receipt) -> str:
    return "".join(f"\n△ {safe_line(warning, 300)}" for warning in receipt.warnings)


DELIVERING_HANDLERS: dict[str, Callable[[Workspace, Subject], None]] = {
    str(remedy): partial(_treat, remedy) for remedy in Remedy
}
