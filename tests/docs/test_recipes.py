"""The recipes: what cannot be executed here, since its library is not installed, at least compiles."""

import re

import pytest

from tests.docs.test_docs import ROOT, _blocks

PAGES = sorted((ROOT / "docs/recipes").glob("*.md"))


@pytest.mark.parametrize("page", [page for page in PAGES if _blocks(page, "py")], ids=lambda page: page.stem)
def test_recipes_that_are_not_executed_compile(page):
    for block in _blocks(page, "py"):
        compile(block, str(page), "exec")


def test_every_recipe_of_the_contents_has_a_section():
    headings = " ".join(re.findall(r"^##? (.+)$", "".join(p.read_text() for p in PAGES), re.MULTILINE))
    for name in ("FastAPI", "Django", "Flask", "Powertools", "Terraform", "Approval", "zone"):
        assert name in headings
