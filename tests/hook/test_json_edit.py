"""Settings of others are edited in their text: what was not ours stays as it was, to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from team_console.console.agents.client_settings import NotEditable, at, read, with_value, without

pytestmark = pytest.mark.slow

STYLES = {
    "two blanks": '{\n  "a": {\n    "b": [\n      1\n    ]\n  },\n  "c": 2\n}\n',
    "four blanks": '{\n    "a": {"b": [1]},\n    "c": 2\n}\n',
    "tabs": '{\n\t"a": {\n\t\t"b": [1]\n\t},\n\t"c": 2\n}',
    "one line": '{"a": {"b": [1]}, "c": 2}',
    "no blanks": '{"a":{"b":[1]},"c":2}',
    "line ends of another system": '{\r\n  "a": {\r\n    "b": [\r\n      1\r\n    ]\r\n  },\r\n  "c": 2\r\n}\r\n',
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("path", "value", "taken"),
    [
        (("a", "b"), {"x": "é"}, ("a", "b", 1)),
        (("a", "new"), [1, 2], ("a", "new")),
        (("new",), {"k": {}}, ("new",)),
        (("new", "deep", "deeper"), "v", ("new",)),
    ],
)
def test_what_was_put_in_is_taken_out_again_to_the_byte(style: str, path: Any, value: Any, taken: Any) -> None:
    text = STYLES[style]
    changed = with_value(text, path, value)
    node = at(changed, path if path != ("a", "b") else taken)
    assert node is not None
    assert node.value == value
    assert without(changed, taken) == text


@pytest.mark.parametrize("style", STYLES)
def test_new_lines_follow_the_style_of_the_text(style: str) -> None:
    text = STYLES[style]
    added = [line for line in with_value(text, ("new",), 1).splitlines() if "new" in line]
    if "\n" in text:
        first = text.splitlines()[1]
        assert added[0].startswith(first[: len(first) - len(first.lstrip())] + '"new"')
    else:
        assert len(added) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@seed(13)
@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), JSON, st.sampled_from([None, 1, 2, "\t"]))
def test_any_object_takes_any_member_and_gives_it_back(value: dict[str, Any], more: Any, indent: Any) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    changed = with_value(text, ("brand new",), more)
    assert read(changed).value == {**value, "brand new": more}
    assert without(changed, ("brand new",)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "1",
        '{"a": 1,}',
        '{"a": 1} x',
        '{"a": 1, "a": 2}',
        "{'a': 1}",
        '{"a": // x\n 1}',
        "{" * 500,
        "{1: 2}",
    ],
)
def test_what_is_no_object_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(NotEditable) as caught:
        with_value(text, ("new",), 1)
    assert str(caught.value)


def test_nothing_is_written_over() -> None:
    for path in (("a",), ("c", "x"), ("a", "b", "c")):
        with pytest.raises(NotEditable):
            with_value(STYLES["one line"], path, 1)
