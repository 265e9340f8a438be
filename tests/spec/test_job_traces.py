"""Each trace of a simulated job is a behaviour of the specification, and a changed trace is none."""

import re
from collections import Counter
from dataclasses import replace
from itertools import groupby, islice

import pytest

from tests.proof.mutations import GUARDS
from tests.spec import tlc
from tests.spec.job_life import JobLife
from tests.spec.job_recorder import JobRecorder
from tests.spec.job_traces import NO_ID, module
from tests.spec.test_traces import _quiet  # noqa: F401 - a fixture

SEEDS = range(50)
EACH = 3
"""How many traces each change is made to."""

pytestmark = pytest.mark.long


def trace_of(seed):
    with JobRecorder() as recorder:
        recorder.life = JobLife(seed)
        recorder.life.live()
        recorder.life.cloud.close()
        return recorder.trace()


@pytest.fixture(scope="module")
def traces():
    return [trace_of(seed) for seed in SEEDS]


def reached(folder, traces):
    """Return, for each trace, the index of its first line that the specification does not permit."""
    found = {}
    for _, group in groupby(sorted(traces, key=lambda trace: trace.skew), key=lambda trace: trace.skew):
        alike = list(group)
        (folder / "JobTraces.tla").write_text(module(alike))
        output = tlc.run(folder, "JobTrace")
        assert "No error has been found" in output, output[-2_000:]
        for number, line in re.findall(r'<<"reached", (\d+), (\d+)>>', output):
            trace = alike[int(number) - 1]
            found[trace] = max(found.get(trace, 0), int(line) - 1)
    return found


def stops_of(found):
    return [(trace, trace.lines[index]) for trace, index in found.items() if index < len(trace.lines)]


def test_each_trace_of_a_simulated_job_is_a_behaviour_of_the_specification(traces, tmp_path):
    kinds = Counter(line.kind for trace in traces for line in trace.lines)
    assert min(kinds.values()) >= EACH
    assert {"plan", "move", "change", "retire", "decide late", "again", "heartbeat"} < kinds.keys()
    rows = [row for trace in traces for line in trace.lines for row in line.values.get("rows", {}).values()]
    assert {"paused", "overlap", "retired"} <= {why for *_, why in rows}
    assert any(fence > 1 for _, fence, *_ in rows)
    stops = stops_of(reached(tmp_path, traces))
    assert not stops, "\n".join(f"{trace.name}: {line}" for trace, line in stops)


def with_an_early_claim(trace):
    return changed(trace, is_claim, lambda line: line | {"clock": line["id"][1] - 1})


def with_a_run_under_a_pause(trace):
    def begun(line):
        row = ("processing", 1, line["until"], line["nonce"], "")
        return line | {"rows": {line["id"]: row}}

    return changed(trace, lambda line: is_decision(line) and why(line) == "paused", begun)


def without_the_lock(trace):
    def free(line):
        return line | {"job": line["job"] | {"running": NO_ID}}

    return changed(trace, lambda line: is_claim(line) and line["job"]["running"] == line["id"], free)


def with_another_version(trace):
    def of_the_next(line):
        version, at = line["id"]
        return line | {"id": (version + 1, at), "rows": {(version + 1, at): line["rows"][version, at]}}

    return changed(trace, lambda line: line["kind"] == "schedule" and line["rows"], of_the_next)


def with_a_later_cursor(trace):
    def later(line):
        return line | {"job": line["job"] | {"cursor": line["job"]["cursor"] + 1}}

    return changed(trace, lambda line: line["kind"] == "move", later)


def without_the_span_of_a_pause(trace):
    return changed(
        trace,
        lambda line: line["kind"] == "change" and line["spans"],
        lambda line: line | {"spans": frozenset()},
    )


def by_another_worker(trace):
    return changed(
        trace, lambda line: line["kind"] == "settle", lambda line: line | {"by": trace.workers + 1}
    )


def is_decision(line):
    return line["kind"] == "decide"


def is_claim(line):
    return is_decision(line) and why(line) == "" and line["rows"].get(line["id"], ("",))[0] == "processing"


def why(line):
    return line["rows"][line["id"]][-1] if line["id"] in line["rows"] else None


def changed(trace, which, change):
    """Return the trace with its first such line changed, and that line's index, or None."""
    for index, line in enumerate(trace.lines):
        values = line.values | {"kind": line.kind}
        if which(values):
            values = change(values)
            other = replace(line, kind=values.pop("kind"), values=values)
            lines = (*trace.lines[:index], other, *trace.lines[index + 1 :])
            return replace(trace, lines=lines, workers=trace.workers + 1), index
    return None


CHANGES = (
    with_an_early_claim,
    with_a_run_under_a_pause,
    without_the_lock,
    with_another_version,
    with_a_later_cursor,
    without_the_span_of_a_pause,
    by_another_worker,
)


def test_a_changed_trace_of_a_job_is_rejected_at_the_change(traces, tmp_path):
    expected = {}
    for change in CHANGES:
        made = list(islice(filter(None, map(change, traces)), EACH))
        assert len(made) == EACH, change.__name__
        expected |= dict(made)
    assert reached(tmp_path, expected) == expected


@pytest.mark.parametrize(
    ("guard", "kind"),
    [
        ("1: no two runs of a job hold its lock", "decide"),
        ("4: rows come first and the cursor second", "move"),
        ("9: a retired occurrence does not run", "decide"),
    ],
)
def test_a_trace_of_a_simulated_job_that_lacks_a_guard_is_rejected(tmp_path, guard, kind):
    with GUARDS[guard]():
        traces = [trace_of(seed) for seed in range(3)]
    assert {line.kind for _, line in stops_of(reached(tmp_path, traces))} == {kind}
