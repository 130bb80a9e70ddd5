"""Protections of what is done without PyYAML, without filelock and without understanding every entry."""

from __future__ import annotations

from tests.proofs.mutants.line import Line

_ROWS = "tests/views/test_followed_roster_rows.py"
_WRITING = "tests/store/test_codec_writing.py"
_KEPT = "tests/store/test_kept_knowledge.py"
_SEARCHED = "tests/store/test_searched_once.py"
_NAMING = "tests/store/test_naming_by_bytes.py"
_WRITTEN = "tests/store/test_addressed_however_written.py"
_DOUBT = "tests/cli/test_receive_in_doubt.py"
_SEARCH = "store/backends/yaml/codec/cutting/address_search.py"

QUICK_LINES = (
    Line(
        "the clock alone makes an agent one that rests",
        "store/views/roster.py",
        "board.now <= known.until and ",
        "",
        (f"{_ROWS}::test_the_clock_alone_makes_an_active_agent_one_that_rests_and_no_sooner",),
    ),
    Line(
        "words that another reader takes otherwise are proven by it",
        "store/backends/yaml/codec/editing/emitter.py",
        "value.lower() not in _ASKED and ",
        "",
        (f"{_WRITING}::test_what_another_loader_would_take_for_something_else_is_refused",),
    ),
    Line(
        "an id behind an escape or a tag is found",
        "store/backends/yaml/session.py",
        'hidden=(b"\\\\", b" !")',
        "hidden=()",
        (f"{_NAMING}::test_a_thread_has_its_messages_however_their_id_is_written",),
    ),
    Line(
        "what a transaction changed is looked at by what it says now",
        "store/backends/yaml/session.py",
        "distinct([*held, *changed])",
        "distinct(held)",
        (f"{_NAMING}::test_what_the_transaction_itself_changed_and_added_is_in_the_thread",),
    ),
    Line(
        "a text of the queue that is not ordinary is written anew for the archive",
        "store/backends/yaml/archives.py",
        "entry = shown if is_ordinary(shown) else emit_again(message)",
        "entry = shown or emit_again(message)",
        (f"{_KEPT}::test_an_archived_text_is_written_anew_where_that_of_the_queue_is_not_ordinary",),
    ),
    Line(
        "a line is proven before it is written into many",
        "store/backends/yaml/codec/editing/patch.py",
        "return line if pair is not None and pair[0] == key and same(pair[1], value) else None",
        "return line",
        (f"{_KEPT}::test_what_does_not_stand_on_an_ordinary_line_is_left_to_the_patient_way",),
    ),
    Line(
        "an id that is there twice has both its places",
        "store/backends/yaml/codec/id_index.py",
        "if len(index) == len(messages) == len(entries):",
        "if len(messages) == len(entries):",
        (f"{_KEPT}::test_after_any_changes_the_same_is_known_as_of_a_fresh_reading",),
    ),
    Line(
        "an alias may stand for an agent's name",
        _SEARCH,
        "if _has_alias(data) or ",
        "if ",
        (f"{_WRITTEN}::test_a_message_is_found_however_its_address_is_written",),
    ),
    Line(
        "a line may end in other ways than with a newline",
        _SEARCH,
        "has_other_breaks(data) or ",
        "",
        (f"{_WRITTEN}::test_a_message_is_found_however_its_address_is_written",),
    ),
    Line(
        "a name may stand behind a mark that no editor shows",
        _SEARCH,
        " or (not data.isascii() and data.find(BOM, len(BOM)) >= 0)",
        "",
        (f"{_WRITTEN}::test_a_message_is_found_however_its_address_is_written",),
    ),
    Line(
        "an escape may be part of a name",
        _SEARCH,
        ", *_escapes(data)",
        "",
        (f"{_WRITTEN}::test_no_spelling_of_an_address_is_left_out",),
    ),
    Line(
        "a tag may hide a name",
        _SEARCH,
        ", *_tags(data)",
        "",
        (f"{_WRITTEN}::test_no_spelling_of_an_address_is_left_out",),
    ),
    Line(
        "a name may have an anchor before it",
        _SEARCH,
        'return b"&" in words[-1] or ',
        "return ",
        (f"{_WRITTEN}::test_a_message_is_found_however_its_address_is_written",),
    ),
    Line(
        "an anchor may begin further ahead than anybody looks",
        _SEARCH,
        ' or (len(words) == 1 and b"\\n" not in before)',
        "",
        (f"{_WRITTEN}::test_a_message_is_found_however_its_address_is_written",),
    ),
    Line(
        "who receives nothing is warned of what nobody can read",
        "store/backends/yaml/addressed.py",
        "is_complete=released.damaged == 0",
        "is_complete=True",
        (f"{_DOUBT}::test_a_damaged_entry_is_warned_of_every_time",),
    ),
    Line(
        "who receives nothing is warned of settings that are lost",
        "console/cli/talk.py",
        "(received.is_complete and _settings_hold(call))",
        "received.is_complete",
        (f"{_DOUBT}::test_settings_that_are_lost_or_not_understood_are_warned_of",),
    ),
    Line(
        "what no longer holds a word is not remembered to",
        "store/backends/yaml/codec/held_words.py",
        "if place not in changed]",
        "]",
        (f"{_SEARCHED}::test_a_word_is_not_searched_for_again_after_messages_came_or_changed",),
    ),
    Line(
        "two messages of one id are not taken for one",
        "store/backends/yaml/codec/known_ids.py",
        "KnownIds(ids) if len(ids) == size + len(new) else None",
        "KnownIds(ids)",
        (_KEPT, "tests/store/test_codec_following.py"),
    ),
    Line(
        "entries are cut out once, whichever thread asks",
        "store/model/chunked.py",
        "        with self._lock:",
        "        if True:",
        ("tests/store/test_chunked.py::test_a_lazy_sequence_is_made_once_when_two_threads_ask",),
    ),
    Line(
        "a form paints what changes in it while something changes behind it",
        "widgets/layered.py",
        "    front._dirty_widgets.add(front)\n",
        "    front._dirty_widgets.add(front)\n    front._repaint_required = True\n",
        ("tests/console/test_repainting.py::test_what_changes_in_a_form_while_something_changes_behind_it_is_painted",),
    ),
    Line(
        "what every write asks stays remembered",
        "store/backends/yaml/codec/held_words.py",
        "dict([*others[1 - _MOST :], (words, places)])",
        "{**(held if len(held) < _MOST else {}), words: places}",
        (f"{_SEARCHED}::test_sends_under_ids_of_the_senders_search_no_bytes",),
    ),
    Line(
        "who asks under an id that is hidden in an escape is found",
        "store/backends/yaml/codec/queue_text.py",
        "held_words.may_hold((*words, *hidden), entry)",
        "held_words.may_hold(words, entry)",
        (f"{_NAMING}::test_who_asks_under_an_id_is_found_however_it_is_written",),
    ),
    Line(
        "a database is asked for ids that an escape hides",
        "store/backends/sql/transaction.py",
        " OR {text} LIKE :escape ESCAPE '!'",
        "",
        ("tests/sql/test_foreign_rows.py::test_who_asks_under_an_id_that_is_hidden_in_an_escape_is_found",),
    ),
    Line(
        "an escape alone becomes a key",
        "console/driver.py",
        "selector.select(parser.undecided_for())",
        "selector.select()",
        ("tests/console/test_typed_input.py",),
    ),
    Line(
        "pictures reach the terminal in order",
        "console/driver.py",
        "if self._fd < 0 or self._handed != self._done:",
        "if self._fd < 0:",
        ("tests/console/test_prompt_output.py",),
    ),
    Line(
        "a size that the terminal has no more is taken by no screen",
        "widgets/layered.py",
        "if event.size != self.app.size:",
        "if False:",
        ("tests/console/test_repainting.py",),
    ),
    Line(
        "leaving does not wait for a screen that never comes at each key before it",
        "console/keys.py",
        "self._waiting = deque(filter(_leaves, self._waiting))",
        "pass",
        ("tests/console/test_key_queue.py",),
    ),
    Line(
        "what is round a line is looked for again when it changed",
        "widgets/scrolled.py",
        "        super().clear()\n        self._known = None\n",
        "        super().clear()\n",
        ("tests/widgets/test_plain_sides.py",),
    ),
    Line(
        "who sits at the console stays so in another team",
        "console/app.py",
        "seat = me or team.config().lead",
        "seat = me if me in team.config().agents else team.config().lead",
        (
            "tests/console/test_on_a_terminal.py::"
            "test_who_sits_at_the_console_stays_so_in_another_team_unless_it_is_the_lead_of_each",
        ),
    ),
)
