"""Runs a verification: starts the checks, follows their probes, judges, and leaves no probe behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from duetime.clock import Clock
from duetime.errors import DuetimeError
from duetime.model.built_in import PROBE
from duetime.verify.checks import OF_EACH_WORKER, OF_ONE_WORKER, died, far
from duetime.verify.lab import FINAL, Api, Lab
from duetime.verify.measures import Measures, measures
from duetime.verify.recipients import NOTIFIED
from duetime.verify.trial import SECOND, Result, Trial

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


class NotVerifiable(DuetimeError, RuntimeError):
    """Nothing can be verified; the message names the reason and the remedy."""

    code = "not-verifiable"


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
            NotVerifiable: the caller lacks a permission, the switch is off, or there is no worker.
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
            raise NotVerifiable(
                f"the caller lacks {', '.join(sorted(lacks))}: use a role that has them, such as admins"
            )
        health = self._lab.health()
        if not health["enabled"]:
            raise NotVerifiable("the global switch is off: set enabled=true, deploy, and verify again")
        if not health.get("probes"):
            raise NotVerifiable(
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
