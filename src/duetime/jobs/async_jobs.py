"""The jobs for asyncio: `AsyncScheduler.jobs` is such an object."""

from __future__ import annotations

from duetime.asynchronous.awaited import Awaited, awaited
from duetime.jobs.jobs import Jobs


class AsyncJobs(Awaited[Jobs]):
    """The methods of `Jobs`, awaited."""

    get = awaited(Jobs.get)
    list = awaited(Jobs.list)
    history = awaited(Jobs.history)
    explain = awaited(Jobs.explain)
    pause = awaited(Jobs.pause)
    resume = awaited(Jobs.resume)
    skip_next = awaited(Jobs.skip_next)
    set = awaited(Jobs.set)
    register = awaited(Jobs.register)
    register_and_trigger = awaited(Jobs.register_and_trigger)
    draft = awaited(Jobs.draft)
    definitions = awaited(Jobs.definitions)
    roll_back = awaited(Jobs.roll_back)
    unregister = awaited(Jobs.unregister)
    trigger = awaited(Jobs.trigger)
    backfill = awaited(Jobs.backfill)
    preview_backfill = awaited(Jobs.preview_backfill)
    backfills = awaited(Jobs.backfills)
    get_backfill = awaited(Jobs.get_backfill)
    pause_backfill = awaited(Jobs.pause_backfill)
    resume_backfill = awaited(Jobs.resume_backfill)
    cancel_backfill = awaited(Jobs.cancel_backfill)
