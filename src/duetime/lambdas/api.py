"""The Lambda behind API Gateway: a REST proxy event to `duetime.api`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duetime.actions.usage_quotas import UsageQuotas
from duetime.api.app import Handler, make_api, with_headers
from duetime.api.context import Access, ApiContext, Health
from duetime.app import App
from duetime.aws.backends import AwsBackends
from duetime.aws.damaged_rows import DamagedRows
from duetime.environment import USUAL_CONCURRENCY
from duetime.jobs.trusted_reading import KnownPauses
from duetime.ports.notifications import InboxPorts
from duetime.ports.run_logs import RunLogs
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.embedded.cloud import CloudPorts


def make_handler(
    settings: Settings,
    app: App,
    *,
    backends: AwsBackends | CloudPorts | None = None,
    runbook: str | None = None,
    run_logs: RunLogs | None = None,
    worker_concurrency: int = USUAL_CONCURRENCY,
) -> Handler:
    """Return the handler of API Gateway's events.

    Args:
        settings: the deployment's.
        app: its payload models limit what may be scheduled and registered; its handlers are not called.
        backends: by default AWS'.
        runbook: the address of the operators' runbook; None if unset.
        run_logs: the logs of the workers; by default CloudWatch Logs.
        worker_concurrency: the calls that a worker handles at once.
    """
    backends = backends or AwsBackends(settings)
    clock = backends.clock
    inboxes = InboxPorts(backends.preferences, backends.inbox)
    api = ApiContext(
        backends.store,
        backends.job_ports,
        app,
        clock,
        settings,
        backends.undelivered,
        inboxes,
        backends.run_counts,
        KnownPauses(backends.pauses, clock),
        UsageQuotas(backends.usage_counts, clock, settings),
        backends.limits,
        run_logs or backends.run_logs,
        worker_concurrency,
    )
    access = Access(backends.grants, backends.audit_trail)
    waiting = backends.waiting_failures if settings.made.failure_queue else None
    health = Health(backends.bookmarks, waiting, runbook)
    api_handler = make_api(api, health, access, prefix=settings.api_prefix)
    reporting = DamagedRows(settings, "api").around(api_handler)
    return with_headers(reporting, settings.console_origin)
