"""The sprint side of the demo's team: scrum master, debugger, a slave with its batch, temporary developers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from team_console.console.demo import words
from team_console.console.demo.simulated_agent import SimulatedAgent
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.protocol.parsing import Reading
from team_console.store.service.sending import send


class ScrumMaster(SimulatedAgent):
    """Plans the batches, and plans them again when a course correction is asked for."""

    def begin(self) -> None:
        self.after(1, self.plan)

    def plan(self) -> None:
        """Report the batch plan."""
        body = {
            "session_id": words.SESSION,
            "total_stories": len(words.STORIES),
            "batches": [{"batch_id": number, "stories": list(keys)} for number, keys in words.BATCHES],
            "dependency_graph": {key: {"depends_on": keys} for key, keys in words.DEPENDS.items()},
        }
        self.sprint(self.lead, "BATCH_PLAN_READY", body, "Nine stories planned in three batches")

    def on_cc_trigger(self, message: Message, read: Reading) -> None:
        self.after(4, lambda: self.correct(str(read.body.get("reason") or "user_request")))

    def correct(self, reason: str) -> None:
        """Report the new plan: the last story waits for the next sprint."""
        body = {
            "session_id": words.SESSION,
            "reason": reason,
            "new_batches": [{"batch_id": 3, "stories": ["5-1", "5-2"]}],
            "dropped_stories": ["5-3"],
            "added_stories": [],
        }
        self.sprint(self.lead, "COURSE_CORRECTION", body, "Batch 3 planned again without 5-3")


class Debugger(SimulatedAgent):
    """Finds the cause of what others run into."""

    def on_debug_request(self, message: Message, read: Reading) -> None:
        self.after(5, lambda: self.explain(message.sender, dict(read.body)))

    def explain(self, requester: str, asked: dict[str, Any]) -> None:
        """Send the finding to whoever asked."""
        fault = next((fault for fault in words.FAULTS if fault.error == asked.get("error_summary")), words.FAULTS[0])
        debug_id = str(asked.get("debug_id"))
        body = {
            "debug_id": debug_id,
            "story_key": asked.get("story_key"),
            "root_cause": fault.cause,
            "fix_suggestion": fault.fix,
            "severity": "HIGH",
            "confidence": "high",
            "journal_entry_id": f"{debug_id}-2026-02-24",
        }
        self.sprint(requester, "DEBUG_RESULT", body, f"{debug_id}: the root cause is found")


class _Batch(SimulatedAgent):
    """Runs a batch story by story.

    Attributes:
        stories: Those that are not done yet; the first one is in hand.
    """

    batch_id: int
    mode: str

    def begin(self) -> None:
        self.stories = list(dict(words.BATCHES)[self.batch_id])
        self.completed: list[str] = []

    def assign(self, worker: str) -> None:
        """Give an agent the story in hand and whom it may ask (requirement 149)."""
        key = self.stories[0]
        body = {
            "story_key": key,
            "story_path": words.story_path(key),
            "mode": self.mode,
            "session_id": words.SESSION,
            "report_to": self.name,
            "resident_contacts": {"debugger": "debugger"},
            "config_overrides": {},
        }
        self.sprint(worker, "TASK_ASSIGNMENT", body, f"Story {key}: {words.STORIES[key]}")

    def report(self) -> None:
        """Tell the lead that the batch is through."""
        body = {
            "batch_id": self.batch_id,
            "session_id": words.SESSION,
            "stories_completed": self.completed,
            "stories_failed": [],
            "batch_report": f"{len(self.completed)} stories are done, all tests pass.",
        }
        self.sprint(self.lead, "SLAVE_BATCH_COMPLETE", body, f"Batch {self.batch_id} is complete, I can go")


class Slave(_Batch):
    """Every story needs a temporary agent, and the lead decides about each."""

    batch_id, mode = 2, "dev"

    def begin(self) -> None:
        super().begin()
        self.asked: str | None = None
        self.worker: str | None = None
        self.after(4, self.ask_for_agent)

    def ask_for_agent(self) -> None:
        """Ask for a developer, without a word about the story (requirement 146)."""
        body = {"agent_type": "dev-runner", "role_hint": "Developer for one story", "requested_by": self.name}
        receipt = self.sprint(self.lead, "AGENT_CREATE_REQUEST", body, "Wants a dev-runner for the next story")
        self.asked = receipt.messages[0].message_id

    def on_agent_created(self, message: Message, read: Reading) -> None:
        self.asked = None
        self.worker = str(read.body.get("agent_name"))
        self.after(2, lambda: self.assign(str(self.worker)))

    def on_agent_complete(self, message: Message, read: Reading) -> None:
        if self.stories:
            self.completed.append(self.stories.pop(0))
        self.after(2, lambda: self.ask_for_end(message.sender))

    def ask_for_end(self, worker: str) -> None:
        """Ask the lead to end the agent whose work is done."""
        self.worker = worker
        text = f"Story is done, {worker} can go"
        receipt = self.sprint(self.lead, "AGENT_DESTROY_REQUEST", {"agent_name": worker}, text)
        self.asked = receipt.messages[0].message_id

    def on_agent_destroyed(self, message: Message, read: Reading) -> None:
        self.asked = self.worker = None
        self.after(6, self.go_on)

    def go_on(self) -> None:
        """The next story, or the report when there is none left."""
        if self.stories:
            self.ask_for_agent()
        else:
            self.report()

    def on_message(self, message: Message, read: Reading) -> None:
        if self.asked is None or self.asked not in (read.request_id, message.payload.get("in_reply_to")):
            super().on_message(message, read)
        elif read.approve is False:
            self.asked = None
            self.after(2, lambda: self.accept_refusal(message))

    def accept_refusal(self, message: Message) -> None:
        """Go on without what was refused."""
        if self.worker is not None:
            worker = self.worker
            self.answer(message, f"Understood, {worker} stays. I ask again when the review is through.")
            self.after(40, lambda: self.ask_for_end(worker))
            return
        key = self.stories[0]
        self.answer(message, f"Understood. I do story {key} myself; it takes about twice as long.")
        self.after(25, self.finish_alone)

    def finish_alone(self) -> None:
        """Report the story done without a temporary agent."""
        key = self.stories.pop(0)
        self.completed.append(key)
        self.say(self.lead, f"Story {key} is done without an extra agent", f"{words.STORIES[key]}: 142 tests pass.")
        self.after(8, self.go_on)


class Runner(_Batch):
    """A slave that has its agent already: its batch goes on by itself, and fails at one story before it is through."""

    batch_id, mode = 1, "inspect"

    def begin(self) -> None:
        super().begin()
        self.after(3, self.go_on)

    def go_on(self) -> None:
        """Give the next story to the agent there is."""
        self.assign("inspector-1")

    def on_agent_complete(self, message: Message, read: Reading) -> None:
        if read.body.get("status") != "success":
            self.after(14, self.go_on)
            return
        self.completed.append(self.stories.pop(0))
        self.after(6, self.go_on if self.stories else self.report)


class Inspector(SimulatedAgent):
    """Takes one story after the other; the second one fails at first, as stories do."""

    def begin(self) -> None:
        self.failed = False

    def on_task_assignment(self, message: Message, read: Reading) -> None:
        task = dict(read.body)
        self.after(9, lambda: self.complete(task))

    def complete(self, task: dict[str, Any]) -> None:
        """Report to whoever gave the story."""
        fails = task.get("story_key") == "3-2" and not self.failed
        self.failed = self.failed or fails
        errors = ["the chart does not draw without data"] if fails else []
        body = _completed(task, errors, tests="3 failed, 139 passed" if fails else "142 passed", files_changed=9)
        word = "failed: the chart does not draw" if fails else "is done"
        self.sprint(str(task.get("report_to")), "AGENT_COMPLETE", body, f"Story {task.get('story_key')} {word}")


class Developer(SimulatedAgent):
    """A temporary agent: one story, sometimes a fault that only the human can decide about, then gone."""

    def begin(self) -> None:
        self.task: dict[str, Any] = {}
        self.fault = self.rng.choice(words.FAULTS)
        self.issue: str | None = None

    def on_task_assignment(self, message: Message, read: Reading) -> None:
        self.task = dict(read.body)
        stumbles = self.task.get("story_key") == "4-1" or self.rng.random() < 0.4
        self.after(5, self.ask_debugger if stumbles else self.complete)

    def ask_debugger(self) -> None:
        """Ask the debugger of the assignment's contacts."""
        body = {
            "debug_id": f"DBG-{self.rng.randrange(100, 1000)}",
            "story_key": self.task["story_key"],
            "agent_type": "dev-runner",
            "error_summary": self.fault.error,
            "stack_trace": self.fault.trace,
            "test_output": "1 failed, 141 passed",
            "severity_hint": "HIGH",
        }
        contact = self.task.get("resident_contacts", {}).get("debugger", "debugger")
        self.sprint(contact, "DEBUG_REQUEST", body, f"Help wanted: {self.fault.error}"[:90])

    def on_debug_result(self, message: Message, read: Reading) -> None:
        self.after(3, self.escalate)

    def escalate(self) -> None:
        """Bring the choice that is left to the human."""
        body = {
            "issue": self.fault.issue,
            "severity": "blocker",
            "recommendation": self.fault.recommendation,
            "impact": f"Story {self.task['story_key']} stands still until this is decided.",
        }
        receipt = send(self.caller, to=USER, type="escalate", summary=self.fault.issue, payload=body)
        self.issue = receipt.messages[0].message_id

    def on_message(self, message: Message, read: Reading) -> None:
        if self.issue is None or not self.is_human(message):
            super().on_message(message, read)
            return
        self.issue = None
        text = f"Understood, I go on that way. Story {self.task['story_key']} moves again."
        self.after(1.5, lambda: self.answer(message, text))
        self.after(7, self.complete)

    def complete(self) -> None:
        """Report to whoever gave the story (requirement 143)."""
        body = _completed(self.task, tests="142 passed", files_changed=14)
        self.sprint(str(self.task["report_to"]), "AGENT_COMPLETE", body, f"Story {self.task['story_key']} is done")


def _completed(task: Mapping[str, Any], errors: Sequence[str] = (), **results: Any) -> dict[str, Any]:
    """What whoever was given a story says of it in the end."""
    return {
        "status": "failed" if errors else "success",
        **{key: task.get(key) for key in ("story_key", "mode", "session_id")},
        "results": results,
        "errors": list(errors),
    }
