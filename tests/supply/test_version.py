"""The version, and the contents of the package."""

import re
from importlib import resources

from tests.supply.project import PYPROJECT, ROOT, VERSION


def test_the_changelog_begins_with_the_version_or_with_unreleased_changes():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    newest = next((heading for heading in headings if heading != "Unreleased"), None)
    if newest is None:
        assert headings == ["Unreleased"]
        return
    assert re.fullmatch(rf"{re.escape(VERSION)} - \d{{4}}-\d\d-\d\d", newest)
    assert headings.index(newest) <= 1


def test_a_deeper_directory_of_a_shipped_name_is_not_shipped():
    shipped = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert all(path.startswith("/") and (ROOT / path[1:]).exists() for path in shipped)


def test_the_package_has_the_marker_of_its_types():
    assert resources.files("duetime").joinpath("py.typed").is_file()
