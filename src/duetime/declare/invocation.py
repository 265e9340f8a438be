"""Prepare a run: its handler, its parsed payload, and the facts of its attempt."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from duetime._english import counted
from duetime.clock import Clock
from duetime.declare.handler import Handler
from duetime.errors import UnknownType
from duetime.model.action import Action
from duetime.model.built_in import is_forged
from duetime.model.job import is_manual
from duetime.model.run import Checkpointing, Committing, ExternalWork, Run
from duetime.payload import Payload
from duetime.retry import Fatal
from duetime.settings import Settings


def resolve_handler(
    action: Action, handlers: Mapping[str, Handler], settings: Settings
) -> tuple[Handler, Payload | None]:
    """Return the handler of a claimed action, and its parsed payload.

    Raises:
        Fatal: no worker can run it.
        UnknownType: `handlers` has no handler for its type.
        InvalidPayload: the handler's model rejects its payload.
    """
    if action.recoveries > settings.max_recoveries:
        times = counted(action.recoveries, "time")
        raise Fatal(
            f"its run was lost {times} (its worker died, or a heartbeat was missed)"
            if action.hand_over
            else f"its worker died {times} in the middle of a run"
        )
    if is_forged(action, settings):
        raise Fatal(f"the type {action.type} is reserved for duetime's own actions, and this is none of them")
    handler = handlers.get(action.type)
    if handler is None:
        raise UnknownType(action.type, handlers)
    if handler.job is not None and action.job is None:
        raise Fatal(f"{handler.name} is the handler of a job: only runs of a job may call it")
    if handler.job is not None and action.job != handler.job.name and not is_manual(handler.job):
        raise Fatal(f"{handler.name} is the handler of a job with cadences: no other job may call it")
    if action.payload is None and action.payload_size:
        raise Fatal("its payload, an item of its own, is gone")
    if handler.payload is not None and action.payload_version > handler.version:
        raise Fatal(
            f"its payload is of version {action.payload_version}, and no deployed worker reads more than"
            f" {handler.version}: deploy one that does, then redrive it"
        )
    return handler, handler.read(action.payload, action.payload_version)


def make_run(
    action: Action,
    handler: Handler,
    clock: Clock,
    committing: Committing,
    stop: threading.Event,
    *,
    checkpointing: Checkpointing,
    external: ExternalWork,
) -> Run:
    """Return the facts of the attempt; its deadline counts from now."""
    return Run(
        id=action.id,
        type=action.type,
        tenant_id=action.tenant_id,
        actor=action.created_by,
        correlation_id=action.correlation_id,
        job=action.job,
        cadence=action.cadence,
        trigger=action.trigger,
        depth=action.depth,
        attempt=action.attempt,
        fence=action.fence,
        nominal_at=action.nominal_at,
        due_at=action.due_at,
        deadline=clock.now() + handler.timeout,
        clock=clock,
        log=logging.LoggerAdapter(_handlers_log, _log_fields(action)),
        stop=stop,
        committing=committing,
        checkpointing=checkpointing,
        external=external,
    )


def _log_fields(action: Action) -> dict[str, object]:
    """Return the fields by which the lines of a run are found, and kept from other tenants."""
    return {
        "action": action.id,
        "type": action.type,
        "tenant": action.tenant_id,
        "attempt": action.attempt,
    }


_handlers_log = logging.getLogger("duetime.handlers")
