"""What agents ask of the lead of a team, and what the lead sees of it, by the service that every face uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller
from team_console.store.views.rows import RequestRow, View
from team_console.store.views.status import view_of_team

COMMAND = {"command": "npm test", "description": "run it"}
OPTIONS = [{"label": "SQLite", "description": "a file"}, {"label": "PostgreSQL", "description": "a server"}]
DATABASE = {"question": "Which database?", "header": "DB", "options": OPTIONS, "multiSelect": False}


def agent(team: Team, name: str = "task-manager") -> Caller:
    """An agent that acts."""
    return Caller(team, name, wait=2.0)


def lead(team: Team) -> Caller:
    """The lead that acts."""
    return Caller(team, "ceo", wait=2.0)


def ask(team: Team, given: Mapping[str, Any] = COMMAND, *, by: str = "task-manager", **more: Any) -> str:
    """Ask to use a tool with this input; return the request id."""
    asked = {"tool": "Bash", "directory": "/srv/app", "client": "claude-code", "input": given, **more}
    return asking.ask_permission(agent(team, by), **asked).request_id or ""


def question(team: Team, *questions: Mapping[str, Any], **more: Any) -> str:
    """Ask a question; return the request id."""
    return asking.ask_question(agent(team), questions=questions or (DATABASE,), **more).request_id or ""


def plan(team: Team, text: str = "1. Split\n2. Test", **more: Any) -> str:
    """Hand in a plan; return the request id."""
    return requests.submit_plan(agent(team), content=text, **more).request_id or ""


def view(team: Team) -> View:
    """What the lead sees."""
    return view_of_team(team, team.snapshot(), me="ceo")


def row(team: Team, request_id: str) -> RequestRow:
    """The request as the lead sees it."""
    return next(row for row in view(team).requests if row.request_id == request_id)


def refusal(act: Callable[..., object], *args: Any, **more: Any) -> TeamError:
    """Do what must be refused, and return how it is."""
    with pytest.raises(TeamError) as caught:
        act(*args, **more)
    return caught.value
