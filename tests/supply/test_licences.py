"""All dependencies have an allowed licence, and the console has the notices of its packages."""

import pytest

from tests.supply.licences import is_allowed, of_duetime, of_npm
from tests.supply.project import NPM_LOCK, PACKAGE, ROOT

NOTICES = ROOT / "src/duetime/console/built/assets/licences.txt"


@pytest.mark.parametrize(
    "licences_of", [pytest.param(of_duetime, id="Python"), pytest.param(of_npm, id="npm")]
)
def test_every_licence_is_allowed(licences_of):
    licences = licences_of()
    assert len(licences) > 20
    assert {name: licence for name, licence in licences.items() if not is_allowed(licence)} == {}


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
def test_one_allowed_choice_is_enough_and_all_parts_of_it_must_be_allowed(expression, allowed):
    assert is_allowed(expression) is allowed


def bundled():
    """Return the packages in the console: its dependencies, and theirs at run time."""
    waiting, found = list(PACKAGE["dependencies"]), set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(NPM_LOCK["packages"][f"node_modules/{name}"].get("dependencies", {}))
    return found - {"openapi-typescript-helpers"}  # types only: the bundle has nothing of it


@pytest.mark.skipif(not NOTICES.is_file(), reason="the console is not built (make setup does)")
def test_the_console_is_shipped_with_the_notice_of_each_package_in_it():
    notices = NOTICES.read_text()
    for name in bundled():
        entry = NPM_LOCK["packages"][f"node_modules/{name}"]
        assert f"{name} {entry['version']} ({entry['license']})\n" in notices
    assert notices.count("Permission is hereby granted") == len(bundled())
