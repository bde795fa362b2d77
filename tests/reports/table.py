"""The sixty public reports of agents that failed, and the tests that show how Ferrule meets the smallest input of each.

The numbers are those of the list in `docs/coverage.md`. A test of this folder has the number of its report in its id.
"""

CALLS = "tests/reports/test_calls_and_results.py::"
OVERFLOW = "tests/reports/test_overflow.py::"
LOOPS = "tests/reports/test_loops.py::"
IDS = "tests/reports/test_ids_and_schemas.py::"
FAULTS = "tests/faults/test_every_fault.py::test_the_work_is_done_and_every_request_is_valid"
WIRE_FAULTS = "tests/e2e/test_wire_faults.py::test_the_work_is_done_once_and_no_request_is_refused"
CUTS = f"{CALLS}test_wherever_two_compactions_end_no_call_is_parted_from_its_result"
COMPACTION = "tests/run/compaction/test_compaction.py::"
PAIRING = "tests/context/test_pairing_scenarios.py::"
CRASH = "tests/e2e/test_crash.py::test_after_a_kill_every_request_is_one_that_the_vendor_takes"
SIGNAL = "tests/e2e/test_processes.py::test_a_signal_ends_everything_and_every_call_has_its_result"
HOLE = (
    "tests/engine/test_request.py::test_a_history_with_a_hole_is_repaired_in_the_view_and_reported_and_the_history_itself_stays"
)
SURVIVORS = "tests/process/test_process_survivors.py::test_no_process_outlives_ferrule_when_it_is_killed"
TAKEN = "tests/e2e/test_two_writers.py::test_a_writer_that_was_taken_over_hands_out_its_reply_as_not_stored"
TORN = "tests/store/test_damage.py::test_torn_log_leaves_a_valid_prefix_or_an_error_in_words"
DAMAGED = "tests/store/test_damage.py::test_damaged_journal_is_an_error_in_words_and_never_deleted"
DAMAGE = "tests/store/test_damage_table.py::"
IMPORT = "tests/cli/test_sessions_import.py::"
LEFT_OUT = "test_what_does_not_follow_is_left_out_and_counted_and_what_stands_before_is_the_session"

