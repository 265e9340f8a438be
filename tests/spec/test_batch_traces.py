"""Each trace of a simulated batch, and of an action with checkpoints, is a behaviour of its specification.

A changed trace is none.
"""

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from unittest.mock import patch

import pytest

from tests.proof import test_batches, test_checkpoints
from tests.proof.test_checkpoints import REMOVED
from tests.spec import tlc
from tests.spec.batch_recorder import BatchRecorder
from tests.spec.batch_traces import module
from tests.spec.checkpoint_recorder import CheckpointRecorder
from tests.spec.test_traces import _quiet  # noqa: F401 - a fixture

EACH = 3
"""How many traces each change is made to."""

pytestmark = pytest.mark.long


def batch_traces_of(seed):
    with patch.object(test_batches, "SIZES", [3, 5]), BatchRecorder() as recorder:
        world = recorder.world = test_batches.World(seed)
        world.seed = seed
        world.live()
        return list(recorder.traces())


def checkpoint_traces_of(seed):
    with CheckpointRecorder() as recorder:
        world = recorder.world = test_checkpoints.World(seed)
        world.seed = seed
        world.live()
        return list(recorder.traces())


@pytest.fixture(scope="module")
def batches():
    return [trace for seed in range(100) for trace in batch_traces_of(seed)]


@pytest.fixture(scope="module")
def checkpoints():
    return [trace for seed in range(30) for trace in checkpoint_traces_of(seed)]


def reached(folder, specification, traces):
    """Return, for each trace, the index of its first line that the specification does not permit."""
    listed, found = list(traces), {}
    (folder / f"{specification}s.tla").write_text(module(f"{specification}s", listed))
    output = tlc.run(folder, specification)
    assert "No error has been found" in output, output[-2_000:]
    for number, line in re.findall(r'<<"reached", (\d+), (\d+)>>', output):
        trace = listed[int(number) - 1]
        found[trace] = max(found.get(trace, 0), int(line) - 1)
    assert len(found) == len(listed)
    return found


def stops_of(found):
    return [(trace.name, trace.lines[index]) for trace, index in found.items() if index < len(trace.lines)]


def test_each_trace_of_a_simulated_batch_is_a_behaviour_of_the_specification(batches, tmp_path):
    kinds = Counter(line.kind for trace in batches for line in trace.lines)
    common = ("add", "close", "end", "write", "release", "begin", "redrive", "count after")
    assert min(kinds[kind] for kind in common) >= EACH
    stops = stops_of(reached(tmp_path, "BatchTrace", batches))
    assert not stops, "\n".join(f"{name}: {line}" for name, line in stops)


def test_each_trace_of_a_simulated_checkpoint_is_a_behaviour_of_the_specification(checkpoints, tmp_path):
    kinds = Counter(line.kind for trace in checkpoints for line in trace.lines)
    assert kinds.keys() >= {"claim", "store", "send", "continue", "end", "evict"}
    assert any(line.kind == "look" and line.seen["status"] == "processing" for line in lines_of(checkpoints))
    stops = stops_of(reached(tmp_path, "CheckpointTrace", checkpoints))
    assert not stops, "\n".join(f"{name}: {line}" for name, line in stops)


def lines_of(traces):
    return (line for trace in traces for line in trace.lines)


def changed(trace, which, change=lambda _line: None):
    """Return the trace with its first such line changed or removed, and that line's index, or None."""
    for index, line in enumerate(trace.lines):
        if which(trace.lines, index):
            made = change(line)
            return with_lines(trace, index, [made] if made else []), index
    return None


def with_lines(trace, index, lines):
    most = {name: number + 1 for name, number in trace.most.items()}
    return replace(trace, most=most, lines=(*trace.lines[:index], *lines, *trace.lines[index + 1 :]))


def is_kind(*kinds):
    return lambda lines, index: lines[index].kind in kinds


def completes(lines, index):
    """Whether a count completes the batch for the first time."""
    line = lines[index]
    return line.kind == "write" and not line.seen["counting"] and lines[index - 1].seen["counting"]


def without_the_close(trace):
    return changed(trace, is_kind("close"))


def without_a_read(trace):
    """A batch is completed by a count that has not read one of its members."""
    return changed(trace, lambda lines, index: lines[index].kind == "read" and completes(lines, index + 1))


