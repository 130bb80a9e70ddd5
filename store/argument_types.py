"""Refuse an argument of another type than a public function names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from types import UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import value_words

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def check_types(act: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Return the function, which refuses with `INVALID_FIELD` an argument of another type than it names."""
    kinds: dict[str, Any] = {}
    code = act.__code__
    names = code.co_varnames[: code.co_argcount]

    @wraps(act)
    def checked(*args: _Given.args, **options: _Given.kwargs) -> _Made:
        if not kinds:
            kinds.update(get_type_hints(act))
        for name, value in {**dict(zip(names, args, strict=False)), **options}.items():
            # guard: api-takes-what-it-names
            if name in kinds and not _is_of_type(value, kinds[name]):
                text = f"{name}: {value_words(value)} is no {act.__annotations__[name]}"
                raise TeamError(Code.INVALID_FIELD, text, f"See the documentation of {act.__qualname__}.")
        return act(*args, **options)

    return checked


def _is_of_type(value: object, kind: Any) -> bool:
    """Return whether a value is of a type, with all in it. A text is no sequence of texts here, and NaN no number."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, UnionType):
        return any(_is_of_type(value, each) for each in inner)
    if origin is Mapping:
        key_type, value_type = inner
        if not isinstance(value, Mapping):
            return False
        return all(_is_of_type(key, key_type) and _is_of_type(item, value_type) for key, item in value.items())
    if origin is Sequence:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Collection):
            return False
        return all(_is_of_type(one, inner[0]) for one in value)
    if kind in (int, float):
        return isinstance(value, (int, kind)) and not isinstance(value, bool) and value == value
    return isinstance(value, origin or kind)
