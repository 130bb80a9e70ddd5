"""Approves what a client asks: once or always, in a mode, as it was asked or edited first; or refuses it in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError
from team_console.store.views.proposals import counts_of, difference
from team_console.widgets.bars.hints import Hints
from team_console.widgets.details.client_request import diff_text
from team_console.widgets.details.document import Block, Heading
from team_console.widgets.fields.note import Note
from team_console.widgets.fields.options import OptionLine, Options
from team_console.widgets.forms.excerpt import Excerpt
from team_console.widgets.forms.form import Draft, Form, labelled, optional
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Button

ResultT = TypeVar("ResultT")


_FEWEST_LINES, _MOST_LINES = 2, 14
"""Lines of what was edited that are shown at once; more of them scroll."""
_OTHER_LINES = 6
"""Lines of a form for everything else but its ways."""
_LOW = 30
"""Lines of a terminal below which it is enough that the thing itself stands above the form."""


class Way(Struct, frozen=True):
    """One way to answer: what it is called, what the button says then, and whether it is a refusal."""

    line: OptionLine
    verb: str
    refuses: bool = False


class Decision(Struct, frozen=True):
    """What was decided.

    Attributes:
        way: The place of the chosen way, from 0.
        words: The note, or the reason of a refusal.
        edited: What is approved in place of what was asked; None when it was left as it is.
    """

    way: int
    words: str
    edited: str | None = None


class Approval(Form[ResultT]):
    """A decision with its ways below each other; the first is chosen."""

    HELP = "The keys 1 to 9 choose the answer, n opens the note, ctrl+e edits first, enter or a hands in, esc leaves."
    BINDINGS = [Binding("ctrl+e", "edit", "Edit first", show=False, priority=True)]

    def __init__(
        self,
        title: str,
        about: str,
        act: Callable[[Decision], ResultT],
        *,
        ways: Sequence[Way],
        shown: Sequence[Block] = (),
        text: str | None = None,
        edit: Callable[[str], str] | None = None,
        draft: Draft | None = None,
        on_draft: Callable[[Draft], None] | None = None,
    ) -> None:
        """Make the form.

        Args:
            title: Safe text for the border.
            about: Safe text that says what is decided, exactly.
            act: Takes the decision, in a thread.
            ways: How it may be answered; a single one is not asked about.
            shown: What is decided on.
            text: What may be edited first, as it was asked; None when nothing may.
            edit: Lets the human edit a text, and gives it back; it may raise `TeamError`.
        """
        super().__init__(title, about, draft=draft, on_draft=on_draft)
        self._act_on = act
        self._ways, self._shown, self._text, self._edit = tuple(ways), tuple(shown), text, edit
        kept = self.draft.get("edited")
        self._edited: str | None = kept if text is not None and kept != text else None

    def verb(self) -> str:
        """The word on the button."""
        return self._way().verb

    def keys(self) -> tuple[str, ...]:
        """How to answer."""
        edit = ("^e edit first",) if self._can_edit() else ()
        choose = (f"1-{len(self._ways)} choose",) if len(self._ways) > 1 else ()
        note = "n say why not" if self._way().refuses else "n with a note"
        return f"enter {self.verb().lower()}", note, *edit, "esc not now", *choose

    @property
    def says_yes(self) -> bool:
        """Where the way that is chosen is a yes."""
        return not self._way().refuses

    def fields(self) -> ComposeResult:
        """What it is about, the ways, the words."""
        yield Excerpt(self._blocks(), most=self._room(), id="asked")
        if len(self._ways) > 1:
            chosen = (self._kept_place(),)
            yield labelled("answer", Options([way.line for way in self._ways], chosen=chosen, id="ways"))
        words = self.draft.get("words", "")
        yield optional("words", Note(words, placeholder=self._wanted(), id="words"), words=words)

    def on_mount(self) -> None:
        """Choose first where there is something to choose."""
        if len(self._ways) > 1:
            self.query_one("#ways", Options).focus()

    def typed(self) -> Draft:
        """The way, the words, and what was edited."""
        words = self.query_one("#words", Note).text
        place = self._place()
        return {"way": _name(self._ways[place]) if place else "", "words": words, "edited": self._edited or ""}

    def answer(self) -> Callable[[], ResultT]:
        """The act with the decision."""
        words = self.query_one("#words", Note).text.strip()
        way = self._way()
        if way.refuses and not words:
            self.action_write_note()
            raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Say why; the asker reads it.")
        decision = Decision(self._place(), words, None if way.refuses else self._edited)
        return lambda: self._act_on(decision)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where nothing may be edited, the key goes to the words, as in every form."""
        return self._can_edit() if action == "edit" else super().check_action(action, parameters)

    def action_edit(self) -> None:
        """Let the human edit what is asked before it is approved."""
        if not self._can_edit() or self._edit is None or self._text is None or self._busy:
            return
        try:
            text = self._edit(self._text if self._edited is None else self._edited)
        except TeamError as error:
            self.show_error(error)
            return
        self._say("")
        self._edited = text if _differs(self._text, text) else None
        self.query_one("#asked", Excerpt).put(self._blocks())
        self._show_verb()
        self.keep()

    def _room(self) -> int:
        """Lines for what is decided on, so that the ways stay in view."""
        if self.app.size.height < _LOW:
            return _FEWEST_LINES
        return min(_MOST_LINES, round(self.app.size.height * self.share()) - _OTHER_LINES - len(self._ways))

    def share(self) -> float:
        """The ways to answer need room, too."""
        return 0.7

    def _can_edit(self) -> bool:
        return self._text is not None and self._edit is not None

    def _blocks(self) -> tuple[Block, ...]:
        """What is decided on: the difference once it was edited."""
        if self._edited is None or self._text is None:
            return () if self._stands_above() else self._shown
        lines = difference(self._text, self._edited)
        return Heading(f"edited by you · {counts_of(lines)}"), diff_text(lines)

    def _stands_above(self) -> bool:
        """Whether what is decided on is seen above the form, and is not shown twice."""
        return self.behind is not None

    def _wanted(self) -> str:
        """What the words are for."""
        return "why not; the agent reads it" if self._way().refuses else "if you like; the agent reads it"

    def _place(self) -> int:
        chosen = self.query("#ways").results(Options) if self.is_mounted else ()
        return next((options.chosen[0] for options in chosen if options.chosen), self._kept_place())

    def _kept_place(self) -> int:
        """The way of the draft, by all its words: the request may offer others by now, in the places of the former."""
        kept = self.draft.get("way", "")
        return next((place for place, way in enumerate(self._ways) if _name(way) == kept), 0)

    def _way(self) -> Way:
        return self._ways[self._place()]

    @on(Options.Changed)
    def _show_verb(self) -> None:
        """The button and the keys say what will happen."""
        way = self._way()
        edited = " as edited" if self._edited is not None and not way.refuses else ""
        button = self.query_one("#hand-in", Button)
        button.label = Content(f"{way.verb}{edited}")
        button.refresh(layout=True)
        self.query_one(Hints).show(self.keys())
        self.query_one("#words", Note).placeholder = Content(self._wanted())


def _name(way: Way) -> str:
    """What tells a way from all others."""
    return f"{way.line.label}: {way.line.description}"


def _differs(asked: str, text: str) -> bool:
    """Whether an edited text says something else; the line end an editor puts behind it is no change."""
    if text.endswith("\n") and not asked.endswith("\n"):
        text = text[:-1]
    return text != asked
