"""The story of the demo (`story.yaml`): who is in the team and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, convert
from msgspec.structs import replace


class Plan(Struct, frozen=True):
    """A plan an agent hands in, and what it reports when it has carried it out."""

    summary: str
    content: str
    task: str
    done: str


class Habit(Struct, frozen=True):
    """What an agent does by itself: with each item of the story's list `what`, seconds apart."""

    agent: str
    does: str
    what: str
    after: float
    every: float
    once: bool = False


Words = Mapping[str, Any]
"""The arguments of a verb, as the story gives them."""


class Story(Struct, frozen=True):
    """Everything the demo's team is and says; the comments in `story.yaml` tell what is used where."""

    team: str
    lead: str
    session: str
    folder: str
    agents: Sequence[Mapping[str, Any]]
    opening: Plan
    plans: Sequence[Plan]
    revisions: Sequence[Words]
    other_revision: str
    sprint_begins: float
    fails_first: str
    stories: Mapping[str, str]
    batches: Mapping[int, Sequence[str]]
    depends: Mapping[str, Sequence[str]]
    faults: Sequence[Mapping[str, str]]
    specifications: Sequence[Words]
    clarifications: Sequence[Mapping[str, str]]
    chatter: Sequence[Words]
    replies: Mapping[str, Sequence[str]]
    calls: Sequence[Words]
    pushes: Sequence[Words]
    reviews: Sequence[Words]
    questions: Sequence[Sequence[Words]]
    habits: Sequence[Habit]
    refuser: str
    refusal: str
    goodbyes: Mapping[str, str]

    def path_of(self, key: str) -> str:
        """Return the path that the text of a sprint's story would have."""
        return f"_bmad-output/stories/{key}-{self.stories[key].lower().replace(' ', '-')}.md"

    def batch_plan(self) -> dict[str, Any]:
        """Return the body of BATCH_PLAN_READY."""
        return {
            "session_id": self.session,
            "total_stories": len(self.stories),
            "batches": [{"batch_id": number, "stories": list(keys)} for number, keys in self.batches.items()],
            "dependency_graph": {key: {"depends_on": list(keys)} for key, keys in self.depends.items()},
        }

    def task(self, key: str, slave: str, *contacts: str, attempt: int = 1) -> dict[str, Any]:
        """Return the body of TASK_ASSIGNMENT: the story, and the residents that may be asked (requirement 149)."""
        return {
            "story_key": key,
            "story_path": self.path_of(key),
            "mode": "dev",
            "session_id": self.session,
            "report_to": slave,
            "resident_contacts": {name: name for name in contacts},
            "config_overrides": {} if attempt == 1 else {"attempt": attempt},
        }

    def debug_request(self, fault: Mapping[str, str], debug_id: str, key: str) -> dict[str, Any]:
        """Return the body of DEBUG_REQUEST: what a developer ran into."""
        return {
            "debug_id": debug_id,
            "story_key": key,
            "agent_type": "dev-runner",
            "error_summary": fault["error"],
            "stack_trace": fault["trace"],
            "test_output": "1 failed, 141 passed",
            "severity_hint": "HIGH",
        }

    def debug_result(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of DEBUG_RESULT: what the debugger makes of it."""
        fault = next((one for one in self.faults if one["error"] == asked["error_summary"]), self.faults[0])
        return {
            "debug_id": asked["debug_id"],
            "story_key": asked["story_key"],
            "root_cause": fault["cause"],
            "fix_suggestion": fault["fix"],
            "severity": "HIGH",
            "confidence": "high",
            "journal_entry_id": f"{asked['debug_id']}-2026-02-24",
        }

    def issue(self, fault: Mapping[str, str], impact: str) -> dict[str, Any]:
        """Return the part of a fault that only the human can decide."""
        return {
            "issue": fault["issue"],
            "severity": "blocker",
            "recommendation": fault["recommendation"],
            "impact": impact,
        }

    def revised(self, plan: Plan, reason: str, turn: int) -> Plan:
        """`plan` again after a refusal: it quotes the reason and says what it changes."""
        folded = reason.casefold()
        fits = (entry["change"] for entry in self.revisions if any(word in folded for word in entry["words"]))
        quoted, change = " ".join(reason.split())[:300], next(fits, self.other_revision)
        head = f"## What changed (version {turn})\nYou said: “{quoted}”\n\n{change}\n\n"
        return replace(plan, content=head + plan.content)


STORY = convert(yaml.safe_load(Path(__file__).with_name("story.yaml").read_text(encoding="utf-8")), Story)
