"""A pytest plugin: the processor time of the suite, which must keep to a bound.

The time depends on the machine, so it is divided by that of a reference load, which each worker of xdist
carries in the same run. The bound is in budget.toml. It falls by itself; `tools.bounds` checks that a commit
that raises it states why.
"""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import pytest

from tools.bounds import LINE

BOUND = Path(__file__).with_name("budget.toml")
ROOM = 1.2
"""The bound is so many times what was measured: the ratio differs from run to run by a tenth."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the reference load makes, writes and reads."""

    number: int
    at: datetime
    text: str


def reference_load() -> float:
    """Return the processor time in seconds of a load like that of the suite: objects, texts, JSON, dates."""
    began, start, rows = time.process_time(), datetime(2026, 1, 1, tzinfo=UTC), {}
    for number in range(30_000):
        entry = Entry(number, start + timedelta(seconds=number), f"row {number % 97}")
        rows[entry.text, number % 1_000] = json.loads(
            json.dumps({"number": entry.number, "at": entry.at.isoformat(), "text": entry.text})
        )
    sorted(rows.values(), key=lambda row: (row["text"], row["at"]))
    return time.process_time() - began


def processor_time() -> float:
    """Return the seconds that this process and its ended children have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def bound() -> int:
    """Return the bound of budget.toml."""
    return int(re.search(r"(?m)^most = (\d+)", BOUND.read_text())[1])


class Worker:
    """Carries the reference load before and after the tests of a worker."""

    def __init__(self):
        self._carried = []

    def pytest_sessionstart(self):
        self._carried.append(reference_load())

    def pytest_sessionfinish(self, session):
        session.config.workeroutput["reference"] = [*self._carried, reference_load()]


class Controller:
    """Adds up, compares and prints."""

    def __init__(self):
        self._carried, self.line = [], ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self._carried += getattr(node, "workeroutput", {}).get("reference", [])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if not self._carried or session.testsfailed:
            return  # an interrupted suite has no cost
        used, unit, most = processor_time(), median(self._carried), bound()
        ratio = round(used / unit)
        self.line = f"{used:.0f} s of processor time, {ratio} times the reference load; at most {most} times"
        if ratio > most:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            self.line += (
                "\nThe suite costs too much. Make it cheaper, or raise the bound in tests/budget.toml"
                f" in a commit with a line {LINE}."
            )
        elif (fallen := round(ratio * ROOM)) < most:
            BOUND.write_text(re.sub(r"(?m)^most = \d+", f"most = {fallen}", BOUND.read_text()))
            self.line += f", and from now on {fallen} (commit tests/budget.toml)"

    def pytest_terminal_summary(self, terminalreporter):
        if self.line:
            terminalreporter.write_line(self.line)


def pytest_configure(config):
    is_worker = hasattr(config, "workerinput")
    config.pluginmanager.register(Worker() if is_worker else Controller(), "budget of time")
