"""The works of every contender: scheduling, lateness, a burst, a killed worker, two schedulers."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence

from rivals.cell import Cell
from rivals.contender import NOTHING, Cast, Contender, Settings
from rivals.process import INTERRUPTED

ONE_BY_ONE, IN_BULK = 100, 500
SCATTERED, WINDOW, BURST = 100, 12.0, 500
AHEAD, BURST_AHEAD = 2.0, 5.0
GIVE_UP_AFTER, QUIET, MIDDLE = 60.0, 7.0, 1.0
TAKEN_OVER_WITHIN, TWICE_FOR, SETTLE_IN = 45.0, 10, 3.0
"""Seconds."""


def scheduling(contender: Contender) -> Iterator[Cell]:
    """Measure calls due in an hour, without workers."""
    with contender.clerk() as clerk:
        single = clerk.request("hour", count=ONE_BY_ONE)
        bulk = clerk.request("bulk", count=IN_BULK)
    yield Cell("schedule a call in an hour, ms", single["wall"])
    yield Cell("  CPU of the client, ms", single["cpu"])
    yield Cell(f"  {IN_BULK} in bulk, ms each", bulk and bulk["wall"], words="" if bulk else "no bulk")


def punctual(cast: Cast) -> Iterator[Cell]:
    """Measure starts against random due times."""
    jitter_draw, first = random.Random(42), time.time() + AHEAD  # noqa: S311 - the same spread for everybody
    dues = sorted(round(first + jitter_draw.random() * WINDOW, 3) for _ in range(SCATTERED))
    cast.client.request("at", dues=dues)
    late = _late(cast.runs.wait_for(SCATTERED, dues[-1] + GIVE_UP_AFTER, dues[-1] + QUIET))
    if not late:
        raise RuntimeError("nothing ran")
    places = {"earliest": 0, "p50": len(late) // 2, "p99": -1 - len(late) // 100, "latest": -1}
    for name, place in places.items():
        yield Cell(f"{SCATTERED} at random instants, ms after: {name}", 1e3 * late[place])
    yield Cell("  of them ran", float(len(late)))


def burst(cast: Cast, suffix: str = "") -> Iterator[Cell]:
    """Measure many calls due at one instant."""
    done, due = len(cast.runs.read()), round(time.time() + BURST_AHEAD, 3)
    cast.client.request("at", dues=[due] * BURST)
    in_time = time.time() < due
    runs = cast.runs.wait_for(done + BURST, due + GIVE_UP_AFTER, due + QUIET)[done:]
    late = _late(runs)
    yield Cell(
        f"{BURST} at one instant{suffix}, s until the last start",
        late[-1] if late else None,
        words="" if in_time else "scheduling took too long",
    )
    yield Cell(f"  of these ran{suffix}", float(len(runs)))


def killed(contender: Contender, settings: Settings = NOTHING, suffix: str = "") -> Iterator[Cell]:
    """Kill a worker in the middle of a run, and start another."""
    with contender.apart(settings) as cast:
        cast.client.request("hang", due=round(time.time() + AHEAD, 3))
        if not cast.runs.wait_for(1, time.time() + GIVE_UP_AFTER):
            raise RuntimeError("the run to be killed did not start")
        INTERRUPTED.wait(MIDDLE)
        cast.worker.kill()
        died = time.time()
        with cast.another() as worker:
            observer = worker if cast.client is cast.worker else cast.client
            state = observer.request("state")
            runs = cast.runs.wait_for(2, died + TAKEN_OVER_WITHIN)
    again = runs[1]["at"] - died if len(runs) > 1 else None
    yield Cell(
        f"a worker is killed{suffix}: run again after, s",
        again,
        words="" if again else f"not in {TAKEN_OVER_WITHIN:.0f} s",
    )
    yield Cell(f"  right after, the store says{suffix}", words=state)


def twice(contender: Contender) -> Iterator[Cell]:
    """Run two schedulers with one job for ten seconds."""
    with contender.twins() as runs:
        began = time.time() + SETTLE_IN
        INTERRUPTED.wait(SETTLE_IN + TWICE_FOR + 1)
        found = [run for run in runs.read() if began <= (run["due"] or run["at"]) < began + TWICE_FOR]
    yield Cell(f"two schedulers, one job each second: runs in {TWICE_FOR} s", float(len(found)))


def _late(runs: Sequence[Mapping[str, float]]) -> list[float]:
    return sorted(run["at"] - run["due"] for run in runs)
