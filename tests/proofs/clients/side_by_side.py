"""Draws one request in its session's terminal and at the console: `python -m tests.proofs.clients --picture`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyte
import pytest

from tests.equipment.command_line import ROOT
from tests.equipment.terminal_picture import BACK, CELL, LINE, SVG, drawn_line
from tests.proofs.clients.kinds import CLAUDE, start_claude
from tests.proofs.clients.model import ScriptedModel
from tests.proofs.clients.scenario import Scenario, prompt
from tests.proofs.clients.turns import Call, Say

_PUSH = Call("Bash", {"command": "git push origin report", "description": "Push the branch of the report"})
_SIZE_OF_SESSION, _SIZE_OF_CONSOLE = (100, 24), (100, 26)
_GAP = 34
"""Units of the picture above each terminal, in which its name stands."""


@pytest.mark.usefixtures("claude")
def test_draw_one_request_in_both_places() -> None:
    says = {"": (_PUSH, Say("It is pushed."))}
    with TemporaryDirectory() as folder, ScriptedModel(says) as model, Scenario(Path(folder), model) as scenario:
        draw(scenario)


def draw(scenario: Scenario) -> None:
    """Play the scenario up to the dialog, and draw both terminals."""
    console = scenario.open_console()
    client = start_claude(scenario, mode="default", ask_for="push")
    console.terminal.resize(*_SIZE_OF_CONSOLE)
    client.resize(*_SIZE_OF_SESSION)
    prompt(scenario, client, "Push the report, please")
    scenario.wait_for(client, CLAUDE.dialog)
    console.wait_for("git push origin report", "Permission")
    scenario.rest(2.0)
    screens = {"the session": client.styled_screen(), "the console": console.terminal.styled_screen()}
    picture = ROOT / "screenshots" / "side-by-side.svg"
    picture.write_text(_drawn(screens, scenario.place.project), encoding="utf-8")


def _drawn(screens: dict[str, pyte.Screen], project: Path) -> str:
    """Return the terminals below each other, as SVG; `project` is where the session works, which nobody is shown."""
    body, top = [], 0
    for name, screen in screens.items():
        body.append(f'<text x="10" y="{top + _GAP - 12}" class="b" fill="#768390">{name}</text>')
        top += _GAP
        lines = [drawn_line(screen, number) for number in range(screen.lines)]
        height = len(lines) * LINE + 20
        body.append(f'<rect x="0" y="{top}" width="100%" height="{height}" rx="8" fill="{BACK}"/>')
        for number, line in enumerate(lines):
            text = line.replace(str(project), "~/shop".ljust(len(str(project))))
            body.append(f'<g transform="translate(10 {top + 10 + number * LINE})">{text}</g>')
        top += height
    width = max(screen.columns for screen in screens.values()) * CELL + 20
    return SVG.format(width=width, height=top) + "</style>" + "".join(body) + "</svg>\n"
