"""The permanent members of the demo's team: they plan, ask, talk, refuse and stop."""

from __future__ import annotations

from itertools import cycle

from team_console.console.demo import words
from team_console.console.demo.simulated_agent import SimulatedAgent
from team_console.store.model.message import Message, Status
from team_console.store.protocol.client_requests import Permission, answers_text, headline_of
from team_console.store.protocol.parsing import Reading, reading
from team_console.store.service.asking import ask_permission, ask_question, withdraw
from team_console.store.service.requests import reject, submit_plan
from team_console.store.service.sending import broadcast, send


class TaskManager(SimulatedAgent):
    """Works in plan mode: nothing happens before its plan is approved; a refused plan comes back revised."""

    def begin(self) -> None:
        self.turn, self.number = 1, 0
        self.plan = words.PLANS[0]
        self.request_id = self.waiting_plan()
        if self.request_id is None:
            self.after(2, self.submit)
        else:
            self.turn = 2
            asked = self.request_id
            self.after(100, lambda: self.remind(asked))

    def waiting_plan(self) -> str | None:
        """The request id of a plan that was handed in before, and whose verdict is still to be read; None for none."""
        messages = self.team.snapshot().messages
        verdicts = (message for message in messages if message.type == "plan_approval_response")
        answered = {reading(message).request_id for message in verdicts if message.status is Status.READ}
        own = (message for message in messages if message.type == "plan_approval_request")
        ids = [reading(message).request_id for message in own if message.sender == self.name]
        return ids[-1] if ids and ids[-1] not in answered else None

    def submit(self) -> None:
        """Hand in the plan as it is now."""
        receipt = submit_plan(self.caller, content=self.plan.content, summary=self.plan.summary)
        self.request_id = receipt.request_id
        asked = receipt.request_id
        self.after(100, lambda: self.remind(asked))

    def remind(self, asked: str | None) -> None:
        """Say once that the plan still waits."""
        if asked == self.request_id:
            text = f"My plan “{self.plan.summary}” still waits for you; the export on Thursday depends on it."
            self.say(self.lead, "My plan is still waiting for your verdict", text)

    def on_plan_approval_response(self, message: Message, read: Reading) -> None:
        if read.request_id != self.request_id:
            return
        self.request_id = None
        if read.approve:
            self.after(1.5, self.start)
            return
        self.turn += 1
        self.plan = words.revised(words.PLANS[self.number], message.content, self.turn)
        self.after(3, self.submit)

    def start(self) -> None:
        """Leave plan mode and go to work."""
        text = f"Plan approved, work has begun as {self.plan.task}. I report when the first step is through."
        self.say(self.lead, f"{self.plan.task} has started", text)
        self.after(9, self.progress)

    def progress(self) -> None:
        """Tell the schedule how far it is (pattern 3 of seed 001: state sync)."""
        text = f"{self.plan.task}: 2 steps done, 1 running, 1 to come. No change to Thursday."
        self.say("schedule-manager", f"{self.plan.task}: half of the steps are done", text)
        self.after(12, self.finish)

    def finish(self) -> None:
        """Announce the result to everybody (pattern 2: event driven), then go on to the next plan."""
        broadcast(self.caller, summary=f"{self.plan.task} is done", content=self.plan.done)
        self.turn = 1
        self.number = (self.number + 1) % len(words.PLANS)
        self.plan = words.PLANS[self.number]
        self.after(15, self.submit)


class Manager(SimulatedAgent):
    """Talks with colleagues now and then."""

    def begin(self) -> None:
        self.lines = cycle([line for line in words.CHATTER if line[0] == self.name])
        self.after(self.rng.uniform(4, 12), self.talk)

    def talk(self) -> None:
        """Say the next line of this agent, and plan the one after it."""
        _, to, summary, content = next(self.lines)
        self.after(self.rng.uniform(25, 45), self.talk)
        self.say(to, summary, content)

    def on_review(self, message: Message, read: Reading) -> None:
        """A specification that was redirected here."""
        text = f"{message.summary}: the architect cannot, so I review it. You have my remarks before noon."
        self.after(2, lambda: self.say(self.lead, "I took over the review of the specification", text))


