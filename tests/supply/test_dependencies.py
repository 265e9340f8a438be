"""The pages on dependencies and tools list each one with its reason, and no other."""

import re
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.supply.licences import of_distribution, of_npm
from tests.supply.project import EXTRAS, NPM_LOCK, PACKAGE, PYPROJECT, ROOT, names, normal, supported_pythons

FLOORS = (ROOT / "requirements/floors.txt").read_text()
TOOLS = (ROOT / "CONTRIBUTING.md").read_text()
PAGES = (ROOT / "docs/dependencies.md").read_text() + TOOLS


def documented(heading):
    """Return (reason, licence, place) by name, from the tables of users' dependencies and of tools."""
    sections = re.findall(rf"^##+ {heading}(?: tools)?\n(.*?)(?=^#|\Z)", PAGES, re.MULTILINE | re.DOTALL)
    assert len(sections) == 2
    row = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
    rows = [match for section in sections for match in row.findall(section)]
    assert len({name for name, *_ in rows}) == len(rows)
    return {name: (reason, licence, place) for name, reason, licence, place in rows}


def places(heading):
    return {name: place for name, (_, _, place) in documented(heading).items()}


def test_the_pages_list_every_python_dependency_with_its_place_and_no_other():
    groups = {
        "runtime": PYPROJECT["project"]["dependencies"],
        **EXTRAS,
        "development": PYPROJECT["dependency-groups"]["dev"],
    }
    assert places("Python") == {
        name: place for place, expected in groups.items() for name in names(expected) - {"duetime"}
    }


def test_the_pages_list_every_npm_dependency_with_its_place_and_no_other():
    groups = {"in the page": PACKAGE["dependencies"], "at build time": PACKAGE["devDependencies"]}
    assert places("npm") == {name: place for place, expected in groups.items() for name in expected}


@pytest.mark.parametrize("heading", ["Python", "npm"])
def test_each_dependency_has_a_reason_and_the_licence_of_its_metadata(heading):
    npm = of_npm()
    for name, (reason, licence, _) in documented(heading).items():
        assert len(reason.split()) > 1, name
        assert licence == (of_distribution(name) if heading == "Python" else npm[name])


def test_a_dependency_that_is_held_back_is_locked_at_the_stated_version():
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements/dev.txt").read_text(), re.MULTILINE))
    locked |= PACKAGE["devDependencies"]
    held = re.findall(r"^- `([\w-]+)` stays at ([\d.]+\d)", TOOLS, re.MULTILINE)
    assert held
    for name, version in held:
        assert f"{locked[name]}.".startswith(f"{version}."), name


@pytest.mark.parametrize(("file", "extras"), [("hashed.txt", {}), ("hashed-all.txt", EXTRAS)])
def test_hashed_pins_are_the_locked_versions_and_name_no_index(file, extras):
    pins = (ROOT / "requirements" / file).read_text()
    assert not re.search(r"://|^--(?!hash)|^ +--(?!hash=sha256:[0-9a-f]{64})", pins, re.MULTILINE)
    entries = pins.replace(" \\\n", " ").splitlines()
    assert all("--hash=sha256:" in entry for entry in entries)
    versions = dict(re.findall(r"^([\w.-]+)==(\S+)", pins, re.MULTILINE))
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements/dev.txt").read_text(), re.MULTILINE))
    assert versions.items() <= locked.items()
    expected = [*PYPROJECT["project"]["dependencies"], *(line for lines in extras.values() for line in lines)]
    assert names(expected) - {"duetime"} <= versions.keys()


def test_every_direct_dependency_is_locked():
    locked = names((ROOT / "requirements/dev.txt").read_text().splitlines())
    assert set(documented("Python")) <= locked


def test_the_worker_of_targets_has_the_extras_version():
    bundled = (ROOT / "src/duetime/targets/requirements.txt").read_text().split()[0]
    assert [bundled] == EXTRAS["webhooks"]


def test_the_lock_of_npm_names_no_index_and_matches_package_json():
    assert not [path for path, entry in NPM_LOCK["packages"].items() if "resolved" in entry]
    root = NPM_LOCK["packages"][""]
    assert {**root["dependencies"], **root["devDependencies"]} == {
        **PACKAGE["dependencies"],
        **PACKAGE["devDependencies"],
    }


def test_the_oldest_supported_python_is_the_required_one():
    assert PYPROJECT["project"]["requires-python"] == f">={supported_pythons()[0]}"


def test_the_floors_lane_runs_the_oldest_allowed_version_of_each_dependency():
    lines = [*PYPROJECT["project"]["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
    floors = dict(re.findall(r"^([\w-]+)(?:\[[^]]*])?>=([\d.]+)", "\n".join(lines), re.MULTILINE))
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", FLOORS, re.MULTILINE))
    assert {"boto3", "pydantic", "moto"} <= floors.keys()
    assert floors.keys() <= locked.keys()
    for name, floor in floors.items():
        assert Version(locked[name]) == Version(floor), name


def test_the_locks_name_no_index():
    assert not re.findall(r"https?:|^--", FLOORS, re.MULTILINE)


def test_the_local_cloud_installs_no_symbolic_algebra():
    installed = closure("duetime[local]")
    assert {"moto", "werkzeug", "flask"} <= installed
    assert installed.isdisjoint({"sympy", "mpmath", "cfn-lint", "numpy"})


def closure(requirement):
    """Return the distributions that a requirement installs, by the metadata of what is installed here."""
    found, waiting = set(), [Requirement(requirement)]
    extras = {normal(name): lines for name, lines in EXTRAS.items()}
    while waiting:
        needed = waiting.pop()
        for extra in ("", *sorted(needed.extras)):
            if (needed.name, extra) in found:
                continue
            found.add((needed.name, extra))
            ours = [*PYPROJECT["project"]["dependencies"], *extras.get(extra, ())]
            lines = ours if needed.name == "duetime" else requires(needed.name) or ()
            parsed = map(Requirement, lines)
            waiting += [one for one in parsed if not one.marker or one.marker.evaluate({"extra": extra})]
    return {normal(name) for name, _ in found}
