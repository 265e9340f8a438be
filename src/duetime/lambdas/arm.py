"""The Lambda on the actions table's stream: passes changes to `duetime.wakeups.arm`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from duetime.aws.backends import AwsBackends
from duetime.aws.damaged_rows import DamagedRows
from duetime.aws.items import change_of
from duetime.aws.keys import is_batch, ref_of
from duetime.aws.stuck_work import StuckWork
from duetime.errors import BackendUnavailable, UnreadableRow, truncate
from duetime.lambdas.frame import (
    HANDLED,
    Event,
    Handler,
    LambdaContext,
    from_first,
    time_left,
    unless_standby,
)
from duetime.lambdas.metrics_buffer import MetricsBuffer, WriteMetrics, published, write_metrics
from duetime.model.batch import BatchRef
from duetime.model.change import Change
from duetime.ports.actions import DamagedRow
from duetime.settings import Settings
from duetime.telemetry.transition_log import TransitionLog
from duetime.wakeups.arm import CALLS_AT_ONCE
from duetime.wakeups.assembly import Steps

log = logging.getLogger(__name__)

_RESERVE = timedelta(seconds=15)
"""The part of the function's time in which it sends messages after the last timer."""

FILTERS: tuple[Mapping[str, Any], ...] = (
    {
        "eventName": ["INSERT", "MODIFY"],
        "dynamodb": {"NewImage": {"status": {"S": [{"anything-but": ["processing", "executed", "failed"]}]}}},
    },
    {
        "eventName": ["INSERT", "MODIFY"],
        "dynamodb": {"NewImage": {"due_at": {"S": [{"exists": True}]}, "status": {"S": [{"exists": False}]}}},
    },
    {
        "eventName": ["INSERT", "MODIFY"],
        "dynamodb": {"NewImage": {"status": {"S": ["executed", "failed"]}, "is_awaited": {"BOOL": [True]}}},
    },
    {"eventName": ["REMOVE"], "dynamodb": {"OldImage": {"payload_size": {"N": [{"exists": True}]}}}},
    {"eventName": ["REMOVE"], "dynamodb": {"OldImage": {"idempotency_key": {"S": [{"exists": True}]}}}},
)
"""The filters of the event source.

They pass rows that became pending, rows that left pending without a run, rows whose status duetime does not
write, batches, ended rows that others wait for, ends of hand-overs, and removed rows with a payload or an
idempotency key to remove. Claims, heartbeats, other settles and other expiries never reach the function.
"""


def make_handler(
    settings: Settings,
    *,
    metrics: WriteMetrics = write_metrics,
    in_phase: bool = False,
    most_timers: int | None = None,
) -> Handler[LambdaContext]:
    """Return the handler of stream events; it returns a partial batch response.

    Args:
        settings: the deployment's.
        metrics: writes the metrics of each invocation.
        in_phase: see `Steps`; so does Lambda, where workers pay for waiting.
        most_timers: see `Steps`; Lambda's processes set few, since each costs a call of dispatch.
    """
    backends = AwsBackends(settings)
    clock = backends.clock
    meter = MetricsBuffer(settings, published(backends.routes), metrics)
    notice = TransitionLog(meter)
    stuck = StuckWork(settings, "arm", clock)
    at_once = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="duetime-arm")
    steps = Steps(
        backends,
        meter=meter,
        parallel_map=at_once.map,
        report_stuck=stuck,
        in_phase=in_phase,
        most_timers=most_timers,
    )
    arm = steps.arm
    report_damaged = DamagedRows(settings, "arm")

    def handler(event: Event, context: LambdaContext) -> Event:
        stop_at = clock.now() + time_left(context) - _RESERVE
        records, damaged = event["Records"], list[DamagedRow]()
        changes = [change for record in records if (change := _change(record, damaged))]
        batches = [ref for record in records if (ref := _batch(record))]
        report_damaged(damaged)
        try:
            arm(changes, stop_at=stop_at)
            if any(change.ended_hand_over for change in changes):
                steps.after_hand_over(changes)
            notice(changes)
        except BackendUnavailable as error:
            log.warning("batch not armed, it will come again", extra={"reason": truncate(error)})
            return from_first(records)
        if batches or any(change.new and change.new.is_awaited for change in changes):
            steps.follow([*changes, *batches], stop_at=stop_at)
        return HANDLED

    return meter.around(unless_standby(steps.region, handler, HANDLED))


def _batch(record: Mapping[str, Any]) -> BatchRef | None:
    """Return the batch that a record is of."""
    new = record["dynamodb"].get("NewImage")
    if new is None or not is_batch(new):
        return None
    ref = ref_of(new)
    return BatchRef(ref.tenant_id, ref.id)


def _change(record: Mapping[str, Any], damaged: list[DamagedRow]) -> Change | None:
    """Skip an unreadable record: in a stream it would block all later ones. Add its row to `damaged`."""
    images = record["dynamodb"]
    try:
        return change_of(images)
    except UnreadableRow as error:
        log.exception("stream record cannot be read", extra={"keys": images.get("Keys")})
        damaged.append(DamagedRow(ref_of(images["Keys"]), str(error)))
        return None
