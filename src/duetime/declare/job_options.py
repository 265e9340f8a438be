"""The options that a job's decorator takes beside its cadences."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from duetime.model.job import Precision
from duetime.payload import Payload
from duetime.retry import Duration, RetryPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """The options of a job; `duetime.app.App.job` describes them."""

    name: str | None = None
    payload: Payload | None = None
    retry: RetryPolicy | None = None
    title: str = ""
    category: str = ""
    description: str = ""
    overlap: str | None = None
    catch_up: int = 0
    precision: Precision = "second"
    timeout: timedelta = timedelta(minutes=5)
    failure_threshold: int = 3
    deadline: str | None = None
    within: Duration | None = None
    every_success_within: Duration | None = None
    after: str | None = None
    after_timeout: Duration | None = None
