"""The pytest fixture `duetime_cloud`: simulated clouds that end with the test; where it fails, the report tells their stories.

pytest finds this module by itself wherever duetime is installed, and loads it in each of its runs. So it imports
nothing of duetime until the fixture is used.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from duetime.app import App
    from duetime.testing.faults import Faults
    from duetime.testing.simulated import SimulatedCloud


class Clouds:
    """Makes the clouds of one test."""

    def __init__(self) -> None:
        self._made: list[tuple[SimulatedCloud, Faults | None]] = []

    def __call__(self, app: App, *, faults: Faults | None = None, **said: Any) -> SimulatedCloud:
        """Make one; it takes what `SimulatedCloud` takes.

        Raises:
            DeclarationError: as `SimulatedCloud`.
        """
        from duetime.testing.simulated import SimulatedCloud  # noqa: PLC0415 - only who uses it pays for it

        cloud = SimulatedCloud(app, faults=faults, **said)
        self._made.append((cloud, faults))
        return cloud

    def close(self) -> None:
        """Close them all, the last one first."""
        for cloud, _ in reversed(self._made):
            cloud.close()

    def stories(self) -> Iterator[tuple[str, str]]:
        """A heading and the story of each cloud that had faults."""
        for cloud, faults in self._made:
            if faults is not None:
                yield f"the story of the cloud with faults of seed {faults.seed}", cloud.story()


_CLOUDS = pytest.StashKey[Clouds]()


@pytest.fixture
def duetime_cloud(request: pytest.FixtureRequest) -> Iterator[Clouds]:
    """Makes simulated clouds: ``duetime_cloud(app, start=…, faults=…)``; all are closed when the test ends."""
    clouds = request.node.stash[_CLOUDS] = Clouds()
    yield clouds
    clouds.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the stories to a failed test's report, unless its own message tells them (see `InvariantBroken`)."""
    report = yield
    clouds = item.stash.get(_CLOUDS, None)
    if clouds is not None and report.failed and call.excinfo is not None:
        message = str(call.excinfo.value)
        report.sections.extend((head, story) for head, story in clouds.stories() if story not in message)
    return report
