"""The pytest fixture `duetime_cloud`: simulated clouds with their stories in the test's report.

pytest loads this module in every run where duetime is installed. Therefore it imports nothing of duetime
before the fixture is used.
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
    """Creates the clouds of one test."""

    def __init__(self) -> None:
        self._clouds: list[tuple[SimulatedCloud, Faults | None]] = []

    def __call__(self, app: App, *, faults: Faults | None = None, **options: Any) -> SimulatedCloud:
        """Create a cloud with the arguments of `SimulatedCloud`.

        Raises:
            DeclarationError: as `SimulatedCloud`.
        """
        from duetime.testing.simulated import SimulatedCloud  # noqa: PLC0415 - loaded only if used

        cloud = SimulatedCloud(app, faults=faults, **options)
        self._clouds.append((cloud, faults))
        return cloud

    def close(self) -> None:
        """Close all clouds, the last one first."""
        for cloud, _ in reversed(self._clouds):
            cloud.close()

    def stories(self) -> Iterator[tuple[str, str]]:
        """Yield a heading and the story of each cloud with faults."""
        for cloud, faults in self._clouds:
            if faults is not None:
                yield f"the story of the cloud with faults of seed {faults.seed}", cloud.story()


_CLOUDS = pytest.StashKey[Clouds]()


@pytest.fixture
def duetime_cloud(request: pytest.FixtureRequest) -> Iterator[Clouds]:
    """Create simulated clouds: ``duetime_cloud(app, start=…, faults=…)``; the test's end closes them."""
    clouds = request.node.stash[_CLOUDS] = Clouds()
    yield clouds
    clouds.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the stories to a failed test's report, unless its message has them (see `InvariantBroken`)."""
    report = yield
    clouds = item.stash.get(_CLOUDS, None)
    if clouds is not None and report.failed and call.excinfo is not None:
        message = str(call.excinfo.value)
        report.sections.extend((head, story) for head, story in clouds.stories() if story not in message)
    return report
