"""Which keys count in a form: none that was pressed before the terminal showed what it decides on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic

from team_console.store.model.safe import counted
from team_console.widgets.fields import Options
from team_console.widgets.held_frames import Frames, WhenHeld, frames_of, visible_region
from textual.containers import Container
from textual.content import Content
from textual.events import Event, Key, MouseDown, MouseUp, Paste
from textual.widgets import Button, Input, Static, TextArea

LOOK = 0.7
"""Seconds for which what changed must have stood there before a key counts, and pause after keys that did not."""
_DRAWN_OTHERWISE = 2.0
"""Seconds after which a form counts as drawn though the terminal shows its words otherwise than they were written."""
LONGEST_TEXT = 100_000
"""Characters that a field takes by pasting; with many more each key takes seconds."""
_TO_LOOK = frozenset({"escape", "pageup", "pagedown", "ctrl+up", "ctrl+down"})
"""Keys that count all the same: they leave, or scroll what it is about."""
_HANDS_IN = frozenset({"enter", "ctrl+s", "ctrl+enter"})


class GatedPanel(Container, can_focus=True):
    """A panel that decides, and takes a key only if the terminal was known to show it when that was pressed.

    What was pressed before the terminal held the panel, as it stands now, does nothing, and the panel says so; text for
    a field counts all the same, and a key that is held down is one press. Behind letters that were refused it takes no
    enter more: they were meant for something else, and so may be the enter behind them.

    Three facts belong to it and to `Form`, which derives from it, and to nobody else. `_cancel_wait`: the form sets it
    while its action waits (`Form.wait_for`), calls it to leave, and clears it behind the action; while it is set
    `leaves_work` has nothing to do. `_is_left`: `leaves_work` sets it, the form clears it before each action and reads
    it afterwards. `_can_be_mended`: both set it where a field can mend what was just said, `Form.say` clears it, and
    the form reads it when something is typed, which takes these words away.

    Attributes:
        button: Says what enter would do.
        message_line: Says what went wrong, what is going on, and how many keys did nothing.
        warning: Why the first enter only asks to look again, safe text; empty when it counts at once.
        is_at_work: Whether it was submitted and its action is still running.
    """

    def __init__(self) -> None:
        super().__init__()
        # Held here and not looked for: what is said while the form is taken away finds its widgets all the same.
        self.button = Button("", id="hand-in", compact=True)
        self.message_line = Static("", classes="form--error", markup=False)
        self.warning = self._said = ""
        self.is_at_work = self._takes_no_enter = self._is_writing = self._can_be_mended = False
        self._cancel_wait: Callable[[], None] | None = None
        """Gives up what its action waits for, such as the touch of a key; None while it waits for nothing."""
        self._is_left = False
        """Whether the human left while its action checked: then it closes, and nothing is decided."""
        self._refused = 0
        self._keys_count_from, self._changed_at = 0.0, monotonic()
        self._held_since: int | None = None
        """The first frame in which the terminal held the form."""
        self._held_words: tuple[str, int] = "", 0
        self._held_terms: tuple[object, int] = (), 0
        """What the terminal held last of what it says, and of what enter would do, each with the first such frame."""

    @abstractmethod
    def terms(self) -> object:
        """Return what enter would do now, apart from words that are typed: enter counts once the terminal shows it."""

    def on_mount(self) -> None:
        """Learn what the terminal shows of it."""
        if (frames := frames_of(self)) is not None:
            frames.watch(self)

    # What the terminal shows.

    def new_in_frame(self, frames: Frames) -> Iterator[WhenHeld]:
        """Yield what notes what the terminal shows of the form: that it is there, what it says, what enter would do."""
        is_late = monotonic() - self._changed_at > _DRAWN_OTHERWISE
        if not (is_late or frames.shows(str(self.button.label), visible_region(self.button))):
            return
        if self._held_since is None:
            yield self._hold_form
        if self._said != self._held_words[0] and (
            is_late or frames.shows(self._said, visible_region(self.message_line))
        ):
            yield partial(self._hold_words, self._said)
        terms = self.terms()
        if terms != self._held_terms[0] and all(_shows_choice(frames, options) for options in self.query(Options)):
            yield partial(self._hold_terms, terms)

    def _hold_form(self, frame: int) -> None:
        """Note that the terminal holds the form with this frame."""
        if self._held_since is None:  # else an earlier frame had it
            self._held_since = frame

    def _hold_words(self, said: str, frame: int) -> None:
        """Note that the terminal holds what the form says."""
        if said != self._held_words[0]:  # else an earlier frame had them
            self._held_words = said, frame

    def _hold_terms(self, terms: object, frame: int) -> None:
        """Note that the terminal holds what enter would do, unless that is something else by now."""
        if terms != self._held_terms[0] and terms == self.terms():
            self._held_terms = terms, frame

    def _is_read_by(self, frames: Frames) -> bool:
        """Return whether form and message were held when the key under way was pressed."""
        said, at = self._held_words
        has_words = not self._said or (said == self._said and at <= frames.pressed)
        return self._held_since is not None and self._held_since <= frames.pressed and has_words

    # Which keys count.

    def why_not_now(self) -> str:
        """Return why the key under way hands nothing in; empty when it does."""
        frames = frames_of(self)
        if self._takes_no_enter:
            return "Letters were typed that do nothing here. esc closes the form; nothing typed is lost."
        if frames is None:
            return ""
        # guard: held-key-is-one-press
        if frames.is_repeat:
            return "A key that is held down counts once. Press it again."
        terms, at = self._held_terms
        # guard: enter-for-what-was-painted
        if not self._is_read_by(frames) or terms != self.terms() or at > frames.pressed:
            return "It was pressed before this was drawn. Review it, then press it again."
        return ""

    def refuses(self, event: Event) -> bool:
        """Return whether what was typed must not act: it was meant for something else, or nobody can have read this
        yet.

        What follows a refused key is refused as well until there was a pause: it belongs to the same words. So each
        event is to be shown once, in its order: a refused one is counted and said, puts off from when on keys count and
        perhaps takes enter away (`_note_refused`); text for a field is noted as writing (`_is_writing`); and of a paste
        that is too long is said why.
        """
        if isinstance(event, MouseDown | MouseUp):
            # What lies around the form is not to be chosen while it is asked about.
            return self.app.mouse_captured is None and not self.region.contains_point(event.screen_offset)
        if isinstance(event, Paste) and self._is_too_long(event.text):
            return True
        if not isinstance(event, Key | Paste) or (isinstance(event, Key) and event.key in _TO_LOOK):
            return False
        refused = self._is_typed_blindly(event) or self._does_nothing(event)
        if refused:
            self._note_refused(event)
        self._is_writing = self._is_writing or (self._is_text(event) and not refused)
        return refused

    def _is_text(self, event: Key | Paste) -> bool:
        """Return whether what was typed is text for the field that has the focus.

        Behind the key that opened a field its letters are words for it; they decide nothing. A key that is held down is
        no word, but two letters alike within one are.
        """
        is_in_field = isinstance(self.screen.focused, Input | TextArea)
        hands_in = isinstance(event, Key) and event.key in _HANDS_IN
        return is_in_field and not hands_in and (self._is_writing or not self._is_held_down())

    def _is_held_down(self) -> bool:
        """Return whether the key under way is the one before it again."""
        frames = frames_of(self)
        return frames is not None and frames.is_repeat

    def _is_typed_blindly(self, event: Key | Paste) -> bool:
        """Return whether it was typed before the form could be read, as it stands now."""
        frames, hands_in = frames_of(self), isinstance(event, Key) and event.key in _HANDS_IN
        # guard: nothing-typed-ahead
        is_unread = frames is not None and not self._is_text(event) and not self._is_read_by(frames)
        return is_unread or event.time < self._keys_count_from or (bool(self.warning) and not hands_in)

    def _does_nothing(self, event: Key | Paste) -> bool:
        """Return whether it means nothing here: a letter that is no key, or a paste where no field is.

        Whoever types a note must not miss that none was opened.
        """
        if isinstance(self.screen.focused, Input | TextArea):
            return False
        return isinstance(event, Paste) or (event.is_printable and event.key not in self.screen.active_bindings)

    def _note_refused(self, event: Key | Paste) -> None:
        """Count what was refused and say so; behind refused letters no enter counts any more."""
        self._refused += 1
        self._keys_count_from = max(self._keys_count_from, event.time + LOOK)
        is_letter_or_paste = isinstance(event, Paste) or event.is_printable
        is_in_field = isinstance(self.screen.focused, Input | TextArea)
        # guard: no-enter-behind-refused-letters
        self._takes_no_enter = self._takes_no_enter or (
            is_letter_or_paste and not (is_in_field or self._is_held_down() or self.is_at_work)
        )
        self._show_said()

    def _is_too_long(self, pasted: str) -> bool:
        """Return whether a field would be too long with what is pasted, and say so; no part of it is taken then."""
        field = self.screen.focused
        if self.is_at_work or not isinstance(field, Input | TextArea):
            return False
        before = len(field.value if isinstance(field, Input) else field.text)
        # guard: no-page-fills-a-field
        if before + len(pasted) > LONGEST_TEXT:
            self.say(f"△ Nothing was pasted: {len(pasted):,} characters; a field takes {LONGEST_TEXT:,} at most.")
            self._can_be_mended = True
            return True
        return False

    def leaves_work(self) -> bool:
        """Note that the human leaves while it is at work; False when it is not, or when its wait can be given up.

        What was only checked is dropped once the check ends; what was written is told as always.
        """
        if not self.is_at_work or self._cancel_wait is not None:
            return False
        self._is_left = True
        self.say("◌ leaving as soon as the check ends …")
        return True

    def pause(self) -> None:
        """Let no key count for a moment: what changed is to be read first."""
        self._keys_count_from = monotonic() + LOOK

    @property
    def is_paused(self) -> bool:
        """Whether that moment goes on."""
        return monotonic() < self._keys_count_from

    # What it says.

    def say(self, text: str) -> None:
        """Say something new, safe text: what was typed before it stood there, was typed without knowing it."""
        self._said, self._refused, self._changed_at = text, 0, monotonic()
        self._show_said()

    def _show_said(self) -> None:
        """Show what the panel says, and how many keys did nothing."""
        lines = [self._said] if self._said else []
        if self._refused:
            lines.append(f"△ {counted(self._refused, 'key')} did nothing: typed too early, or no key of this form")
            if self._takes_no_enter:
                lines[-1] += " · esc first, then open it again"
        text = "\n".join(lines)
        self.message_line.update(Content(text))
        self.message_line.set_class(bool(text), "-shown")
        self.set_class(bool(text), "-says-more")


def _shows_choice(frames: Frames, options: Options) -> bool:
    """Return whether the terminal shows what is chosen, of each option that begins in sight."""
    seen = ((row, visible_region(row)) for row in options.rows)
    return all(frames.shows(row.text, place) for row, place in seen if place and place.y == row.region.y)
