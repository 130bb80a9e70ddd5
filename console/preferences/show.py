"""Preferences as a file: those that hold now, with what each is for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from team_console.console.preferences.model import COLUMNS, SORTS, Preferences


def as_toml(preferences: Preferences, actions: Mapping[str, tuple[str, ...]]) -> str:
    """A whole `config.toml` that says what holds now; what the user did not choose stands in comments."""
    return "\n".join(_lines(preferences, actions)) + "\n"


def _lines(preferences: Preferences, actions: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    theme = preferences.theme
    yield (
        f"theme = {_text(theme)}"
        if theme
        else '# theme = "dark"    # light, contrast, terminal; else that of last time'
    )
    yield f"density = {_text(preferences.density)}    # compact or roomy"
    yield f"motion = {_truth(preferences.motion)}"
    yield f"remember = {_truth(preferences.remember)}    # go back to the place and filter of last time"
    grace = preferences.grace_seconds
    yield f"grace_seconds = {grace:g}" if grace is not None else "# grace_seconds = 5    # 0 writes at once"
    yield from ("", "[notices]    # of new decisions")
    notices = preferences.notices
    for name in ("title", "bell", "desktop", "read_only"):
        yield f"{name} = {_truth(getattr(notices, name))}"
    yield f"command = {_texts(notices.command)}"
    yield f"quiet = {_texts(notices.quiet)}"
    yield from ("", "[columns]")
    for mode, columns in COLUMNS.items():
        chosen = preferences.columns.get(mode)
        yield f"{mode} = {_texts(chosen)}" if chosen is not None else f"# {mode} = {_texts(columns)}"
    yield from ("", "[sort]")
    for mode, sorts in SORTS.items():
        chosen_sort = preferences.sort.get(mode)
        yield (
            f"{mode} = {_text(chosen_sort)}" if chosen_sort else f"# {mode} = {_text(sorts[0])}    # {', '.join(sorts)}"
        )
    yield from ("", "[keys]")
    for name, keys in actions.items():
        own = preferences.keys.get(name)
        yield f"{name} = {_texts(own)}" if own else f"# {name} = {_texts(keys)}"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _texts(values: tuple[str, ...]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _truth(value: bool) -> str:
    return "true" if value else "false"
