"""Run the bench: ``python -m bench``, or some of it: ``python -m bench lives cpu``."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path

from bench.page import store, write_pages
from bench.report import machine, show, summary, write_json_lines
from bench.result import Result

MEASUREMENTS = {
    "lives": "one action's life: write units and DynamoDB calls",
    "dollars": "dollars for a million lifecycles, and for a month of few",
    "cpu": "CPU of Scheduler.schedule",
    "bulk": "bulk scheduling",
    "batch": "a batch of 100,000: what counting it costs, and when it completes",
    "imports": "import time and peak memory of each function",
    "memory": "CPU and peak memory of the functions, and their price by the size of memory",
    "lazy": "what each lazy import saves",
    "lateness": "start of a handler against its due time, on the local cloud",
    "busy": "the local cloud with 10,000 pending and 500 running",
    "console": "the console's page with 5,000 jobs and 10,000 actions: CPU and requests",
    "fairness": "a quiet tenant beside another's burst of 10,000",
    "rates": "a limit of 1,000 starts a second over a minute, and what a start costs",
    "priority": "high actions, due now, beside 10,000 normal ones",
    "waiting": "200 actions of one concurrency key, one after another: messages and writes",
    "embedded": "500 due at once in memory and in SQLite",
    "scan": "the passes, with more and more that is not due",
    "pages": "pages of 50 from 1,000 and 100,000 actions",
    "stampede": "50 deliveries of one action at the same moment",
    "jobs": "a job's occurrence, a plan, and a reconcile of 1,000 jobs",
    "wheel": "what a row costs the wheel",
    "million": "a model: one million actions due at once",
    "cadences": "parsing a cadence and finding its next time",
    "rivals": "the same work by APScheduler, Celery, procrastinate and huey",
}
_MODULES = {"rivals": "rivals"}
"""Measurements whose module is not in this folder."""


def main() -> int:
    arguments = _arguments()
    output = sys.stderr if arguments.json else sys.stdout
    results: list[Result] = []
    with contextlib.redirect_stdout(output):
        print(machine())
        for name in arguments.names or MEASUREMENTS:
            measured = _measured(name)
            results += measured
            if arguments.page:
                store(measured)
        summary(results)
    if arguments.page:
        write_pages()
    if arguments.json:
        write_json_lines(results, sys.stdout)
    if arguments.out:
        with arguments.out.open("w", encoding="utf-8") as stream:
            write_json_lines(results, stream)
    return 0


def _arguments() -> argparse.Namespace:
    about = "\n".join(f"  {name:10} {title}" for name, title in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure duetime, each figure beside its reference. A missed budget is no failure.",
        epilog=f"measurements:\n{about}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure; all by default")
    parser.add_argument(
        "--json", action="store_true", help="JSON lines on standard output; the table goes to standard error"
    )
    parser.add_argument(
        "--page", action="store_true", help="renew docs/performance.md and docs/comparison.md"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON lines there too")
    arguments = parser.parse_args()
    if unknown := sorted({*arguments.names} - {*MEASUREMENTS}):
        parser.error(f"unknown measurement: {', '.join(unknown)}; choose from {', '.join(MEASUREMENTS)}")
    return arguments


def _measured(name: str) -> list[Result]:
    """Return a measurement's results; an error is printed, and the other measurements continue."""
    began = time.perf_counter()
    try:
        results: list[Result] = import_module(_MODULES.get(name, f"bench.{name}")).measure()
    except Exception:  # noqa: BLE001 - an error must not stop the other measurements
        print(f"\n{name}: the measurement failed")
        traceback.print_exc()
        return []
    show(f"{name}: {MEASUREMENTS[name]} ({time.perf_counter() - began:.0f} s)", results)
    return results


if __name__ == "__main__":
    sys.exit(main())
