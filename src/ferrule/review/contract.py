"""The contract of a local review: read-only by its tools, ended by submitting or giving up, both by an act."""

from ferrule.task.contracts import Contract

REVIEW_LOCAL = Contract(
    kind="review_local",
    ends_by=("submit_review", "abort_task"),
    tools=(
        "read_diff",
        "read_file",
        "list_files",
        "search_files",
        "run_checks",
        "review_comment",
        "submit_review",
        "abort_task",
    ),
    gates=("failed_tool", "hooks"),
    reminders=2,
    refusals=5,
    reminder=(
        "[Automatic reminder] The review is still open: your last answer called no tool. Stage what is left with review_comment, "
        "then call submit_review, also when there is nothing to find fault with. Findings written as text are lost. "
        "If the review can't be done, call abort_task with the reason."
    ),
    empty_reminder=(
        "[Automatic reminder] Your last answer was empty and the review is still open. "
        "Go on with the next tool call, or end it with submit_review or abort_task."
    ),
)
