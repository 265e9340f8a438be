"""Imports: the cost of each function's process before its first event, beside boto3 with a DynamoDB client.

Each sample is a fresh process that imports a module of ``functions/``, which calls its ``make_handler``. The
processes take turns, and the result is the median of many. CPU time is measured, which other processes
disturb less than the clock on the wall; an import hardly waits for anything.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bench.costs import costliest
from bench.fresh import ENVIRONMENT, ROOT, run_fresh
from bench.result import Budget, Result, at_most, ratio_at_most

ROUNDS, HELP_ROUNDS = 12, 10
BOTO3 = "import boto3; boto3.client('dynamodb')"
_AGAINST = "boto3 with a DynamoDB client"
_STEP, _WORKER, _API = ratio_at_most(1.15), ratio_at_most(1.5), ratio_at_most(1.6)
_FUNCTIONS: Mapping[str, Budget | None] = {
    "arm": _STEP,
    "dispatch": _STEP,
    "sweep": _STEP,
    "catch_up": _STEP,
    "work": _WORKER,
    "api": _API,
    "deploy": None,
}

_SAMPLE = """
import time
before = time.process_time()
{code}
taken = time.process_time() - before
with open("/proc/self/status") as status:  # getrusage has the parent's peak
    peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
print(taken, peak)
"""


class Sample(NamedTuple):
    """Milliseconds of CPU and peak MB of one fresh process."""

    cpu: float
    peak: float


def measure() -> list[Result]:
    """Measure every function, the package alone, and the command's help."""
    codes = {"boto3": BOTO3, "import duetime": "import duetime"}
    codes |= {name: f"import functions.{name}" for name in _FUNCTIONS}
    samples = _samples(codes)
    return [
        *(_time(name, samples, budget, f"import functions.{name}") for name, budget in _FUNCTIONS.items()),
        _time("import duetime", samples, None, None),
        *(_peak(name, samples) for name in _FUNCTIONS),
        _help(),
    ]


def _samples(codes: Mapping[str, str]) -> Mapping[str, list[Sample]]:
    samples: dict[str, list[Sample]] = defaultdict(list)
    for place in range(ROUNDS + 1):
        for name, code in codes.items():
            cpu, peak = run_fresh("-c", _SAMPLE.format(code=code)).stdout.split()
            if place:  # the first round writes the byte code
                samples[name].append(Sample(float(cpu) * 1e3, float(peak) / 1024))
    return samples


def _time(name: str, samples: Mapping[str, list[Sample]], budget: Budget | None, code: str | None) -> Result:
    ours, theirs = ([sample.cpu for sample in samples[which]] for which in (name, "boto3"))
    least = f"{min(ours) / min(theirs):.2f}x by the least"
    return Result(
        bench="imports",
        name=name,
        measured=statistics.median(ours),
        unit="ms",
        reference=statistics.median(theirs),
        against=_AGAINST,
        budget=budget,
        note=f"{least}; beyond boto3: {costliest(code, BOTO3)}" if code else "",
    )


def _peak(name: str, samples: Mapping[str, list[Sample]]) -> Result:
    return Result(
        bench="imports",
        name=f"{name}, peak memory",
        measured=statistics.median(sample.peak for sample in samples[name]),
        unit="MB",
        reference=statistics.median(sample.peak for sample in samples["boto3"]),
        against=_AGAINST,
    )


def _help() -> Result:
    command = Path(sys.executable).with_name("duetime")
    taken, bare = [], []
    for _ in range(HELP_ROUNDS):
        taken.append(_seconds([str(command), "--help"]))
        bare.append(_seconds([sys.executable, "-c", "pass"]))
    return Result(
        bench="imports",
        name="duetime --help, by the wall clock",
        measured=min(taken),
        unit="s",
        reference=min(bare),
        against="for --help: the interpreter alone",
        budget=at_most(0.3),
    )


def _seconds(command: list[str]) -> float:
    before = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=ENVIRONMENT)  # noqa: S603 - our own
    return time.perf_counter() - before