SHOWN: dict[int, tuple[str, ...]] = {
    1: (SIGNAL, CRASH),
    2: (HOLE, "tests/e2e/test_prefixes.py::test_prefixes_of_a_journal_go_on"),
    3: (f"{CALLS}test_report_03_a_command_that_ends_what_runs_it_has_one_result_all_the_same",),
    4: (HOLE, CRASH),
    5: (CUTS,),
    6: (f"{CALLS}test_report_06_a_denied_call_stays_with_its_result_when_the_session_goes_on",),
    7: ("tests/store/test_folds.py::test_results_stand_behind_their_message_whatever_the_order",),
    8: (CUTS, f"{COMPACTION}test_two_compactions_in_a_row_keep_calls_with_their_results"),
    9: (f"{CALLS}test_report_09_what_stood_in_for_a_result_vanishes_with_its_call",),
    10: (CUTS,),
    11: (CUTS,),
    12: (f"{CALLS}test_report_12_what_was_repaired_once_is_repaired_alike_ever_after",),
    13: (CUTS,),
    14: ("tests/scripted/test_strict.py::test_a_conversation_that_the_vendors_refuse",),
    15: (CUTS,),
    16: (SIGNAL,),
    17: (f"{CALLS}test_report_17_no_request_relies_on_what_the_provider_remembers",),
    18: (f"{CALLS}test_reasoning_goes_back_only_with_what_it_led_to",),
    19: (f"{CALLS}test_reasoning_goes_back_only_with_what_it_led_to",),
    20: (f"{OVERFLOW}test_results_are_cut_before_the_next_request_and_no_summary_is_asked_for",),
    21: (f"{OVERFLOW}test_results_are_cut_before_the_next_request_and_no_summary_is_asked_for",),
    22: (f"{COMPACTION}test_no_request_for_a_summary_exceeds_the_window",),
    23: (f"{COMPACTION}test_a_summary_that_saves_too_little_is_not_stored_and_compacting_stops",),
    24: (f"{COMPACTION}test_compacting_over_and_over_without_progress_stops_by_itself",),
    25: (f"{OVERFLOW}test_results_are_cut_before_the_next_request_and_no_summary_is_asked_for",),
    26: (f"{OVERFLOW}test_after_an_overflow_another_request_is_sent_and_the_session_is_whole",),
    27: (f"{COMPACTION}test_silence_has_an_end",),
    28: (
        f"{OVERFLOW}test_report_28_words_about_an_overflow_are_no_overflow",
        f"{OVERFLOW}test_report_28_an_error_that_quotes_them_is_what_its_status_says",
    ),
    29: (f"{OVERFLOW}test_after_an_overflow_another_request_is_sent_and_the_session_is_whole",),
    30: (f"{OVERFLOW}test_after_an_overflow_another_request_is_sent_and_the_session_is_whole",),
    31: ("tests/e2e/test_ends.py::test_an_answer_without_an_act_is_reminded_twice_and_never_finishes",),
    32: (f"{LOOPS}test_report_32_the_same_file_read_again_and_again_is_stuck",),
    33: (f"{LOOPS}test_report_33_reading_on_through_one_file_is_progress",),
    34: (f"{LOOPS}test_report_34_an_edit_that_fails_alike_each_time_is_told_what_to_change_and_then_stuck",),
    35: (
        f"{LOOPS}test_report_35_the_same_text_without_end_stops_at_the_output_limit_and_is_bounded",
        f"{LOOPS}test_report_35_a_passage_that_fills_pages_is_broken_off_and_asked_for_again",
        f"{LOOPS}test_report_35_a_model_that_only_repeats_itself_is_stuck_after_three_answers",
    ),
    36: (f"{LOOPS}test_report_36_no_output_is_told_as_such_and_the_command_over_and_over_is_stuck",),
    37: (f"{LOOPS}test_report_37_answers_of_nothing_are_not_sent_back_and_going_on_is_bounded_too",),
    38: (FAULTS, "tests/stream/test_calls_are_storable.py::test_no_call_of_an_answer_that_was_cut_can_be_run"),
    39: (FAULTS, "tests/stream/test_calls_are_storable.py::test_a_message_is_stored_with_our_ids_and_its_raw_calls_beside"),
    40: ("tests/stream/test_calls_are_storable.py::test_arguments_that_are_an_object_are_kept",),
    41: ("tests/e2e/test_crash.py::test_a_run_killed_at_a_record_of_each_kind_goes_on_and_repeats_no_effect",),
    42: (TORN, f"{DAMAGE}test_session_that_lost_the_end_of_its_log_goes_on_from_its_last_whole_record"),
    43: (f"{DAMAGE}test_what_stands_before_the_damage_is_read_and_the_damage_is_named", f"{IMPORT}{LEFT_OUT}"),
    44: (f"{IMPORT}{LEFT_OUT}", f"{IMPORT}test_a_file_that_holds_all_records_is_imported_whole_and_its_damage_said"),
    45: (f"{DAMAGE}test_session_that_lost_the_end_of_its_log_goes_on_from_its_last_whole_record",),
    46: (TORN, DAMAGED, f"{IMPORT}test_what_is_no_session_is_refused_and_leaves_nothing"),
    47: ("tests/store/test_lease.py::test_lease_that_a_dead_process_left_is_free_whoever_has_its_number_since",),
    48: (
        "tests/e2e/test_busy.py::test_waiting_ends_with_the_holder_whatever_ends_that",
        "tests/e2e/test_busy.py::test_waiting_is_bounded_and_may_be_stopped_and_writes_nothing",
    ),
    49: ("tests/e2e/test_busy.py::test_an_answer_that_arrives_after_a_takeover_is_told_as_not_stored", TAKEN),
    50: (SIGNAL, "tests/e2e/test_processes.py::test_a_second_signal_ends_at_once_and_leaves_nothing"),
    52: (SURVIVORS, "tests/e2e/test_processes.py::test_no_process_outlives_ferrule_killed_during_a_command"),
    53: ("tests/process/test_process_run.py::test_timeout_ends_the_command_and_all_below_it",),
    54: (FAULTS,),
    55: (f"{IDS}test_an_id_that_comes_again_in_each_turn_is_renamed_and_each_turn_keeps_its_result", WIRE_FAULTS),
    56: (f"{IDS}test_an_id_that_comes_again_in_each_turn_is_renamed_and_each_turn_keeps_its_result", WIRE_FAULTS),
    57: (f"{IDS}test_a_signature_that_is_refused_costs_one_retry_and_never_another",),
    58: ("tests/e2e/test_wire_reasoning.py::test_what_a_model_thought_goes_back_as_it_came",),
    59: (f"{IDS}test_report_59_google_gets_as_many_results_as_calls_in_one_message_and_their_order",),
    60: (f"{IDS}test_report_60_a_tool_that_a_vendor_cannot_take_costs_neither_the_request_nor_the_others",),
}

WITHOUT: dict[int, str] = {51: "native Windows is refused at the start"}
