"""The console's own themes: one calm dark, one light, both with a single accent."""

from __future__ import annotations

import dataclasses
import os
from contextlib import suppress
from pathlib import Path

from team_console.console.preferences import OUR_THEMES, theme_called, theme_names
from team_console.console.tui.drafts import replace_file
from team_console.store.model.home import state_folder
from textual.theme import BUILTIN_THEMES, Theme

DARK, LIGHT, CONTRAST = OUR_THEMES.values()


def _scrollbars(bar: str, under_mouse: str, pressed: str, ground: str) -> dict[str, str]:
    """Return the colours of a scrollbar, for a theme."""
    grounds = ("background", "background-hover", "background-active", "corner-color")
    colours = {f"scrollbar-{name}": ground for name in grounds}
    return {"scrollbar": bar, "scrollbar-hover": under_mouse, "scrollbar-active": pressed, **colours}


THEMES = (
    Theme(
        name=DARK,
        primary="#5fb3b3",
        secondary="#a3b8cc",
        accent="#6cc5bd",
        foreground="#cfd6de",
        background="#0f1419",
        surface="#131920",
        panel="#19212a",
        success="#8fbf7a",
        warning="#e3b35f",
        error="#e5737a",
        dark=True,
        variables={
            "text-muted": "#929eab",
            "text-disabled": "#4c5763",
            "text-accent": "#74cdc4",
            "text-secondary": "#b3a1d6",
            "text-success": "#98c379",
            "text-warning": "#e5b567",
            "text-error": "#ef7f86",
            "primary-muted": "#1d3438",
            "accent-muted": "#1b3a3b",
            "error-muted": "#43232a",
            "warning-muted": "#40341f",
            "success-muted": "#263824",
            "border": "#2c3742",
            "border-blurred": "#25303a",
            **_scrollbars("#2c3742", "#3c4a57", "#5fb3b3", "#131920"),
            "input-cursor-background": "#74cdc4",
            "input-selection-background": "#5fb3b3 35%",
            "block-cursor-foreground": "#0f1419",
            "block-cursor-background": "#6cc5bd",
        },
    ),
    Theme(
        name=LIGHT,
        primary="#0e7c7b",
        secondary="#4b5d73",
        accent="#0e7c7b",
        foreground="#2a3038",
        background="#f6f5f1",
        surface="#fbfaf7",
        panel="#ebe9e2",
        success="#3f7d3a",
        warning="#9a6700",
        error="#b3352f",
        dark=False,
        variables={
            "text-muted": "#59626d",
            "text-disabled": "#a5abb3",
            "text-accent": "#0b6b6a",
            "text-secondary": "#6b4fa0",
            "text-success": "#34702f",
            "text-warning": "#8a5a00",
            "text-error": "#a92d27",
            "primary-muted": "#d5e8e4",
            "accent-muted": "#cfe7e3",
            "error-muted": "#f3d6d3",
            "warning-muted": "#f1e3c3",
            "success-muted": "#d9e8d3",
            "border": "#cfccc2",
            "border-blurred": "#dcd9d0",
            **_scrollbars("#cfccc2", "#b5b1a5", "#0e7c7b", "#fbfaf7"),
            "input-cursor-background": "#0e7c7b",
            "block-cursor-foreground": "#fbfaf7",
            "block-cursor-background": "#0e7c7b",
        },
    ),
    Theme(
        name=CONTRAST,
        primary="#5fd7ff",
        secondary="#d7afff",
        accent="#5fd7ff",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#262626",
        success="#87ff87",
        warning="#ffaf00",
        error="#ff8787",
        dark=True,
        variables={
            "text-muted": "#d0d0d0",
            "text-disabled": "#a8a8a8",
            "text-accent": "#5fd7ff",
            "text-secondary": "#d7afff",
            "text-success": "#87ff87",
            "text-warning": "#ffaf00",
            "text-error": "#ff8787",
            "primary-muted": "#004055",
            "accent-muted": "#004055",
            "error-muted": "#5f0000",
            "warning-muted": "#5f3f00",
            "success-muted": "#005f00",
            "border": "#a8a8a8",
            "border-blurred": "#8a8a8a",
            **_scrollbars("#a8a8a8", "#d0d0d0", "#5fd7ff", "#000000"),
            "input-cursor-background": "#5fd7ff",
            "block-cursor-foreground": "#000000",
            "block-cursor-background": "#5fd7ff",
        },
    ),
)

TERMINAL = tuple(
    dataclasses.replace(
        BUILTIN_THEMES[name],
        primary=focus,
        secondary=second,
        accent=focus,
        warning=late,
        variables={
            **BUILTIN_THEMES[name].variables,
            **_scrollbars("ansi_bright_black", "ansi_default", "ansi_default", "ansi_default"),
            "border": focus,
            "border-blurred": "ansi_bright_black",  # the toolkit's own is black on black
            "primary-muted": "ansi_default",  # half of a colour is no colour of 16: what is typed in could not be read
            "input-cursor-background": focus,
            "input-cursor-foreground": letters,
        },
    )
    for name, focus, second, late, letters in (
        ("ansi-dark", "ansi_cyan", "ansi_magenta", "ansi_yellow", "ansi_black"),
        ("ansi-light", "ansi_blue", "ansi_default", "ansi_magenta", "ansi_bright_white"),  # cyan is pale on white
    )
)
"""The terminal's own colours, used as ours are: one for focus and keys, another for what is late, green for done."""


_ON_16_COLOURS = {DARK: "ansi-dark", LIGHT: "ansi-light", CONTRAST: "ansi-dark"}
"""On 16 colours the terminal's own stand for ours: the nearest of 16 to a pale background is the colour of the text."""


def theme_name(theme: str) -> str:
    """Return what people call a theme of Textual; empty when it is none to choose."""
    return next((name for name, chosen in theme_names().items() if chosen == theme), "")


def first_theme(color_system: str | None, preferred: str) -> str:
    """Return the theme to begin with: what the environment names, else the settings, that of last time, what can be
    shown.
    """
    named = os.environ.get("TEAM_CONSOLE_THEME") or os.environ.get("TEXTUAL_THEME") or theme_called(preferred)
    if not named:
        with suppress(OSError, ValueError):
            named = _theme_file().read_text(encoding="utf-8")[:40].strip()
    if chosen := theme_called(named or ""):
        return _ON_16_COLOURS.get(chosen, chosen) if color_system == "standard" else chosen
    return "ansi-dark" if color_system in (None, "standard") or native_colours() else DARK


def remember_theme(name: str) -> None:
    """Begin with this theme next time; a state folder that cannot be written only forgets it."""
    with suppress(OSError):
        replace_file(_theme_file(), f"{name}\n".encode())


def _theme_file() -> Path:
    return state_folder() / "theme"


def native_colours() -> bool | None:
    """Return True without colours (`NO_COLOR` set to something): only attributes are written then; else the theme
    decides.

    An empty `NO_COLOR` does not count, but Textual would count it, so it is taken out of the environment.
    """
    if os.environ.get("NO_COLOR") == "":
        del os.environ["NO_COLOR"]
    return True if "NO_COLOR" in os.environ else None
