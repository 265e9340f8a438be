"""The apps that the seeded worlds deploy: the same handlers each, and a different choice of jobs."""

import json
import zlib
from asyncio import CancelledError
from datetime import timedelta
from functools import cache

from duetime import App, Batch, Fatal, Payload, Rate, Retry, RetryPolicy, Run, every, interval
from duetime.model.expiry import NO_EXPIRY, Expiry
from duetime.testing import WorkerDied
from tests.proof.debounce_calls import Burst
from tests.proof.hand_overs import Film, hand_over

LONG = {0: 20, 1: 50, 2: 200, 3: 500}
"""Seconds that some of a job's runs last."""

JOB_ENDS = {
    2: ("committed",),
    3: ("badly", "well"),
    6: ("refused", "committed"),
    7: ("badly", "well"),
    9: ("committed",),
    12: ("committed, then badly",),
}

QUICKLY = RetryPolicy(attempts=3, backoff=[40, 200])


class Errand(Payload):
    """Ends after `lasts` seconds, with one of `ends` for each run; the last one repeats."""

    lasts: float = 0
    ends: tuple[str, ...] = ("well",)


class Nobody(Payload):
    """Has no handler."""


class Poison(Payload):
    """Crashes its process."""


class Unprintable(Exception):
    """Its text raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


BAD_ENDS = [
    lambda: ConnectionError("no response"),
    Unprintable,
    CancelledError,
    lambda: SystemExit(3),
    lambda: BaseExceptionGroup("several", [KeyboardInterrupt(), ValueError("one")]),
]


def bad_end(run: Run) -> BaseException:
    """The exception of a failed attempt, drawn from its action and fence."""
    return BAD_ENDS[zlib.crc32(f"{run.id} {run.fence}".encode()) % len(BAD_ENDS)]()


def live(run: Run, seconds: float, end: str) -> None:
    while seconds > 0:
        step = min(seconds, 60)
        run.clock.wait_until(run.now() + timedelta(seconds=step))
        run.raise_if_cancelled()
        seconds -= step
    if end.startswith("committed"):
        run.commit([{"Put": {"Item": {"action": (run.tenant_id, run.id), "fence": run.fence}}}])
    if end == "refused":
        run.commit([{"ConditionCheck": {"Key": run.id}}])
    if end.endswith("badly"):
        raise bad_end(run)
    if end == "again":
        raise Retry(after=90)
    if end == "fatally":
        raise Fatal("it is forbidden")


def live_together(batch: Batch[Errand]) -> None:
    """End each errand as it would end alone, after its time; the exception of the last one passes."""
    *others, last = sorted(batch.items, key=lambda item: item.payload.lasts)
    since = last.run.now()
    for payload, run in others:
        try:
            live(run, (since - run.now()).total_seconds() + payload.lasts, nth(payload.ends, run.attempt))
        except WorkerDied:
            raise
        except BaseException as error:  # noqa: BLE001 - as the worker would
            if run.committed is None:
                batch.fail(run, error)
    live(
        last.run,
        (since - last.run.now()).total_seconds() + last.payload.lasts,
        nth(last.payload.ends, last.run.attempt),
    )


@cache
def app_of(
    choice: int,
    overlaps: tuple[str, ...],
    catch_up: int,
    *,
    many: bool = False,
    rate: Rate | None = None,
    expiry: Expiry = NO_EXPIRY,
) -> App:
    """An app with the jobs of a choice of `CADENCES`, each with an overlap policy.

    With `many`, one call runs several errands.
    """
    app = App()
    expires = {"expires_after": expiry.after, "on_expiry": expiry.on_expiry}
    if many:
        app.action(retry=QUICKLY, timeout=timedelta(minutes=15), many=True, rate=rate, **expires)(
            live_together
        )
    else:

        @app.action(retry=QUICKLY, timeout=timedelta(minutes=15), rate=rate, **expires)
        def errand(payload: Errand, run: Run) -> None:
            live(run, payload.lasts, nth(payload.ends, run.attempt))

    @app.action(retry=QUICKLY, timeout=timedelta(minutes=15))
    def burst(payload: Burst, run: Run) -> None:
        live(run, 45 * (payload.numbers[0] % 2), "badly" if run.attempt == payload.numbers[0] % 3 else "well")

    @app.action(retry=QUICKLY, timeout=timedelta(minutes=15))
    def film(payload: Film, run: Run):
        return hand_over(payload, run)

    @app.action(retry=QUICKLY)
    def poison(payload: Poison, run: Run) -> None:
        raise WorkerDied

    for (name, (_, cadence)), overlap in zip(CADENCES[choice].items(), overlaps, strict=True):
        app.job(
            *cadence,
            name=name,
            retry=QUICKLY,
            overlap=overlap,
            catch_up=catch_up,
            timeout=timedelta(minutes=15),
        )(job_of(name))
    return app


def job_of(name: str):
    def job(run: Run) -> None:
        draw = drawn(name, run.nominal_at)
        live(run, LONG.get(draw, 0), nth(JOB_ENDS.get(draw, ("well",)), run.attempt))

    return job


def drawn(job, nominal_at):
    """A run's length and end are drawn from its nominal time, so that a repeat is the same again."""
    return zlib.crc32(f"{job} {nominal_at}".encode()) % 20


def nth(ends, attempt):
    return ends[min(attempt, len(ends)) - 1]


def end_of(row):
    """What the handler does at the end of the row's last attempt, if it comes so far."""
    if row.payload is not None:
        return nth(json.loads(row.payload).get("ends", ["well"]), row.attempt)
    return (
        "well"
        if row.job is None
        else nth(JOB_ENDS.get(drawn(row.job, row.nominal_at), ["well"]), row.attempt)
    )


CADENCES = [
    {},
    {"press-print": ("skip", [every(minutes=10)])},
    {"press-print": ("skip", [interval(minutes=7)]), "mail-send": ("queue_one", [every(minutes=15)])},
    {
        "press-print": ("skip", [every(minutes=12), every(minutes=20)]),
        "log-rotate": ("allow", [every(minutes=20)]),
    },
    {"mail-send": ("queue_one", [interval(minutes=4)]), "log-rotate": ("allow", [interval(minutes=13)])},
    {"press-print": ("skip", [every(minutes=30)]), "shop-close": ("cancel_running", [every(minutes=6)])},
    {"shop-close": ("cancel_running", [every(minutes=10)]), "mail-send": ("queue_one", [every(minutes=30)])},
]

OVERLAPS = ("skip", "allow", "queue_one", "cancel_running")
