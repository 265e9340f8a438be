"""Schedulers that lack a guard of the protocol, each under the rule that it breaks."""

from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

from duetime import admission
from duetime.action import Status
from duetime.job_ports import Hold
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.plan import Plan
from duetime.ports import DuePage

CLAIM = MemoryStore.claim


def with_skew(skew):
    def claim(self, ref, terms):
        return CLAIM(self, ref, replace(terms, skew=skew))

    return lambda: patch.object(MemoryStore, "claim", claim)


def without_fence():
    def held(self, claimed):
        row = self.get(claimed.ref)
        return row if row is not None and row.status is Status.PROCESSING else None

    return patch.object(MemoryStore, "held", held)


def without_lock():
    return patch.object(admission, "_contend", lambda *_: admission.Go(Hold.NOTHING))


def without_fencing_off():
    return patch.object(MemoryJobStore, "_fence_off", lambda *_: None)


def cursor_first():
    def write(self, job, step):
        if not self._jobs.move_cursor(job, step.cursor, step.attend_at, missed=step.missed):
            return False
        for row in step.rows:
            self._actions.put(row)
        return True

    return patch.object(Plan, "_write", write)


def without_comparing_the_cursor():
    def move_cursor(self, job, cursor, attend_at, *, missed=()):
        self._keep_spans(job.ref, missed)
        self._jobs[job.ref] = replace(self._jobs[job.ref], cursor=cursor, attend_at=attend_at)
        return True

    return patch.object(MemoryJobStore, "move_cursor", move_cursor)


def without_refusals():
    return patch.object(admission, "_refusal", lambda *_: None)


def without_looking_at_former_versions():
    return patch.object(admission, "_unless_begun", lambda *_: None)


def without_looking_again():
    return patch.object(MemoryStore, "due", lambda *_, **__: DuePage((), None))


def without_tenants():
    def newest_first(self, tenant_id, places, before):
        rows = [row for row in self.rows() if "." not in row.id and row.id < before]
        return iter(sorted(rows, key=lambda row: row.id, reverse=True))

    return patch.object(MemoryStore, "_newest_first", newest_first)


OFTEN = {
    "1: a lease that lives is not taken over": with_skew(-timedelta(days=1)),
    "1: a settle with an old fence changes nothing": without_fence,
    "1: no two runs of a job hold its lock": without_lock,
    "2: what is overdue is looked at again": without_looking_again,
    "4: rows come first and the cursor second": cursor_first,
    "7: a list is one tenant's": without_tenants,
    "9: a retired occurrence does not run": without_refusals,
}

SELDOM = {
    "1: a lease counts as ended only after the skew": with_skew(timedelta(0)),
    "1: whoever loses the lock is fenced off": without_fencing_off,
    "3: no nominal time is run under two versions": without_looking_at_former_versions,
    "4: the cursor is moved by compare-and-set": without_comparing_the_cursor,
}
