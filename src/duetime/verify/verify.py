"""Runs a verification: starts the checks, follows their probes, judges, and leaves no probe behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from duetime import instant
from duetime._english import counted
from duetime.clock import Clock
from duetime.errors import DuetimeError, OperationFailed
from duetime.model.built_in import PROBE
from duetime.settings import SHORTEST_KEY_TTL
from duetime.verify.lab import FINAL, Api, Json, Lab
from duetime.verify.measures import Measures, measures
from duetime.verify.recipients import NOTIFIED
from duetime.verify.trial import (
    PATIENCE,
    SECOND,
    Check,
    Failed,
    Result,
    Trial,
    executed_once,
    lateness,
    milliseconds,
    outcomes,
    settled,
)

LATEST = 10 * SECOND
"""The greatest lateness at a second boundary; a cold start takes one to three seconds."""

_BOUNDARIES = 10
_LONG = 30
"""Seconds that a run lasts unless it is stopped."""

_ONE_RUN = "one run, not early"
_ARM = "read the log of duetime-arm"


def _one_run(trial: Trial) -> str:
    executed_once(trial.rows)
    return f"one run, {milliseconds(lateness(trial.rows[0])):.0f} ms late"


def _at_boundaries(trial: Trial) -> None:
    begins = trial.soon()
    for number in range(_BOUNDARIES):
        trial.schedule(begins + number * SECOND)


def _at_most_late(trial: Trial) -> str:
    executed_once(trial.rows)
    latest = max(map(lateness, trial.rows))
    actual = f"{counted(len(trial.rows), 'run')}, at most {milliseconds(latest):.0f} ms late"
    if latest > LATEST:
        raise Failed(actual)
    return actual


def _reschedule(trial: Trial) -> None:
    row = trial.schedule(trial.lab.now() + timedelta(hours=1))
    due_at = trial.between_seconds()
    trial.lab.change("reschedule", row, at=instant.text(due_at))
    trial.until = due_at + PATIENCE


def _cancel(trial: Trial) -> None:
    row = trial.schedule(trial.soon())
    trial.lab.cancel(row)
    trial.until = instant.parse(row["due_at"]) + 3 * SECOND


def _no_run(trial: Trial) -> str:
    [row] = trial.rows
    settled(row, "cancelled")
    if row["attempts"]:
        raise Failed("it ran")
    return "no run"


def _stop(trial: Trial) -> None:
    [row] = trial.rows
    if not trial.has_acted and row["status"] == "processing":
        trial.has_acted = True
        trial.lab.cancel(row)


def _stopped(trial: Trial) -> str:
    [row] = trial.rows
    settled(row, "cancelled")
    run = row["attempts"][-1]
    ran = instant.parse(run["finished_at"]) - instant.parse(run["started_at"])
    return f"stopped after {ran.total_seconds():.1f} of {_LONG} s"


def _three_runs(trial: Trial) -> str:
    [row] = trial.rows
    settled(row, "executed")
    return outcomes(row, ["retry", "retry", "executed"])


def _redrive(trial: Trial) -> None:
    [row] = trial.rows
    if not trial.has_acted and row["status"] == "failed" and _is_dead_letter(trial, row):
        trial.has_acted = True
        trial.lab.change("redrive", row)
        trial.waits_for(trial.lab.now())


def _is_dead_letter(trial: Trial, row: Json) -> bool:
    page = trial.lab.api.ask("GET", "dead-letters", query={"correlation_id": trial.lab.run_id})
    return any(item["id"] == row["id"] for item in page["items"])


def _redriven(trial: Trial) -> str:
    [row] = trial.rows
    if row["status"] == "failed" and not trial.has_acted:
        raise Failed("it failed, and is not among the dead letters")
    settled(row, "executed")
    return outcomes(row, ["failed", "executed"])


def _share_a_key(trial: Trial) -> None:
    due_at = trial.soon()
    for _ in range(2):
        trial.schedule(due_at, key=trial.lab.run_id, sleep=2)


def _one_at_a_time(trial: Trial) -> str:
    for row in trial.rows:
        settled(row, "executed")
    runs = [row["attempts"][-1] for row in trial.rows]
    first, second = sorted(runs, key=lambda run: instant.parse(run["started_at"]))
    between = instant.parse(second["started_at"]) - instant.parse(first["finished_at"])
    if between < timedelta(0):
        raise Failed(f"they overlapped for {-between.total_seconds():.1f} s")
    return f"one after the other, {between.total_seconds():.1f} s apart"


def _repeat(trial: Trial) -> None:
    due_at, key = trial.between_seconds(), trial.lab.run_id
    body = {
        "type": trial.type,
        "at": instant.text(due_at),
        "payload": {},
        "correlation_id": key,
        "idempotency_key": key,
        "idempotency_ttl": SHORTEST_KEY_TTL.total_seconds(),
    }
    trial.ids = list(dict.fromkeys(trial.lab.place(body)["id"] for _ in range(2)))
    trial.waits_for(due_at)


def _one_action(trial: Trial) -> str:
    if len(trial.ids) > 1:
        raise Failed(counted(len(trial.ids), "action"))
    executed_once(trial.rows)
    return "one action, one run"


def _taken_over(trial: Trial) -> str:
    [row] = trial.rows
    settled(row, "executed")
    outcomes(row, ["lost", "executed"])
    lost, taken = (instant.parse(run["started_at"]) for run in row["attempts"])
    return f"taken over after {(taken - lost).total_seconds():.0f} s"


def far(ahead: timedelta) -> Check:
    """Return the check of a probe with a timer."""
    return Check(
        "far ahead",
        "one run by a timer, not early",
        start=lambda trial: trial.schedule(trial.soon() + ahead),
        judge=_one_run,
        remedy="read the logs of duetime-arm and duetime-dispatch",
    )


def died(takeover: timedelta) -> Check:
    """Return the check of a worker that dies in a run; another has taken over within `takeover`."""

    def start(trial: Trial) -> None:
        row = trial.schedule(trial.soon(), die=True)
        trial.waits_for(instant.parse(row["due_at"]) + takeover)

    return Check(
        "its worker dies",
        "another run takes over",
        start=start,
        judge=_taken_over,
        remedy="compare lease and queue_visibility with docs/settings.md",
    )


OF_EACH_WORKER: Sequence[Check] = (
    Check("due now", _ONE_RUN, lambda trial: trial.schedule(trial.lab.now() + SECOND), _one_run),
    Check(
        "at second boundaries",
        f"{_BOUNDARIES} runs, none early, at most {LATEST.total_seconds():.0f} s late",
        _at_boundaries,
        _at_most_late,
        remedy="raise worker_concurrency or the worker's memory; compare the cold starts",
    ),
)

OF_ONE_WORKER: Sequence[Check] = (
    Check("rescheduled from far to near", "one run at the new time", _reschedule, _one_run, remedy=_ARM),
    Check(
        "cancelled before it is due",
        "no run",
        _cancel,
        _no_run,
        is_over=lambda _trial: False,  # its time must pass
    ),
    Check(
        "cancelled while it runs",
        "its handler stops early",
        lambda trial: trial.schedule(trial.lab.now() + SECOND, sleep=_LONG),
        _stopped,
        _stop,
        remedy="read the worker's log; compare cancel_poll with docs/settings.md",
    ),
    Check(
        "failing twice",
        "3 runs: retry, retry, executed",
        lambda trial: trial.schedule(trial.soon(), fail=2),
        _three_runs,
    ),
    Check(
        "failing for good",
        "a dead letter; after its redrive 2 runs: failed, executed",
        lambda trial: trial.schedule(trial.soon(), poison=True),
        _redriven,
        _redrive,
        is_over=lambda trial: bool(trial.rows[0]["status"] == "executed"),
    ),
    Check("two with one concurrency key", "one after the other", _share_a_key, _one_at_a_time),
    Check(
        "settled in its own transaction",
        _ONE_RUN,
        lambda trial: trial.schedule(trial.between_seconds(), commit=True),
        _one_run,
        remedy="read the worker's log; compare its rights on the actions table",
    ),
    Check("requested twice", "one action, one run", _repeat, _one_action),
)
"""Of what all workers share, with the probe of one worker."""


_NEEDED = frozenset({"actions:read", "actions:manage", "system"})
_NEEDED_TO_NOTIFY = frozenset({"tenant:admin"})
_CLEANED = timedelta(seconds=30)
_MINUTE = timedelta(minutes=1)

_MOST_FAILED_READS = 5
"""How many reads may fail one after the other: an API under load rejects some."""

Report = Callable[[str], object]
"""Receives a line on the progress."""


def _nothing(_line: str) -> None:
    """Report nothing."""


class Verification(NamedTuple):
    """The results, and what was measured."""

    run_id: str
    results: Sequence[Result]
    measures: Measures

    @property
    def is_ok(self) -> bool:
        """Whether no check has failed."""
        return all(result.state != "failed" for result in self.results)


@dataclass(frozen=True, slots=True)
class Options:
    """The optional checks, each of which takes minutes or affects others."""

    far: bool = False
    chaos: bool = False
    notify: bool = False


class Verify:
    """Verifies one deployment through its API."""

    def __init__(self, api: Api, clock: Clock, options: Options, report: Report = _nothing) -> None:
        self._lab, self._options, self._report = Lab(api, clock), options, report
        self.run_id = self._lab.run_id
        """The correlation id of its probes."""

    def __call__(self, further: Iterable[Callable[[], Iterable[Result]]] = ()) -> Verification:
        """Run all checks, then those of `further`.

        Raises:
            OperationFailed: the caller lacks a permission, the switch is off, or there is no worker.
            DuetimeError: the API does not respond.
        """
        health = self._checked_health()
        first, *_ = probes = sorted(health["probes"], key=lambda name: (name != PROBE, name))
        limits = {name: timedelta(seconds=seconds) for name, seconds in health["limits"].items()}
        trials = [Trial(self._lab, check, name) for name in probes for check in OF_EACH_WORKER]
        trials += [Trial(self._lab, check, first) for check in OF_ONE_WORKER]
        if self._options.far:
            trials.append(Trial(self._lab, far(limits["near_limit"] + _MINUTE), first))
        if self._options.notify:
            trials.append(Trial(self._lab, NOTIFIED, first))
        try:
            results = [_health_result(health), *self._run(trials)]
            results += [result for check in further for result in check()]
            if self._options.chaos:
                takeover = limits["lease"] + limits["clock_skew"] + _MINUTE
                results += self._run([Trial(self._lab, died(takeover), first)])
        finally:
            left = self._clean_up()
        if left:
            remedy = f"duetime actions cancel --correlation-id {self.run_id}"
            results.append(Result("clean-up", "failed", "no probe is left", "; ".join(left), remedy))
        return Verification(self._lab.run_id, results, measures(self._lab, self._lab.health()))

    def _checked_health(self) -> Mapping[str, Any]:
        needed = _NEEDED | (_NEEDED_TO_NOTIFY if self._options.notify else frozenset())
        lacks = needed - {*self._lab.api.ask("GET", "me")["permissions"]}
        if lacks:
            raise OperationFailed(
                f"the caller lacks {', '.join(sorted(lacks))}: use a role that has them, such as admins"
            )
        health = self._lab.health()
        if not health["enabled"]:
            raise OperationFailed("the global switch is off: set enabled=true, deploy, and verify again")
        if not health.get("probes"):
            raise OperationFailed(
                "no worker has published its probe: deploy again with this version of duetime"
            )
        return health

    def _run(self, trials: Sequence[Trial]) -> list[Result]:
        for trial in trials:
            trial.start()
        self._report(f"{len(self._lab.rows)} probes are scheduled, correlation id {self._lab.run_id}")
        self._follow(trials)
        return [trial.result() for trial in trials]

    def _follow(self, trials: Sequence[Trial]) -> None:
        lab, before, failed = self._lab, len(trials), 0
        while True:
            failed = self._refresh(failed)
            waiting = [trial for trial in trials if not trial.is_over]
            if not waiting:
                return
            for trial in waiting:
                trial.step()
            if len(waiting) != before:
                before = len(waiting)
                self._report(f"{before} of {len(trials)} checks are not over")
            lab.clock.wait_until(lab.clock.now() + SECOND)

    def _refresh(self, failed: int) -> int:
        """Read all rows; return how many reads have failed in a row by now.

        Raises:
            DuetimeError: this one failed, after too many others.
        """
        try:
            self._lab.refresh()
        except DuetimeError as error:
            if failed >= _MOST_FAILED_READS:
                raise
            self._report(f"the probes could not be read: {error}")
            return failed + 1
        return 0

    def _clean_up(self) -> list[str]:
        """Cancel and redrive what is left, and return what is not final after half a minute."""
        lab = self._lab
        failed = self._refresh(0)
        left = lab.clean_up()
        ends = lab.now() + _CLEANED
        while not left and lab.now() < ends:
            failed = self._refresh(failed)
            if all(row["status"] in FINAL - {"failed"} for row in lab.rows.values()):
                return []
            lab.clock.wait_until(lab.clock.now() + SECOND)
        return left or [
            f"{row['id']} is {row['status']}" for row in lab.rows.values() if row["status"] not in FINAL
        ]


def _health_result(health: Mapping[str, Any]) -> Result:
    expected = "nothing is ill"
    if health["status"] == "ok":
        return Result("health", "ok", expected, expected)
    return Result("health", "failed", expected, f"ill: {', '.join(health['ill'])}", "duetime doctor")
