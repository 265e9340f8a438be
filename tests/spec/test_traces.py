"""Each trace of the simulator is a behaviour of the specification, and a changed trace is none."""

import logging
import re
from dataclasses import replace
from datetime import timedelta
from itertools import groupby, islice

import pytest

from duetime.model.expiry import NO_EXPIRY, Expiry
from tests.proof.mutations import GUARDS
from tests.proof.world import World
from tests.spec import tlc
from tests.spec.recorder import Recorder
from tests.spec.traces import NONE, module

SEEDS, EXPIRING, PAUSED = range(36), range(36, 48), (106, 107, 112, 124, 126, 130)
EXPIRIES = [Expiry(timedelta(seconds=0.4), on_expiry) for on_expiry in ("skip", "fail")]
"""Of the errands of every other seed of `EXPIRING`."""

EACH = 8
"""How many traces each change is made to."""

BY_TOKEN = {"heartbeat by token", "settle by token", "settle for retry by token"}

MOST_UNANSWERED = 10
"""TLC follows both: that a request without an answer has arrived, and that it may arrive later."""

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True, scope="module")
def _quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def traces():
    worlds = [(seed, NO_EXPIRY) for seed in (*SEEDS, *PAUSED)]
    worlds += [(seed, EXPIRIES[seed % 2]) for seed in EXPIRING]
    return [trace for seed, expiry in worlds for trace in traces_of(seed, expiry)]


def traces_of(seed, expiry=NO_EXPIRY):
    with Recorder() as recorder:
        world = recorder.world = World(seed, expiry)
        world.live(hours=2)
        world.rest()
        world.cloud.close()
        return [bounded(trace) for trace in recorder.traces()]


def bounded(trace):
    """Return the beginning of a trace, before too many unanswered requests: it is a behaviour, too."""
    lost = [index for index, line in enumerate(trace.lines) if line.fate == "unanswered"]
    return replace(trace, lines=trace.lines[: lost[MOST_UNANSWERED]]) if lost[MOST_UNANSWERED:] else trace


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
    assert {line.write for line in lines} > {"take over", "settle by commit", "redrive", "skip", *BY_TOKEN}
    assert {line.fate for line in lines} == {"answered", "unanswered", "again"}
    assert {"skipped", "failed"} <= {trace.lines[-1].row[0] for trace in traces if trace.type[0] != NONE}
    assert sum(trace.pause[0] != NONE for trace in traces) >= EACH
    stops = stops_of(reached(tmp_path, traces))
    assert not stops, "\n".join(f"{trace.name}: {line}" for trace, line in stops)


def without_the_claim(trace):
    return changed(trace, is_claim)


def with_an_early_claim(trace):
    def earlier(line):
        by = line.values["now"] - line.row[1] + 1
        return replace(line, at=line.at - by, values=line.values | {"now": line.values["now"] - by})

    return changed(trace, is_claim, earlier)


def with_an_early_skip(trace):
    """Its worker's clock shows the instant before the expiry."""

    def earlier(line):
        return replace(line, at=line.row[8] - trace.offsets[line.by - 1] - 1)

    return changed(trace, lambda line: is_skip(line) and line.row[8] != NONE, earlier)


def with_a_later_pause(trace):
    """The pause that skips it begins an instant after its due time."""
    skips = [index for index, line in enumerate(trace.lines) if is_skip(line)]
    if trace.pause[0] == NONE or not skips:
        return None
    return replace(trace, pause=(trace.lines[skips[0]].row[1] + 1, trace.pause[1])), skips[0]


def with_a_success_after_its_expiry(trace):
    """A run that had expired ends as if its handler had run."""
    return changed(trace, is_expired_failure(trace), executed) if trace.type[1] else None


def with_another_fence(trace):
    def fenced(line):
        return replace(line, values=line.values | {"fence": line.values["fence"] + 1})

    return changed(trace, is_settle, fenced)


def by_another_worker(trace):
    return changed(trace, is_settle, lambda line: replace(line, by=len(trace.offsets) + 1))


def by_a_party_that_is_late(trace):
    """A hand-over is completed at the end of its lease."""
    index = next((i for i, line in enumerate(trace.lines) if is_completion(line)), None)
    if index is None:
        return None
    line, lease = trace.lines[index], trace.lines[index - 1].row[4]
    late = replace(line, values=line.values | {"now": lease})
    return replace(trace, lines=(*trace.lines[:index], late, *trace.lines[index + 1 :])), index


def without_the_hand_over(trace):
    """What follows finds a row that its run has handed over, though it has not."""
    made = changed(trace, lambda line: (line.write, line.fate) == ("hand over", "answered"))
    return made if made and made[1] < len(made[0].lines) else None


def with_another_end(trace):
    return changed(trace, is_settle, lambda line: replace(line, row=("cancelled", *line.row[1:])))


def is_claim(line):
    """Whether it is a claim that was won: the row has its nonce."""
    is_answered = line.write == "claim" and line.fate == "answered"
    return is_answered and line.row[0] == "processing" and line.row[5] == line.values["nonce"]


def is_skip(line):
    return line.write == "skip" and line.fate == "answered" and line.row[0] == "skipped"


def is_completion(line):
    return line.write == "settle by token" and line.row[0] == "executed"


def is_settle(line):
    return line.write == "settle" and line.fate == "answered" and line.row[0] in {"executed", "failed"}


def is_expired_failure(trace):
    """Whether it is the settle of a run that was claimed after the expiry of its type."""

    def is_claimed_late(line):
        has_its_own = not is_claim(line) or line.row[8] != NONE
        return not has_its_own and line.values["now"] >= line.row[1] + trace.type[0]

    late = {line.by for line in trace.lines if is_claimed_late(line)}
    return lambda line: is_settle(line) and line.row[0] == "failed" and line.by in late


def executed(line):
    return replace(line, values=line.values | {"status": "executed"}, row=("executed", *line.row[1:]))


def changed(trace, which, change=lambda _line: None):
    """Return the trace with its first such line changed or removed, and that line's index, or None."""
    for index, line in enumerate(trace.lines):
        if which(line):
            changed_line = change(line)
            rest = trace.lines[index + 1 :]
            lines = (*trace.lines[:index], *([changed_line] if changed_line else []), *rest)
            return replace(trace, lines=lines, offsets=(*trace.offsets, 0)), index
    return None


CHANGES = (
    without_the_claim,
    with_an_early_claim,
    with_an_early_skip,
    with_a_later_pause,
    with_a_success_after_its_expiry,
    with_another_fence,
    by_another_worker,
    by_a_party_that_is_late,
    without_the_hand_over,
    with_another_end,
)


def test_a_changed_trace_is_rejected_at_the_change(traces, tmp_path):
    expected = {}
    for change in CHANGES:
        made = list(islice(filter(None, map(change, traces)), EACH))
        assert len(made) == EACH
        expected |= dict(made)
    assert reached(tmp_path, expected) == expected


@pytest.mark.parametrize(
    ("guard", "write"),
    [
        ("1: a lease that lives is not taken over", "take over"),
        ("no run begins after its expiry", "claim"),
        ("a late renewal leaves the lease of a hand-over", "heartbeat"),
        ("a completion comes within its hand-over", "settle by token"),
    ],
)
def test_a_trace_of_a_simulator_that_lacks_a_guard_is_rejected(tmp_path, guard, write):
    with GUARDS[guard]():
        traces = [trace for seed in range(4, 8) for trace in traces_of(seed)]
    assert write in {line.write for _, line in stops_of(reached(tmp_path, traces))}
