"""The Lambda of timers, job schedules and event rules: passes their inputs to `duetime.wakeups.dispatch`.

==========================================  ====================================================
the input                                   comes from
==========================================  ====================================================
``{"tenant", "id", "type", …}``             an action's timer
``{"job", "tenant"}``                       a job's schedule
``{"job", "tenant", "cadence", "event"}``   a rule, with the matching event
==========================================  ====================================================
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from duetime import ids
from duetime.aws.backends import AwsBackends
from duetime.aws.messages import from_json
from duetime.errors import InvalidArgument, UnreadableMessage
from duetime.lambdas.frame import Event, EventHandler
from duetime.lambdas.metrics_buffer import MetricsBuffer, WriteMetrics, published, write_metrics
from duetime.model.job import JobRef
from duetime.ports.meter import Meter
from duetime.settings import Settings
from duetime.wakeups.assembly import Steps

log = logging.getLogger(__name__)


def make_handler(
    settings: Settings, *, metrics: WriteMetrics = write_metrics, in_phase: bool = False
) -> EventHandler:
    """Return the handler of wakes and events. Lambda repeats a failed call, then uses the failure queue.

    Args:
        settings: the deployment's.
        metrics: writes the metrics of each invocation.
        in_phase: see `Steps`; so does Lambda, where workers pay for waiting.
    """
    backends = AwsBackends(settings)
    meter = MetricsBuffer(settings, published(backends.routes), metrics)
    dispatched = make_dispatch(backends, meter, in_phase=in_phase)
    return meter.around(lambda event, _context: dispatched(event))


def make_dispatch(backends: AwsBackends, meter: Meter, *, in_phase: bool = False) -> Callable[[Event], Event]:
    """Return the function that dispatches one input; the undelivered handler repeats failed ones with it."""
    steps = Steps(backends, meter=meter, in_phase=in_phase)

    def dispatched(event: Event) -> Event:
        if "job" not in event:
            message, _ = from_json(dict(event))
            delay = steps.dispatch(message)
            log.info("dispatched", extra={"action": message.ref.id, "delay": delay})
            return {"id": message.ref.id, "delay": delay}
        ref = _ref_of(event)
        if "event" not in event:
            planned = steps.dispatch_jobs.wake(ref).made
            log.info("woken", extra={"job": ref.name, "planned": planned})
            return {"job": ref.name, "planned": planned}
        cadence, content = event.get("cadence"), event["event"]
        if not isinstance(cadence, str) or not isinstance(content, Mapping) or not content.get("id"):
            raise UnreadableMessage(f"the event of job {ref.name} has no id, or no cadence")
        run = steps.dispatch_jobs.event(ref, cadence, content)
        action_id = None if run is None else run.id
        log.info("event", extra={"job": ref.name, "action": action_id, "event": content["id"]})
        return {"job": ref.name, "id": action_id}

    return dispatched


def _ref_of(event: Event) -> JobRef:
    """Return the job that the input names; jobs of code belong to the system tenant."""
    try:
        tenant = event.get("tenant")
        owner = ids.SYSTEM_TENANT if tenant == ids.SYSTEM_TENANT else ids.tenant(tenant)
        return JobRef(owner, ids.job_name(event["job"]))
    except InvalidArgument as error:
        raise UnreadableMessage(error) from error
