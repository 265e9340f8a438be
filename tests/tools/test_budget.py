"""The processor time of the suite keeps to its bound, and the bound falls by itself."""

import pytest

from tests import budget


class Session:
    testsfailed = 0
    exitstatus = pytest.ExitCode.OK


class Node:
    def __init__(self):
        self.workeroutput = {"reference": [0.5, 0.5, 0.7]}


@pytest.fixture
def finished(monkeypatch, tmp_path):
    """Return a function that ends a suite of some processor time under a bound of 1,000."""
    monkeypatch.setattr(budget, "BOUND", tmp_path / "budget.toml")
    budget.BOUND.write_text("# At most.\nmost = 1000\n")

    def finish(seconds, session=Session):
        monkeypatch.setattr(budget, "processor_time", lambda: seconds)
        controller, ended = budget.Controller(), session()
        controller.pytest_testnodedown(Node())
        controller.pytest_sessionfinish(ended)
        return ended.exitstatus, budget.bound(), controller.line

    return finish


def test_a_suite_within_its_bound_passes(finished):
    status, bound, line = finished(450)
    assert (status, bound) == (pytest.ExitCode.OK, 1000)
    assert line == "450 s of processor time, 900 times the reference load; at most 1000 times"


def test_a_suite_beyond_its_bound_fails_and_states_what_to_do(finished):
    status, bound, line = finished(501)
    assert (status, bound) == (pytest.ExitCode.TESTS_FAILED, 1000)
    assert "Grows: <bound> because <reason>" in line


def test_the_bound_falls_to_what_was_measured_and_some_room(finished):
    _, bound, line = finished(250)
    assert bound == 500 * budget.ROOM
    assert "commit tests/budget.toml" in line


def test_an_interrupted_suite_changes_no_bound(finished):
    class Failed(Session):
        testsfailed = 1

    assert finished(1, Failed)[1] == 1000


def test_the_reference_load_takes_processor_time():
    assert budget.reference_load() > 0
