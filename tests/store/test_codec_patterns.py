"""The codec's regular expressions: each reads the same on every Python we claim, and one example for each branch."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import team_console.console
import team_console.store
import team_console.store.backends.yaml.codec as codec
import team_console.widgets
from team_console.store.backends.yaml.codec.cutting import frame
from team_console.store.backends.yaml.codec.editing import emitter
from team_console.store.backends.yaml.codec.parsing import ordinary, quick_parser

from tests.proofs.fuzz.inputs import good, mutate

parser: Any = importlib.import_module("re._parser")


def patterns_of(module: Any) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Patterns that a module holds, as such or as a method bound to one."""
    for name, value in vars(module).items():
        pattern = value if isinstance(value, re.Pattern) else getattr(value, "__self__", None)
        if isinstance(pattern, re.Pattern):
            yield f"{module.__name__}.{name}", pattern


def modules_below(package: Any) -> Iterator[Any]:
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


def codec_patterns() -> dict[str, tuple[re.Pattern[Any], bool]]:
    """Each pattern, and whether it is only ever asked for a match of the whole text."""
    named = {}
    for module in modules_below(codec):
        for name, pattern in patterns_of(module):
            method = getattr(vars(module)[name.rpartition(".")[2]], "__name__", "")
            named[name] = pattern, method == "fullmatch"
    for late in (quick_parser._lines, ordinary._envelope):
        named[f"{late.__module__}.{late.__name__}"] = late(), False
    named["more_envelope"] = ordinary._more_envelope(), True
    for indent in (0, 2, 4):
        named[f"item({indent})"] = frame._item(indent), False
        named[f"stray({indent})"] = frame._stray(indent), False
    return named


def repeated_possessively(node: Any) -> Iterator[Any]:
    """The body of every possessive repeat in a parsed pattern."""
    for operation, argument in node if isinstance(node, parser.SubPattern) else ():
        if str(operation) == "POSSESSIVE_REPEAT":
            yield argument[2]
        parts = argument if isinstance(argument, (list, tuple)) else [argument]
        for part in parts:
            for inner in part if isinstance(part, list) else [part]:
                yield from repeated_possessively(inner)


def is_one_character(body: Any) -> bool:
    return len(body) == 1 and str(body[0][0]) in ("LITERAL", "NOT_LITERAL", "IN", "ANY")


@pytest.mark.parametrize(
    "package",
    [team_console.store, team_console.widgets, team_console.console],
    ids=lambda package: str(package.__name__),
)
def test_no_group_is_repeated_possessively(package: Any) -> None:
    """Python 3.11.0 to 3.11.4 match such a repeat wrongly (CPython issues 100061 and 106052)."""
    for module in modules_below(package):
        for name, pattern in patterns_of(module):
            bodies = list(repeated_possessively(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)))
            assert all(map(is_one_character, bodies)), name


def test_the_search_for_possessive_repeats_finds_them() -> None:
    wrong = parser.parse(r"x(?:(?P<a>y)|(?=(?:a|(?<!x)b)*+)c)")
    assert [is_one_character(body) for body in repeated_possessively(wrong)] == [False]
    assert [is_one_character(body) for body in repeated_possessively(parser.parse(r"(?:[^a]*+b)?"))] == [True]


