"""A long list as JSON: the same text as in one piece, without keeping all of it at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from team_console.console.cli.output import Output, to_json

LONG: list[Any] = [
    {"id": f"M-{number}", "words": ["é\u202e", None], "deep": {"x": [number]}} for number in range(2_345)
]


@pytest.mark.parametrize(
    "value",
    [
        {"needs": LONG},
        {"team": "a", "needs": LONG, "none": [], "é\x1b": {"x": LONG}, "two": LONG[:1_000], "end": None},
        {"needs": LONG[:1_001]},
        LONG,
        {},
    ],
)
def test_it_is_the_text_of_all_of_it(value: object, capfd: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).json(value)
    out = capfd.readouterr().out
    assert out == to_json(value) + "\n"
    assert json.loads(out) == value


def test_no_more_than_a_part_of_it_is_there_at_once(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    dumps = json.dumps

    def counted(*given: Any, **how: Any) -> str:
        sizes.append(len(text := dumps(*given, **how)))
        return text

    monkeypatch.setattr(json, "dumps", counted)
    Output(as_json=True).json({"needs": LONG, "count": len(LONG)})
    assert max(sizes) < len(capfd.readouterr().out) / 2
