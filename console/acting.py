"""Does what was asked in a thread, and says what became of it only when the store has it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from console.panes.pane import attachment_of
from store.desk import requests
from store.errors import Code, TeamError
from store.message import Message
from store.safe import safe_line, safe_text
from store.views.rows import RequestRow, RequestState

if TYPE_CHECKING:
    from console.screens.main import MainScreen

ResultT = TypeVar("ResultT")

DISSOLVING = "dissolve"
"""The worker group of asking agents to stop one after the other; cancelling it stops the asking."""


def act(
    screen: MainScreen,
    work: Callable[[], ResultT],
    told: Callable[[ResultT], str] | None,
    then: Callable[[ResultT], None] | None,
) -> None:
    """Do `work` in a thread; say what was done, or why it was not; then look at the store again."""
    if screen.busy:
        screen.toast("The former action is still being written.", severity="warning")
        return
    screen.set_busy("writing")
    screen.app.run_worker(_act(screen, work, told, then), group="act", exit_on_error=False)


def dissolve(screen: MainScreen, names: tuple[str, ...], reason: str | None) -> None:
    """Ask agents to stop one after the other; each answers, or keeps silent too long, before the next is asked."""
    if screen.busy:
        screen.toast("The former action is still being written.", severity="warning")
        return
    screen.set_busy("stopping")
    screen.app.run_worker(_dissolve(screen, names, reason), group=DISSOLVING, exit_on_error=False)


def fetch(screen: MainScreen, message: Message) -> None:
    """Read the content of `message` that is stored beside the queue, once, in a thread."""
    place = attachment_of(message)
    if place is not None and place not in screen.fetching:
        screen.fetching.add(place)
        screen.app.run_worker(_fetch(screen, message, place), group="fetch", exit_on_error=False)


def error_text(error: BaseException) -> str:
    """Code, what happened and the next step, as safe text."""
    if not isinstance(error, TeamError):
        return safe_line(f"{type(error).__name__}: {error}", 300)
    hint = f"\n{safe_text(error.hint)}" if error.hint else ""
    return f"✗ {error.code}: {safe_text(error.message)}{hint}"


def reason_of(error: BaseException) -> str:
    """What went wrong, in one safe line."""
    return safe_line(error.message if isinstance(error, TeamError) else f"{type(error).__name__}: {error}", 300)


async def _act(
    screen: MainScreen,
    work: Callable[[], ResultT],
    told: Callable[[ResultT], str] | None,
    then: Callable[[ResultT], None] | None,
) -> None:
    try:
        result = await asyncio.to_thread(work)
    except Exception as error:
        screen.toast(error_text(error), severity="error")
        return
    finally:
        screen.set_busy("")
        screen.look()
    if told is not None:
        screen.toast(told(result))
    if then is not None:
        then(result)


async def _fetch(screen: MainScreen, message: Message, place: str) -> None:
    """A content that is not what the message's own digest says is shown as such, never as the content."""
    try:
        data = await asyncio.to_thread(screen.shelf.team.attachment, place)
    except (TeamError, OSError) as error:
        screen.toast(error_text(error), severity="error")
        return
    facts = message.payload.get("attachment")
    digest = facts.get("sha256") if isinstance(facts, dict) else None
    if digest is not None and sha256(data).hexdigest() != digest:
        screen.toast(f"✗ {safe_line(place, 120)} is not what the message says it is", severity="error")
        return
    screen.shelf.contents[place] = data.decode("utf-8", errors="replace")
    screen.show_again()


async def _dissolve(screen: MainScreen, names: tuple[str, ...], reason: str | None) -> None:
    agreed = 0
    try:
        for number, name in enumerate(names, start=1):
            screen.set_busy(f"stopping {number} of {len(names)}: {safe_line(name, 40)}")
            try:
                receipt = await asyncio.to_thread(requests.request_shutdown, screen.seat, agent=name, reason=reason)
            except TeamError as error:
                screen.toast(error_text(error), severity="error")
                if error.code is not Code.AGENT_NOT_FOUND:
                    return
                continue
            screen.look()
            row = await _answered(screen, receipt.request_id)
            agreed += row is not None and row.state is RequestState.APPROVED
            if row is not None and row.state is RequestState.REJECTED:
                screen.toast(f"⊘ {safe_line(name, 64)} will not stop: {safe_line(row.reason, 200)}", severity="warning")
    except asyncio.CancelledError:
        screen.toast("Nobody else is asked to stop.", severity="warning")
        raise
    finally:
        screen.set_busy("")
    screen.toast(f"{agreed} of {len(names)} agreed to stop")


async def _answered(screen: MainScreen, request_id: str | None) -> RequestRow | None:
    """The request once it is answered; None when nobody answered in time."""
    patience = screen.view.snapshot.config.overdue_seconds.get("shutdown", 15.0) if screen.view else 15.0
    deadline = monotonic() + patience
    while monotonic() < deadline:
        rows = screen.view.requests if screen.view else ()
        row = next((one for one in rows if one.request_id == request_id), None)
        if row is not None and not row.is_open:
            return row
        await asyncio.sleep(0.1)
    return None
