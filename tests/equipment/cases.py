"""Tables of tests as data: `x.yaml` beside `x.py` has constants by their names, and the cases of each test by its name.

A table begins with the names of its columns, which are parameters of the test: `columns, of it: [[...], [...]]`; one
column needs no inner brackets. A table whose cases have names of their own is a mapping from these to the cases.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import msgspec
import pytest
import yaml

Test = Callable[..., Any]
T = TypeVar("T")


@functools.cache
def tables(module: str) -> Mapping[str, Any]:
    """Read the data beside a module of tests, given by its file."""
    text = Path(module).with_suffix(".yaml").read_text(encoding="utf-8")
    read: Mapping[str, Any] = yaml.load(text, yaml.CSafeLoader)
    return read


def constant(module: str, name: str, kind: type[T]) -> T:
    """Read a constant of the module that is given by its file."""
    return msgspec.convert(tables(module)[name], kind)


def cases(test: Test) -> Test:
    """Run a test with each case of its tables; a value is read as the type that its parameter has."""
    types = get_type_hints(test)
    for columns, rows in tables(inspect.getfile(test))[test.__name__].items():
        names = columns.split(", ")
        ids, given = (list(rows), list(rows.values())) if isinstance(rows, dict) else (None, rows)
        table = [row if len(names) > 1 else [row] for row in given]
        read = [[msgspec.convert(value, types[name]) for name, value in zip(names, row, strict=True)] for row in table]
        test = pytest.mark.parametrize(names, read, ids=ids)(test)
    return test
