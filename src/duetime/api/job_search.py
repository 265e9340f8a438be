"""Jobs found by text and state. No index holds these: a bounded number of rows is compared, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from aws_lambda_powertools.event_handler.request import Request

from duetime.api.context import ApiContext
from duetime.api.views import View
from duetime.errors import NotFound
from duetime.ids import SYSTEM_TENANT
from duetime.jobs.jobs import cursor_after
from duetime.model.action import ActionRef
from duetime.model.job import Job

MOST_COMPARED = 1_000
"""The most jobs that one request compares."""
_PAGE = 100


JobState = Literal["failing", "retrying", "paused", "running"]
"""A state of declared jobs; `JobCountsView` explains each."""


class FoundJobs(NamedTuple):
    """The jobs of a page that match."""

    jobs: list[Job]
    compared: int
    cursor: str | None


class JobCountsView(View):
    """How many jobs a caller sees, by state."""

    total: int
    """All jobs that were compared, those that are no longer declared included."""
    own: int
    """Those of them that duetime runs for itself."""
    failing: int
    """The last run failed, or waits for its next attempt."""
    retrying: int
    """The run that holds the lock waits for its next attempt."""
    paused: int
    """The job or one of its cadences is paused."""
    running: int
    """A run holds the lock, and is not between two attempts."""
    more: bool
    """Whether there are more jobs: at most 1,000 are compared."""


class JobSearch:
    """Compares the jobs that a caller sees."""

    def __init__(self, api: ApiContext, request: Request) -> None:
        self._store, self._jobs = api.store, api.scheduler(request).jobs
        self._page: Sequence[Job] = ()
        self._is_retrying: dict[ActionRef, bool] = {}

    def __call__(self, text: str, state: JobState | None, *, limit: int, cursor: str | None) -> FoundJobs:
        """Return the next jobs that match, by name; at most so many.

        Args:
            text: has to be in the name, the title or the category; upper and lower case are equal.
            state: the state that they have to be in.
            limit: the most jobs.
            cursor: where the page before ended.
        """
        found, compared, sought = list[Job](), 0, text.strip().casefold()
        for job, following in self._walk(cursor):
            compared += 1
            if _has(job, sought) and (state is None or self.is_in(job, state)):
                found.append(job)
            if len(found) == limit or compared == MOST_COMPARED:
                return FoundJobs(found, compared, following)
        return FoundJobs(found, compared, None)

    def counts(self) -> JobCountsView:
        """Return the number of jobs in each state."""
        counts, total, own, more = dict.fromkeys(_TESTS, 0), 0, 0, False
        for job, following in self._walk(None):
            total += 1
            own += is_own(job)
            for state in _TESTS:
                counts[state] += self.is_in(job, state)
            if total == MOST_COMPARED:
                more = following is not None
                break
        return JobCountsView(total=total, own=own, more=more, **counts)

    def is_in(self, job: Job, state: JobState) -> bool:
        """Return whether a declared job is in a state."""
        return job.removed_at is None and _TESTS[state](self, job)

    def is_retrying(self, job: Job) -> bool:
        """Return whether the run that holds the lock waits for its next attempt."""
        if job.running is None:
            return False
        if job.running not in self._is_retrying:
            self._read_runs()
        return self._is_retrying[job.running]

    def _read_runs(self) -> None:
        """Read the rows of the runs that hold the locks of the page's jobs; a damaged one is no retry."""
        running = [job.running for job in self._page if job.running is not None]
        rows = {row.ref: row for row in self._store.get_rows(running, damaged=[])}
        self._is_retrying = {ref: ref in rows and rows[ref].is_retrying for ref in running}

    def _walk(self, cursor: str | None) -> Iterator[tuple[Job, str | None]]:
        """Yield each job with the cursor that begins after it; None after the last one."""
        while True:
            page = self._jobs.list(limit=_PAGE, cursor=cursor)
            self._page = tuple(page)
            for number, job in enumerate(page, start=1):
                yield job, page.cursor if number == len(page) else cursor_after(job)
            if (cursor := page.cursor) is None:
                return


_TESTS: dict[JobState, Callable[[JobSearch, Job], bool]] = {
    "failing": lambda search, job: job.tally.consecutive_failures > 0 or search.is_retrying(job),
    "retrying": JobSearch.is_retrying,
    "paused": lambda _, job: bool(job.pauses),
    "running": lambda search, job: job.running is not None and not search.is_retrying(job),
}


def named(api: ApiContext, request: Request, names: list[str]) -> list[Job]:
    """Return the jobs with these names that a caller sees, in their order; unknown ones are left out."""
    jobs, found = api.scheduler(request).jobs, list[Job]()
    for name in dict.fromkeys(names):
        try:
            found.append(jobs.get(name))
        except NotFound:
            continue
    return found


def is_own(job: Job) -> bool:
    """Return whether duetime runs the job for itself."""
    return job.ref.tenant_id == SYSTEM_TENANT and job.name.startswith("duetime-")


def _has(job: Job, sought: str) -> bool:
    texts = (job.name, job.definition.title, job.definition.category)
    return not sought or any(sought in text.casefold() for text in texts)
