"""The table of protections: name of the mark, how it is switched off, tests that must fail then."""

from __future__ import annotations

from collections.abc import Mapping

from tests.proofs.mutants.guards import (
    Guard,
    always,
    giving,
    guard,
    never,
    only_argument,
    removed,
    unfiltered,
    without,
    without_element,
)

_GRANTS = "trust/test_forgeries.py::test_nothing_but_a_free_use_of_a_running_grant_answers_by_it"

GUARDS: Mapping[str, Guard] = {
    "idle-makes-no-view": guard(
        giving(False),
        "console/test_store_reader.py::test_a_team_at_rest_costs_no_view_until_time_alone_changes_something",
    ),
    "painted-before-the-key": guard(
        only_argument(0), "trust/test_nothing_decided_unseen.py::test_lines_painted_after_the_key_are_not_on_record"
    ),
    "granted-words-painted-whole": guard(
        never, "trust/test_nothing_decided_unseen.py::test_no_grant_is_made_of_a_scope_that_was_not_shown_whole"
    ),
    "chosen-words-painted-whole": guard(
        never,
        "trust/test_nothing_decided_unseen.py::test_no_rule_is_allowed_always_that_was_not_shown_whole",
        "trust/test_nothing_decided_unseen.py::test_no_option_is_chosen_whose_end_was_not_shown",
    ),
    "edited-words-painted-whole": guard(
        never,
        "trust/test_nothing_decided_unseen.py::test_an_edited_version_kept_from_earlier_is_approved_once_all_of_it_was_shown",
    ),
    "timer-comes-once": guard(
        removed, "console/test_textual_fixes.py::test_a_timer_that_is_to_come_once_comes_though_it_is_late_at_once"
    ),
    "held-by-its-answer": guard(
        never,
        "console/test_terminals_that_answer_or_not.py::test_of_a_terminal_that_answers_a_frame_is_held_by_its_answer_and_not_before",
    ),
    "typed-before-the-frame-is-read-first": guard(
        never,
        "console/test_terminals_that_answer_or_not.py::test_what_was_typed_before_a_frame_left_is_read_before_the_frame_is_held",
    ),
    "held-without-an-answer": guard(
        removed,
        "console/test_terminals_that_answer_or_not.py::test_of_a_terminal_that_never_answered_a_frame_is_held_once_it_left",
    ),
    "lost-answer-is-not-waited-for": guard(
        never, "console/test_terminals_that_answer_or_not.py::test_an_answer_that_is_lost_is_not_waited_for"
    ),
    "painted-is-on-the-terminal": guard(
        without(1), "trust/test_nothing_decided_unseen.py::test_lines_under_something_are_not_on_record"
    ),
    "held-key-is-one-press": guard(
        never, "trust/test_nothing_decided_unseen.py::test_a_key_that_bounces_does_not_decide_on_what_it_did_not_know"
    ),
    "enter-for-what-was-painted": guard(
        never,
        "trust/test_nothing_decided_unseen.py::test_an_answer_that_is_chosen_counts_once_the_screen_shows_that_it_is",
    ),
    "nothing-typed-ahead": guard(
        without(0), "trust/test_nothing_decided_unseen.py::test_what_is_typed_ahead_decides_nothing_and_is_counted"
    ),
    "no-enter-behind-refused-letters": guard(
        removed, "trust/test_nothing_decided_unseen.py::test_no_enter_decides_behind_words_for_something_else"
    ),
    "held-key-marks-one-message": guard(
        never, "trust/test_nothing_decided_unseen.py::test_held_keys_mark_no_news_and_unseen_rows_stay"
    ),
    "nothing-read-that-was-never-shown": guard(
        unfiltered, "trust/test_nothing_decided_unseen.py::test_held_keys_mark_no_news_and_unseen_rows_stay"
    ),
    "nothing-decided-that-was-never-drawn": guard(
        never, "trust/test_nothing_decided_unseen.py::test_what_lay_whole_under_something_is_not_decided"
    ),
    "several-only-shown-whole": guard(
        never, "trust/test_nothing_decided_unseen.py::test_a_decision_is_written_as_its_human_made_it_or_not_at_all"
    ),
    "decided-by-who-hands-it-in": guard(
        never, "trust/test_nothing_decided_unseen.py::test_a_decision_is_written_as_its_human_made_it_or_not_at_all"
    ),
    "signed-as-it-was-decided": guard(
        never, "trust/test_nothing_decided_unseen.py::test_a_decision_is_written_as_its_human_made_it_or_not_at_all"
    ),
    "times-outside-the-calendar": guard(
        never,
        "cli/test_dates_at_the_end_of_the_calendar.py::test_a_line_of_history_has_the_year_that_was_written_or_none",
    ),
    "rules-of-the-user-stay": guard(
        unfiltered,
        "hook/test_leave_gives_back_the_same_bytes.py::test_without_a_receipt_only_whole_lists_of_version_0_5_are_taken_out[all-but-one-leave]",
    ),
    "shell-large-text-cut": guard(
        never, "hook/test_shell_spellings.py::test_a_text_that_is_made_to_be_slow_is_read_within_bounds[a pipeline]"
    ),
    "shell-work-bounded": guard(never, "hook/test_shell_spellings.py::test_a_text_that_runs_itself_comes_to_an_end"),
    "file-system-is-no-defect": guard(
        always, "cli/test_failing_file_system.py::test_whichever_look_fails_it_is_said_and_the_next_call_works"
    ),
    "late-agreement-counts": guard(
        never, "views/test_stopping_and_conversation.py::test_who_agrees_after_its_wait_is_counted_like_any_other"
    ),
    "delivered-counted": guard(
        giving(None),
        "sql/test_what_is_over_costs_nothing.py::test_what_was_delivered_and_not_acknowledged_is_counted_to_the_last",
    ),
    "empty-look-reads-nothing": guard(
        without(1), "sql/test_what_is_over_costs_nothing.py::test_what_is_over_costs_nothing"
    ),
    "stand-in-understood": guard(
        never, "sql/test_tables_of_others.py::test_a_delivery_that_fails_spends_its_tries_in_every_form"
    ),
    "stand-in-status": guard(
        always, "sql/test_tables_of_others.py::test_a_delivery_that_fails_spends_its_tries_in_every_form"
    ),
    "refused-row-told": guard(
        never, "sql/test_tables_of_others.py::test_what_can_be_delivered_is_and_one_reply_says_the_rest"
    ),
    "swallowed-write-noticed": guard(
        never, "sql/test_tables_of_others.py::test_what_can_be_delivered_is_and_one_reply_says_the_rest"
    ),
    "infrastructure-is-no-row": guard(
        never, "sql/test_tables_of_others.py::test_an_error_of_the_database_spends_no_try_and_blames_no_row"
    ),
    "referred-row-stays": guard(
        removed, "sql/test_tables_of_others.py::test_what_is_old_leaves_but_for_the_rows_that_must_stay"
    ),
    "refused-row-stays": guard(
        unfiltered, "sql/test_tables_of_others.py::test_mail_is_taken_held_and_given_back_in_every_form"
    ),
    "swallowed-message-not-sent": guard(
        never, "sql/test_tables_of_others.py::test_what_the_table_takes_away_again_is_not_told_as_sent"
    ),
    "swallowed-push-not-delivered": guard(
        never, "sql/test_tables_of_others.py::test_what_an_inbox_takes_away_again_goes_into_the_file"
    ),
    "no-text-cut-by-a-cast": guard(never, "sql/test_tables_of_others.py::test_no_column_of_a_message_is_cut"),
    "no-encoding-is-read-leniently": guard(
        never, "sql/test_tables_of_others.py::test_a_row_that_is_not_utf8_stops_no_other"
    ),
    "hidden-rows-not-empty": guard(
        giving(()), "sql/test_rights.py::test_rows_that_are_hidden_from_a_role_are_no_empty_inbox"
    ),
    "doubt-told-by-mcp": guard(never, "sql/test_rights.py::test_an_agent_is_told_by_mcp_that_rows_may_be_hidden"),
    "put-off-message-told": guard(
        removed, "sql/test_tables_of_others.py::test_mail_is_taken_held_and_given_back_in_every_form"
    ),
    "done-beside-error": guard(always, "sql/test_tables_of_others.py::test_an_error_says_what_was_done_before_it"),
    "compaction-is-optional": guard(
        giving(()),
        "sql/test_tables_of_others.py::test_a_read_row_that_something_refers_to_keeps_nobody_from_reading",
    ),
    "texts-stay-texts": guard(
        only_argument(1),
        "store/test_entries_of_strangers.py::test_entries_are_told_apart_in_any_frame_beside_any_damage_and_any_text",
    ),
    "deeper-dash-begins-an-entry": guard(
        never, "store/test_entries_of_strangers.py::test_an_entry_below_the_keys_begins_where_the_one_before_ends"
    ),
    "slipped-line-stays-in-its-entry": guard(
        giving(False),
        "store/test_entries_of_strangers.py::test_a_line_that_slipped_to_the_left_is_not_left_out_of_its_message",
    ),
    "entries-of-a-cut-file-kept": guard(
        giving(False), "store/test_claude_team.py::test_a_file_that_is_cut_keeps_what_it_said_of_the_others"
    ),
    "missing-locks-told": guard(never, "cli/test_without_locks.py::test_a_team_without_locks_is_not_called_healthy"),
    "lock-beside-link-first": guard(
        removed, "store/test_yaml_lock.py::test_a_queue_that_is_a_link_is_locked_beside_the_link_and_beside_its_target"
    ),
    "long-archive-read-in-stretches": guard(
        never, "cli/test_foreign_archives.py::test_a_long_archive_is_taken_over_in_little_memory_and_listed_whole"
    ),
    "shell-words-in-places-refused": guard(
        giving(False), "settings/test_reading.py::test_a_path_that_only_a_shell_understands_is_refused"
    ),
    "links-out-not-listed": guard(
        never, "store/test_hostile_files.py::test_a_link_that_is_not_followed_is_not_looked_through"
    ),
    "words-of-others-decide-nothing": guard(
        always, "store/test_claude_team.py::test_what_is_said_there_opens_and_decides_nothing_here"
    ),
    "title-of-tool-and-input": guard(
        never, "cli/test_titles_of_permissions.py::test_a_title_is_never_in_the_words_of_the_asker[status]"
    ),
    "simple-command": guard(never, "views/test_alike.py::test_everything_else_is_alike_only_where_it_is_equal"),
    "options-are-equal": guard(never, "views/test_alike.py::test_everything_else_is_alike_only_where_it_is_equal"),
    "same-folder": guard(
        without_element(3),
        "views/test_alike.py::test_decided_on_the_same_before_means_equal_input_in_an_equal_folder",
    ),
    "what-is-gone-is-not-counted": guard(
        giving(False),
        "console/test_alike_is_drawn_whole.py"
        "::test_a_row_that_was_withdrawn_or_answered_while_it_is_read_is_counted_nowhere",
    ),
    "rules-told-whole": guard(
        without(1), "views/test_suggestions.py::test_a_suggestion_is_told_in_the_words_of_its_client"
    ),
    "preview-of-the-option-under-the-cursor": guard(
        giving(""),
        "console/test_questions_are_drawn_whole.py"
        "::test_the_preview_of_the_option_under_the_cursor_stands_whole_in_the_reader",
    ),
    "odd-blanks-seen": guard(
        only_argument(1),
        "console/test_alike_is_drawn_whole.py::test_a_blank_that_is_no_space_is_seen_in_row_page_and_form",
    ),
    "previews-shown": guard(
        never, "console/test_questions_are_drawn_whole.py::test_previews_stand_below_their_options_and_are_counted"
    ),
    "only-offered-rules-go-back": guard(
        without(1),
        "hook/test_clients_language.py::test_a_rule_and_a_mode_that_the_client_did_not_offer_do_not_go_back",
    ),
    "only-shown-input-goes-back": guard(
        without_element(0),
        "hook/test_clients_language.py::test_the_further_input_of_a_plan_goes_back_as_it_was_put_on_record",
    ),
    "letters-of-a-remark": guard(
        always, "console/test_understanding.py::test_letters_of_a_remark_that_is_typed_too_early_decide_nothing"
    ),
    "own-command-quoted": guard(
        only_argument(0), "console/test_own_commands.py::test_what_an_agent_writes_is_never_more_than_words"
    ),
    "own-command-placeholder-whole": guard(
        never,
        "console/test_own_commands.py::test_a_mistake_in_a_command_is_named_and_the_command_is_left_out",
    ),
    "own-command-no-option": guard(
        never, "console/test_own_commands.py::test_what_looks_like_an_option_is_not_handed_over"
    ),
    "grant-only-in-its-scope": guard(
        giving(True), "service/test_grants.py::test_nothing_outside_the_scope_is_answered"
    ),
    "grant-on-record": guard(never, f"{_GRANTS}[yaml-a grant that nobody made]"),
    "grant-answer-exact": guard(
        never, *(f"{_GRANTS}[yaml-{name}]" for name in ("another command", "another input in its place", "for good"))
    ),
    "grant-use-free": guard(never, *(f"{_GRANTS}[yaml-{name}]" for name in ("INSERT", "a use that was made before"))),
    "grant-before-recall": guard(never, f"{_GRANTS}[yaml-recalled]"),
    "grant-before-end": guard(never, "trust/test_forgeries.py::test_a_clock_that_goes_back_brings_no_grant_back"),
    "grant-after-question": guard(never, f"{_GRANTS}[yaml-before it was asked]"),
    "grant-signed": guard(giving(""), f"{_GRANTS}[yaml-a grant that nobody signed]"),
    "envelope-of-a-user": guard(
        giving(True),
        "sql/test_beside_0_5_0.py::test_a_key_envelope_of_a_user_survives_and_is_part_of_the_digest[sqlite-value0]",
    ),
    "broken-settings-stay-off-the-record": guard(
        never, "trust/test_half_typed_settings.py::test_the_last_settings_that_parse_count_whole_meanwhile"
    ),
    "mended-settings-are-no-loss": guard(
        never, "trust/test_half_typed_settings.py::test_what_an_older_version_put_on_record_is_not_put_back"
    ),
    "only-what-parses-is-put-back": guard(
        always, "trust/test_half_typed_settings.py::test_what_an_older_version_put_on_record_is_not_put_back"
    ),
    "verdict-by-key-on-record": guard(
        never,
        "trust/test_keys_on_record.py::test_what_such_a_key_signed_decides_nothing_until_it_is_on_record",
    ),
    "signed-by-key-on-record": guard(
        never, "trust/test_keys_on_record.py::test_a_key_slipped_into_the_settings_signs_nothing"
    ),
    "request-about-one-life": guard(always, "service/test_lives_of_agents.py::test_an_old_request_ends_no_new_agent"),
    "end-of-the-ended-told": guard(never, "service/test_lives_of_agents.py::test_an_old_request_ends_no_new_agent"),
    "foreign-only-who-never-wrote-by-us": guard(
        giving(True), "trust/test_open_verdicts.py::test_a_verdict_that_no_desk_wrote_is_handed_on_with_a_warning"
    ),
    "one-master-decides": guard(
        never, "service/test_lives_of_agents.py::test_what_only_the_lead_decides_is_asked_of_no_other_master"
    ),
    "nothing-older-once-signing-is-asked": guard(
        never, "trust/test_forged_around.py::test_an_old_plan_is_not_approved_by_a_line_once_keys_are_in_force"
    ),
    "authority-as-it-was-known": guard(
        never, "trust/test_known_authority.py::test_after_a_lost_trail_nothing_is_decided_under_another_authority"
    ),
    "authority-confirmed-by-known-key": guard(never, "trust/test_known_authority.py::test_no_other_key_confirms_it"),
    "json-keys-once": guard(
        never,
        "trust/test_keys_named_once.py::test_a_key_that_stands_twice_is_refused_with_the_key[sendmessage]",
        "trust/test_keys_named_once.py::test_a_row_whose_answer_says_no_and_yes_decides_nothing",
    ),
    "grant-contradicts-no-rejection": guard(
        never, "service/test_grants.py::test_it_never_starts_against_a_rejection_or_without_an_end"
    ),
    "grant-written-by-us": guard(
        never,
        "service/test_grants.py::test_a_forged_grant_is_listed_as_none_and_named_by_check[False-UNVERIFIED_VERDICT]",
    ),
    "grant-as-recorded": guard(never, "service/test_grants.py::test_a_grant_that_another_program_wrote_gives_nothing"),
    "forged-grant-named": guard(
        never, "service/test_grants.py::test_a_forged_grant_is_listed_as_none_and_named_by_check[True-FORGED_VERDICT]"
    ),
    "grant-begins-before-its-end": guard(
        never, "service/test_grants.py::test_none_begins_that_is_over_because_a_clock_was_ahead"
    ),
    "lasting-rule-named": guard(
        never,
        "service/test_grants.py::test_it_names_the_lasting_rule_that_was_allowed_with_the_same_request[yaml]",
    ),
    "form-says-what-it-is-about-now": guard(
        removed, "console/test_seen_means_seen.py::test_a_form_says_of_a_changed_request_what_it_asks_now[a]"
    ),
    "tool-hides-no-input": guard(
        only_argument(0), "views/test_alike.py::test_the_name_of_a_tool_does_not_hide_its_input"
    ),
    "question-back-decides-nothing": guard(
        removed, "service/test_asked_back.py::test_any_request_can_be_asked_about_and_nothing_of_it_answers"
    ),
    "remark-never-moved-silently": guard(
        unfiltered, "service/test_asked_back.py::test_a_remark_whose_line_is_gone_says_so_and_is_never_moved_silently"
    ),
    "transcript-secrets-masked": guard(
        removed, "hook/test_transcript.py::test_an_extract_is_small_safe_and_without_secrets"
    ),
    "words-with-a-yes-come-as-mail": guard(
        always, "hook/test_console.py::test_words_with_a_yes_reach_the_model_after_the_call"
    ),
    "page-closed-is-no-defect": guard(
        never, "cli/test_serve.py::test_a_console_that_is_told_to_end_while_it_starts_leaves_no_word"
    ),
    "page-gone-is-no-defect": guard(
        always, "cli/test_serve.py::test_a_console_whose_page_is_gone_while_it_starts_leaves_no_word"
    ),
    "served-odd-frame-closes": guard(
        removed, "cli/test_serve.py::test_a_page_that_sends_odd_frames_is_closed_and_leaves_no_word"
    ),
    "served-behind-a-token": guard(never, "cli/test_serve.py::test_every_address_without_the_token_is_forbidden"),
    "only-plain-files-of-others": guard(
        never, "store/test_claude_team.py::test_what_is_no_plain_file_is_named_and_not_read"
    ),
    "hook-start-of-its-own": guard(never, "hook/test_waiting.py::test_no_input_and_no_option_makes_a_no"),
    "allowed-once": guard(without(1), "hook/test_mail.py::test_what_the_client_denied_may_be_allowed_once"),
    "answered-in-session": guard(never, "hook/test_waiting.py::test_what_was_answered_in_the_terminal_ends_here"),
    "asker-ends-with-client": guard(removed, "hook/test_waiting.py::test_the_client_is_killed"),
    "dialog-answered-in-terminal": guard(
        giving(False), "hook/test_dialogs.py::test_a_dialog_that_was_open_and_is_not_any_more_was_answered"
    ),
    "ends-with-last-console": guard(without(0), "hook/test_waiting.py::test_the_last_console_that_closes_lets_go"),
    "hint-of-another-allows-nothing": guard(
        without(1), "hook/test_mail.py::test_a_hint_that_somebody_else_left_allows_nothing"
    ),
    "moment-between-dialogs": guard(giving(1), "hook/test_dialogs.py::test_a_moment_between_two_dialogs_is_no_answer"),
    "offer-ends": guard(
        without(1), "hook/test_mail.py::test_a_hint_that_comes_back_is_worth_nothing_once_the_offer_is_over"
    ),
    "request-without-a-file": guard(never, "hook/test_waiting.py::test_a_lost_file_loses_no_request"),
    "server-away-is-no-absence": guard(
        always, "sql/test_outages.py::test_a_hook_does_not_take_a_server_that_is_away_for_a_human_who_left"
    ),
    "session-ended": guard(always, "hook/test_waiting.py::test_the_client_is_killed"),
    "clients-need-a-yes-or-no": guard(
        never, "hook/test_clients_language.py::test_what_is_no_clear_yes_or_no_decides_nothing"
    ),
    "client-settings-links": guard(never, "hook/test_joining.py::test_modes_are_kept_and_links_lead_nowhere_else"),
    "file-of-somebody-else-stays": guard(
        never,
        "hook/test_leave_gives_back_the_same_bytes.py::test_a_file_of_somebody_else_in_the_place_of_ours_stays",
    ),
    "unhooking-seen": guard(always, "hook/test_join_all.py::test_unhooking_is_refused_and_told[emptied]"),
    "no-mail-said-twice": guard(
        unfiltered, "hook/test_mail.py::test_mail_that_a_process_is_about_to_say_is_not_said_by_another"
    ),
    "read-only-what-was-said": guard(
        without(1), "hook/test_mail.py::test_what_a_killed_hook_took_and_never_said_comes_again"
    ),
    "wake-only-resting-session": guard(
        never,
        "hook/test_waking.py::test_a_session_at_work_is_not_woken_and_one_that_ended_not_waited_for",
    ),
    "waker-ends-with-session": guard(
        never,
        "hook/test_waking.py::test_a_session_at_work_is_not_woken_and_one_that_ended_not_waited_for",
    ),
    "one-waker-a-session": guard(never, "hook/test_waking.py::test_one_process_waits_beside_a_session"),
    "new-turn-is-no-rest": guard(giving(True), "hook/test_waking.py::test_a_turn_that_has_just_begun_is_no_rest"),
    "unreaped-is-gone": guard(
        giving(True), "hook/test_waking.py::test_a_process_that_ended_and_was_not_reaped_is_gone"
    ),
    "note-brings-nobody": guard(unfiltered, "hook/test_roster.py::test_a_note_of_a_session_brings_nobody_along"),
    "no-mail-for-closed-output": guard(
        giving(True), "hook/test_waking.py::test_an_output_that_nobody_reads_any_more_is_known"
    ),
    "teammate-is-no-member": guard(without_element(0), "hook/test_roster.py::test_a_teammate_never_acts_as_a_member"),
    "nothing-asked-of-nobody": guard(never, "hook/test_ask_for.py::test_nobody_at_a_console_is_asked_nothing"),
    "no-by-a-dialog-nobody-sees": guard(
        always, "hook/test_ask_for.py::test_a_run_without_a_terminal_waits_and_is_never_told_to_ask"
    ),
    "changed-store-is-opened": guard(never, "hook/test_quick.py::test_mail_that_waits_is_told_by_every_turn"),
    "unsettled-marks-not-trusted": guard(
        without(0), "hook/test_quick.py::test_a_change_that_a_file_cannot_show_yet_is_looked_for"
    ),
    "waits-beside-a-dialog": guard(
        never, "hook/test_waiting.py::test_a_request_beside_a_dialog_waits_for_a_console_that_opens_again"
    ),
    "quiet-without-what-is-allowed": guard(
        without(1), "hook/test_hooks_are_spared.py::test_a_call_that_is_allowed_once_passes_without_a_console"
    ),
    "held-asked-once": guard(never, "hook/test_ask_for.py::test_a_call_that_is_held_is_asked_for_once"),
    "event-of-other-thread": guard(removed, "hook/test_waiting.py::test_what_shows_nothing_ends_nothing"),
    "hook-exits-zero": guard(giving(2), "hook/test_waiting.py::test_a_harmed_team_says_nothing"),
    "drafts-kept-at-crash": guard(removed, "trust/test_leaving.py::test_words_are_kept_at_once_when_something_fails"),
    "seat-in-another-team": guard(
        without(0),
        "console/test_on_a_terminal.py::test_who_sits_at_the_console_stays_so_in_another_team_unless_it_is_the_lead_of_each",
    ),
    "agent-acts-as-no-human": guard(never, "cli/test_acting_as.py::test_an_agent_does_not_rise_to_a_human"),
    "answered-what-show-printed": guard(
        removed, "cli/test_seen_word.py::test_a_request_that_is_not_what_was_shown_is_not_answered"
    ),
    "decider-is-named": guard(never, "cli/test_acting_as.py::test_off_a_terminal_whoever_decides_is_named"),
    "json-escapes": guard(
        only_argument(1), "trust/test_hostile_verbs.py::test_json_on_a_terminal_is_safe_and_loses_nothing"
    ),
    "carried-fields-shown": guard(
        removed, "trust/test_shown_whole.py::test_a_field_beside_the_json_is_not_shown_in_place_of_what_decides"
    ),
    "word-of-what-was-shown": guard(
        without(1), "trust/test_shown_whole.py::test_of_a_request_that_cannot_be_shown_whole_no_word_is_printed"
    ),
    "first-line-shown": guard(
        without(1), "trust/test_shown_whole.py::test_a_first_line_that_its_title_cuts_is_shown_whole"
    ),
    "settings-warning-on-receive": guard(
        without(1), "cli/test_receive_in_doubt.py::test_settings_that_are_lost_or_not_understood_are_warned_of"
    ),
    "keys-before-leaving": guard(removed, "console/test_key_queue.py"),
    "drafts-kept-at-signal": guard(removed, "trust/test_leaving.py::test_a_signal_ends_it_in_order"),
    "ends-with-terminal": guard(
        removed, "trust/test_leaving.py::test_a_console_that_hangs_ends_when_its_terminal_is_gone"
    ),
    "signal-restores-terminal": guard(removed, "trust/test_leaving.py::test_a_signal_ends_it_in_order"),
    "mcp-odd-answer-comes-through": guard(
        unfiltered, "mcp/test_tools.py::test_an_answer_with_fields_of_another_form_comes_through_without_them"
    ),
    "mcp-wait-limit": guard(giving(90.0), "mcp/test_tools.py::test_every_wait_ends_before_clients_give_up"),
    "mcp-answers-before-it-ends": guard(
        removed, "mcp/test_start.py::test_what_is_piped_in_is_answered_before_the_server_ends"
    ),
    "mcp-half-character-answered": guard(never, "mcp/test_start.py::test_a_line_that_cannot_be_handed_on_is_answered"),
    "no-plan-answers-by-mcp": guard(
        never, "mcp/test_tools.py::test_an_answer_cannot_be_sent_as_a_message_not_even_by_the_lead"
    ),
    "evidence-in-inboxes": guard(
        never, "console/test_what_was_shown.py::test_an_approval_in_inboxes_shows_and_keeps_the_evidence"
    ),
    "passwords-covered": guard(always, "sql/test_passwords.py::test_no_verb_shows_a_password"),
    "lock-ends-with-process": guard(
        giving(True), "store/test_presence.py::test_presence_ends_with_its_process_however_that_ends"
    ),
    "presence-heartbeat": guard(removed, "sql/test_hooks.py::test_a_process_is_present_as_long_as_it_beats"),
    "read-only-connection-closed": guard(
        removed, "sql/test_outages.py::test_a_server_that_takes_no_writes_for_a_while_is_waited_for"
    ),
    "stale-presence-row": guard(
        unfiltered, "sql/test_hooks.py::test_an_asker_that_was_cut_off_for_a_while_is_not_gone"
    ),
    "connection-per-process": guard(removed, "sql/test_connections.py::test_a_team_works_on_both_sides_of_a_fork"),
    "dead-connection-replaced": guard(
        always, "sql/test_connections.py::test_connections_to_a_server_that_was_started_again_are_replaced"
    ),
    "row-words-compared": guard(
        never, "trust/test_orders_nobody_may_give.py::test_what_was_changed_after_it_was_recorded_is_marked_and_named"
    ),
    "row-words-kept": guard(
        never, "trust/test_orders_nobody_may_give.py::test_what_was_changed_after_it_was_recorded_is_marked_and_named"
    ),
    "lost-log-refused": guard(
        giving(""),
        "sql/test_outages.py::test_files_taken_away_while_they_are_used_are_said_and_nothing_is_written_over",
    ),
    "lost-log-not-of-others": guard(
        never, "sql/test_outages.py::test_files_taken_away_while_they_are_used_are_said_and_nothing_is_written_over"
    ),
    "done-commit-not-failed": guard(
        giving(False), "sql/test_outages.py::test_a_send_whose_commit_nobody_answered_says_what_the_server_has[after]"
    ),
    "id-as-stored": guard(
        unfiltered, "sql/test_hostile_ids.py::test_one_that_is_stored_as_another_is_not_taken_for_it"
    ),
    "missing-commit-not-done": guard(
        giving(True), "sql/test_outages.py::test_a_send_whose_commit_nobody_answered_says_what_the_server_has[before]"
    ),
    "pending-commit-awaited": guard(
        removed, "sql/test_outages.py::test_a_commit_that_the_server_is_still_at_is_waited_for"
    ),
    "lost-trail-on-record": guard(
        without_element(1),
        "trust/test_forged_around.py::test_settings_that_came_with_the_loss_of_the_trail_are_told_for_good",
    ),
    "settings-put-back": guard(removed, "settings/test_members.py::test_a_failed_commit_puts_the_settings_back"),
    "drop-takes-no-verdicts": guard(never, "trust/test_open_verdicts.py::test_drop_takes_no_verdicts"),
    "superseding-message-put-back": guard(
        without(1),
        "trust/test_history_decides.py::test_a_plan_stays_superseded_when_another_program_drops_the_later_one",
    ),
    "lock-taken-over-meanwhile": guard(
        never,
        "store/test_yaml_lock.py::test_who_takes_over_from_one_that_died_while_it_is_looked_at_is_not_said_to_have_died",
    ),
    "foreign-write-before-verdict": guard(
        removed, "proofs/test_proofs.py::test_the_short_form_of_a_proof_finds_nothing_wrong[races-20-1-yaml]"
    ),
    "lost-trail-kept-without-write": guard(
        without(2), "trust/test_forged_around.py::test_settings_that_came_with_the_loss_of_the_trail_are_told_for_good"
    ),
    "settings-in-audit-line": guard(
        removed, "settings/test_lost_members.py::test_removed_members_are_no_lost_settings"
    ),
    "settings-from-trusted-audit-only": guard(
        only_argument(0),
        "settings/test_lost_members.py::test_commands_out_of_a_ledger_that_others_can_write_are_not_run",
    ),
    "lock-given-back-meanwhile": guard(
        never, "store/test_yaml_lock.py::test_who_gives_the_lock_back_while_it_is_looked_at_is_not_said_to_have_died"
    ),
    "unreadable-not-empty": guard(
        giving(True), "trust/test_honest_verbs.py::test_a_harmed_queue_is_never_shown_as_empty"
    ),
    "names-stay-in-their-folder": guard(removed, "trust/test_names_stay_home.py"),
    "control-characters": guard(
        only_argument(1),
        "trust/test_hostile_verbs.py::test_what_a_verb_prints_for_people_is_only_text",
        "trust/test_hostile_console.py",
    ),
    "answer-of-its-own-kind": guard(
        without(0), "views/test_client_requests.py::test_a_message_of_another_kind_never_allows_anything"
    ),
    "expired-request-closed": guard(
        never, "service/test_client_requests.py::test_a_request_that_expired_is_withdrawn_by_the_clock_alone"
    ),
    "forged-verdict": guard(
        giving(""),
        "trust/test_forged_in_faces.py::test_a_hook_waits_on_for_the_human",
        "trust/test_forged_in_faces.py::test_a_wait_on_the_command_line_ends_with_nothing",
        "trust/test_forged_in_faces.py::test_an_mcp_server_says_that_it_waits",
    ),
    "verdict-in-time": guard(
        always, "views/test_client_requests.py::test_a_verdict_after_the_end_decides_nothing_and_one_in_time_does"
    ),
    "withdrawal-that-left-the-queue": guard(
        without_element(1),
        "views/test_client_requests.py::test_a_withdrawal_that_left_the_queue_between_two_looks_still_ends_the_request",
    ),
    "withdrawn-not-open": guard(never, "hook/test_waiting.py::test_the_dialog_is_dismissed"),
    "confirming-key-on-record": guard(
        never, "trust/test_forged_around.py::test_a_key_put_there_for_it_confirms_no_settings"
    ),
    "unvouched-key-told": guard(
        removed,
        "trust/test_keys_on_record.py::test_a_key_taken_on_record_in_place_of_a_lost_one_stays_among_the_findings",
    ),
    "unvouched-key-vouches-for-none": guard(
        without(1), "trust/test_keys_on_record.py::test_a_key_without_a_voucher_vouches_for_no_other"
    ),
    "only-members-bring-teammates": guard(
        removed, "hook/test_roster.py::test_nobody_but_a_member_brings_anybody_along"
    ),
    "lost-settings-give-no-authority": guard(
        never, "sql/test_settings_lost.py::test_nothing_that_needs_authority_is_written_until_they_are_healed"
    ),
    "lasting-notes-kept": guard(
        removed, "hook/test_roster.py::test_notes_wait_in_no_inbox_and_stay_as_long_as_they_count"
    ),
    "evidence-in-digest": guard(
        without_element(2), "service/test_seen.py::test_everything_shown_is_in_the_digest_and_little_of_it_is_kept"
    ),
    "hardware-key-touched": guard(
        without(1), "trust/test_hardware_keys.py::test_a_key_that_nobody_touched_signs_nothing"
    ),
    "hardware-key-touched-without-library": guard(
        never, "trust/test_hardware_keys.py::test_without_the_library_an_untouched_key_signs_nothing_either"
    ),
    "signature-by-human-key": guard(
        never, "trust/test_forgeries.py::test_no_forgery_decides_and_the_human_still_does[yaml-another key-plan]"
    ),
    "line-without-signature": guard(
        never, "trust/test_forgeries.py::test_no_forgery_decides_and_the_human_still_does[yaml-trail edit-plan]"
    ),
    "signature-for-one-purpose": guard(
        never,
        "trust/test_forgeries.py::test_no_forgery_decides_and_the_human_still_does[yaml-another purpose-escalation]",
    ),
    "signature-for-one-request": guard(
        never, "trust/test_forgeries.py::test_no_forgery_decides_and_the_human_still_does[yaml-no request-plan]"
    ),
    "signature-known-by-all-bytes": guard(
        without_element(0),
        "trust/test_verified_once.py::test_each_verdict_is_verified_once_and_again_only_when_a_byte_of_it_is_another",
    ),
    "signature-verified-once": guard(
        removed,
        "trust/test_verified_once.py::test_each_verdict_is_verified_once_and_again_only_when_a_byte_of_it_is_another",
    ),
    "verdict-signed": guard(
        always, "trust/test_forgeries.py::test_no_forgery_decides_and_the_human_still_does[yaml-YAML edit-escalation]"
    ),
    "unchecked-after-outage": guard(
        removed,
        "sql/test_outages.py::test_messages_reach_their_reader_although_the_server_goes_right_after_they_were_taken",
    ),
    "unchecked-verdict-marked": guard(
        giving(None),
        "sql/test_outages.py::test_messages_reach_their_reader_although_the_server_goes_right_after_they_were_taken",
    ),
    "most-urgent-first": guard(only_argument(0), "sql/test_limit.py::test_the_most_urgent_is_handed_out_first"),
    "taken-by-another": guard(
        giving(True), "sql/test_outages.py::test_a_wait_finds_out_what_it_took_once_the_server_is_back[before]"
    ),
    "unknown-commit-resolved": guard(
        always, "sql/test_outages.py::test_a_wait_finds_out_what_it_took_once_the_server_is_back[after]"
    ),
    "key-added-by-human-or-lead": guard(
        never, "trust/test_keys_on_record.py::test_an_agent_takes_no_key_of_a_human_on_record"
    ),
    "key-added-by-known-key": guard(
        unfiltered,
        "trust/test_keys_on_record.py::test_a_key_that_is_not_known_takes_none_on_record_while_a_known_one_is_there",
    ),
    "settings-confirmed-by-key": guard(
        never,
        "trust/test_forged_around.py::test_settings_in_which_another_leads_are_confirmed_with_the_key_of_the_human_and_not_without[yaml]",
    ),
    "members-under-settings-in-force": guard(
        removed, "settings/test_lost_members.py::test_nobody_changes_members_while_the_settings_are_lost"
    ),
    "former-version-shown": guard(never, "service/test_seen.py::test_another_former_version_beside_it_is_refused"),
    "seen-question": guard(
        never, "service/test_requests.py::test_an_answer_to_a_question_that_changed_since_it_was_seen_is_refused"
    ),
    "withdrawn-request-refused": guard(
        removed, "service/test_client_requests.py::test_what_the_asker_withdraws_waits_nowhere_and_is_never_approved"
    ),
    "trusted-commands-only": guard(
        never, "settings/test_trust.py::test_settings_that_everybody_can_write_run_no_command"
    ),
    "mail-once-each": guard(
        unfiltered, "hook/test_mail.py::test_mail_of_an_earlier_session_is_not_said_again_beside_what_is_new"
    ),
    "requests-of-killed-hooks": guard(
        giving({}),
        "hook/test_waiting.py::test_a_killed_hook_is_found_out_by_any_other_session",
        "hook/test_waiting.py::test_nobody_approves_what_nobody_would_carry_out",
    ),
    "session-mail-after-unknown-commit": guard(
        always,
        "sql/test_outages.py::test_mail_of_a_session_whose_commit_nobody_answered_is_said_rather_twice_than_never",
    ),
    "changed-while-signed": guard(
        never, "trust/test_signed_verdicts.py::test_a_request_that_is_rewritten_while_its_verdict_is_signed_gets_none"
    ),
    "signing-key-is-the-humans": guard(
        removed, "trust/test_signed_verdicts.py::test_a_key_that_is_not_among_the_humans_keys_writes_no_verdict"
    ),
    "asked-only-where-somebody-is": guard(
        giving(True), "hook/test_waiting.py::test_where_nobody_is_nothing_is_asked_and_nothing_written"
    ),
    "outage-said-once": guard(
        removed,
        "service/test_outages.py::test_a_team_that_is_away_for_more_than_a_moment_is_said_once_and_so_is_its_return",
    ),
    "uncertain-take-kept": guard(
        removed, "sql/test_outages.py::test_a_wait_finds_out_what_it_took_once_the_server_is_back[after]"
    ),
    "wait-outlasts-outage": guard(
        without(1), "service/test_outages.py::test_a_wait_goes_on_for_as_long_as_its_team_is_away_and_then_says_why"
    ),
    "signature-names-settings": guard(
        never, "trust/test_forged_around.py::test_a_signature_confirms_the_settings_that_were_looked_at"
    ),
    "places-inside-project": guard(
        never, "settings/test_office_settings.py::test_a_place_out_of_the_project_is_a_finding_and_not_used"
    ),
    "private-key-files": guard(
        never, "settings/test_trust.py::test_a_key_that_others_can_use_is_an_error_and_signs_nothing"
    ),
    "broadcast-copies-are-equal": guard(
        without_element(1), "views/test_broadcasts.py::test_whatever_differs_is_not_hidden_behind_a_broadcast"
    ),
    "damage-told": guard(
        never, "trust/test_honest_verbs.py::test_damaged_entries_are_told_by_every_face_wherever_the_damage_is"
    ),
    "carriage-returns-seen": guard(
        only_argument(0), "console/test_client_requests.py::test_no_field_of_a_request_steers_the_screen"
    ),
    "file-synced": guard(
        giving(None),
        "proofs/crash/test_crash_states.py::test_a_power_cut_leaves_the_state_before_or_after_and_all_that_was_acknowledged[receive]",
    ),
    "folder-synced": guard(
        giving(None),
        "proofs/crash/test_crash_states.py::test_a_power_cut_leaves_the_state_before_or_after_and_all_that_was_acknowledged[receive]",
    ),
    "ids-stay-taken": guard(giving(None), "store/test_team_contract.py::test_an_archived_id_stays_taken[yaml]"),
    "archived-once-per-agent": guard(
        giving(False), "store/test_yaml_archive.py::test_the_same_message_is_archived_once_for_each_agent"
    ),
    "lock-file-checked": guard(never, "store/test_yaml_lock.py::test_a_lock_file_deleted_while_held_stops_the_commit"),
    "queue-checked-before-swap": guard(
        giving(None), "store/test_yaml_files.py::test_a_folder_moved_away_during_a_transaction_stops_the_commit"
    ),
    "displaced-queue-merged": guard(
        giving(False), "store/test_yaml_foreign.py::test_a_write_that_slips_in_during_ours_is_merged"
    ),
    "staged-generation-kept": guard(
        giving(False),
        "store/test_yaml_killed_swap.py::test_what_our_swap_displaced_is_merged_whatever_became_of_the_queue",
    ),
    "swap-known-by-previous": guard(
        never,
        "store/test_yaml_killed_swap.py::test_what_our_swap_displaced_is_merged_whatever_became_of_the_queue",
    ),
    "late-writer-merged": guard(
        giving(False),
        "store/test_yaml_foreign.py::test_a_writer_that_had_the_old_queue_open_is_merged_at_the_next_turn",
    ),
    "rolled-back-status-healed": guard(
        giving(None),
        "store/test_yaml_foreign.py::test_a_rolled_back_status_is_healed_and_the_message_not_delivered_again",
    ),
    "only-our-own-text-unread": guard(
        without(3),
        "store/test_yaml_foreign.py::test_as_many_bytes_written_within_one_tick_of_the_clock_are_read",
    ),
    "loss-told": guard(giving(None), "store/test_yaml_losses.py::test_a_queue_emptied_by_another_program_is_in_doubt"),
    "trail-gives-words": guard(
        giving(False), "views/test_request_index.py::test_an_edited_answer_is_told_as_an_error_with_its_place"
    ),
    "answers-put-back": guard(never, "store/test_yaml_recorded.py::test_a_flipped_answer_is_put_back_and_told"),
    "superseding-request-kept": guard(
        removed,
        "service/test_ended_requests.py::test_a_superseded_plan_too_young_to_leave_keeps_its_successor",
    ),
    "leases-bounded": guard(
        without(2), "service/test_ended_requests.py::test_a_lease_of_a_clock_that_was_ahead_is_over"
    ),
    "snapshot-with-last-line": guard(
        giving((0, None)), "store/test_killed_approve.py::test_every_face_tells_the_same_after_a_killed_approve"
    ),
    "recorded-commit-finished": guard(
        giving(False), "proofs/crash/test_recovery.py::test_an_answer_on_record_is_finished_whole"
    ),
    "archives-cut-in-recovery": guard(
        giving(None),
        "proofs/crash/test_recovery.py::test_a_receive_on_record_is_finished_with_each_message_in_the_archive_once",
    ),
    "taken-back-after-error": guard(
        giving(None), "proofs/crash/test_crash_states.py::test_a_disk_error_at_any_step_is_reported_and_changes_nothing"
    ),
    "archive-checksum": guard(
        giving(True), "store/test_yaml_archive.py::test_a_changed_byte_in_the_middle_is_told_and_later_records_are_read"
    ),
    "partial-line-set-aside": guard(
        only_argument(1), "store/test_yaml_audit.py::test_a_torn_last_line_is_moved_aside_and_told"
    ),
    "audit-chain": guard(without(2), "store/test_yaml_audit.py::test_a_ledger_that_was_tampered_with_says_from_where"),
    "stale-staging-removed": guard(
        giving([]), "store/test_yaml_files.py::test_staging_files_of_dead_processes_are_removed_and_never_read"
    ),
    "hard-links-refused": guard(
        only_argument(1),
        "store/test_yaml_files.py::test_a_hard_linked_queue_is_refused_with_the_reason_and_nothing_changes",
    ),
    "half-file-waited-out": guard(
        without(1), "store/test_yaml_files.py::test_a_reader_waits_out_a_writer_that_rewrites_in_place"
    ),
    "queue-mode-kept": guard(removed, "store/test_yaml_files.py::test_the_queue_keeps_its_mode"),
    "names-checked": guard(only_argument(0), "store/test_yaml_files.py::test_a_name_never_leaves_its_folder"),
    "archived-before-removed": guard(
        giving(True), "store/test_yaml_archive.py::test_a_message_leaves_the_queue_only_when_an_archive_holds_it"
    ),
    "archives-searched-once": guard(
        giving(None),
        "store/test_counted_growth.py::test_the_work_of_what_once_was_slow_grows_no_faster_than_its_number"
        "[_to_an_agent_with_an_archive]",
    ),
    "copies-count-once": guard(
        only_argument(0),
        "store/test_shared_ids.py::test_of_a_read_message_and_its_copy_nothing_is_handed_out_again[new]",
    ),
    "drop-folder-inside-team": guard(
        giving(False), "store/test_hostile_files.py::test_a_drop_folder_elsewhere_is_left_alone"
    ),
    "polled-beside-events": guard(
        giving(3600.0), "store/test_yaml_watch.py::test_lost_events_are_made_up_for_by_looking"
    ),
    "first-answer-wins": guard(
        giving(None), "service/test_requests.py::test_the_first_answer_stands_and_the_second_is_told_who_and_when"
    ),
}
