import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.task.todos import parse_todos
from ferrule.types.errors import ToolError
from ferrule.types.tools import Todo


def test_each_box_has_its_status():
    text = "- [ ] open\n[-] begun\n* [~] begun too\n\n[x] done\n[X] done too"
    assert parse_todos(text) == (
        Todo("open", "pending"),
        Todo("begun", "in_progress"),
        Todo("begun too", "in_progress"),
        Todo("done", "completed"),
        Todo("done too", "completed"),
    )


@pytest.mark.parametrize("text", ["", "  \n", "do it", "[ ] a\nloose words", "[y] what", "[ ]", "[ ] a\n## heading"])
def test_what_is_no_checklist_is_refused_as_a_whole(text):
    with pytest.raises(ToolError, match="The list is unchanged"):
        parse_todos(text)


@given(st.text())
def test_any_text_is_a_list_or_a_refusal(text):
    try:
        assert parse_todos(text)
    except ToolError as refusal:
        assert "unchanged" in str(refusal)
