"""The sprint: a correction of its course is asked for, and the residents get the roster."""

from __future__ import annotations

from team_console.console.selection import ActionContext
from team_console.console.tui.commands.writing import look_and_say
from team_console.console.tui.main import MainScreen
from team_console.console.tui.toast_words import names_listed, receipt_words
from team_console.store.service import agents
from team_console.store.service.caller import Receipt
from team_console.widgets.fields import OptionLine, words_of_a_decision
from team_console.widgets.prompt_form import Choice, Confirm, Prompt


def correct_course(screen: MainScreen, context: ActionContext) -> None:
    """Ask the scrum master to plan again (requirement 185)."""
    prompt = Prompt[Receipt](
        "Correct the course",
        "CC_TRIGGER goes to the scrum master, who plans the sprint again.",
        lambda made: agents.trigger_course_correction(screen.caller, user_input=made.words),
        choices=(Choice(OptionLine("trigger"), "Trigger"),),
        words=words_of_a_decision("change", required=True),
        **screen.drafts.of_form("correct_course"),
    )
    screen.ask(
        prompt, lambda receipt: look_and_say(screen, receipt_words("asked for a correction of the course", receipt))
    )


def send_roster(screen: MainScreen, context: ActionContext) -> None:
    """Send the residents the complete roster (requirement 178)."""
    view = screen.view
    residents = [row.name for row in view.roster if row.role == "resident"] if view is not None else []
    form = Confirm[Receipt](
        "Send roster",
        (f"The complete roster goes to {names_listed(residents) or 'nobody: the team has no residents'}.",),
        lambda _: agents.send_roster(screen.caller),
        verb="Send",
    )
    screen.ask(form, lambda receipt: look_and_say(screen, receipt_words("sent the roster", receipt)))
