"""The table of every setting: reading, checking, the nearest name and the reference are all made from it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct
from team_console.store.model.message import Priority
from team_console.store.settings.team_config import ASK_FOR, ASK_WORDS, KINDS_WITH_PATIENCE, OVERDUE_SECONDS

ROLES = ("master", "resident", "slave", "temp", "member")
LANGUAGES = ("any", "zh", "en")
WAITS = ("always", "present", "never")
VERDICTS = ("open", "signed")
PRIORITIES = tuple(str(priority) for priority in Priority)


class ValueForm(StrEnum):
    """What a value must look like; the text is what the reference and a finding say."""

    NAME = "a name"
    TEXT = "a text"
    WORD = "one of the words"
    FLAG = "true or false"
    COUNT = "a whole number above 0"
    SECONDS = "a number of seconds above 0"
    TEXTS = "a list of texts"
    RULES = "a list of actions"
    KEYS = "a list of public keys, as in id_ed25519.pub"
    MOMENT = "a date or a time"
    COMMAND = "a command and its arguments, as a list"
    SECTION = "a mapping of the settings below"
    ENTRIES = "a mapping of names to the settings below"
    VALUES = "a mapping of names to values"
    MEMBERS = "a list of names or mappings, or a mapping of names to mappings"


class Setting(Struct, frozen=True):
    """One setting.

    Attributes:
        also: Other words for the same setting.
        meaning: What it does, in one line.
        default: What counts without it, where that is neither nothing nor a plain value of `TeamConfig` or `Agent`.
        choices: The words it may be.
        fields: The settings inside it; of `VALUES` one that stands for each value.
        values: For `ENTRIES` and `VALUES`: what their names are.
        needed: Whether its mapping is of no use without it.
        closed: Whether a wrong value permits nothing, because its absence would permit everything.
    """

    key: str
    form: ValueForm
    meaning: str
    also: tuple[str, ...] = ()
    default: str = ""
    choices: tuple[str, ...] = ()
    fields: tuple[Setting, ...] = ()
    values: str = ""
    needed: bool = False
    closed: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Every word for it."""
        return (self.key, *self.also)


MEMBER = (
    Setting("name", ValueForm.NAME, "the member's name", default="needed in a list", needed=True),
    Setting("role", ValueForm.WORD, "what it is in the team", choices=ROLES),
    Setting(
        "plan_mode_required",
        ValueForm.FLAG,
        "it hands in a plan and works only after its approval",
        also=("plan",),
    ),
    Setting(
        "deliver",
        ValueForm.COMMAND,
        "runs for each pushed message (record on its standard input)",
        default="its inbox file",
    ),
    Setting("deliver_timeout", ValueForm.SECONDS, "how long that command may take"),
    Setting("may_message", ValueForm.TEXTS, "whom it may write to", default="everybody", closed=True),
    Setting(
        "may_send",
        ValueForm.TEXTS,
        "which kinds it may send; what it is asked it may always answer",
        default="all",
        closed=True,
    ),
    Setting("ask_for", ValueForm.RULES, "actions of this agent that need your answer", default="the team's"),
    Setting("agent_type", ValueForm.TEXT, "kept for other programs"),
    Setting("description", ValueForm.TEXT, "kept for people"),
)
RETENTION = (
    Setting("active_messages_max", ValueForm.COUNT, "read messages that stay in the queue at most"),
    Setting("archive_after_days", ValueForm.COUNT, "read messages older than that leave the queue for the archives"),
    Setting("delete_archived_after_days", ValueForm.COUNT, "age from which `clear` deletes archived messages"),
)
LIMITS = (
    Setting("content_max_bytes", ValueForm.COUNT, "larger messages are refused"),
    Setting("attachment_bytes", ValueForm.COUNT, "larger contents move to `attachments/`"),
    Setting("content_soft_bytes", ValueForm.COUNT, "larger messages give a warning"),
)
_KIND = (
    Setting("description", ValueForm.TEXT, "what the kind is for"),
    Setting("required_fields", ValueForm.TEXTS, "fields that `send` refuses the kind without"),
    Setting(
        "priority", ValueForm.WORD, "its priority where none is given", choices=PRIORITIES, default="the kind's own"
    ),
)

_ROUTE = (
    Setting("trigger", ValueForm.TEXT, "when the handoff is due"),
    Setting("from", ValueForm.NAME, "who hands over", default="needed", needed=True),
    Setting("to", ValueForm.NAME, "who takes over", default="needed", needed=True),
    Setting("payload", ValueForm.TEXTS, "fields that the handoff carries; `send` warns of missing ones"),
)
_HUMAN = (
    Setting("keys", ValueForm.KEYS, "the public keys that may sign its verdicts"),
    Setting(
        "sign_with",
        ValueForm.TEXT,
        "file of the key to sign with on this machine, private or public",
        default="the one in `~/.ssh` or in the agent",
    ),
)
_WAIT = Setting("seconds", ValueForm.SECONDS, "seconds")

