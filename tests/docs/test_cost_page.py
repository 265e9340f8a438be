"""The page on cost shows what the command prints."""

from tests.docs.cost_page import PAGE, made


def test_the_tables_equal_the_commands_output():
    text = PAGE.read_text()
    assert text == made(text), "python -m tests.docs.cost_page"


def test_the_page_shows_three_sizes_of_deployment():
    text = PAGE.read_text()
    for actions in ("1,000", "100,000", "10,000,000"):
        assert f"\n{actions} actions and 120 runs of jobs a day" in text
