"""Writes a message: to whom, how urgent, what about, and the text, with a preview of its deliveries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Priority
from team_console.store.model.safe import counted, safe_line
from team_console.widgets.fields.choice import Choice
from team_console.widgets.fields.field import Field, NameSuggester
from team_console.widgets.fields.note import Letter
from team_console.widgets.forms.form import Draft, Form, labelled
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static
from textual.worker import Worker, WorkerState

ResultT = TypeVar("ResultT")


class Written(Struct, frozen=True):
    """What the human wrote, as typed.

    Attributes:
        kind: The kind of message, empty where none was asked for.
        fields: The fields of that kind, by name; empty ones are left out.
    """

    to: tuple[str, ...]
    priority: str
    summary: str
    content: str
    kind: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


class Handoff(Struct, frozen=True):
    """A standard way to hand work on: choosing it fills in the recipient and the kind.

    Attributes:
        key: What it is called, safe text.
        to: The recipient.
        kind: The kind of message.
        fields: Names of further fields, safe text.
    """

    key: str
    to: str
    kind: str
    fields: tuple[str, ...] = ()


_ROOMY = 36
"""Lines of a terminal from which on the text has more of them."""
_TIGHT = 56
"""Columns below which each choice has a line of its own."""
Foresee = Callable[[tuple[str, ...]], str]
"""Says in one safe line whom a message to these names would reach; runs in a thread."""


class Compose(Form[ResultT]):
    """A letter. Enter sends it; esc keeps it for later."""

    DEFAULT_CSS = """
    Compose.-roomy .compose--letter, Compose.-roomy .compose--letter:focus { height: 8; }
    Compose .compose--extra { height: auto; max-height: 12; }
    Compose .form--row > .compose--short { width: 22; }
    Compose .form--row > .compose--label { width: 10; color: $text-muted; padding-left: 1; }
    Compose .compose--wide > .form--label { width: 24; }
    Compose .compose--words { width: 10; color: $text-muted; text-align: right; }
    """
    HELP = (
        "Write a message. Names complete with the right arrow; ctrl+j begins a new line, ctrl+e opens your editor, "
        "enter sends, esc keeps it for later."
    )

    def __init__(
        self,
        title: str,
        act: Callable[[Written], ResultT],
        *,
        names: Callable[[], Iterable[str]] = tuple,
        kinds: Mapping[str, tuple[str, ...]] | None = None,
        handoffs: tuple[Handoff, ...] = (),
        foresee: Foresee | None = None,
        words: Callable[[str], tuple[int, list[str]]] | None = None,
        to: str | None = None,
        verb: str = "Send",
        quote: str = "",
        draft: Draft | None = None,
        on_draft: Callable[[Draft], None] | None = None,
    ) -> None:
        """Make the letter.

        Args:
            title: Safe text for the border.
            act: Takes what was written, in a thread.
            names: Names the first field completes.
            kinds: Kinds to choose from, each with the names of the fields it needs; the first is the default.
            handoffs: Standard ways to hand work on.
            foresee: Says who would be reached.
            words: Counts the words of a summary and says what is odd about it.
            to: Fixed recipients, safe text shown instead of the field.
            quote: What it answers, safe text.
            draft: What to begin with.
        """
        super().__init__(title, quote, verb=verb, draft=draft, on_draft=on_draft)
        self._act_on, self._names = act, names
        self._foresee, self._words, self._to = foresee, words, to
        self._kinds = dict(kinds or {})
        self._handoffs = {handoff.key: handoff for handoff in handoffs}
        self._waiting: Timer | None = None

    def share(self) -> float:
        """A letter takes more room than a verdict."""
        return 0.7

    def keys(self) -> tuple[str, ...]:
        """Enter sends, as it hands in every form."""
        return f"enter {self._verb.lower()}", "esc keeps it", "^e editor", "^j line"

    def fields(self) -> ComposeResult:
        """To, priority, summary, text, preview."""
        get = self.draft.get
        if self._to is None:
            yield labelled("to", Field(get("to", ""), id="to", suggester=NameSuggester(self._names)))
            yield from self._choices()
        else:
            yield labelled("to", Static(Content(self._to), markup=False))
        wanted = "five to ten words" if self._is_tight else "five to ten words that say it all"
        summary = Field(get("summary", ""), placeholder=wanted, id="summary")
        yield labelled("summary", summary, Static("", classes="compose--words", markup=False))
        yield Container(*self._extra(), classes="compose--extra")
        letter = Letter(get("content", ""), id="content")
        letter.add_class("compose--letter")
        yield labelled("text", letter)
        yield Static("", classes="form--note", id="preview", markup=False)

    def _choices(self) -> Iterator[Container]:
        """Handoff, kind and priority; the last two share a line where there is room."""
        get = self.draft.get
        if self._handoffs:
            yield labelled("handoff", Choice(("", *self._handoffs), get("handoff", ""), empty="none", id="handoff"))
        priorities = tuple(str(item) for item in Priority)
        urgent = Choice(("", *priorities), get("priority", ""), empty="default", id="priority")
        kind = Choice(tuple(self._kinds), get("kind", ""), id="kind") if len(self._kinds) > 1 else None
        if kind is not None and not self._is_tight:
            kind.add_class("compose--short")
            yield labelled("kind", kind, Static("priority", classes="compose--label", markup=False), urgent)
        else:
            if kind is not None:
                yield labelled("kind", kind)
            yield labelled("priority", urgent)

    @property
    def _is_tight(self) -> bool:
        """Whether a line has room for little more than one field."""
        return self.behind is not None and self.behind.room().width < _TIGHT

    def on_mount(self) -> None:
        """Begin at the first field that is empty."""
        self.set_class(self.app.size.height >= _ROOMY, "-roomy")
        self._count()
        self._look_ahead()
        typed = self.typed()
        order = ("to", "summary", "content") if self._to is None else ("summary", "content")
        first = next((name for name in order if not typed[name]), "content")
        left_in = self.draft.get("at", "")
        self.query_one(f"#{left_in if left_in in order else first}").focus()

    def typed(self) -> Draft:
        """What stands in the fields, and in which of them the cursor is."""
        fixed = self._to is not None
        return {
            "at": (self.focused.id or "") if self.focused is not None else "",
            "to": "" if fixed else self.query_one("#to", Field).value,
            "kind": self._chosen("kind"),
            "handoff": self._chosen("handoff"),
            "priority": self._chosen("priority"),
            "summary": self.query_one("#summary", Field).value,
            "content": self.query_one("#content", Letter).text,
            **{f"field:{result.name}": result.value for result in self.query(".compose--extra Field").results(Field)},
        }

    def answer(self) -> Callable[[], ResultT]:
        """The act with what was written."""
        typed = self.typed()
        names = tuple(dict.fromkeys(item.strip() for item in typed["to"].split(",") if item.strip()))
        if self._to is None and not names:
            self.query_one("#to", Field).focus()
            raise TeamError(Code.MISSING_RECIPIENT, "nobody is named", "Type a name; the right arrow completes it.")
        fields = {key.partition(":")[2]: text.strip() for key, text in typed.items() if key.startswith("field:")}
        if not fields and not typed["content"].strip():
            self.query_one("#content", Letter).focus()
            raise TeamError(Code.MISSING_CONTENT, "Write a message", "It goes into the large field.")
        written = Written(
            names,
            typed["priority"],
            typed["summary"].strip(),
            typed["content"].rstrip("\n"),
            typed["kind"],
            {name: text for name, text in fields.items() if text},
        )
        return lambda: self._act_on(written)

    def _chosen(self, name: str) -> str:
        found = self.query(f"#{name}").results(Choice)
        return next((item.value for item in found), "")

    def _extra(self) -> list[Container]:
        """A field for everything the chosen kind and handoff need."""
        handoff = self._handoffs.get(self._chosen("handoff") if self.is_mounted else self.draft.get("handoff", ""))
        kind = self._chosen("kind") if self.is_mounted else self.draft.get("kind", "")
        names = (*self._kinds.get(kind, ()), *(handoff.fields if handoff else ()))
        text = self.typed() if self.is_mounted else self.draft
        made = []
        for name in dict.fromkeys(names):
            row = labelled(name, Field(text.get(f"field:{name}", ""), name=name))
            row.add_class("compose--wide")
            made.append(row)
        return made

    @on(Choice.Changed, "#handoff")
    def _handed_off(self, event: Choice.Changed) -> None:
        handoff = self._handoffs.get(event.value)
        if handoff is not None:
            self.query_one("#to", Field).value = handoff.to
            for choice in self.query("#kind").results(Choice):
                choice.choose(handoff.kind)
        self._make_extra()

    @on(Choice.Changed, "#kind")
    def _make_extra(self) -> None:
        rows = self._extra()
        place = self.query_one(".compose--extra", Container)
        place.remove_children()
        place.mount(*rows)

    @on(Field.Changed, "#summary")
    def _count(self) -> None:
        if self._words is not None:
            number, odd = self._words(self.query_one("#summary", Field).value)
            text = counted(number, "word") + (" △" if odd and number else "")
            self.query_one(".compose--words", Static).update(Content(text))

    @on(Field.Changed, "#to")
    def _look_ahead(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self.set_timer(0.15, self._start_preview)

    def _start_preview(self) -> None:
        typed = self.typed()["to"] if self._to is None else "all"
        names = tuple(item.strip() for item in typed.split(",") if item.strip())
        if self._foresee is not None and names:
            self._preview(self._foresee, names)
        else:
            self.query_one("#preview", Static).update("")

    @work(thread=True, exit_on_error=False, group="preview", exclusive=True)
    def _preview(self, foresee: Foresee, names: tuple[str, ...]) -> str:
        return foresee(names)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show what the preview found; the form itself minds the act."""
        if event.worker.group != "preview":
            return
        text: Any = ""
        if event.state is WorkerState.SUCCESS:
            text = event.worker.result
        elif event.state is WorkerState.ERROR:
            text = f"△ {safe_line(str(event.worker.error), 200)}"
        else:
            return
        self.query_one("#preview", Static).update(Content(text))
