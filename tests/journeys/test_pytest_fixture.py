"""The fixture that comes with the package, as a project that has installed it sees it."""

import os
import re
import tomllib
from pathlib import Path

import pytest

from tests.facts.test_imports import loaded_by

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]

SHOP = """
from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Payload, Run
from duetime.testing import Faults, InvariantBroken

NOON = datetime(2027, 6, 1, 12, tzinfo=UTC)
app = App()
died = []


class Errand(Payload):
    pass


@app.action
def run_errand(payload: Errand, run: Run) -> None:
    try:
        run.clock.wait_until(run.now() + timedelta(days=1))
    finally:
        died.append(run.tenant_id)


def scheduled(cloud):
    cloud.scheduler.schedule(Errand(), at=timedelta(minutes=1))
    cloud.advance(minutes=2)
"""


@pytest.fixture
def project(pytester, monkeypatch):
    """A project whose environment has the package's metadata, as a wheel brings them."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    metadata = pytester.mkdir("installed") / "duetime_as_a_wheel-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: duetime-as-a-wheel\nVersion: 1\n")
    (metadata / "RECORD").write_text("duetime/__init__.py,,\nduetime/testing/plugin.py,,\n")
    lines = [f"{name} = {module}" for name, module in declared.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[pytest11]", *lines]))
    for name in ("CI", "BUILD_NUMBER"):  # there pytest's summary repeats every error in full
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(metadata.parent), str(ROOT / "src")]))
    return pytester


def run(project, tests):
    project.makepyfile(tests)
    unneeded = ("randomly", "cacheprovider", "schemathesis", "hypothesispytest")  # two load much
    return project.runpytest_subprocess("-W", "error", *(f"-pno:{plugin}" for plugin in unneeded))


def test_the_fixture_comes_with_the_package_and_removes_its_resources(project):
    result = run(
        project,
        SHOP
        + """
def test_a_cloud_with_its_settings(duetime_cloud):
    cloud = duetime_cloud(app, start=NOON, tenant_id="bolt")
    assert (cloud.now, cloud.scheduler.tenant_id) == (NOON, "bolt")


@pytest.fixture
def watched():
    yield
    assert died == ["bolt", "acme"]


def test_two_clouds_with_runs_that_never_end(watched, duetime_cloud):
    for seed, tenant in ((1, "acme"), (2, "bolt")):
        scheduled(duetime_cloud(app, tenant_id=tenant, faults=Faults(seed, crash=0, throttle=0, pause=0)))
    assert died == []
""",
    )
    result.assert_outcomes(passed=2)


def test_a_failed_test_prints_the_story_of_each_faulty_cloud_once(project):
    result = run(
        project,
        SHOP
        + """
@pytest.fixture
def busy(duetime_cloud):
    cloud = duetime_cloud(app, start=NOON, faults=Faults(17))
    scheduled(cloud)
    return cloud


def test_that_passes(busy):
    pass


def test_that_fails(duetime_cloud, busy):
    scheduled(duetime_cloud(app))
    scheduled(duetime_cloud(app, start=NOON, faults=Faults(4)))
    assert busy.now == NOON


@pytest.fixture
def broken(busy):
    raise LookupError("no database")


def test_that_cannot_begin(broken):
    pass


def test_that_checks(busy):
    raise InvariantBroken(["nothing holds"], seed=17, story=busy.story())
""",
    )
    result.assert_outcomes(passed=1, failed=2, errors=1)
    result.stdout.re_match_lines_random(
        [
            r"-+ the story of the cloud with faults of seed 17 -+",
            r"-+ the story of the cloud with faults of seed 4 -+",
            r"06-01 12:00:\d\d.*pending, due 12:01:00.000, errand for acme",
        ]
    )
    lines = result.outlines
    assert sum("the story of the cloud" in line for line in lines) == 3
    assert sum("pending, due 12:01" in line for line in lines) == 4


def test_the_example_of_the_documentation_passes(project):
    page, heading, _ = (ROOT / "docs/testing.md").read_text().partition("## On the local cloud")
    assert heading  # tests/docs runs the rest, which needs no fixture
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    result = run(project, "\n".join(blocks))
    result.assert_outcomes(passed=7)


def test_a_run_of_pytest_that_needs_no_cloud_loads_nothing_of_duetime():
    loaded = loaded_by("import duetime.testing.plugin")
    assert {module for module in loaded if module.startswith("duetime")} == {
        "duetime",
        "duetime.testing",
        "duetime.testing.plugin",
    }
    assert not loaded & {"pydantic", "boto3"}