SETTING_TABLE: tuple[Setting, ...] = (
    Setting("team", ValueForm.NAME, "the team's name, part of request ids", also=("name",), default="team"),
    Setting(
        "lead",
        ValueForm.NAME,
        "who answers plans and may ask for shutdowns",
        also=("master",),
        default="the member with role master, else user",
    ),
    Setting(
        "agents",
        ValueForm.MEMBERS,
        "the members; with a list other names are refused",
        also=("members",),
        fields=MEMBER,
        default="whoever writes and is written to",
    ),
    Setting(
        "language", ValueForm.WORD, "the language of summaries, and of words written into messages", choices=LANGUAGES
    ),
    Setting(
        "wait_for_human",
        ValueForm.WORD,
        "when a client's hook waits for an answer; `present`: while a console is open",
        choices=WAITS,
    ),
    Setting(
        "ask_for",
        ValueForm.RULES,
        "actions that need your answer even if a client asks nobody",
        choices=ASK_WORDS,
        default=", ".join(ASK_FOR),
    ),
    Setting("retention", ValueForm.SECTION, "how long messages stay", fields=RETENTION),
    Setting("limits", ValueForm.SECTION, "how large messages may be", fields=LIMITS),
    Setting(
        "overdue_seconds",
        ValueForm.VALUES,
        "how long a request may stay open before it is overdue; default: kinds without a time of their own",
        fields=(_WAIT,),
        choices=KINDS_WITH_PATIENCE,
        values="KIND OF REQUEST",
        default=", ".join(f"{kind} {seconds:g}" for kind, seconds in OVERDUE_SECONDS.items()),
    ),
    Setting(
        "message_types",
        ValueForm.ENTRIES,
        "rules for kinds of message, your own kinds included",
        fields=_KIND,
        values="KIND",
    ),
    Setting(
        "priorities",
        ValueForm.VALUES,
        "the order of the priorities (critical: 1), or a kind's priority (review: high)",
        fields=(Setting("priority", ValueForm.TEXT, "a priority or a number"),),
        values="PRIORITY or KIND",
        default="critical, high, medium, low",
    ),
    Setting(
        "routing",
        ValueForm.ENTRIES,
        "handoffs between two members, each checked for its fields when it is sent",
        also=("routes",),
        fields=_ROUTE,
        values="ROUTE",
    ),
    Setting(
        "humans",
        ValueForm.ENTRIES,
        "who of the team is a human, and which SSH keys sign that human's verdicts",
        fields=_HUMAN,
        values="NAME",
        default="the lead and `user`, without keys",
    ),
    Setting(
        "verdicts",
        ValueForm.WORD,
        "`signed`: only a verdict that its human signed decides",
        choices=VERDICTS,
        default="signed once a human has keys, else open",
        closed=True,
    ),
    Setting("team_id", ValueForm.TEXT, "what signed verdicts name the team by", default="made with the first of them"),
    Setting(
        "signed_since",
        ValueForm.MOMENT,
        "verdicts from before then need no signature, if the audit trail has them",
        default="every verdict needs one",
    ),
    Setting("spawn", ValueForm.COMMAND, "runs when a creation request is approved", default="nothing"),
    Setting("key_file", ValueForm.TEXT, "file of the key that signs messages, readable by you alone", default="no key"),
    Setting("queue_dir", ValueForm.TEXT, "folder of the queue, inside the project", default="see `help files`"),
    Setting("queue_file", ValueForm.TEXT, "the queue", default="{queue_dir}/message-queue.yaml"),
    Setting("archive_dir", ValueForm.TEXT, "folder of the archives, inside the project", default="{queue_dir}/archive"),
    Setting("version", ValueForm.TEXT, "kept for people"),
    Setting("description", ValueForm.TEXT, "kept for people"),
)
HOISTED = (*RETENTION, *LIMITS)
"""Settings of a section that may also stand at the top."""


def every_setting() -> Iterator[tuple[str, Setting]]:
    """Yield each setting with its path (`agents[].role`, `message_types.KIND.priority`), as the reference lists
    them.
    """
    for setting in SETTING_TABLE:
        yield setting.key, setting
        between = {ValueForm.MEMBERS: "[]", ValueForm.ENTRIES: f".{setting.values}"}.get(setting.form, "")
        for inner in setting.fields if setting.form is not ValueForm.VALUES else ():
            yield f"{setting.key}{between}.{inner.key}", inner
