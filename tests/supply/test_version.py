"""One version, wherever it is said."""

import re
from importlib import resources

from tests.supply.project import PYPROJECT, ROOT, VERSION


def test_the_changelog_begins_with_the_version_or_with_what_comes_after_it():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = [heading for heading in headings if heading != "Unreleased"]
    assert re.fullmatch(rf"{re.escape(VERSION)} - \d{{4}}-\d\d-\d\d", released[0])
    assert headings.index(released[0]) <= 1


def test_what_is_shipped_is_anchored_so_a_directory_of_that_name_deeper_is_not():
    shipped = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert all(path.startswith("/") and (ROOT / path[1:]).exists() for path in shipped)


def test_types_are_marked_as_such_in_the_package():
    assert resources.files("duetime").joinpath("py.typed").is_file()
