"""One decision about many things: which they are, which of them were never looked at, and what became of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted
from team_console.widgets.bars.hints import Hints
from team_console.widgets.details.document import Lines
from team_console.widgets.fields.note import Note
from team_console.widgets.forms.excerpt import Excerpt
from team_console.widgets.forms.form import Draft, Form, labelled, optional
from team_console.widgets.text.cells import Line, pad, pad_name
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Static

_NAME, _KIND = 18, 11
_NAMED = 2
"""Names that stand in the warning; each row that is meant has its sign as well."""
_LOW = 10
"""Lines of a form below which why rows are left alone takes one of them."""
_FEWEST = 2
"""Lines of the list that are shown however little room there is."""


class Item(Struct, frozen=True):
    """One of the things, all safe text.

    Attributes:
        subject: Names it.
        looked_at: Whether its text was on the screen.
        unread: How much of it was, where that is not all.
    """

    subject: str
    kind: str
    who: str
    what: str
    looked_at: bool = True
    unread: str = ""


class State(Struct, frozen=True):
    """What became of one thing: a word with its sign, safe text, and its tone."""

    words: str
    tone: str = ""


_NOT_YET = State("◔ not written yet", "warn")


class Many(Form[Any]):
    """A list and the words for all of it. After it was handed in it stays and says what became of each."""

    DEFAULT_CSS = """
    Many #unseen { color: $text-warning; text-style: bold; }
    Many Excerpt { margin-top: 0; }
    """
    HELP = "Enter decides on all that is listed, ctrl+o leaves out what was never on the screen, esc leaves."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "leave_out", "Leave out what was never shown", show=False, priority=True),
        Binding("U", "take_back", "Take back", show=False),
        Binding("W", "write_now", "Write now", show=False),
    ]

    def __init__(
        self,
        items: Sequence[Item],
        act: Callable[[Sequence[str], str], Any],
        *,
        verb: str,
        label: str = "",
        required: bool = False,
        notes: Sequence[str] = (),
        on_result: Callable[[Any], None] = lambda result: None,
        take_back: Callable[[], object] = lambda: None,
        write_now: Callable[[], object] = lambda: None,
        draft: Draft | None = None,
        on_draft: Callable[[Draft], None] | None = None,
    ) -> None:
        """Make the form.

        Args:
            act: Takes the subjects that are meant and the words, in a thread.
            label: The name of the field for words; empty for none.
            required: Whether empty words are refused.
            notes: What is left alone and why, safe text.
            on_result: Told what `act` returned; `show_states` says later what became of each.
            take_back, write_now: What the keys `U` and `W` do after it was handed in.
        """
        super().__init__(verb=verb, draft=draft, on_draft=on_draft)
        self._items, self._act_on = tuple(items), act
        self._label, self._required, self._notes = label, required, tuple(notes)
        self._on_result, self._take_back, self._write_now = on_result, take_back, write_now
        self._leaves_out = False
        self._states: Mapping[str, State] = {}
        self._is_handed_in = False

    @property
    def meant(self) -> tuple[Item, ...]:
        """What is decided on."""
        return tuple(item for item in self._items if item.looked_at or not self._leaves_out)

    @property
    def _waits(self) -> bool:
        """Whether some of what was handed in is neither written nor refused."""
        return self._is_handed_in and any(item.subject not in self._states for item in self.meant)

    def share(self) -> float:
        """Many things take more room than one."""
        return 0.75

    def title_words(self) -> str:
        """What is decided, and on how many."""
        return self.verb()

    def verb(self) -> str:
        """With how many it is about."""
        return f"{self._verb} {len(self.meant):,}"

    def keys(self) -> tuple[str, ...]:
        """Before and after it was handed in."""
        if self._is_handed_in:
            return "enter close", *(("U take back", "W write now") if self._waits else ())
        keys = [f"enter {self.verb().lower()}"]
        if self._label and not self._required:
            keys.append("n with a note")
        if not all(item.looked_at for item in self._items):
            keys.append("^o take all" if self._leaves_out else "^o leave out unseen")
        return *keys, "esc not now"

    @property
    def says_yes(self) -> bool:
        """Where nothing has to be typed, and all that is meant was looked at."""
        is_read = all(item.looked_at and not item.unread for item in self.meant)
        return is_read and not self._required and not self._is_handed_in

    def fields(self) -> ComposeResult:
        """What was never looked at, the list, what is left alone, the words."""
        unseen = Static(Content(self._warned()), id="unseen", classes="form--note", markup=False)
        unseen.display = bool(self._warned())
        yield unseen
        yield Excerpt((Lines(self._lines(), is_table=True),), most=8, id="items")
        if self._notes:
            yield Static(Content("\n".join(self._notes)), classes="form--note many--left", markup=False)
        if self._label:
            wanted = "each asker reads it" if self._required else "if you like; each asker reads it"
            words = self.draft.get("words", "")
            note = Note(words, placeholder=wanted, id="words")
            yield labelled(self._label, note) if self._required else optional(self._label, note, words=words)

    def fit_inside(self, lines: int) -> None:
        """The list gives way to the words: what is typed is always seen."""
        others = (self.query(".form--note"), self.query(".form--row"))
        self.query(".many--left").set_styles(f"max-height: {1 if lines < _LOW else 100};")
        rest = sum(widget.outer_size.height for few in others for widget in few if widget.display)
        items = self.query_one("#items", Excerpt)
        items.styles.max_height = max(_FEWEST, lines - rest - items.styles.margin.height)

    def on_mount(self) -> None:
        """Type where there is something to type."""
        if self._label and self._required:
            self.query_one("#words", Note).focus()

    def typed(self) -> Draft:
        """The words."""
        return {"words": self.query_one("#words", Note).text} if self._label else {}

    def keep(self) -> None:
        """Nothing is kept of what was handed in."""
        if not self._is_handed_in:
            super().keep()

    def answer(self) -> Callable[[], Any]:
        """The act with those that are meant."""
        words = self.typed().get("words", "").strip()
        if self._required and not words:
            raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Say why; each asker reads it.")
        subjects = [item.subject for item in self.meant]
        if not subjects:
            raise TeamError(Code.MISSING_CONTENT, "all of them are left out", "ctrl+o takes them in again.")
        return lambda: self._act_on(subjects, words)

    def action_hand_in(self) -> None:
        """Hand in; after that, close."""
        if self._is_handed_in:
            self.dismiss(None)
        else:
            super().action_hand_in()

    def action_leave_out(self) -> None:
        """Leave out what was never on the screen, or take it in again."""
        if not self._is_handed_in:
            self._leaves_out = not self._leaves_out
            self._show()

    def action_take_back(self) -> None:
        """Take back what was handed in."""
        if self._waits:
            self._take_back()
            self.dismiss(None)

    def action_write_now(self) -> None:
        """Write it without waiting any longer."""
        if self._waits:
            self._write_now()

    def action_scroll_behind(self, pages: float) -> None:
        """Scroll the list."""
        items = self.query_one("#items", Excerpt)
        items.scroll_relative(y=round(pages * 2 * items.size.height), animate=False)

    def entered(self, event: Message) -> None:
        """Enter in the words, too."""
        self.action_hand_in()

    def finish(self, result: Any) -> None:
        """Stay, and say of each that it is not written yet."""
        self._is_handed_in, self._busy = True, False
        self.query(".form--row").set(display=False)
        self._say("")
        self.set_focus(None)
        self._on_result(result)
        self._show()

    def show_states(self, states: Mapping[str, State]) -> None:
        """Say what became of some of them."""
        self._states = {**self._states, **states}
        if self.is_attached:
            self._show()

    def _show(self) -> None:
        unseen = self.query_one("#unseen", Static)
        unseen.update(Content(self._warned()))
        unseen.display = bool(self._warned())
        self.query_one("#items", Excerpt).put((Lines(self._lines(), is_table=True),))
        self.query_one(Hints).show(self.keys())
        self.query_one(".form--box").border_title = Content(self.title_words())
        button = self.query_one("#hand-in", Button)
        button.label = Content("Close" if self._is_handed_in else self.verb())
        button.refresh(layout=True)

    def _lines(self) -> tuple[Line, ...]:
        items = self._items if not self._is_handed_in else self.meant
        return tuple(self._line(item) for item in items)

    def _warned(self) -> str:
        """Whose texts were never on the screen; empty when all were."""
        unseen = [item for item in self._items if not item.looked_at]
        part = [item for item in self._items if item.looked_at and item.unread]
        if self._is_handed_in or not (unseen or part):
            return ""
        half = "; ".join(f"{item.who} {item.unread}" for item in part[:_NAMED]) + " …" * (len(part) > _NAMED)
        half = f"not read to the end: {half}" if part else ""
        if not unseen:
            return f"△ {half}"
        names = _listed(list(dict.fromkeys(item.who for item in unseen)))
        out = "left out, " if self._leaves_out else ""
        return f"△ {out}{counted(len(unseen), 'text')} never on the screen: {names}{'; ' * bool(half)}{half}"

    def _line(self, item: Item) -> Line:
        state = self._states.get(item.subject, _NOT_YET if self._is_handed_in else None)
        out = self._leaves_out and not item.looked_at and not self._is_handed_in
        sign = ("− ", "faint") if out else ("  ", "") if item.looked_at and not item.unread else ("△ ", "alert")
        tone = "faint" if out else ""
        line: Line = (
            sign,
            (pad(item.kind, _KIND) + " ", tone or "muted"),
            (pad_name(item.who, _NAME) + " ", tone),
            (item.what, tone),
        )
        return ((f"{state.words}  ", state.tone), *line[1:]) if state is not None else line


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
