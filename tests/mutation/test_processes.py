"""A child that takes too long, on the processor or by the clock, ends without a result."""

import signal

import pytest

from tests.mutation import processes


@pytest.mark.parametrize(
    ("timer", "alarm"), [("ITIMER_PROF", signal.SIGPROF), ("ITIMER_REAL", signal.SIGALRM)]
)
def test_a_child_that_its_alarm_ends_has_no_result(timer, alarm):
    def work(_task):
        signal.signal(alarm, signal.SIG_DFL)
        signal.setitimer(getattr(signal, timer), 0.05)
        while True:
            pass

    assert list(processes.run_all(["forever"], work)) == [("forever", None)]


def test_a_child_that_ends_by_itself_has_its_result():
    assert dict(processes.run_all([1, 2, 3], lambda task: task * 2)) == {1: 2, 2: 4, 3: 6}
