"""Nothing is drawn in under terms that whoever deploys duetime has not heard of.

What the page carries, it gives credit.
"""

import pytest

from tests.supply.licences import is_allowed, of_duetime, of_npm
from tests.supply.project import NPM_LOCK, PACKAGE, ROOT

NOTICES = ROOT / "src/duetime/console/built/assets/licences.txt"


@pytest.mark.parametrize("drawn_in", [pytest.param(of_duetime, id="Python"), pytest.param(of_npm, id="npm")])
def test_every_licence_is_one_of_those_allowed(drawn_in):
    report = drawn_in()
    assert len(report) > 20
    assert {name: licence for name, licence in report.items() if not is_allowed(licence)} == {}


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("(MIT OR GPL-3.0-only)", True),
        ("MIT AND GPL-3.0-only", False),
        ("AGPL-3.0-only", False),
        ("", False),
    ],
)
def test_a_choice_is_enough_but_what_holds_together_is_allowed_together(expression, allowed):
    assert is_allowed(expression) is allowed


def carried():
    """What is in the page: its dependencies, and what those draw in at run time."""
    waiting, found = list(PACKAGE["dependencies"]), set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(NPM_LOCK["packages"][f"node_modules/{name}"].get("dependencies", {}))
    return found - {"openapi-typescript-helpers"}  # types alone: nothing of it is left in the page


@pytest.mark.skipif(not NOTICES.is_file(), reason="the console is not built (make console does)")
def test_the_page_goes_with_the_notice_of_everything_in_it():
    notices = NOTICES.read_text()
    for name in carried():
        entry = NPM_LOCK["packages"][f"node_modules/{name}"]
        assert f"{name} {entry['version']} ({entry['license']})\n" in notices
    assert notices.count("Permission is hereby granted") == len(carried())
