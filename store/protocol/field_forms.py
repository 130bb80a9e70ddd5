"""Tell which parts of a value are missing or of another form than the table of kinds asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from team_console.store.model.clock import from_text
from team_console.store.model.json_text import value_words
from team_console.store.protocol.kinds import EACH, FieldForm, Form


def _are_questions(value: Sequence[Any]) -> bool:
    from team_console.store.protocol.client_requests import questions_of  # 1 ms, for requests of clients

    return len(value) == len(questions_of({"questions": value}))


_LONGEST_WISH = 2000
_LISTS = (list, tuple)


_FITS: Mapping[FieldForm, Callable[[Any], bool]] = {
    FieldForm.TEXT: lambda value: isinstance(value, str) and bool(value.strip()),
    FieldForm.ANY_TEXT: lambda value: isinstance(value, str),
    FieldForm.TEXT_OR_NULL: lambda value: isinstance(value, str | None),
    FieldForm.WISH: lambda value: isinstance(value, str) and len(value) <= _LONGEST_WISH,
    FieldForm.TEXTS: lambda value: isinstance(value, _LISTS) and all(isinstance(item, str) for item in value),
    FieldForm.NUMBER: lambda value: type(value) is int,
    FieldForm.KEY: lambda value: type(value) in (int, str) and value != "",
    FieldForm.LIST: lambda value: isinstance(value, _LISTS) and bool(value),
    FieldForm.OBJECT: lambda value: isinstance(value, Mapping),
    FieldForm.OBJECT_OR_NULL: lambda value: isinstance(value, Mapping | None),
    FieldForm.LOOSE: lambda value: isinstance(value, (Mapping, str, *_LISTS)),
    FieldForm.LOOSE_OR_NULL: lambda value: value is None or isinstance(value, (Mapping, str, *_LISTS)),
    FieldForm.QUESTIONS: lambda value: isinstance(value, _LISTS) and bool(value) and _are_questions(value),
    FieldForm.MOMENT: lambda value: isinstance(value, str) and from_text(value) is not None,
}


def wrong_parts(value: Any, form: Form, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield (place, what is wrong) for each part of `value` that is missing or not of its form."""
    if isinstance(form, FieldForm):
        if not _FITS[form](value):
            yield place, f"must be {form}, not {value_words(value)}"
    elif isinstance(form, list):
        if not isinstance(value, _LISTS):
            yield place, f"must be a list, not {value_words(value)}"
            return
        for number, item in enumerate(value):
            yield from wrong_parts(item, form[0], f"{place}.{number}")
    elif not isinstance(value, Mapping):
        yield place, f"must be an object, not {value_words(value)}"
    else:
        each = form.get(EACH)
        inner = form.items() if each is None else ((name, each) for name in value)
        for key, part in inner:
            name = key.removesuffix("?")
            path = f"{place}.{name}" if place else str(name)
            if name in value and (name == key or value[name] is not None):
                yield from wrong_parts(value[name], part, path)
            elif name == key:
                yield path, "is missing"
