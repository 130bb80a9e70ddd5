"""Shows one document, scrolls it, and counts which of its lines the terminal held."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.protocol.shown_when_decided import Seen
from team_console.widgets.document import CANNOT_BE_SHOWN, HEADS, Document, DocumentArea, laid_out
from team_console.widgets.held_frames import Frames, WhenHeld, frames_of, visible_region
from team_console.widgets.panel import NotShown, TitledPanel, press_shown_key, room_of
from team_console.widgets.text import Line, cell_len, fit, marked_hits, text_of, width_of
from team_console.widgets.tones import ThemedLines
from team_console.widgets.wrapping import parts_within
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

_OF_RULES = " ─┼"
"""Signs of which a rule is drawn, and the line below the head of a table."""
_TOAST = 2
"""Lines at the lower edge that words about a key may cover; nothing is pointed at below them."""
_EDGE = 8
"""Cells of the edge and the blanks beside a title and a position: where a name has no room, its kind goes."""


class Spot(NamedTuple):
    """Where a line of the screen belongs: to which request, to which area of it, and its number there, from 0."""

    token: str
    area: DocumentArea
    number: int


class Detail(TitledPanel, ThemedLines, ScrollView, can_focus=True):
    """A scrolled document. The line API keeps a change of document to the lines that differ.

    Attributes:
        fills_screen: Whether it has the whole screen, where `b` pages back.
        sought: What is looked for in it, case folded; empty for nothing.
        drawn: The token of the document whose lines were last drawn; empty before that.
        pointed: The line pointed at, as `LaidLine.text_line` counts; 0 for none.
        drawn_before: Tokens of all requests of which a line was ever drawn, each with all that was shown of it last.
        painted_before: Tokens of these requests, each with the lines that the terminal held.
    """

    ALLOW_SELECT: ClassVar[bool] = True
    KEEPS_RIGHT: ClassVar[bool] = True
    DEFAULT_CSS = """
    Detail {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        padding: 0 1;
        color: $foreground;
    }
    Detail > .detail--pointed { background: $primary-muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"detail--pointed"}
    CURSOR = "detail--pointed"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "want('remark')", "Remark on the line that is pointed at", show=False),
        Binding("escape", "stop_pointing", "No line", show=False),
        Binding("j,down", "step(1)", "Down", show=False),
        Binding("k,up", "step(-1)", "Up", show=False),
        Binding("g,home", "jump('home')", "Top", show=False),
        Binding("G,end", "jump('end')", "End", show=False),
        Binding("ctrl+d", "half(1)", "Half a page down", show=False),
        Binding("ctrl+u", "half(-1)", "Half a page up", show=False),
        Binding("pagedown,space", "jump('page_down')", "Page down", show=False),
        Binding("b", "page_back", "Page up", show=False),
        Binding("pageup", "jump('page_up')", "Page up", show=False),
    ]

    HELP = (
        "The thing itself. space pages, j and k scroll; f gives it the whole screen."
        " L points at a line, where j and k move on and enter writes a remark. ctrl+c copies what the mouse selects."
    )

    @dataclass
    class Wanted(Message):
        """The human wants to do something about what is read: the action of the registry with this id."""

        action: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.document: Document | None = None
        self.raw = self.full = self.fills_screen = False
        self.sought = ""
        self._lines: list[Line] = []
        self.drawn = ""
        self.drawn_before: dict[str, Seen | None] = {}
        self.painted_before: dict[str, Painted] = {}
        self._spots: list[Spot] = []
        self._text_lines: list[int] = []
        self._anchors: dict[str, int] = {}
        self.pointed = 0
        self._laid_width = 0
        self._hits: tuple[str, ...] = ()

    @property
    def seen(self) -> Seen | None:
        """All that is shown of the request whose lines were last drawn; None before that, and of what is none."""
        return self.document.seen if self.document is not None and self.drawn else None

    def show(self, document: Document | None) -> None:
        """Show `document`, or nothing. The same thing keeps its place."""
        if document == self.document:
            return
        same = document is not None and self.document is not None and document.key == self.document.key
        if not same:
            self.pointed = 0
            if self.is_attached and self.text_selection is not None:
                self.screen.clear_selection()
        before = self.document
        if document is None or before is None or (document.token, document.seen) != (before.token, before.seen):
            self.drawn = ""  # a decision on one is none on the other
        self.document = document
        self._lay_out(keep=same)

    def toggle_raw(self) -> bool:
        """Change between the read and the plain form; returns whether it is plain now."""
        self.raw = not self.raw
        self._lay_out(keep=False)
        return self.raw

    def set_hits(self, words: tuple[str, ...]) -> None:
        """Mark these words, case folded, wherever they stand in the text."""
        if words != self._hits:
            self._hits = words
            self.refresh()

    def find(self, words: str) -> bool:
        """Look for `words` as one text, and go to the first line from here on that has it; return whether any has."""
        self.sought = words.casefold()
        self.set_hits((self.sought,) if self.sought else ())
        return bool(self.sought) and self._go_to(self._lines_with((self.sought,)), 1, here=True)

    def next_hit(self, words: tuple[str, ...], direction: int) -> bool:
        """Scroll to the next line, or the one before, that holds one of `words`; False when there is none."""
        return self._go_to(self._lines_with(words), direction)

    def next_heading(self, direction: int) -> None:
        """Scroll to the next heading, or the one before, if there is one."""
        heads = [any(tone in HEADS for _, tone in line[:2]) for line in self._lines]
        begins = [number for number, is_head in enumerate(heads) if is_head and not (number and heads[number - 1])]
        top = self.scroll_offset.y
        further = [number for number in begins if (number > top if direction > 0 else number < top)]
        self._go_to(further, direction)

    def _lines_with(self, words: tuple[str, ...]) -> list[int]:
        """Return the lines that hold one of these words, or the beginning of one that goes on in the next line."""
        texts = [text_of(line).casefold().strip() for line in self._lines]
        both = enumerate(pairwise((*texts, "")))
        return [at for at, pair in both if any(0 <= " ".join(pair).find(word) < len(pair[0]) for word in words)]

    def _go_to(self, lines: list[int], direction: int, *, here: bool = False) -> bool:
        """Scroll to the next of these lines, or the one before; behind the last comes the first again."""
        top = self.scroll_offset.y - here
        after = [number for number in lines if (number > top if direction > 0 else number < top)]
        if lines:
            self.scroll_to(y=(after or lines)[0 if direction > 0 else -1], animate=False, force=True)
        return bool(lines)

    def bring(self, anchor: str) -> None:
        """Scroll to the line that is found by this name; nothing where none is."""
        if (line := self._anchors.get(anchor)) is not None:
            self.scroll_to(y=line, animate=False, force=True)

    def toggle_full(self) -> None:
        """Show ids and further facts, or hide them again."""
        self.full = not self.full
        self._lay_out(keep=True)

    def render_line(self, y: int) -> Strip:
        """Return one line of the document at the present scroll position."""
        width, number = room_of(self).width, y + self.scroll_offset.y
        if self.document is not None and self.drawn != self.document.token:
            self.drawn = self.document.token
            self.drawn_before[self.drawn] = self.document.seen
        line: Line = ()
        if number < len(self._lines):
            line, of = self._lines[number], self._spots[number].token
            if of and of != self.drawn:
                self.drawn_before[of] = self._seen_of(of)
        if self._hits:
            line = marked_hits(line, self._hits)
        is_pointed = self.pointed and number < len(self._text_lines) and self._text_lines[number] == self.pointed
        line, states = fit(line, width), (self.CURSOR,) if is_pointed else ()
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(number)) is not None:
            length = len(text_of(line))
            ends = (0, span[0], span[1] if span[1] >= 0 else length, length)
            parts = zip(parts_within(line, pairwise(ends)), (states, (self.CURSOR,), states), strict=True)
            strip = Strip.join([self.strip(tuple(part), width_of(tuple(part)), *ink) for part, ink in parts])
        else:
            strip = self.strip(line, width, *states)
        return strip.apply_offsets(0, number)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that was selected with the mouse, and what follows it."""
        return selection.extract("\n".join(map(text_of, self._lines))), "\n"

    def _seen_of(self, token: str) -> Seen | None:
        """Return all that is shown of one of the requests on this page."""
        if self.document is None:
            return None
        part = next((part for part in self.document.parts if part.token == token), None)
        return part.seen if part is not None else self.document.seen

    def new_in_frame(self, frames: Frames) -> Iterator[WhenHeld]:
        """Yield what notes each line of a request that stands on the terminal now and was never held before."""
        top = self.scroll_offset.y
        new = [
            number
            for number in range(top, min(len(self._lines), top + room_of(self).height))
            if not self._is_held(self._spots[number])
        ]
        seen, room = visible_region(self) if new else Region(), self.content_region
        for number in new:
            at = room.y + number - top
            text = text_of(self._lines[number])
            # guard: painted-is-on-the-terminal
            if at in seen.line_range and frames.shows(text, Region(room.x, at, room_of(self).width, 1)):
                yield partial(self._hold, self._spots[number], self.painted_before[self._spots[number].token])

    def _is_held(self, spot: Spot) -> bool:
        """Return whether the terminal held this line of a request before; of a head, any line of the request."""
        painted = self.painted_before.get(spot.token)
        if painted is None:
            return True  # it belongs to no request
        if spot.area is DocumentArea.HEAD:
            return painted.first_frame is not None
        return spot.number in painted.lines_in(spot.area)

    def _hold(self, spot: Spot, painted: Painted, frame: int) -> None:
        """Note that the terminal holds a line with this frame; the first frame of each counts."""
        if self.painted_before.get(spot.token) is not painted:
            return  # laid out anew meanwhile: the line may be another one
        if painted.first_frame is None:
            painted.first_frame = frame
        if spot.area is not DocumentArea.HEAD:
            painted.lines_in(spot.area).setdefault(spot.number, frame)

    def on_mount(self) -> None:
        """Count its lines from now on."""
        if (frames := frames_of(self)) is not None:
            frames.watch(self)

    def on_click(self, event: Click) -> None:
        """Press the key that is clicked on, of what is read."""
        at = event.y - self.gutter.top + self.scroll_offset.y
        if event.y >= self.gutter.top and at < len(self._lines):
            press_shown_key(self, self._lines[at], event.x - self.gutter.left)

    def action_want(self, action: str) -> None:
        """Ask for an action that is about what is read."""
        self.post_message(self.Wanted(action))

    def point(self) -> bool:
        """Point at the first line on the screen that is asked; False where none is."""
        top = self.scroll_offset.y
        lines = self._to_point_at()
        shown = [at for number, at in lines if top <= number < top + room_of(self).height] or [at for _, at in lines]
        if shown:
            self._point_at(shown[0])
        return bool(shown)

    def _to_point_at(self) -> list[tuple[int, int]]:
        """Return the lines a remark can be on, none of them blank or a rule: their numbers on the page and as
        `LaidLine.text_line`.
        """
        lines = zip(self._text_lines, self._lines, strict=True)
        return [(number, at) for number, (at, line) in enumerate(lines) if at and text_of(line).strip(_OF_RULES)]

    def action_stop_pointing(self) -> None:
        """Point at no line."""
        self._point_at(0)

    def _point_at(self, at: int) -> None:
        """Point at a line of what is asked, 0 for none, and bring it into sight."""
        self.pointed = at
        if at:
            place, top, height = self._text_lines.index(at), self.scroll_offset.y, room_of(self).height
            height -= min(_TOAST, height // 4)
            last = place + self._text_lines.count(at)
            if not top <= place < last <= top + height:
                self.scroll_to(y=place - height // 2, animate=False)
        self.refresh()

    def _point_on(self, direction: int) -> None:
        """Point at the next line that can be pointed at, or the one before."""
        order = list(dict.fromkeys(at for _, at in self._to_point_at()))
        place = order.index(self.pointed) + direction
        if 0 <= place < len(order):
            self._point_at(order[place])

    def action_half(self, direction: int) -> None:
        """Scroll half a page."""
        self.scroll_relative(y=direction * max(1, room_of(self).height // 2), animate=False)

    def action_step(self, direction: int) -> None:
        """Scroll a line, at once; point at the next one, or the one before."""
        if self.pointed:
            self._point_on(direction)
        else:
            self.scroll_relative(y=direction, animate=False)

    def action_jump(self, where: str) -> None:
        """Scroll to one end or by a page, at once."""
        getattr(self, f"scroll_{where}")(animate=False)

    def action_page_back(self) -> None:
        """Scroll a page up, where the key is not that of a broadcast."""
        self.scroll_page_up(animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a text take `b` only on the whole screen, and a remark only where a line is pointed at."""
        if action == "page_back":
            return self.fills_screen
        if action in ("want", "stop_pointing"):
            return self.pointed != 0
        return super().check_action(action, parameters)

    def on_resize(self, event: Resize) -> None:
        """Lay the document out again at another width; the line that is pointed at stays on the screen."""
        self._lay_out(keep=True)
        self._point_at(self.pointed if self.pointed in self._text_lines else 0)
        self.draw_title()

    def _lay_out(self, *, keep: bool) -> None:
        """Lay the document out at the present width; with `keep` go on at the same words."""
        width = room_of(self).width
        if width <= 0:
            return
        old_top = self.scroll_offset.y if keep else 0
        spot_at_top = self._spots[old_top] if 0 < old_top < len(self._spots) else None
        letters_above = sum(map(_letters, self._lines[:old_top])) if width != self._laid_width else 0
        self._lines, self._spots, self._text_lines, self._laid_width = [], [], [], width
        self._count_painted(width, self._make_lines(width))
        top = old_top
        if letters_above:  # another width: go on at the same words, on whichever line they stand now
            top = self._line_at(letters_above)
        elif spot_at_top in self._spots:  # something came in above: go on at the same line
            top = self._spots.index(spot_at_top)
        self._set_size(Size(width, len(self._lines)))
        if not keep or top != old_top:
            self.scroll_to(y=top, animate=False, force=True)
        self.tell_position()
        self.refresh()

    def _make_lines(self, width: int) -> frozenset[str]:
        """Lay all of the document out; returns the tokens of the requests that cannot be shown whole."""
        shown, counts, cut = self.document, Counter[tuple[str, DocumentArea]](), set[str]()
        self._anchors.clear()
        if shown is None:
            return frozenset()
        try:
            for laid in laid_out(shown, width, raw=self.raw, full=self.full):
                self._lines.append(laid.line)
                self._text_lines.append(laid.text_line)
                if laid.anchor:
                    self._anchors[laid.anchor] = len(self._text_lines) - 1
                self._spots.append(Spot(laid.token, laid.area, counts[laid.token, laid.area]))
                counts[laid.token, laid.area] += 1
                if laid.is_cut:
                    cut.add(laid.token)
        except Exception as error:
            # The rest is lost; without a word a text that was cut would look like one that is whole.
            self._lines.append(((CANNOT_BE_SHOWN, "bad"),))
            self._text_lines.append(0)
            self._spots.append(Spot("", DocumentArea.HEAD, 0))
            cut |= {shown.token, *(part.token for part in shown.parts)}
            self.post_message(NotShown(error))
        return frozenset(cut)

    def _count_painted(self, width: int, cut: frozenset[str]) -> None:
        """Go on with what was painted of each request before; at another width, or with other evidence, anew.

        What is `cut` has a line more than can ever be painted: it is never shown whole.
        """
        document = self.document
        if document is None:
            return
        fingerprints: dict[tuple[str, DocumentArea], list[int]] = {}
        for spot, line in zip(self._spots, self._lines, strict=True):
            fingerprints.setdefault((spot.token, spot.area), []).append(hash(line))
        seen = {document.token: document.seen} if document.token else {}
        for token, shown in (seen | {part.token: part.seen for part in document.parts}).items():
            layout = PageLayout(width, self.raw, shown)
            known = self.painted_before.get(token, Painted())
            text = tuple(fingerprints.get((token, DocumentArea.TEXT), ()))
            evidence = fingerprints.get((token, DocumentArea.EVIDENCE), ())
            breaks_lines_alike = (known.layout.width, known.layout.raw) == (width, self.raw)
            # A new object where lines may be others: marks that are still on their way are for the former one.
            if known.layout != layout or known.lines != text:
                self.painted_before[token] = Painted(
                    layout,
                    known.first_frame,
                    known.laid_out_as(text) if breaks_lines_alike else {},
                    known.evidence if known.layout == layout else {},
                    lines=text,
                )
            painted = self.painted_before[token]
            painted.text_lines, painted.evidence_lines = len(text) + (token in cut), len(evidence)

    def _line_at(self, letters: int) -> int:
        """Return the line on which so many letters of the document stand before it."""
        so_far = 0
        for number, line in enumerate(self._lines):
            so_far += _letters(line)
            if so_far > letters:
                return number
        return max(0, len(self._lines) - 1)

    @property
    def position(self) -> str:
        """The lines on the screen and the share that was shown so far; empty where everything fits."""
        height, top = room_of(self).height, self.scroll_offset.y
        if not 0 < height < len(self._lines):
            return ""
        asked = [number for number, spot in enumerate(self._spots) if spot.area is DocumentArea.TEXT]
        here, total = asked[bisect_left(asked, top) : bisect_left(asked, top + height)], len(asked)
        if not here:
            last = self._spots[top : top + height][-1]
            return "evidence" if last.area is DocumentArea.EVIDENCE else ""
        lines = f"lines {bisect_left(asked, here[0]) + 1:,}-{bisect_right(asked, here[-1]):,} of {total:,}"
        if not any(self._spots[number].token for number in here):
            return lines  # nothing of it is decided
        tokens = (self.document.token, *(part.token for part in self.document.parts)) if self.document else ()
        held = sum(len(self.painted_before[token].text) for token in tokens if token)
        shown = held + sum(not self._is_held(self._spots[number]) for number in here)
        return f"{lines} · shown {100 * shown // total} %"

    def tell_position(self) -> None:
        """Write what is read and where one is in it above the text; once the title is out of sight, that as well."""
        document = self.document
        if document is None:
            self.set_title(())
            return
        is_above, position = self.scroll_offset.y > 0, self.position
        kind, _, name = document.title.partition(" · ")
        least = min(cell_len(name or kind), self.outer_size.width // 2)
        if least + cell_len(position) + _EDGE > self.outer_size.width:
            position = position.partition(" · ")[0]
        right: Line = ((position, ""),) if position else ()
        if is_above and document.banner:
            self.set_title(document.banner, right)
            return
        has_room = cell_len(document.title) + cell_len(position) + _EDGE <= self.outer_size.width
        words = [kind, name] if has_room or not name else [name]
        if is_above:
            words.append(document.headline)
        self.set_title(((" · ".join(filter(None, words)), ""),), right)

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Tell the position: other lines stand on the screen."""
        super().watch_scroll_y(old, new)
        self.tell_position()

    def _set_size(self, size: Size) -> None:
        """Say how long it is. Only a scrollbar that comes or goes lays out the screen; that paints all of it."""
        height = room_of(self).height
        if (self.virtual_size.height > height) != (size.height > height) or size.width != self.virtual_size.width:
            self.virtual_size = size
        elif size != self.virtual_size:
            self.set_reactive(Detail.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            self.scroll_y = self.validate_scroll_y(self.scroll_y)


def _letters(line: Line) -> int:
    """Return the number of letters in a line, the same at every width for a whole text."""
    return sum(letter.isalnum() for text, _ in line for letter in text)


_PARTS = 6
"""Stretches of lines that the record of a decision names."""


class PageLayout(NamedTuple):
    """What decides which lines a request has: the width, whether texts are plain, and all that is shown of it."""

    width: int = 0
    raw: bool = False
    seen: Seen | None = None


class Painted(Struct):
    """What of one request the terminal held, at one width: lines by their number in their part, from 0.

    Attributes:
        layout: What it was laid out with; at another width lines are others.
        first_frame: The frame in which any line of it was held first; None before that.
        text, evidence: Lines of what is asked, and of the evidence beside it, each with the frame that first had it.
        text_lines, evidence_lines: How many there are.
        lines: Fingerprints of the lines of what is asked, to know them again where others come between.
    """

    layout: PageLayout = PageLayout()
    first_frame: int | None = None
    text: dict[int, int] = field(default_factory=dict)
    evidence: dict[int, int] = field(default_factory=dict)
    text_lines: int = 0
    evidence_lines: int = 0
    lines: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all of what is asked was painted."""
        return self.first_frame is not None and len(self.text) >= self.text_lines

    @property
    def has_evidence(self) -> bool:
        """Whether all of the evidence was painted."""
        return len(self.evidence) >= self.evidence_lines

    @property
    def words(self) -> str:
        """The lines that were painted, as the record of a decision keeps it."""
        share = "all" if self.has_evidence else f"{len(self.evidence):,} of {self.evidence_lines:,} lines"
        evidence = f"; of its evidence {share}" if self.evidence_lines else ""
        lines = "line" if self.text_lines == 1 else "lines"
        return f"{lines} {_ranges(self.text) or 'none'} of {self.text_lines:,}{evidence}"

    def lines_in(self, area: DocumentArea) -> dict[int, int]:
        """Return the lines of what is asked, or of the evidence, each with the frame that first had it."""
        return self.text if area is DocumentArea.TEXT else self.evidence

    def until(self, frame: int) -> Painted:
        """Return what was painted up to a frame."""
        # guard: painted-before-the-key
        return replace(
            self,
            first_frame=self.first_frame if self.first_frame is not None and self.first_frame <= frame else None,
            text={line: at for line, at in self.text.items() if at <= frame},
            evidence={line: at for line, at in self.evidence.items() if at <= frame},
        )

    def laid_out_as(self, lines: tuple[int, ...]) -> dict[int, int]:
        """Return the painted lines of what is asked as they are numbered among `lines`: before and behind a change."""
        if lines == self.lines:
            return self.text
        both = min(len(lines), len(self.lines))
        before = next((at for at in range(both) if lines[at] != self.lines[at]), both)
        rest = both - before
        behind = next((at for at in range(rest) if lines[-1 - at] != self.lines[-1 - at]), rest)
        moved = len(lines) - len(self.lines)
        start = len(self.lines) - behind
        kept = {line: at for line, at in self.text.items() if line < before}
        return kept | {line + moved: at for line, at in self.text.items() if line >= start}


def _ranges(numbers: Iterable[int]) -> str:
    """Return line numbers from 1, those in a row as one: `1-31, 40`; of many parts the first few."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    words = [f"{first + 1}-{last + 1}" if last > first else f"{first + 1}" for first, last in parts]
    return ", ".join(words[:_PARTS]) + (" and others" if len(words) > _PARTS else "")