def with_another_count(trace):
    def one_more(line):
        executed, *others = line.values["counts"]
        return replace(line, values=line.values | {"counts": (executed + 1, *others)})

    return changed(trace, completes, one_more)


def with_an_early_release(trace):
    """The completion action is looked at before the count is written."""

    def looks(line):
        return replace(line, kind="look at what waits")

    return changed(trace, completes, looks)


def with_a_second_release(trace):
    made = changed(trace, is_kind("release"))
    if made is None:
        return None
    _, index = made
    released = trace.lines[index]
    return with_lines(trace, index, [released, released]), index + 1


def without_the_restart(trace):
    return changed(trace, is_kind("begin"))


def by_another_counter(trace):
    return changed(
        trace,
        is_kind("write"),
        lambda line: replace(line, values=line.values | {"by": trace.most["Counters"] + 1}),
    )


OF_BATCHES = (
    without_the_close,
    without_a_read,
    with_another_count,
    with_an_early_release,
    with_a_second_release,
    without_the_restart,
    by_another_counter,
)


def without_a_claim(trace):
    return changed(trace, is_kind("claim"))


def by_another_run(trace):
    return changed(
        trace,
        is_kind("store"),
        lambda line: replace(line, values=line.values | {"by": trace.most["Workers"] + 1}),
    )


def with_a_former_checkpoint(trace):
    """A run begins without the checkpoint that is stored."""
    return changed(
        trace,
        lambda lines, index: lines[index].kind == "claim" and lines[index].values["began"] != (0, 0),
        lambda line: replace(line, values=line.values | {"began": (0, 0)}),
    )


def without_a_checkpoint(trace):
    """A run continues that has stored nothing."""

    def is_only_one(lines, index):
        kinds = [line.kind for line in lines[index - 1 : index + 2]]
        return kinds == ["claim", "store", "continue"]

    return changed(trace, is_only_one)


def with_an_earlier_one(trace):
    """A checkpoint is stored, and the row has the former one after it."""

    def is_second(lines, index):
        return lines[index].kind == "store" and lines[index].values["number"] > 1

    def undone(line):
        fence, number = line.seen["checkpoint"]
        return replace(line, seen=line.seen | {"checkpoint": (fence, number - 1)})

    return changed(trace, is_second, undone)


OF_CHECKPOINTS = (
    without_a_claim,
    by_another_run,
    with_a_former_checkpoint,
    without_a_checkpoint,
    with_an_earlier_one,
)


def made_by(changes, traces):
    expected = {}
    for change in changes:
        made = list(islice(filter(None, map(change, traces)), EACH))
        assert len(made) == EACH, change.__name__
        expected |= dict(made)
    return expected


def test_a_changed_trace_of_a_batch_is_rejected_at_the_change(batches, tmp_path):
    expected = made_by(OF_BATCHES, batches)
    assert reached(tmp_path, "BatchTrace", expected) == expected


def test_a_changed_trace_of_a_checkpoint_is_rejected_at_the_change(checkpoints, tmp_path):
    expected = made_by(OF_CHECKPOINTS, checkpoints)
    assert reached(tmp_path, "CheckpointTrace", expected) == expected


@pytest.mark.parametrize(
    ("removed", "kind"),
    [
        (test_batches.without_the_version, "write"),
        (test_batches.without_waiting, "look at what waits"),
    ],
)
def test_a_trace_of_a_simulated_batch_that_lacks_a_guard_is_rejected(tmp_path, removed, kind):
    with removed():
        traces = [trace for seed in range(30) for trace in batch_traces_of(seed)]
    assert kind in {line.kind for _, line in stops_of(reached(tmp_path, "BatchTrace", traces))}


@pytest.mark.parametrize("guard", REMOVED.removes)
def test_a_trace_of_simulated_checkpoints_that_lack_a_guard_is_rejected(tmp_path, guard):
    seed, _ = REMOVED.fails_without(guard)
    with REMOVED.removes[guard]():
        traces = checkpoint_traces_of(seed)
    assert "arrive" in {line.kind for _, line in stops_of(reached(tmp_path, "CheckpointTrace", traces))}
