"""The story of the demo (`story.yaml`): who is in the team and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import UNSET, Struct, UnsetType, convert
from msgspec.structs import replace


class Plan(Struct, frozen=True):
    """A plan an agent hands in, and what it reports when it has carried it out."""

    summary: str
    content: str
    task: str
    done: str


class Words(Struct, frozen=True):
    """A plain message: what it says, and where the story fixes them, who says it to whom."""

    summary: str
    content: str
    sender: str = ""
    to: str = ""


class Revision(Struct, frozen=True):
    """What a plan changes when the reason of a refusal holds one of these words."""

    words: Sequence[str]
    change: str


class Fault(Struct, frozen=True):
    """Something a developer runs into: what the debugger makes of it, and the choice only a human can make."""

    error: str
    trace: str
    cause: str
    fix: str
    issue: str
    recommendation: str


class ToolCall(Struct, frozen=True):
    """A use of a tool that an agent asks permission for, and what it says when it was allowed."""

    tool: str
    input: Mapping[str, Any]
    done: str
    suggestions: Sequence[Mapping[str, Any]] = ()
    before: str | UnsetType | None = UNSET


class Story(Struct, frozen=True):
    """Everything the demo's team is and says; the comments in `story.yaml` tell what is used where."""

    team: str
    lead: str
    session: str
    folder: str
    agents: Sequence[Mapping[str, Any]]
    opening_reason: str
    opening: Plan
    plans: Sequence[Plan]
    revisions: Sequence[Revision]
    other_revision: str
    stories: Mapping[str, str]
    batches: Mapping[int, Sequence[str]]
    depends: Mapping[str, Sequence[str]]
    faults: Sequence[Fault]
    specifications: Sequence[str]
    clarifications: Sequence[Mapping[str, str]]
    chatter: Sequence[Words]
    replies: Mapping[str, Sequence[str]]
    calls: Sequence[ToolCall]
    pushes: Sequence[ToolCall]
    reviews: Sequence[Words]
    questions: Sequence[Sequence[Mapping[str, Any]]]
    refusal: str
    goodbyes: Mapping[str, str]

    def path_of(self, key: str) -> str:
        """Where the text of a sprint's story would be."""
        return f"_bmad-output/stories/{key}-{self.stories[key].lower().replace(' ', '-')}.md"

    def batch_plan(self) -> dict[str, Any]:
        """The body of BATCH_PLAN_READY."""
        return {
            "session_id": self.session,
            "total_stories": len(self.stories),
            "batches": [{"batch_id": number, "stories": list(keys)} for number, keys in self.batches.items()],
            "dependency_graph": {key: {"depends_on": list(keys)} for key, keys in self.depends.items()},
        }

    def task(self, key: str, slave: str, *contacts: str) -> dict[str, Any]:
        """The body of TASK_ASSIGNMENT: the story, and the residents that may be asked (requirement 149)."""
        return {
            "story_key": key,
            "story_path": self.path_of(key),
            "mode": "dev",
            "session_id": self.session,
            "report_to": slave,
            "resident_contacts": {name: name for name in contacts},
            "config_overrides": {},
        }

    def revised(self, plan: Plan, reason: str, turn: int) -> Plan:
        """`plan` again after a refusal: it quotes the reason and says what it changes."""
        folded = reason.casefold()
        fits = (entry.change for entry in self.revisions if any(word in folded for word in entry.words))
        quoted, change = " ".join(reason.split())[:300], next(fits, self.other_revision)
        head = f"## What changed (version {turn})\nYou said: “{quoted}”\n\n{change}\n\n"
        return replace(plan, content=head + plan.content)


STORY = convert(yaml.safe_load(Path(__file__).with_name("story.yaml").read_text(encoding="utf-8")), Story)
