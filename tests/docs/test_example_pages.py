"""The pages of the worked examples: there is one for each, and what they quote stands in the module."""

from pathlib import Path

import pytest

from tests.docs.test_docs import ROOT, _blocks

STORIES = sorted(page for page in (ROOT / "docs/examples").glob("*.md") if page.stem != "README")


def module_of(page: Path) -> Path:
    return ROOT / "examples" / f"{page.stem}.py"


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
def test_every_excerpt_equals_the_text_of_its_module(page):
    excerpts = _blocks(page, "py")
    assert excerpts
    for excerpt in excerpts:
        assert excerpt in module_of(page).read_text(), excerpt


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
def test_every_story_has_the_naive_way_its_failures_and_the_commands_to_try(page):
    text = page.read_text()
    assert "**The naive way**" in text
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## When it goes wrong",
        "## Try it",
    ]
    assert f"tests/journeys/test_{page.stem}.py" in text
    assert (ROOT / f"tests/journeys/test_{page.stem}.py").is_file()


def test_every_example_has_a_page_and_the_index_lists_it():
    modules = {path.stem for path in (ROOT / "examples").glob("*.py")} - {
        "__init__",
        "billing",
        "greeting",
        "shop",
    }
    assert {page.stem for page in STORIES} == modules
    index = (ROOT / "docs/examples/README.md").read_text()
    for module in modules:
        assert f"({module}.md)" in index
