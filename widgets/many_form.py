"""One decision about many things: which they are, and which of them were never looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import nonempty
from team_console.store.model.safe import first_of
from team_console.widgets.document import Lines
from team_console.widgets.form import Excerpt, Form, ResultT, WrappedText
from team_console.widgets.held_frames import Frames, WhenHeld
from team_console.widgets.text import Line, cell_len, crop_name, pad
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

_LONGEST_NAME, _KIND = 28, 11
"""Cells of the columns of names, at most, and of kinds."""
_SET_IN = 4
"""Cells before what does not fit into the line of a thing."""
_NAMED = 2
"""Names that stand in the warning; each row that is meant has its sign as well."""


class ManyItem(Struct, frozen=True):
    """One of the things, all safe text; `subject` names it.

    Attributes:
        differs: From where to where `what` is another than that of the others; the same twice for nothing.
    """

    subject: str
    kind: str
    who: str
    what: str
    differs: tuple[int, int] = (0, 0)


class ManyForm(Form[ResultT]):
    """A list of things and the words for all of them. What was not shown whole is not among them, and it says which."""

    DEFAULT_CSS = """
    ManyForm { max-height: 75%; }
    ManyForm #unseen { color: $text-warning; text-style: bold; }
    """
    HELP = (
        "Enter decides on what is listed without a dash: all that was shown whole. Page up and down scroll what is "
        "behind, ctrl+up and ctrl+down the list. esc goes back."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+up", "scroll_items(-1)", "Scroll the list", show=False, priority=True),
        Binding("ctrl+down", "scroll_items(1)", "Scroll the list", show=False, priority=True),
    ]

    def __init__(
        self,
        items: Sequence[ManyItem],
        act: Callable[[Sequence[str], str], ResultT],
        *,
        verb: str,
        unseen: Callable[[str], str],
        outcome: Callable[[str], str] = lambda subject: "",
        notes: Callable[[], Sequence[str]] = tuple,
        **more: Any,
    ) -> None:
        """Make the form.

        Args:
            act: Takes the subjects that are meant and the words, in a thread.
            unseen: Subject -> what of it was not shown so far, safe text; empty when all of it was.
            outcome: Subject -> what became of it, safe text; empty while it waits.
            notes: What is left alone and why, and what to know of the askers by now, safe text.
            more: As for `Form`.
        """
        super().__init__("", "", verb, **more)
        self._items, self._act_on, self._unseen, self._outcome_of = tuple(items), act, unseen, outcome
        self._notes, self._notes_line = notes, WrappedText(classes="form--note")
        self._name_width = min(_LONGEST_NAME, max((cell_len(item.who) for item in self._items), default=0))
        self._warning_line = WrappedText(id="unseen", classes="form--note")
        self._list = Excerpt(most=8, id="items")
        self._left_out = self._find_left_out()

    def _find_left_out(self) -> Mapping[str, str]:
        """Return subject -> why it is not decided on: what became of it, else what of it was not shown."""
        subjects = [item.subject for item in self._items]
        return nonempty({subject: self._outcome_of(subject) or self._unseen(subject) for subject in subjects})

    @property
    def meant(self) -> tuple[ManyItem, ...]:
        """The items that are decided on, as the form shows them."""
        return tuple(item for item in self._items if item.subject not in self._left_out)

    def terms(self) -> object:
        """Return what enter would do, with the items that are meant: it counts once the terminal shows those, too."""
        return super().terms(), self.meant

    def new_in_frame(self, frames: Frames) -> Iterator[WhenHeld]:
        """Yield what the form notes of each frame, and a look at the items: one may have been shown whole by now."""
        yield from super().new_in_frame(frames)
        if self._left_out:
            yield lambda frame: self.look_again()

    def look_again(self) -> None:
        """See `Form`; also find out anew which items are left out: some may be decided or shown whole by now. Not while
        it is at work, whose action decides on those that were shown when it began.
        """
        super().look_again()
        self._notes_line.say("\n".join(filter(None, self._notes())))
        left = self._find_left_out()
        if left != self._left_out and not self.is_at_work:
            self._left_out = left
            self._show_items()
            self.show_verb()

    def title_words(self) -> str:
        """Return the decision and the number of its items."""
        return self.verb()

    def verb(self) -> str:
        """Return the word on the button, with the number of things that are decided on."""
        return f"{self._verb} {len(self.meant):,}"

    def keys(self) -> tuple[str, ...]:
        """Return the keys of the form in words."""
        keys = [f"enter {self.verb().lower()}"] if self.meant else []
        if self.words is not None and self.words.closed:
            keys.append("n with a note")
        if self._left_out:
            keys.append("PgDn shows more")
        return *keys, "esc not now"

    def fields(self) -> ComposeResult:
        """Compose the list, what is left out, and the words."""
        yield self._list
        yield self._notes_line
        if self.words is not None:
            yield self.row(self.words)

    def below(self) -> ComposeResult:
        """Yield the warning on items that were never shown whole."""
        yield self._warning_line

    def on_mount(self) -> None:
        """List them."""
        self.look_again()
        self._show_items()

    def answer(self) -> Callable[[], ResultT]:
        """Return the decision on the chosen items."""
        words, subjects = self.typed().get("words", "").strip(), [item.subject for item in self.meant]
        if not subjects:
            text = "none of them was shown whole; what was not read is not decided together with others"
            raise TeamError(Code.MISSING_CONTENT, text, "esc, open each and read it to its end.")
        if self.words is not None and self.words.required and not words:
            raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Say why; each asker reads it.")
        return lambda: self._act_on(subjects, words)

    def action_scroll_items(self, direction: int) -> None:
        """Scroll the list."""
        self._list.scroll_relative(y=direction * max(1, self._list.size.height - 1), animate=False)

    def _show_items(self) -> None:
        """Write the list and its warning anew."""
        self._warning_line.say(self._warning())
        self._list.put(Lines(tuple(map(self._line, self._items)), indent=_SET_IN))

    def _warning(self) -> str:
        """Return who waits no more, and what stays because it was not shown whole; empty where all is decided on."""
        left = [item for item in self._items if item.subject in self._left_out]
        gone = [item for item in left if self._outcome_of(item.subject)]
        unseen = [item for item in left if item not in gone]
        waits = "no longer waits" if len(gone) == 1 else "no longer wait"
        lines = []
        for items, words in ((gone, waits), (unseen, "not shown whole stay")):
            if who := list(dict.fromkeys(item.who for item in items)):
                lines.append(f"△ {len(items):,} {words}: {first_of(who, _NAMED)}")
        return "\n".join(lines)

    def _line(self, item: ManyItem) -> Line:
        """Return the line of an item, behind a dash where it is left out."""
        sign, tone = (("− ", "muted"), "muted") if item.subject in self._left_out else (("  ", ""), "")
        name = pad(crop_name(item.who, self._name_width), self._name_width)
        columns = ((pad(item.kind, _KIND) + " ", tone or "muted"), (name + " ", tone))
        why, (start, end) = self._left_out.get(item.subject, ""), item.differs
        before, differing, behind = item.what[:start], item.what[start:end], item.what[end:]
        what = ((before, tone), (differing, "hit"), (behind, tone))
        return sign, *columns, (f"{why} · " if why else "", tone), *what
