"""Each trace of the simulator is a behaviour of the specification, and a changed trace is none."""

import logging
import re
from dataclasses import replace
from itertools import groupby, islice

import pytest

from tests.proof.mutations import GUARDS
from tests.proof.world import World
from tests.spec import tlc
from tests.spec.recorder import Recorder
from tests.spec.traces import module

SEEDS = range(36)
EACH = 8
"""How many traces each change is made to."""

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True, scope="module")
def _quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def traces():
    return [trace for seed in SEEDS for trace in traces_of(seed)]


def traces_of(seed):
    with Recorder() as recorder:
        world = recorder.world = World(seed)
        world.live(hours=2)
        world.rest()
        world.cloud.close()
        return list(recorder.traces())


def reached(folder, traces):
    """Return, for each trace, the index of its first line that the specification does not permit."""
    found = {}
    for _, group in groupby(sorted(traces, key=lambda trace: trace.skew), key=lambda trace: trace.skew):
        alike = list(group)
        (folder / "Traces.tla").write_text(module(alike))
        output = tlc.run(folder, "Trace")
        assert "No error has been found" in output, output[-2_000:]
        for number, line in re.findall(r'<<"reached", (\d+), (\d+)>>', output):
            trace = alike[int(number) - 1]
            found[trace] = max(found.get(trace, 0), int(line) - 1)
    return found


def stops_of(found):
    return [(trace, trace.lines[index]) for trace, index in found.items() if index < len(trace.lines)]


def test_each_trace_of_the_simulator_is_a_behaviour_of_the_specification(traces, tmp_path):
    lines = [line for trace in traces for line in trace.lines]
    assert {line.write for line in lines} > {"take over", "settle by commit", "redrive"}
    assert {line.fate for line in lines} == {"answered", "unanswered", "again"}
    stops = stops_of(reached(tmp_path, traces))
    assert not stops, "\n".join(f"{trace.name}: {line}" for trace, line in stops)


def without_the_claim(trace):
    return changed(trace, is_claim)


def with_an_early_claim(trace):
    def earlier(line):
        by = line.values["now"] - line.row[1] + 1
        return replace(line, at=line.at - by, values=line.values | {"now": line.values["now"] - by})

    return changed(trace, is_claim, earlier)


def with_another_fence(trace):
    return changed(trace, is_settle, lambda line: replace(line, values=line.values | {"fence": 9}))


def by_another_worker(trace):
    return changed(trace, is_settle, lambda line: replace(line, by=len(trace.offsets) + 1))


def with_another_end(trace):
    return changed(trace, is_settle, lambda line: replace(line, row=("cancelled", *line.row[1:])))


def is_claim(line):
    """Whether it is a claim that was won: the row has its nonce."""
    is_answered = line.write == "claim" and line.fate == "answered"
    return is_answered and line.row[0] == "processing" and line.row[5] == line.values["nonce"]


def is_settle(line):
    return line.write == "settle" and line.fate == "answered" and line.row[0] in {"executed", "failed"}


def changed(trace, which, change=lambda _line: None):
    """Return the trace with its first such line changed or removed, and that line's index, or None."""
    for index, line in enumerate(trace.lines):
        if which(line):
            changed_line = change(line)
            rest = trace.lines[index + 1 :]
            lines = (*trace.lines[:index], *([changed_line] if changed_line else []), *rest)
            return replace(trace, lines=lines, offsets=(*trace.offsets, 0)), index
    return None


CHANGES = (without_the_claim, with_an_early_claim, with_another_fence, by_another_worker, with_another_end)


def test_a_changed_trace_is_rejected_at_the_change(traces, tmp_path):
    expected = {}
    for change in CHANGES:
        made = list(islice(filter(None, map(change, traces)), EACH))
        assert len(made) == EACH
        expected |= dict(made)
    assert reached(tmp_path, expected) == expected


def test_a_trace_of_a_simulator_that_lacks_a_guard_is_rejected(tmp_path):
    with GUARDS["1: a lease that lives is not taken over"]():
        traces = [trace for seed in range(4) for trace in traces_of(seed)]
    assert "take over" in {line.write for _, line in stops_of(reached(tmp_path, traces))}
