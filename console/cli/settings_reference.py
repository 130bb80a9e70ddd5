"""The reference of all settings, made from their table: for `help settings` and docs/reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from team_console.store.model.names import nearest
from team_console.store.settings.parsing import MEMBER, Form, Setting, every_setting
from team_console.store.settings.team_config import Agent, TeamConfig

EXAMPLE = """\
team: sprint-42
lead: ceo
agents:
- name: ceo
  role: master
- name: developer
  role: resident
  plan_mode_required: true
  deliver: [./wake, developer]
message_types:
  handoff:
    required_fields: [artifact_path, context_summary, next_actions]
    priority: high
routing:
  analyst_to_pm:
    trigger: product brief complete
    from: analyst
    to: pm
    payload: [product_brief_path, key_insights]
"""
"""Settings that show every form of a value; a test reads them."""


class SettingRow(Struct, frozen=True):
    """One line of the reference."""

    path: str
    value: str
    default: str
    meaning: str
    also: tuple[str, ...] = ()


def setting_rows(topic: str = "") -> list[SettingRow]:
    """Every setting in the order of its table; only those that `topic` names, none when it names none."""
    rows = (
        SettingRow(path, _value_words(setting), _default_words(setting), setting.meaning, setting.also)
        for path, setting in every_setting()
    )
    return [row for row in rows if not topic or _is_about(row, topic)]


def settings_text(rows: Sequence[SettingRow]) -> Iterator[str]:
    """The rows as lines for a terminal."""
    for row in rows:
        also = f" (also: {', '.join(row.also)})" if row.also else ""
        yield from (f"{row.path}{also}", f"    {row.meaning}", f"    value: {row.value}; without it: {row.default}")


def nearest_setting(topic: str) -> str | None:
    """The setting that was most likely meant."""
    return nearest(topic, {word for _, setting in every_setting() for word in setting.keys})


def _is_about(row: SettingRow, topic: str) -> bool:
    parts = row.path.replace("[]", "").split(".")
    return topic == row.path or topic in parts or topic in row.also


def _value_words(setting: Setting) -> str:
    if setting.form is Form.WORD:
        return ", ".join(setting.choices)
    if setting.form is Form.VALUES and setting.choices:
        return f"a mapping of {', '.join(setting.choices)} to {setting.fields[0].form}"
    return str(setting.form)


def _default_words(setting: Setting) -> str:
    if setting.default:
        return setting.default
    owner = Agent("x") if setting in MEMBER else TeamConfig()
    value = getattr(owner, setting.key, None)
    if value is None:
        return "the defaults below"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
