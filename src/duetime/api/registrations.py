"""Registrations of request bodies."""

from __future__ import annotations

from datetime import timedelta

from duetime.api.job_requests import JobRequest
from duetime.jobs.register import Registration
from duetime.payload import Payload


def registration_of(
    name: str, handler: Payload | str, body: JobRequest, *, replace: bool = False
) -> Registration:
    """Return the registration of a body.

    Args:
        name: the job's name.
        handler: the payload of its runs, or the name of the handler.
        body: the other fields.
        replace: whether it replaces a job of this name.
    """
    return Registration(
        name=name,
        handler=handler,
        cadences=body.cadences,
        retry=None if body.retry is None else body.retry.policy(),
        overlap=body.overlap,
        catch_up=body.catch_up,
        precision=body.precision,
        failure_threshold=body.failure_threshold,
        deadline=body.deadline,
        within=body.within,
        every_success_within=body.every_success_within,
        after=body.after,
        after_timeout=body.after_timeout,
        title=body.title,
        category=body.category,
        description=body.description,
        idempotency_key=body.idempotency_key,
        idempotency_ttl=None if body.idempotency_ttl is None else timedelta(seconds=body.idempotency_ttl),
        replace=replace,
    )
