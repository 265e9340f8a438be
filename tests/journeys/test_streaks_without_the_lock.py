"""Runs that hold no lock count for their job's streak of failures, without a write for each success."""

import pytest

from duetime import App, Fatal, Run, manual
from duetime.testing import SimulatedCloud
from tests.hooked import hook_backend


@pytest.fixture
def broken():
    return [False]


@pytest.fixture
def cloud(broken):
    app = App()

    @app.job(manual(), name="sales-import", overlap="allow")
    def sales_import(run: Run) -> None:
        if broken[0]:
            raise Fatal("no connection")

    cloud = SimulatedCloud(app)
    cloud.settles = []
    jobs = hook_backend(cloud.memory, "jobs", app)

    def settle(method, *given, **more):
        cloud.settles.append(more.get("has_lock", True))
        return method(*given, **more)

    jobs.hooks["settle"] = settle
    yield cloud
    cloud.close()


def run(cloud):
    cloud.jobs.trigger("sales-import")
    cloud.advance(minutes=1)
    tally = cloud.jobs.get("sales-import").tally
    return tally.consecutive_failures


def test_a_success_without_the_lock_ends_a_streak_of_failures(cloud, broken):
    broken[0] = True
    assert [run(cloud), run(cloud)] == [1, 2]
    broken[0] = False
    assert [run(cloud), run(cloud)] == [0, 0]
    broken[0] = True
    assert run(cloud) == 1


def test_only_a_failure_and_the_success_after_it_write_to_the_row_of_a_job_without_a_lock(cloud, broken):
    written = []
    for is_broken in (False, True, False, False):
        broken[0] = is_broken
        run(cloud)
        written.append(len(cloud.settles))
    assert written == [0, 1, 2, 2]
    assert set(cloud.settles) == {False}
