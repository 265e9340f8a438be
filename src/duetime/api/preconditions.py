"""Preconditions: a change applies only to the version that the client has read (``ETag``, ``If-Match``).

A job is written under the condition that its revision is the one compared here, so nothing comes between; so
are
preferences. An action is compared before the call, whose own condition is its status alone: another
reschedule in
between is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from duetime.api.errors import RequestError
from duetime.ports.job_store import JobStore

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.request import Request

    from duetime.model.action import Action
    from duetime.model.job import Job, JobSpan
    from duetime.model.preferences import Preferences


def etag_of_action(action: Action) -> str:
    """Return the action's ETag, which changes, claims and settlements replace."""
    changed_at = action.changed and action.changed.at
    return _etag(action.id, action.generation, action.fence, action.status.value, changed_at)


def etag_of_job(job: Job) -> str:
    """Return the job's ETag: of its declaration and of what operators set, not of its plan and runs."""
    settings = (sorted(part.items()) for part in (job.pauses, job.tuning))
    return _etag(
        job.ref, job.version, job.since, job.removed_at, job.registered_at, job.definition, *settings
    )


def etag_of_preferences(chosen: Preferences) -> str:
    """Return the preferences' ETag, which each change replaces."""
    return f'"{chosen.revision}"'


def _etag(*parts: object) -> str:
    return f'"{sha256(" ".join(map(str, parts)).encode()).hexdigest()[:16]}"'


def expected_etags(request: Request) -> frozenset[str]:
    """Return the ETags in ``If-Match``; none without the header, or for ``*``."""
    headers = request.resolved_event.get("headers") or {}
    header = next((value for name, value in headers.items() if name.lower() == "if-match"), "*")
    return frozenset() if header.strip() == "*" else frozenset(part.strip() for part in header.split(","))


def compare(etags: frozenset[str], current: str) -> None:
    """Check that the current ETag is one of the client's.

    Raises:
        RequestError: it has changed meanwhile.
    """
    if etags and current not in etags:
        raise RequestError(
            "precondition-failed",
            f"it has changed meanwhile, and is now {current}; look at it again, then decide",
        )


class _ComparedJobs:
    """A job store that compares the ETag at the first change only; later changes belong to the same call."""

    def __init__(self, jobs: JobStore, etags: frozenset[str]) -> None:
        self._jobs, self._wanted = jobs, etags

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jobs, name)

    def change(self, old: Job, new: Job, *, spans: Sequence[JobSpan] = ()) -> bool:
        compare(self._wanted, etag_of_job(old))
        is_changed = self._jobs.change(old, new, spans=spans)
        if is_changed:
            self._wanted = frozenset()
        return is_changed


def compared(jobs: JobStore, etags: frozenset[str]) -> JobStore:
    """Return a store that rejects a change of a job whose ETag differs."""
    return cast("JobStore", _ComparedJobs(jobs, etags)) if etags else jobs