def greedy(pattern: re.Pattern[Any]) -> re.Pattern[Any]:
    """The same pattern with ordinary repeats, which every Python matches alike."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    source = re.sub(r"([*+?}])\+", r"\1", source)
    return re.compile(source if isinstance(pattern.pattern, str) else source.encode("latin-1"), pattern.flags)


def matches(pattern: re.Pattern[Any], text: str, *, only_whole: bool) -> list[Any]:
    wanted: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
    lines = wanted.splitlines()
    found = [pattern.fullmatch(piece) for piece in (wanted, *lines)]
    if not only_whole:
        found += [*pattern.finditer(wanted), *[pattern.match(piece) for piece in lines]]
    return [(match.span(), match.groups()) if match else None for match in found]


def texts() -> Iterator[str]:
    yield from FIXED
    for seed in range(150):
        random = Random(seed)
        yield mutate(random, good(random))


FIXED = (
    "- message_id: a\n  to: [a, 'b c', \"d\"]\n  x: it: #3 a:b c#d\n  y: 'it''s'\n  z: \"\\ttab\"\n  e: {}\n",
    "  - k: |\n      one\n\n      two: #\n    l: |-\n      x\n",
    "# c\n\n\t# d\r\n\r\n---\n \n# e\nmessages: [ ]  # x\n",
    "version:1\na:b:c: d\na:b:\n  - x\nother: &x\n- y\n:\n::\n: :\n? x\n#a: b\n",
    "a:b\na: b\na #b\na#b\na:\na:  b\na: b \nab\xa0\n10:30 C# x: y\n",
    "a, 'b', \"c\", -d/e.f\na,b\n'a, 'b'\n\"\", ''\n",
    "x" * 300 + ": y\n" + "a:" * 200 + "\n" + "''" * 100 + "'\n",
)


@pytest.mark.parametrize("name", sorted(codec_patterns()))
def test_possessive_and_ordinary_repeats_match_the_same(name: str) -> None:
    """No pattern of the codec rests on what a repeat does not give back; such a one is where versions differ."""
    pattern, only_whole = codec_patterns()[name]
    ordinary = greedy(pattern)
    for text in texts():
        assert matches(pattern, text, only_whole=only_whole) == matches(ordinary, text, only_whole=only_whole), text


def line(text: str) -> dict[str, str]:
    match = quick_parser._lines().fullmatch(text + "\n")
    return {name: value for name, value in match.groupdict("").items() if value and name != "whole"} if match else {}


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("status: pending", {"key": "status", "plain": "pending"}),
        ("  'on': 10:30", {"spaces": "  ", "key": "'on'", "plain": "10:30"}),
        ('"two words": C# x', {"key": '"two words"', "plain": "C# x"}),
        ("- id: x", {"dash": "- ", "key": "id", "plain": "x"}),
        ("- -b", {"dash": "- ", "plain": "-b"}),
        ("x: 'it''s'", {"key": "x", "other": "'it''s'"}),
        ('x: "a \\" b"', {"key": "x", "other": '"a \\" b"'}),
        ("x: {}", {"key": "x", "other": "{}"}),
        ("x: [a, 'b c']", {"key": "x", "other": "[a, 'b c']"}),
        ("x:", {"key": "x"}),
        ("x: |\n  one\n\n    two\n", {"key": "x", "literal": "  one\n\n    two\n\n"}),
        ("- x: |-\n    one", {"dash": "- ", "key": "x", "chomp": "-", "literal": "    one\n"}),
        ("x: a: b", {}),
        ("x: a #b", {}),
        ("x: a ", {}),
        ("x:  a", {}),
        ("x: &a b", {}),
        ("x: *a", {}),
        ("x: !!str b", {}),
        ("x: |\n    three in\n  two in", {}),
    ],
)
def test_the_quick_reader_takes_a_line_apart(text: str, groups: dict[str, str]) -> None:
    assert line(text) == groups


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Fix 10:30, C# x", True),
        ("a: b", False),
        ("a #b", False),
        ("a:", False),
        ("a ", False),
        ("1", False),
        ("éa", True),
    ],
)
def test_what_may_be_written_without_quotes(text: str, plain: bool) -> None:
    assert emitter._is_plain(text) is plain


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("version: 1", True),
        ("a:b: c", True),
        ("x:", True),
        ("? x", True),
        ("a:b", False),
        ("# a: b", False),
        ("-", False),
    ],
)
def test_which_line_begins_a_key(text: str, key: bool) -> None:
    assert (frame._KEY.match(text.encode()) is not None) is key
