"""The documentation as a site.

Every page in it, in the order of the contents, and nothing fetched from elsewhere. What reads the built site
runs with the proof: `make check` builds it before each commit, and then a dead link is an error.
"""

import re

import pytest
from mkdocs.commands.build import build

from tests.docs.site import ROOT, configuration, gather, navigation, pages_of


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built strictly: a link that leads nowhere would have refused it."""
    pages, site = tmp_path_factory.mktemp("pages"), tmp_path_factory.mktemp("site")
    gather(pages)
    build(configuration(pages, site))
    return site


def test_the_navigation_has_every_page_once():
    named = pages_of(navigation())
    pages = {str(path.relative_to(ROOT)) for path in [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")]}
    assert pages <= {*named}
    assert len(named) == len({*named})


def test_the_navigation_begins_with_the_tutorial_and_ends_with_how_it_works():
    sections = [title for entry in navigation() for title in entry]
    assert sections[:3] == ["duetime", "Documentation", "Begin"]
    assert sections.index("Guides") < sections.index("Reference") < sections.index("How it works")


@pytest.mark.long
def test_a_page_fetches_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        fetched = re.findall(
            r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(//|https?:)", page.read_text()
        )
        assert not fetched, page
        assert 'class="mermaid"' not in page.read_text()  # the theme would fetch what draws it


@pytest.mark.long
def test_each_page_and_file_has_its_place(site):
    assert (site / "docs/adr/0001-the-stream-arms/index.html").is_file()
    for place in ("docs/openapi.json", "docs/images/overview.png", "examples/shop_source/index.html"):
        assert (site / place).is_file()
