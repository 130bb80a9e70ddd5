"""Writing to agents: a message, a broadcast, a request to stop, a correction of the course."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from console.deeds.telling import count, listed, written
from console.subject import Mode, Subject
from store.config import TeamConfig
from store.desk import mail, requests
from store.desk.seat import Receipt
from store.errors import Code, TeamError
from store.message import Message
from store.names import ALL
from store.safe import safe_line
from store.views.rows import AgentState, View

if TYPE_CHECKING:
    from console.screens.main import MainScreen
    from widgets.forms.compose import Handoff, Written

_QUIET = (AgentState.STOPPED, AgentState.STOPPING)


def message(screen: MainScreen, subject: Subject) -> None:
    """Write to the agents chosen, quoting the message under the cursor when it is theirs."""
    from widgets.forms.compose import Compose

    quoted = _quoted(subject)
    purpose = f"message:{quoted.message_id if quoted else ','.join(subject.agents)}"
    draft = screen.drafts.get(purpose) or _first_draft(subject, quoted)
    title = f"Reply to {safe_line(quoted.sender, 64)}" if quoted else "Message"
    form = Compose[Receipt](
        title,
        partial(_send, screen, quoted.message_id if quoted else None),
        names=partial(known_names, screen, subject),
        kinds=_kinds(screen),
        handoffs=_handoffs(screen),
        foresee=partial(_foresee, screen),
        words=partial(_words, screen),
        draft=draft,
        on_draft=partial(screen.drafts.keep, purpose),
    )
    screen.ask(form, lambda receipt: written("message", receipt))


def broadcast(screen: MainScreen, subject: Subject) -> None:
    """Write to everybody; how many that is and who is not listening comes before it is written."""
    screen.act(partial(mail.preview, screen.seat, to=ALL), None, then=partial(_write_broadcast, screen))


def shutdown(screen: MainScreen, subject: Subject) -> None:
    """Ask the chosen agents to stop."""
    from widgets.forms.confirm import Confirm

    names = subject.stoppable
    quiet = _silent(subject)
    lines = [f"{listed(names, 12)} will be asked to stop: {count(len(names), 'request')}."]
    lines += _not_listening([name for name in names if name in quiet])
    lines.append("Each answers for itself; a refusal comes back to you with its reason.")
    purpose = f"shutdown:{','.join(names)}"
    form = Confirm[tuple[Receipt, ...]](
        "Shut down",
        tuple(lines),
        partial(_ask_to_stop, screen, names),
        verb=f"Ask {count(len(names), 'agent')}",
        field="reason",
        draft=screen.drafts.get(purpose),
        on_draft=partial(screen.drafts.keep, purpose),
    )
    screen.ask(form, lambda receipts: written("asked to stop", *receipts))


def shutdown_all(screen: MainScreen, subject: Subject) -> None:
    """Ask every listening member to stop, one after the other, each answer awaited before the next is asked."""
    screen.act(partial(mail.preview, screen.seat, to=ALL), None, then=partial(_confirm_shutdown_all, screen, subject))


def correct_course(screen: MainScreen, subject: Subject) -> None:
    """Ask the scrum master to plan again (requirement 185)."""
    from store.desk.agents import trigger_course_correction
    from widgets.forms.reason import ReasonPrompt

    prompt = ReasonPrompt[Receipt](
        "Correct the course",
        "CC_TRIGGER goes to the scrum master, who plans the sprint again.",
        lambda words, _: trigger_course_correction(screen.seat, user_input=words),
        verb="Trigger",
        label="change",
        required=True,
        draft=screen.drafts.get("correct_course"),
        on_draft=partial(screen.drafts.keep, "correct_course"),
    )
    screen.ask(prompt, lambda receipt: written("course correction", receipt))


def known_names(screen: MainScreen, subject: Subject) -> tuple[str, ...]:
    """Names a message may go to."""
    view = screen.view
    names = [row.name for row in view.roster if row.name != subject.me] if view else []
    return (*names, ALL)


def _send(screen: MainScreen, in_reply_to: str | None, letter: Written) -> Receipt:
    kind = letter.kind or "message"
    if kind == "message" and ALL in letter.to:
        raise TeamError(
            Code.INVALID_FIELD, "a message is for some, not for all", "Leave with esc; b writes to everybody."
        )
    return mail.send(
        screen.seat,
        to=letter.to,
        type=kind,
        content=letter.content or None,
        summary=letter.summary or None,
        priority=letter.priority or None,
        payload={name: _value(kind, name, text) for name, text in letter.fields.items()},
        in_reply_to=in_reply_to,
    )


def _kinds(screen: MainScreen) -> Mapping[str, tuple[str, ...]]:
    """What a human may write, each with the fields it needs here and by the protocol (`REQUIREMENTS.md` B.1)."""
    from store.protocol.configured_kinds import required_fields
    from store.protocol.fields import REQUIRED
    from store.protocol.registry import KINDS

    config = screen.view.snapshot.config if screen.view else TeamConfig()
    names = dict.fromkeys(("message", *REQUIRED, *(kind for kind in config.kinds if kind not in KINDS)))
    return {kind: tuple(dict.fromkeys((*REQUIRED.get(kind, ()), *required_fields(config, kind)))) for kind in names}


def _handoffs(screen: MainScreen) -> tuple[Handoff, ...]:
    """The team's standard handoffs, the actor's own first."""
    from store.protocol.routes import routes_of
    from widgets.forms.compose import Handoff

    routes = routes_of(screen.view.snapshot.config) if screen.view else ()
    mine = sorted(routes, key=lambda route: route.sender != screen.seat.actor)
    return tuple(Handoff(safe_line(one.key, 40), one.recipient, "handoff", one.payload) for one in mine)


def _value(kind: str, name: str, text: str) -> str | list[str]:
    """A list where the kind wants one: its parts stand between semicolons."""
    if (kind, name) == ("handoff", "next_actions"):
        return [part.strip() for part in text.split(";") if part.strip()]
    return text


def _write_broadcast(screen: MainScreen, seen: mail.Preview) -> None:
    from widgets.forms.compose import Compose, Written

    keep = partial(screen.drafts.keep, "broadcast")
    form = Compose[Written](
        "Broadcast",
        _with_summary,
        foresee=lambda _: _foreseen(seen),
        words=partial(_words, screen),
        to=f"everybody · {count(len(seen.recipients), 'delivery')}",
        verb="Go on",
        draft=screen.drafts.get("broadcast"),
        on_draft=lambda draft: keep(draft) if draft else None,
    )
    screen.ask(form, None, then=lambda letter: _confirm_broadcast(screen, letter, seen))


def _with_summary(letter: Written) -> Written:
    if not letter.summary:
        raise TeamError(
            Code.MISSING_SUMMARY, "a broadcast needs a summary", "Say in five to ten words what it is about."
        )
    return letter


def _confirm_broadcast(screen: MainScreen, letter: Written, seen: mail.Preview) -> None:
    from widgets.forms.confirm import Confirm

    number = len(seen.recipients)
    lines = [f"“{safe_line(letter.summary, 120)}”", f"{count(number, 'delivery')}: {listed(seen.recipients, 16)}."]
    lines += _not_listening(seen.not_listening)
    lines.append("Everybody is interrupted. For one agent or a few, a message is better.")

    def act(_: str) -> Receipt:
        return mail.broadcast(screen.seat, summary=letter.summary, content=letter.content)

    def told(receipt: Receipt) -> str:
        screen.drafts.keep("broadcast", {})
        return written("broadcast", receipt)

    screen.ask(Confirm[Receipt]("Broadcast", tuple(lines), act, verb=f"Send {count(number, 'message')}"), told)


def _confirm_shutdown_all(screen: MainScreen, subject: Subject, seen: mail.Preview) -> None:
    from widgets.forms.confirm import Confirm

    quiet = set(seen.not_listening)
    names = tuple(name for name in _in_turn(subject.view, seen.recipients) if name not in quiet)
    if not names:
        screen.toast("Nobody is left to ask.", severity="warning")
        return
    lines = [f"{listed(names, 20)} will be asked to stop, one after the other: {count(len(names), 'request')}."]
    lines += _not_listening(seen.not_listening)
    lines.append("The next one is asked when one has answered, or kept silent for too long. esc stops asking.")
    form = Confirm[str](
        "Shut down the team",
        tuple(lines),
        lambda reason: reason,
        verb=f"Ask all {len(names)}",
        field="reason",
        draft=screen.drafts.get("shutdown_all"),
        on_draft=partial(screen.drafts.keep, "shutdown_all"),
    )
    screen.ask(form, None, then=lambda reason: screen.dissolve(names, reason or None))


def _ask_to_stop(screen: MainScreen, names: tuple[str, ...], reason: str) -> tuple[Receipt, ...]:
    receipts: list[Receipt] = []
    for name in names:
        try:
            receipts.append(requests.request_shutdown(screen.seat, agent=name, reason=reason or None))
        except TeamError as error:
            asked = f"{listed(names[: len(receipts)])} asked; " if receipts else ""
            raise TeamError(error.code, f"{asked}{name}: {error.message}", error.hint, **error.facts) from error
    return tuple(receipts)


def _quoted(subject: Subject) -> Message | None:
    """The message a reply answers: the one under the cursor, when it alone is meant and another wrote it."""
    one = subject.message
    if one is None or subject.marked or one.sender == subject.me or subject.mode is Mode.DELIVERIES:
        return None
    return one


def _first_draft(subject: Subject, quoted: Message | None) -> Mapping[str, str]:
    names = (quoted.sender,) if quoted else subject.agents
    summary = ""
    if quoted:
        former = safe_line(quoted.summary, 120)
        summary = former if former.startswith("Re: ") else f"Re: {former}"
    return {"to": ", ".join(safe_line(name, 64) for name in names), "summary": summary}


def _foresee(screen: MainScreen, names: tuple[str, ...]) -> str:
    return _foreseen(mail.preview(screen.seat, to=names))


def _foreseen(seen: mail.Preview) -> str:
    parts = [f"{count(len(seen.recipients), 'delivery')}: {listed(seen.recipients)}"]
    if seen.not_listening:
        parts.append(f"not listening: {listed(seen.not_listening)}")
    parts += [safe_line(one, 120) for one in seen.warnings]
    return " · ".join(parts)


def _words(screen: MainScreen, summary: str) -> tuple[int, list[str]]:
    from store.protocol.summary import summary_warnings, words_of

    language = screen.view.snapshot.config.language if screen.view else "any"
    return len(words_of(summary)), summary_warnings(summary, language=language)


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


DEEDS = {
    "message": message,
    "broadcast": broadcast,
    "shutdown": shutdown,
    "shutdown_all": shutdown_all,
    "correct_course": correct_course,
}
