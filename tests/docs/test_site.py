"""The documentation as a site.

Every page in it, in the order of the contents, and nothing fetched from elsewhere.
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


def test_the_navigation_has_every_page_once(site):
    named = pages_of(navigation())
    pages = {str(path.relative_to(ROOT)) for path in [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")]}
    assert pages <= {*named}
    assert len(named) == len({*named})
    assert (site / "docs/adr/0001-the-stream-arms/index.html").is_file()


def test_the_navigation_begins_with_the_tutorial_and_ends_with_how_it_works():
    sections = [title for entry in navigation() for title in entry]
    assert sections[:3] == ["duetime", "Documentation", "Begin"]
    assert sections.index("Guides") < sections.index("Reference") < sections.index("How it works")


def test_a_page_fetches_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        fetched = re.findall(
            r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(//|https?:)", page.read_text()
        )
        assert not fetched, page
        assert 'class="mermaid"' not in page.read_text()  # the theme would fetch what draws it


def test_links_to_other_files_lead_somewhere(site):
    for place in ("docs/openapi.json", "docs/images/overview.png", "examples/shop_source/index.html"):
        assert (site / place).is_file()
