"""Every verb on a team in which every field is hostile: what it prints on a terminal is text and its own colours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from team_console.store.model.safe import safe_json
from team_console.store.settings.team_config import CONFIG_NAME

from tests.equipment import corpus, strict
from tests.equipment.cases import constant
from tests.equipment.command_line import COMMAND
from tests.equipment.terminal import Terminal

pytestmark = pytest.mark.slow

PLAN = next(record["payload"]["request_id"] for record in corpus.records() if record["type"] == "plan_approval_request")
FAILED = next(
    record["message_id"]
    for record in corpus.records()
    if record["status"] == "failed" and "\0" not in record["message_id"]
)
STRANGER = corpus.PAYLOADS["title"]

LOOKS = constant(__file__, "LOOKS", list[list[str]])
QUOTED = {"plan": PLAN, "failed": FAILED, "stranger": STRANGER, "report": corpus.PAYLOADS["report"]}
REFUSALS = [[word.format(**QUOTED) for word in words] for words in constant(__file__, "REFUSALS", list[list[str]])]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile team, in a folder with a hostile name."""
    place: Path = tmp_path_factory.mktemp("verbs") / "team\x1b]0;PWNED\x07\u202e"
    corpus.build(place)
    return place


def printed(folder: Path, *arguments: str) -> tuple[int, bytes]:
    """Run a verb on a terminal: its exit status and the bytes it wrote."""
    with Terminal([*COMMAND, *arguments], cwd=folder, columns=200, lines=50) as terminal:
        terminal._stream.feed = lambda data: None  # type: ignore[method-assign]
        return terminal.wait_exit(), bytes(terminal.output)


@pytest.mark.parametrize("words", LOOKS, ids=lambda words: words[0])
def test_what_a_verb_prints_for_people_is_only_text(folder: Path, words: list[str]) -> None:
    status, output = printed(folder, *words)
    found = strict.of_print(output)
    assert status in (0, 1), found.text[-2000:]
    assert found.faults == []
    assert "␛" in found.text
    assert "Traceback" not in found.text


@pytest.mark.parametrize("words", LOOKS[:8:2], ids=lambda words: words[0])
def test_json_on_a_terminal_is_safe_and_loses_nothing(folder: Path, words: list[str]) -> None:
    status, output = printed(folder, *words, "--json")
    found = strict.of_print(output)
    assert status in (0, 1), found.text[-2000:]
    assert found.faults == []
    answer, end = json.JSONDecoder().raw_decode(text := output.decode())
    assert all(line.startswith("warning: ") for line in text[end:].split("\r\n") if line.strip()), text[end:]
    assert any(text in set(_strings(answer)) for text in corpus.TEXTS if "\x1b" in text or "\x9b" in text)


def test_json_of_plain_ascii_with_an_unseen_character_escapes_it() -> None:
    assert safe_json('{"a": "b\x7fc"}') == '{"a": "b\\u007fc"}'


@pytest.mark.parametrize("words", REFUSALS, ids=lambda words: words[0][:8].strip("\x1b"))
def test_a_refusal_that_quotes_hostile_words_is_only_text(folder: Path, words: list[str]) -> None:
    status, output = printed(folder, *words)
    found = strict.of_print(output)
    assert status in (1, 2), found.text[-2000:]
    assert found.faults == []
    assert "Traceback" not in found.text
    assert "INTERNAL_ERROR" not in found.text
    assert "unexpected" not in found.text


def test_settings_with_a_hostile_name_are_told_in_plain_text(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).write_text('team: "\\e]0;PWNED\\a\\u202e"\n')
    status, output = printed(tmp_path, "status")
    found = strict.of_print(output)
    assert (status, found.faults) == (0, [])
    assert "is not a usable name" in found.text
    assert f"{CONFIG_NAME}:1" in found.text.replace("\n", "")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, str):
        yield value
