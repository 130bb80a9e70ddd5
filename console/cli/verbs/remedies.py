"""`retry`, `redirect`, `discard`, `recall`: what is done about messages that did not arrive, or should not."""

from __future__ import annotations

from argparse import ArgumentParser

from msgspec import Struct
from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.store.model.safe import safe_line


class RemedyVerb(Struct, frozen=True):
    """One of the four verbs.

    Attributes:
        action: The action of the desk.
        word: What is said of each message it was done to.
        option: What the action wants besides ids: its name, placeholder and meaning.
    """

    action: str
    description: str
    word: str
    option: tuple[str, str, str] | None = None

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.description = self.description
        text = "message ids; those that the action does not fit are named and left alone"
        add_completed(parser, "messages", "ids", nargs="+", metavar="ID", help=text)
        if self.option is not None:
            name, placeholder, meaning = self.option
            source = "agents" if name == "to" else ""
            add_completed(parser, source, f"--{name}", required=True, metavar=placeholder, help=meaning)

    def run(self, call: Call) -> int:
        """Do it and print what was done to which message."""
        from team_console.store.service.failures import REMEDIES, Remedy

        wanted = {self.option[0]: getattr(call.options, self.option[0])} if self.option is not None else {}
        receipt = REMEDIES[Remedy(self.action)](call.caller, ids=call.options.ids, **wanted)
        lines = [
            f"{self.word} {message.message_id} {message.sender} -> {', '.join(message.recipients)}"
            for message in receipt.messages
        ]
        return call.finish(receipt, [safe_line(line) for line in lines])


retry = RemedyVerb(
    "retry", "Failed, expired or put off messages become pending, with all their tries again.", "pending again:"
)
redirect = RemedyVerb(
    "redirect",
    "Give messages that nobody has got yet to another agent. Id, sender and content stay.",
    "redirected:",
    ("to", "A", "the agent to take them"),
)
discard = RemedyVerb(
    "discard",
    "Take dead letters out of the queue. They stay readable in the history of their agent.",
    "discarded:",
    ("reason", "R", "why; goes on the audit trail"),
)
recall = RemedyVerb(
    "recall", "Take back messages that nobody has got yet; what was delivered or read stays so.", "recalled:"
)
