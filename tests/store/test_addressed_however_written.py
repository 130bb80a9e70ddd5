"""An agent's messages are found however YAML lets its name be written: what a look over the bytes leaves out is not
for it, held against reading everything.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from team_console.store.backends.yaml import addressed
from team_console.store.backends.yaml.addressed import search
from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.codec.cutting.address_search import may_be_addressed
from team_console.store.model.message import ADDRESS_KEYS

ME, OTHER = "amy.b-2", "bob"
MORE = settings(max_examples=150, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
TOKENS = (
    *(
        " ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\n  ",
        "\n    ",
        '"',
        "'",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        ": ",
        "- ",
        "\n- ",
        "? ",
    ),
    *(
        "&a ",
        "*a",
        "&to ",
        "*to ",
        "<<: ",
        "!!binary ",
        "!!str ",
        "!!set ",
        "! ",
        "!",
        "\\",
        "\\\n",
        "\\x61",
        "\\u0061",
    ),
    *("|", ">-\n", "# ", "---\n", "\x85", "\u2028", "\ufeff", "to", "to: ", "to_agents: ", ME, "all", "all\n", OTHER),
)


def queue(*lines: str, frame: str = "messages:\n{}") -> bytes:
    """A queue with one message for somebody else, and one that these lines of its envelope address."""
    first = f"- message_id: A\n  type: message\n  from: {ME}\n  to: {OTHER}\n  note: &who {ME}\n  key: &to to\n"
    body = "".join(f"  {line}\n" for line in lines)
    return frame.format(f"{first}- message_id: B\n  type: message\n  from: ceo\n{body}").encode()


def found_in(data: bytes) -> tuple[set[str], set[str]]:
    """Ids of the messages for the agent: by reading everything, and by the look over the bytes."""
    wanted = {message.message_id for message in QueueText.parse(data).messages() if message.is_addressed_to(ME)}
    with patch.object(addressed, "_SMALL", 0):
        return wanted, {message.message_id for message in search(data, ME).messages}


def packed(text: str) -> str:
    """As base64."""
    return base64.b64encode(text.encode()).decode()


HIDDEN = (
    "to: *who",
    "to:\n    *who",
    "to:\t*who",
    "to: [*who]",
    "to: [bob,*who]",
    '"to": *who',
    "to:\n    - *who",
    "*to : amy.b-2",
    "<<: {to: amy.b-2}",
    "<<: [{to: amy.b-2}]",
    f"to: !!binary {packed(ME)}",
    f"to: !<tag:yaml.org,2002:binary> {packed(ME)}",
    f"to: !!bin%61ry {packed(ME)}",
    f"to: &a !!binary {packed(ME)}",
    f"to_agents: [bob,!!binary {packed(ME)}]",
    f"to_agents:\n    - !!python/bytes {packed(ME)}",
    "to: !!set {amy.b-2}",
    "to: !!set {amy.b-2: null}",
    "to: !!set\n    ? amy.b-2",
    "to: ! amy.b-2",
    'to: "\\x61my.b-2"',
    'to: "amy.b\\u002D2"',
    'to: "amy\\\n    .b-2"',
    'to: "amy.b-2\\\n    "',
    'to: "\\\n    amy.b-2"',
    'to: [bob,\n    bob2, "amy\\x2eb-2"]',
    '? to\n  : "amy\\x2eb-2"',
    '"t\\x6f": amy.b-2',
    'x: 1\n  "\\x74o": amy.b-2',
    "? to\n  : amy.b-2",
    "to: &a amy.b-2",
    "to: [&a amy.b-2]",
    "to: [bob, &a amy.b-2]",
    "to:\t&a amy.b-2",
    f"to: &{'a' * 80} amy.b-2",
    f"to:{' ' * 80}amy.b-2{' ' * 80}# me",
    "to: |-\n    amy.b-2",
    "to: >-2\n    amy.b-2\n",
    "to: [ # who\n    amy.b-2 ]",
    "to:\n  - amy.b-2",
    "to: # who\n    amy.b-2",
    "to:\u2028    amy.b-2",
    "to: amy.b-2\x85  other: 1",
    "to: [bob,\n\ufeffamy.b-2]",
    "to: 'all'",
    'to: "\\x61ll"',
    f"to: !!binary {packed('all')}",
)


@pytest.mark.parametrize("line", HIDDEN)
@pytest.mark.parametrize("frame", ["messages:\n{}", "\ufeffmessages:\n{}", "--- # a\nmessages:\n{}\nlast: 1\n"])
def test_a_message_is_found_however_its_address_is_written(line: str, frame: str) -> None:
    for data in (queue(line, frame=frame), queue(line, frame=frame).replace(b"\n", b"\r\n")):
        wanted, found = found_in(data)
        assert found == wanted, data.decode()


def test_all_of_these_are_addresses_to_whoever_reads_everything() -> None:
    assert [line for line in HIDDEN if "B" not in found_in(queue(line))[0]] == []


@pytest.mark.parametrize("key", sorted(ADDRESS_KEYS))
@pytest.mark.parametrize("entry", ['- {{"{}": "amy.b-2", {}}}\n', '- {{"{}":["bob","amy.b-2"],{}}}\n'])
def test_a_message_in_the_words_of_json_is_found(key: str, entry: str) -> None:
    rest = '"message_id": "B", "type": "message", "from": "ceo"'
    for data in (f"messages:\n{entry.format(key, rest)}", f"messages: [{entry.format(key, rest)[2:]}]"):
        assert found_in(data.encode()) == ({"B"}, {"B"})


@pytest.mark.parametrize(
    "text",
    ["R&D and *more*, a & b", "**amy.b-2** and all of you!", "a != b", "C:\\temp\\new", "path\\*", "(!) amy.b-2 is in"],
)
def test_what_texts_often_hold_is_no_reason_to_look_closer(text: str) -> None:
    data = f"messages:\n- message_id: A\n  type: message\n  from: ceo\n  to: bob\n  content: |\n    {text}\n".encode()
    assert may_be_addressed(data, ME) == []


def escaped(letters: Sequence[tuple[str, str]]) -> str:
    """A quoted text of letters, each with the form it is written in."""
    return '"' + "".join(form.format(letter, ord(letter)) for letter, form in letters) + '"'


def spelled(name: str) -> st.SearchStrategy[str]:
    """The name as a scalar."""
    forms = st.sampled_from(["{0}", "\\x{1:02x}", "\\u{1:04X}", "\\U{1:08x}", "\\\n      {0}"])
    letters = st.tuples(*[st.tuples(st.just(letter), forms) for letter in name]).map(escaped)
    plain = [name, f"'{name}'", f"! {name}", f"!!str '{name}'", f"&a {name}", f"!!binary {packed(name)}"]
    return letters | st.sampled_from(plain)


NAMES = st.sampled_from([ME, ME, "all", OTHER, "amy", "x" + ME, ME.upper()]).flatmap(spelled) | st.just("*who")
GAPS = st.sampled_from([" ", "  ", "\n    ", " # note\n      ", "\t"])
KEYS = st.sampled_from([*ADDRESS_KEYS, "'to'", '"t\\x6f"', '"\\x74o_agents"', "? to\n ", "from_agent", "note", "*to "])
LISTS = st.lists(st.tuples(GAPS, NAMES).map("".join), min_size=1, max_size=3)
VALUES = (
    st.tuples(GAPS, NAMES).map("".join)
    | LISTS.map(lambda names: f" [{','.join(names)}]")
    | LISTS.map(lambda names: f" !!set {{{','.join(names)}}}")
    | st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "".join(f"\n    - {name}" for name in names))
    | st.sampled_from([ME, "all", OTHER]).map(lambda name: f" >-\n    {name}")
)
LINES = st.tuples(KEYS, VALUES).map(":".join) | VALUES.map("<<: {{to:{}}}".format)


@MORE
@given(lines=st.lists(LINES, min_size=1, max_size=3), end=st.sampled_from(["\n", "\r\n"]))
def test_no_spelling_of_an_address_is_left_out(lines: list[str], end: str) -> None:
    data = queue(*lines).replace(b"\n", end.encode())
    wanted, found = found_in(data)
    assert found == wanted, data.decode()


@MORE
@given(
    lines=st.lists(LINES, min_size=1, max_size=2),
    tokens=st.lists(st.tuples(st.sampled_from(TOKENS), st.floats(0, 1)), min_size=1, max_size=4),
)
def test_nothing_is_left_out_of_a_harmed_queue(lines: list[str], tokens: list[tuple[str, float]]) -> None:
    text = queue(*lines).decode()
    for token, where in tokens:
        place = int(where * len(text))
        text = text[:place] + token + text[place:]
    try:
        wanted, found = found_in(text.encode())
    except CodecError:  # nobody gets an answer from such a queue
        return
    assert wanted <= found, text