class ScheduleManager(Manager):
    """Also asks the lead what only the lead can know, and reacts to announcements."""

    def begin(self) -> None:
        super().begin()
        self.question: str | None = None
        self.questions = cycle(words.CLARIFICATIONS)
        self.specifications = iter(words.SPECIFICATIONS)
        self.after(11, self.ask)
        self.after(20, self.announce_spec)

    def ask(self) -> None:
        """Ask the lead; goes on only with an answer."""
        question, context = next(self.questions)
        body = {"question": question, "context": context}
        receipt = send(self.caller, to=self.lead, type="clarify", summary=question, payload=body)
        self.question = receipt.messages[0].message_id

    def announce_spec(self) -> None:
        """Hand a specification to the architect, who does not always listen."""
        name = next(self.specifications, None)
        if name is None:
            return
        body = {"artifact_path": f"specs/{name}.md", "review_type": "specification"}
        send(
            self.caller,
            to="architect",
            type="review",
            priority="high",
            summary=f"{name[:8]} is ready for review",
            payload=body,
        )
        self.after(120, self.announce_spec)

    def on_message(self, message: Message, read: Reading) -> None:
        if self.question is not None and self.question in (read.request_id, message.payload.get("in_reply_to")):
            self.question = None
            said = message.content or "your answer"
            self.after(1.5, lambda: self.answer(message, f"Thank you. The calendar follows it: “{said[:200]}”"))
            self.after(60, self.ask)
            return
        super().on_message(message, read)

    def on_broadcast(self, message: Message, read: Reading) -> None:
        if self.is_human(message):
            text = f"Everybody has your notice “{message.summary}”. I moved two slots to make room for it."
            self.after(2.5, lambda: self.answer(message, text, summary="Calendar adjusted to your notice"))


class KnowledgeManager(Manager):
    """Asks the lead questions with options, and follows the answers."""

    def begin(self) -> None:
        super().begin()
        self.asked: str | None = None
        self.questions = cycle(words.QUESTIONS)
        self.after(14, self.ask)

    def ask(self) -> None:
        """Ask the next question; goes on only with an answer."""
        receipt = ask_question(
            self.caller, questions=next(self.questions), directory=words.FOLDER, client="claude-code"
        )
        self.asked = receipt.request_id

    def on_question_response(self, message: Message, read: Reading) -> None:
        if read.request_id != self.asked:
            return
        self.asked = None
        text = answers_text(message.payload).replace("\n", "; ") if read.approve else message.content
        follow = f"The pages follow it: {text[:200]}" if read.approve else f"I decide it myself: “{text[:200]}”"
        self.after(2, lambda: self.say(self.lead, "Thank you, the pages follow your answer", follow))
        self.after(90, self.ask)


class FileManager(Manager):
    """Asks permission for its tools. Refuses the first request to stop, with exports open; agrees to the second."""

    def begin(self) -> None:
        super().begin()
        self.refused = False
        self.calls = cycle(words.CALLS)
        self.asked: str | None = None
        self.after(8, self.ask_permission)

    def ask_permission(self) -> None:
        """Ask whether the next tool may be used, as a client asks for its agent; nobody is waited for without end."""
        call = self.call = next(self.calls)
        receipt = ask_permission(
            self.caller,
            tool=call.tool,
            input=call.input,
            directory=words.FOLDER,
            client="claude-code",
            session=f"{self.name}-1",
            suggestions=call.suggestions,
            before=call.before,
        )
        asked = self.asked = receipt.request_id
        self.after(150, lambda: self.let_go(asked))

    def let_go(self, asked: str | None) -> None:
        """Nobody answered here; somebody did where the agent runs."""
        if asked is not None and asked == self.asked:
            withdraw(self.caller, request_id=asked, reason="answered in the session")
            self.go_on()

    def go_on(self) -> None:
        """Come to the next tool after a while."""
        self.asked = None
        self.after(60, self.ask_permission)

    def on_permission_response(self, message: Message, read: Reading) -> None:
        if read.request_id != self.asked:
            return
        call = self.call
        what = headline_of(Permission(call.tool, call.input), words.FOLDER)[:60]
        edited = " I did it as you edited it." if "updated_input" in message.payload else ""
        said = f"Understood, I leave it: “{message.content[:200]}”"
        text, summary = (call.done + edited, f"Done: {what}") if read.approve else (said, f"Not done: {what}")
        self.after(2, lambda: self.say(self.lead, summary, text))
        self.go_on()

    def on_shutdown_request(self, message: Message, read: Reading) -> None:
        if self.refused:
            super().on_shutdown_request(message, read)
            return
        self.refused = True
        request_id = read.request_id or ""
        self.after(1.5, lambda: reject(self.caller, request_id=request_id, reason=words.REFUSAL))
        self.after(12, self.ready)

    def ready(self) -> None:
        """Say that the reason of the refusal is gone."""
        text = "The three exports are through and verified. I can stop now, if you still want it."
        self.say(self.lead, "Exports are through, I can stop now", text)

    def on_broadcast(self, message: Message, read: Reading) -> None:
        if message.sender == "task-manager":
            text = "The completion report is filed: `reports/2026-02-24.md`. It lists start, end and the checks."
            self.after(4, lambda: self.say("knowledge-manager", "Completion report is filed", text))
