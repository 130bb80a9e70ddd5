"""Imports inside functions: each costs a start that does not need it the milliseconds that stand beside it.

Measured as processor time of the import after everything that the module itself imports, Python 3.11 on 2 cores;
`tests/test_architecture.py` holds the list against the code. What costs less than half a millisecond stands at the top
of its module.
"""

from __future__ import annotations

LATE: dict[str, dict[str, tuple[float, str]]] = {
    "console/__main__.py": {
        "console.clients.quick.start": (13.9, "only a hook needs it"),
        "console.cli.main": (15.84, "not every call of the command line gets there"),
    },
    "console/app/application.py": {
        "store.desk.sessions.gone": (5.2, "the first picture does not wait for it"),
        "console.input.palette": (1.33, "the first picture does not wait for it"),
    },
    "console/following/feed.py": {
        "store.views.board": (16.05, "the first picture does not wait for it"),
        "store.views.history": (5.43, "the first picture does not wait for it"),
    },
    "console/preferences/file.py": {
        "console.display.themes": (167.0, "the command line shows preferences without the toolkit; few name a theme"),
        "textual.keys": (109.7, "the command line shows preferences without the toolkit; few name a key"),
        "tomllib": (3.1, "only who has preferences of their own needs it"),
    },
    "console/screens/performer.py": {
        "console.handlers": (7.6, "the first picture does not wait for what keys do"),
    },
    "console/app/background.py": {
        "console.evidence.gathering": (2.4, "the first picture does not wait for it"),
        "store.desk.requests": (7.1, "the first picture does not wait for what keys do"),
    },
    "console/app/leaving.py": {
        "store.desk.agents.spawn": (12.97, "the first picture does not wait for it"),
        "widgets.forms.form": (22.92, "the first picture does not wait for forms that may never open"),
    },
    "console/terminal/driver.py": {
        "curses": (2.02, "the first picture does not wait for it"),
    },
    "console/cli/arguments.py": {
        "console.cli.mistyped": (0.75, "not every call of the command line gets there"),
    },
    "console/cli/bare.py": {
        "console.app.application": (466.75, "not every call of the command line gets there"),
        "console.following.early_reading": (56.82, "not every call of the command line gets there"),
        "console.screens.picker": (390.09, "not every call of the command line gets there"),
        "store.backends.open": (40.83, "not every call of the command line gets there"),
    },
    "console/cli/call.py": {
        "console.cli.unheard_names": (12.4, "not every call of the command line gets there"),
        "store.backends.open": (44.61, "not every call of the command line gets there"),
        "store.desk.caller": (59.62, "not every call of the command line gets there"),
        "store.model.names": (0.54, "not every call of the command line gets there"),
        "store.protocol.verdicts.recognition": (25.04, "not every call of the command line gets there"),
        "store.views.looking": (98.83, "not every call of the command line gets there"),
        "store.views.truth": (62.34, "not every call of the command line gets there"),
    },
    "console/cli/looking.py": {
        "store.views.truth": (58.99, "not every call of the command line gets there"),
    },
    "console/cli/main.py": {
        "console.app.faults": (49.38, "not every call of the command line gets there"),
        "console.cli.arguments": (48.09, "not every call of the command line gets there"),
        "console.cli.bare": (4.06, "not every call of the command line gets there"),
        "console.cli.call": (4.18, "not every call of the command line gets there"),
        "traceback": (5.82, "not every call of the command line gets there"),
    },
    "console/cli/printing/table.py": {
        "rich.cells": (6.38, "not every call of the command line gets there"),
    },
    "console/cli/seen.py": {
        "store.desk.requests": (32.46, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/stdin.py": {
        "store.model.json_text": (3.85, "not every call of the command line gets there"),
    },
    "console/cli/verbs/ack.py": {
        "store.desk.inbox": (31.0, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/answer.py": {
        "store.desk.requests": (32.46, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/approve.py": {
        "store.desk.requests": (37.89, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/ask.py": {
        "store.desk.asking": (16.62, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/check.py": {
        "store.desk.maintenance.repair": (
            2.85,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.views.status_json": (0.76, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/clear.py": {
        "console.cli.verbs.broadcast": (
            49.4,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.desk.maintenance.clearing": (
            63.75,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/config.py": {
        "console.input.actions": (26.0, "help and completions load every verb, and must not load what the verbs do"),
        "console.preferences.file": (6.8, "help and completions load every verb, and must not load what the verbs do"),
        "console.preferences.show": (0.6, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/complete.py": {
        "store.protocol.kinds.registry": (
            40.64,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/completions.py": {
        "console.cli.manual.completion_scripts": (
            34.8,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/deliver.py": {
        "signal": (0.79, "help and completions load every verb, and must not load what the verbs do"),
        "store.desk.delivery.push": (58.9, "help and completions load every verb, and must not load what the verbs do"),
        "store.desk.delivery.router": (
            115.03,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "threading": (2.0, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/demo.py": {
        "console.app.application": (
            398.27,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "console.demo.simulation": (91.91, "help and completions load every verb, and must not load what the verbs do"),
        "store.backends.open": (47.55, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/help.py": {
        "console.cli.manual.schemas": (
            5.58,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "console.cli.manual.settings_reference": (
            9.43,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/decisions.py": {
        "msgspec.structs": (0.4, "help and completions load every verb, and must not load what the verbs do"),
        "store.views.decisions.reading": (
            38.0,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.views.decisions.written": (
            16.5,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.views.history": (16.3, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/history.py": {
        "console.cli.unheard_names": (
            12.4,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.views.history": (16.3, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/init.py": {
        "store.backends.open": (1.06, "help and completions load every verb, and must not load what the verbs do"),
        "store.backends.sql.open_database": (25.41, "only teams in a database pay for it"),
        "store.settings.settings_file": (
            4.59,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/instructions.py": {
        "console.clients.instructions": (
            24.99,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.desk.readers": (1.32, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/join.py": {
        "console.clients.joining.act": (
            32.68,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "console.clients.joining.places": (
            16.63,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/leave.py": {
        "console.clients.joining.act": (
            62.02,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/mcp.py": {
        "console.mcp.server": (1118.42, "help and completions load every verb, and must not load what the verbs do"),
        "mcp.server.mcpserver": (1003.71, "it is there only with the extra [mcp]"),
    },
    "console/cli/verbs/migrate.py": {
        "store.backends.open": (2.43, "help and completions load every verb, and must not load what the verbs do"),
        "store.desk.maintenance.migration": (
            24.11,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/plan.py": {
        "store.desk.requests": (69.58, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/receive.py": {
        "console.cli.unheard_names": (
            12.4,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.desk.inbox": (4.28, "help and completions load every verb, and must not load what the verbs do"),
        "store.desk.waiting": (43.68, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/reject.py": {
        "store.desk.requests": (39.59, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/remedies.py": {
        "store.desk.delivery.remedy": (
            0.5,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.desk.delivery.failures": (
            20.85,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/requests.py": {
        "store.views.status_json": (1.43, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/roster.py": {
        "store.views.status_json": (3.8, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/route.py": {
        "store.desk.delivery.orchestrator": (
            70.97,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/send.py": {
        "store.desk.mail": (22.18, "help and completions load every verb, and must not load what the verbs do"),
        "store.model.json_text": (2.72, "help and completions load every verb, and must not load what the verbs do"),
        "store.protocol.checks.fields": (
            15.17,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.protocol.checks.values": (
            4.14,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.protocol.kinds.templates": (
            0.65,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/sendmessage.py": {
        "store.desk.sendmessage": (66.95, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/shutdown.py": {
        "store.desk.requests": (39.5, "help and completions load every verb, and must not load what the verbs do"),
        "store.protocol.relations.membership": (
            3.71,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.protocol.relations.stops": (
            3.72,
            "help and completions load every verb, and must not load what the verbs do",
        ),
        "store.views.requests.verdicts": (
            73.8,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/verdict.py": {
        "store.views.requests.verdicts": (
            73.83,
            "help and completions load every verb, and must not load what the verbs do",
        ),
    },
    "console/cli/verbs/watch.py": {
        "store.desk.waiting": (60.95, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/verbs/withdraw.py": {
        "store.desk.asking": (30.77, "help and completions load every verb, and must not load what the verbs do"),
    },
    "console/cli/waits.py": {
        "store.desk.waiting": (52.48, "only who waits pays for it"),
        "store.views.requests.verdicts": (73.6, "only who waits pays for it"),
    },
    "console/clients/quick/start.py": {
        "console.clients.hook.events": (181.94, "most events of a client need nothing"),
        "traceback": (5.28, "only a defect needs it"),
    },
    "console/demo/agent_process.py": {
        "store.backends.open": (1.56, "the first picture does not wait for it"),
    },
    "console/demo/member_out_of_reach.py": {
        "store.desk.delivery.push": (39.1, "the first picture does not wait for it"),
    },
    "console/demo/given_past.py": {
        "store.backends.open": (1.51, "the first picture does not wait for it"),
        "store.settings.settings_file": (3.97, "the first picture does not wait for it"),
    },
    "console/handlers/client_requests.py": {
        "widgets.forms.answers": (9.78, "the first picture does not wait for forms that may never open"),
        "widgets.forms.approval": (10.88, "the first picture does not wait for forms that may never open"),
        "widgets.fields.options": (3.44, "the first picture does not wait for forms that may never open"),
    },
    "console/handlers/deciding.py": {
        "widgets.forms.reason": (10.12, "the first picture does not wait for forms that may never open"),
    },
    "console/handlers/delivering.py": {
        "widgets.forms.confirm": (5.55, "the first picture does not wait for forms that may never open"),
    },
    "console/handlers/exporting.py": {
        "widgets.forms.confirm": (5.02, "the first picture does not wait for forms that may never open"),
    },
    "console/handlers/many.py": {
        "widgets.forms.many": (8.1, "the first picture does not wait for forms that may never open"),
    },
    "console/handlers/moving.py": {
        "console.screens.theme_list": (1.9, "the first picture does not wait for lists that may never open"),
        "widgets.forms.help_panel": (1.24, "the first picture does not wait for forms that may never open"),
    },
    "console/handlers/watching.py": {
        "console.screens.conversation": (3.4, "the first picture does not wait for it"),
        "console.screens.stops": (2.1, "the first picture does not wait for it"),
    },
    "console/handlers/writing.py": {
        "widgets.forms.compose": (11.15, "the first picture does not wait for forms that may never open"),
        "widgets.forms.confirm": (3.66, "the first picture does not wait for forms that may never open"),
        "widgets.forms.reason": (7.68, "the first picture does not wait for forms that may never open"),
    },
    "console/panes/filter_line.py": {
        "widgets.fields.field": (1.81, "the first picture does not wait for forms that may never open"),
    },
    "store/api/agent_requests.py": {
        "store.views.requests.following": (10.12, "send, receive and plan start a process each and do not need it"),
        "store.views.requests.verdicts": (44.35, "send, receive and plan start a process each and do not need it"),
    },
    "store/api/__init__.py": {
        "store.desk.waiting": (37.7, "send, receive and plan start a process each and do not need it"),
        "store.views.looking": (8.71, "send, receive and plan start a process each and do not need it"),
        "store.views.status_json": (0.9, "send, receive and plan start a process each and do not need it"),
    },
    "store/backends/open.py": {
        "store.backends.sql.open_database": (31.16, "only teams in a database pay for it"),
        "store.backends.yaml.team": (68.6, "a start that does not need it does not pay for it"),
        "store.settings.settings_file": (16.36, "a start that does not need it does not pay for it"),
    },
    "store/backends/sql/engines/sqlite.py": {
        "store.backends.sql.engines.sqlite_watch": (27.3, "asyncio: only who watches pays for it"),
    },
    "store/backends/sql/open_database.py": {
        "store.backends.sql.engines.postgres": (137.57, "the driver: only teams on a server pay for it"),
        "store.backends.sql.engines.sqlite": (6.97, "the driver: only teams in a file pay for it"),
    },
    "store/backends/yaml/codec/editing/emitter.py": {
        "yaml": (22.99, "only text the quick parser does not understand needs PyYAML"),
    },
    "store/backends/yaml/codec/parsing/patient_parser.py": {
        "yaml": (20.48, "only text the quick parser does not understand needs PyYAML"),
    },
    "store/backends/yaml/codec/queue_text.py": {
        "store.backends.yaml.codec.editing.edits": (1.94, "a start that does not need it does not pay for it"),
    },
    "store/backends/yaml/disk.py": {
        "ctypes": (2.57, "a start that does not need it does not pay for it"),
    },
    "store/backends/yaml/kernel_lock.py": {
        "filelock": (27.79, "a start that does not need it does not pay for it"),
    },
    "store/backends/yaml/reading/addressed.py": {
        "store.backends.yaml.writing.drop": (6.78, "a start that does not need it does not pay for it"),
    },
    "store/backends/yaml/reading/offered.py": {
        "store.backends.yaml.writing.drop": (11.19, "a start that does not need it does not pay for it"),
    },
    "store/backends/yaml/reading/snapshot_reader.py": {
        "store.backends.yaml.codec.glimpse": (4.1, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.foreign_changes": (1.62, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.offered": (0.52, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.recorded_reader": (1.06, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.side_checks": (1.15, "a start that does not need it does not pay for it"),
    },
    "store/backends/yaml/reading/watch.py": {
        "watchfiles": (11.46, "a start that does not need it does not pay for it"),
    },
    "store/backends/yaml/team.py": {
        "store.backends.presence_folder": (0.8, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.archive_pages": (1.09, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.archives": (1.0, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.audit_reader": (0.53, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.integrity": (0.56, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.addressed": (0.95, "a start that does not need it does not pay for it"),
        "store.backends.yaml.reading.snapshot_reader": (9.1, "the console reads in another process first"),
        "store.backends.yaml.reading.watch": (46.6, "a start that does not need it does not pay for it"),
        "store.backends.yaml.writing.retention": (0.71, "a start that does not need it does not pay for it"),
        "store.backends.yaml.writing.settings_writer": (3.9, "a start that does not need it does not pay for it"),
        "store.backends.yaml.writing.turn": (3.94, "a start that does not need it does not pay for it"),
    },
    "store/desk/agents/roster.py": {
        "store.protocol.checks.sprint_text": (219.3, "send, receive and plan start a process each and do not need it"),
    },
    "store/desk/delivery/command_worker.py": {
        "concurrent.futures": (9.82, "send, receive and plan start a process each and do not need it"),
    },
    "store/desk/delivery/failures.py": {
        "store.desk.draft": (4.13, "send, receive and plan start a process each and do not need it"),
        "store.protocol.checks.signing": (0.57, "send, receive and plan start a process each and do not need it"),
    },
    "store/desk/delivery/run_command.py": {
        "subprocess": (5.53, "send, receive and plan start a process each and do not need it"),
    },
    "store/desk/inbox.py": {
        "store.desk.draft": (3.84, "send, receive and plan start a process each and do not need it"),
    },
    "store/desk/maintenance/migration.py": {
        "store.backends.sql.open_database": (13.7, "only teams in a database pay for it"),
        "store.settings.rendering": (2.44, "send, receive and plan start a process each and do not need it"),
    },
    "store/desk/readers.py": {
        "store.protocol.relations.membership": (8.73, "send, receive and plan start a process each and do not need it"),
    },
    "store/model/safe.py": {
        "unicodedata": (0.23, "hardly a text has five marks in a row"),
    },
    "store/model/names.py": {
        "difflib": (2.42, "a start that does not need it does not pay for it"),
    },
    "store/desk/answering/signing.py": {
        "store.protocol.verdicts.ssh_keygen": (21.08, "only a human with a key signs"),
    },
    "store/desk/maintenance/repair.py": {
        "store.protocol.verdicts.ssh_keygen": (21.08, "only who takes a key on record signs"),
    },
    "store/protocol/checks/fields.py": {
        "store.protocol.checks.sprint_text": (224.96, "a start that does not need it does not pay for it"),
    },
    "store/protocol/checks/message_rules.py": {
        "store.protocol.checks.sprint_text": (223.82, "a start that does not need it does not pay for it"),
    },
    "store/protocol/verdicts/verification.py": {
        "store.protocol.verdicts.key_arithmetic": (16.04, "few messages are signed verdicts"),
        "store.protocol.verdicts.ssh_keygen": (21.08, "only where cryptography is not installed"),
    },
    "store/settings/editing.py": {
        "yaml": (26.33, "only text the quick parser does not understand needs PyYAML"),
    },
    "store/settings/ownership.py": {
        "grp": (0.5, "a start that does not need it does not pay for it"),
    },
    "store/settings/parsing.py": {
        "shlex": (0.62, "a start that does not need it does not pay for it"),
        "yaml": (24.95, "only text the quick parser does not understand needs PyYAML"),
    },
    "store/settings/rendering.py": {
        "yaml": (25.67, "only text the quick parser does not understand needs PyYAML"),
    },
    "store/views/differences.py": {
        "difflib": (2.56, "only who looks at a change of a text pays for it"),
    },
    "store/views/history.py": {
        "csv": (0.85, "only what is written as CSV needs it"),
    },
}
"""Module -> what it imports late -> milliseconds, and who would pay for it otherwise."""
