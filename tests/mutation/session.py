"""A plugin of pytest: it collects the tests once, and then runs them in children, under each mutant."""

import gc
import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from unittest.mock import DEFAULT, patch

import pytest

from tests.mutation import differences, instrument, wire
from tests.mutation.coverage_map import TestRecord
from tests.mutation.guards import lane_of
from tests.mutation.mutant import Mutant
from tests.mutation.wire import Wire

LEAST, TIMES = 15, 12
"""A test may take fifteen seconds of the processor, and twelve times as long as without a mutant."""

WAITING = 10
"""It may take so many times as long by the clock: other processes need the processors, too."""

TIMED_OUT = "timed out"


class Session:
    """The collected tests.

    Args:
        then: is called with this when all tests are collected; it returns the exit code.
    """

    def __init__(self, then: Callable[["Session"], int]) -> None:
        self._then, self.wire = then, Wire()
        self._items: dict[str, pytest.Item] = {}
        self._failed, self.code = False, 1

    def pytest_sessionstart(self) -> None:
        from hypothesis import settings  # noqa: PLC0415 - pytest rewrites its plugins as it imports them

        settings.register_profile(
            "mutation", settings.get_profile("untimed"), derandomize=True, database=None
        )
        settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        from tests.contract import expressions  # noqa: PLC0415 - pytest rewrites its asserts

        self._items = {item.nodeid: item for item in session.items}
        self.wire.install()
        with patch.multiple(expressions, check=DEFAULT, check_moto=DEFAULT):  # they fail at any new text
            self.code = self._then(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed = self._failed or report.failed

    def warm_up(self) -> None:
        """Run one test over moto, so that its modules and session fixtures are ready in all children."""
        mocked = [name for name in self._items if "moto" in name] or list(self._items)
        here = self._items[mocked[0]].path
        others = [name for name, item in self._items.items() if item.path != here]
        elsewhere = [name for name in others if self._items[name].path.parent != here.parent]
        self._passes(mocked[0], next(iter([*elsewhere, *others]), None))  # leaves set up what all share
        gc.collect()
        instrument.index()
        gc.freeze()

    @property
    def names(self) -> Sequence[str]:
        return tuple(self._items)

    def has(self, name: str) -> bool:
        """Return whether `make test` runs this test; other lanes run others."""
        item = self._items.get(name)
        return item is not None and lane_of({mark.name for mark in item.iter_markers()}) == "test"

    def files(self) -> dict[Path, list[str]]:
        """Return the names of the tests in each file."""
        found: dict[Path, list[str]] = {}
        for name, item in self._items.items():
            found.setdefault(item.path, []).append(name)
        return found

    def _passes(self, name: str, following: str | None) -> bool:
        item = self._items[name]
        self._failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=self._items.get(following or ""))
        return not self._failed

    def record(self, names: Sequence[str]) -> list[TestRecord]:
        """Run tests without a mutant; return what each did."""
        found = []
        for name, following in _with_next(names):
            instrument.hits.clear()
            wire.seen.clear()
            wire.unmarked.clear()
            differences.seen.clear()
            start = _spent()
            passed = self._passes(name, following)
            seconds = round(_spent() - start, 4)
            found.append(
                TestRecord(
                    name,
                    seconds,
                    passed,
                    frozenset(instrument.hits),
                    frozenset(wire.seen),
                    frozenset(wire.unmarked),
                    frozenset(differences.seen),
                )
            )
        return found

    def killer(self, mutant: Mutant, tests: Iterable[tuple[str, float]]) -> str | None:
        """Run tests under a mutant until one fails; return its name. This process is of no use afterwards.

        A test that takes too long ends the process.
        """
        mutant.apply(self.wire)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        listed = [(name, seconds) for name, seconds in tests if name in self._items]
        for (name, seconds), following in _with_next(listed):
            signal.setitimer(signal.ITIMER_PROF, LEAST + TIMES * seconds)
            signal.setitimer(signal.ITIMER_REAL, WAITING * (LEAST + TIMES * seconds))
            if not self._passes(name, following and following[0]):
                return name
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        return None


def _spent() -> float:
    """Return the processor time of this process, and of those that it started and that have ended."""
    return time.process_time() + sum(os.times()[2:4])


def _with_next(things):
    return zip_longest(things, things[1:])  # a mutant that no test reaches has none
