"""Settings that are no YAML, as while somebody types, never go on record: the last that parse stay in force.

Mending them is no loss, and `check --heal` puts nothing back that does not parse.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.settings.in_force import SettingsInForce, SettingsNames, judge_settings
from team_console.store.settings.settings_file import parse_settings
from team_console.store.settings.team_config import TeamConfig

BROKEN = ("\n: : {\n", '\nlanguage: "half', "\noverdue_seconds: {shutdown: 7")


def _judged(text: str | None, before: str) -> SettingsInForce:
    def understand(raw: bytes) -> TeamConfig:
        return parse_settings(raw, Path("settings"))

    data = None if text is None else text.encode()
    said = TeamConfig() if data is None else understand(data)
    names = SettingsNames("s", "s", "s")
    return judge_settings(data, said, before=before.encode(), last=TeamConfig(), understand=understand, names=names)


@pytest.mark.parametrize("broken", BROKEN)
def test_what_an_older_version_put_on_record_is_not_put_back(broken: str) -> None:
    good = "team: T\nlead: ceo\nagents:\n- {name: a1}\n"
    mended = _judged(good, good + broken)
    assert (mended.config.lost, mended.to_record) == ("", good.encode())
    gone = _judged(None, good + broken)
    assert "is gone" in gone.config.lost
    assert gone.text_in_force is None
