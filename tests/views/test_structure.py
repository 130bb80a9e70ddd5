"""Nested values are written like YAML, safe, whole, and without losing the difference between values."""

from __future__ import annotations

from team_console.store.protocol.titles import structure


def test_nested_values_look_like_yaml() -> None:
    roster = {"residents": ["sm", "kr"], "temps": []}
    value = {"id": "DBG-1", "roster": roster, "fix": "one\ntwo", "none": None, "yes": True}
    assert structure(value) == (
        "id: DBG-1\nroster:\n  residents:\n    - sm\n    - kr\n  temps: []\nfix: |\n  one\n  two\nnone: null\nyes: true"
    )
    assert structure([{"a": 1, "b": 2}, {"a": 3}]) == "- a: 1\n  b: 2\n- a: 3"


def test_deep_nesting_is_shown_to_its_bottom_and_length_to_its_end() -> None:
    deep: object = "bottom"
    for _ in range(500):
        deep = [deep]
    assert '"bottom"' in structure(deep)
    for _ in range(100_000):
        deep = [deep]
    assert "nested deeper than can be shown" in structure(deep)
    assert structure(list(range(10_000))).endswith("- 9999")
