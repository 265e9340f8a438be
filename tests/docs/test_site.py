"""The documentation as a site.

Every page in it, in the README's order, and nothing fetched from elsewhere.
"""

import re

import pytest
from mkdocs.commands.build import build

from tests.docs.site import ROOT, configuration, gather, navigation


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built strictly: a link that leads nowhere would have refused it."""
    pages, site = tmp_path_factory.mktemp("pages"), tmp_path_factory.mktemp("site")
    gather(pages)
    build(configuration(pages, site))
    return site


def test_the_navigation_has_every_page(site):
    nav = {
        name
        for entry in navigation()
        for target in entry.values()
        for name in ([target] if isinstance(target, str) else target)
    }
    pages = {str(path.relative_to(ROOT)) for path in [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")]}
    assert pages <= nav
    assert (site / "docs/adr/0001-the-stream-arms/index.html").is_file()


def test_the_navigation_has_the_order_of_the_readme():
    readme = (ROOT / "README.md").read_text().partition("## Read on\n")[2]
    first = [
        target if isinstance(target, str) else target[0]
        for entry in navigation()[1:-2]
        for target in entry.values()
    ]
    places = [readme.index(f"]({target.removesuffix('README.md')}") for target in first]
    assert places == sorted(places)


def test_a_page_fetches_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        fetched = re.findall(
            r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(//|https?:)", page.read_text()
        )
        assert not fetched, page
        assert 'class="mermaid"' not in page.read_text()  # the theme would fetch what draws it


def test_links_to_other_files_lead_somewhere(site):
    for place in ("docs/openapi.json", "docs/images/overview.png", "examples/billing_source/index.html"):
        assert (site / place).is_file()
