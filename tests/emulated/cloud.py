"""The emulated deployment: moto, pollers that behave as AWS' event sources, the handlers, and one port.

::

                   one port ─┬─ /api/v1 ── LocalGateway ── api ─┐
                             ├─ signed requests ────────────────┤
                             ├─ /outbox: what was sent          ▼
                             ├─ /: the console
    Scheduler.schedule ─────────────────────────────────── CallLock ── moto
                                                                │
      StreamPoller ── arm ─┬── near ── SQS ── QueuePoller ──────┼── work ── the app's handlers
                           └── far ── SchedulePoller ───────────┴── dispatch
      StreamPoller ── publish ── LocalEventBus ── SQS ── QueuePoller ── notify ── mails, topic messages
      SchedulePoller, LocalEventBus ── wake-ups of jobs ── dispatch
      SchedulePoller ── sweep each minute, catch-up every six hours
      ExpiryPoller ── time to live

The handlers and back ends are those of a deployment, unchanged.
"""

from __future__ import annotations

import gc
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import boto3
from werkzeug.wrappers import Request, Response

from duetime.actions.usage_quotas import UsageQuotas
from duetime.api import PREFIX
from duetime.api.authenticator import check_access
from duetime.app import App
from duetime.aws import AwsBackends, action_store
from duetime.clock import SystemClock
from duetime.console import ConsoleConfig, Site
from duetime.errors import DeclarationError, SettingsError
from duetime.jobs.reconcile import Reconciled
from duetime.local.cloud import LocalRunLogs
from duetime.local.gateway import LOCAL_TENANT, LocalGateway
from duetime.local.metrics import Metrics
from duetime.local.outbox import Outbox
from duetime.local.outbox_pages import PATH as OUTBOX
from duetime.local.outbox_pages import OutboxPages
from duetime.local.wsgi_app import START, Server, WsgiApp
from duetime.model.job import Job, Origin
from duetime.model.priority import is_high_queue
from duetime.model.quota import has_quotas
from duetime.model.selection import LARGEST_PAGE
from duetime.scheduler import Scheduler
from duetime.settings import check_variables
from tests.emulated.addresses import ResourceNames
from tests.emulated.call_lock import CallLock
from tests.emulated.emulator import Emulator
from tests.emulated.environment import Environment, for_another_process
from tests.emulated.event_sources import EventSources
from tests.emulated.functions import InvocationOutcome, LocalFunctions, functions_of
from tests.emulated.notifications import choose_everything
from tests.emulated.options import EmulatedOptions
from tests.emulated.outbox_tap import tap
from tests.emulated.stack import Stack

_CONSOLE = ConsoleConfig(PREFIX.removeprefix("/"), links=(("Outbox", OUTBOX), ("This local cloud", START)))

_COLLECT_AFTER = 2_000, 10, 1_000
"""The thresholds of Python's garbage collector, by generation."""

log = logging.getLogger(__name__)
news = logging.getLogger("duetime.local.news")
"""Lines for the terminal, beside the runs."""


class EmulatedCloud:
    """Runs an app's handlers as a deployment would: ``with EmulatedCloud(app) as cloud: cloud.scheduler()…``.

    A process runs one at a time; each starts empty. ``cloud.metrics`` holds what its functions measure.
    ``cloud.outbox`` holds the events, mails and topic messages that they send.

    Raises:
        OperationFailed: at the start, if another program uses its port, or this process already runs one.
        SettingsError: the settings contradict each other.
    """

    def __init__(self, app: App, options: EmulatedOptions | None = None) -> None:
        self.app, self.options = app, options or EmulatedOptions()
        settings = self.options.settings
        self.settings = replace(settings, metric_types=settings.metric_types or "*")
        self._clock = SystemClock()
        self._names = ResourceNames(self.settings.prefix, app.worker)
        self._functions = LocalFunctions(self._clock)
        self.metrics = Metrics(self.settings, self.app.handlers.__contains__)
        self.outbox, self._run_logs = Outbox(), LocalRunLogs()
        self._site = Site(_CONSOLE)
        self._environment = Environment()
        self._undo = ExitStack()

    def start(self) -> None:
        """Start everything and return when it answers; a failed start is undone."""
        check_variables()
        with ExitStack() as undo:
            self._server = Server(self.options.port)
            undo.callback(self._server.stop)
            self._environment.use_dummy_credentials()
            undo.callback(self._environment.restore)
            lock = CallLock()
            emulator = Emulator(lock, self._clock)
            emulator.start()
            undo.callback(emulator.stop)
            undo.enter_context(self._run_logs)
            undo.enter_context(tap(self.outbox, lambda: self.settings))
            if self.options.setup is not None:
                self.options.setup()
            self._stack = Stack(self._names, self._clock, max_receives=self.options.max_receives)
            self._deploy()
            undo.callback(self._functions.deploy, {})
            if self.options.mail_to:
                choose_everything(self.options.mail_to, self.settings, self._clock)
            self._start_sources(lock, undo)
            self._start_answering(emulator, undo)
            self._collect_seldom(undo)
            self._undo = undo.pop_all()

    def _collect_seldom(self, undo: ExitStack) -> None:
        """Spare the runs full collections: one over the modules or 10,000 rows delays them by 0.2 s."""
        undo.callback(gc.set_threshold, *gc.get_threshold())
        gc.set_threshold(*_COLLECT_AFTER)
        gc.freeze()
        undo.callback(gc.unfreeze)

    def _start_sources(self, lock: CallLock, undo: ExitStack) -> None:
        sources = EventSources(self.settings, self._names, self._functions, lock, self.options)
        sources.start()

        def stop() -> None:
            longest = self.options.stop_within
            if left := sources.stop(longest):
                log.warning("%d still running after %g s, left behind", left, longest.total_seconds())

        undo.callback(stop)

    def _start_answering(self, emulator: Emulator, undo: ExitStack) -> None:
        tenant = self.settings.only_tenant or LOCAL_TENANT
        gateway = LocalGateway(lambda event: self.invoke("api", event).answer, self._clock, tenant=tenant)
        outbox = OutboxPages(self.outbox, self.metrics)
        pages: dict[str, Any] = {}

        def serve(request: Request) -> Response:
            return Response.from_app(emulator.serve, request.environ)

        self._server.start(WsgiApp(gateway, serve, pages, outbox, self._site))
        undo.callback(self._server.stop)  # before the sources are stopped

    def redeploy(self, *, app: App | None = None, **changes: Any) -> None:
        """Deploy again with changed settings, such as ``enabled=False``.

        Data stays; started runs finish unchanged.

        Args:
            app: replaces the app and its jobs.
            changes: the changed settings.

        Raises:
            DeclarationError: the app is incomplete, or has another worker; this cloud has a single one.
            SettingsError: the settings are invalid, or `events` differs; the streams' filters are fixed at
                the start.
        """
        if app is not None and app.worker != self.app.worker:
            raise DeclarationError(
                f"the local cloud runs the worker {self.app.worker!r}, and the app's is {app.worker!r}"
            )
        settings, app = replace(self.settings, **changes), app or self.app
        check_access(settings)
        if settings.events != self.settings.events:
            raise SettingsError(
                [f"events is {settings.events!r}; this cloud was started with {self.settings.events!r}"]
            )
        needs_queue = app.manifest.deployed(high_priority=settings.high_priority).has_high_queue
        if needs_queue and not any(map(is_high_queue, self.settings.made.queues)):
            raise SettingsError(
                ["a high priority needs a second queue, and this cloud was started without one; restart it"]
            )
        app.complete()  # before anything changes
        self.settings, self.app = settings, app
        for line in self._deploy().changes:
            news.info(line)

    def _deploy(self) -> Reconciled:
        """Deploy tables and jobs, then functions: as on AWS, an old worker postpones new types."""
        self.settings, reconciled = self._stack.deploy(self.app, self.settings)
        self._environment.use(self.settings)
        console = self.url if self.has_console else ""
        functions = functions_of(
            self.app,
            self.settings,
            self._names,
            self.metrics.take,
            console_url=console,
            run_logs=self._run_logs,
            concurrency=self.options.concurrency,
        )
        self._functions.deploy(
            {
                arn: replace(
                    function, handler=self.options.wrap_handler(arn.rpartition(":")[2], function.handler)
                )
                for arn, function in functions.items()
            }
        )
        if reconciled.changes:
            kinds = Counter(line.partition(" ")[0] for line in reconciled.changes)
            news.info("jobs: %s", ", ".join(f"{count} {kind}" for kind, count in kinds.items()))
        return reconciled

    def stop(self) -> None:
        """Stop deliveries, and wait a while for running handlers. Data that is in no folder is discarded."""
        self._undo.close()

    @property
    def url(self) -> str:
        """The URL that it listens on, such as ``http://127.0.0.1:8080``."""
        return self._server.url

    @property
    def has_console(self) -> bool:
        """Whether the console is built and served at the URL."""
        return self._site.is_built

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which another process uses this cloud, also by the command line."""
        return for_another_process(self.url, self.settings)

    def scheduler(self, *, tenant_id: str = "", actor: str = "local") -> Scheduler:
        """Return a scheduler on this cloud's tables, by default of the only tenant, or of ``acme``."""
        quotas = UsageQuotas(AwsBackends(self.settings).usage_counts, self._clock, self.settings)
        return Scheduler(
            action_store(self.settings),
            tenant_id=tenant_id or self.settings.only_tenant or LOCAL_TENANT,
            actor=actor,
            clock=self._clock,
            settings=self.settings,
            jobs=AwsBackends(self.settings, self._clock).job_ports,
            undelivered=AwsBackends(self.settings).undelivered,
            quotas=quotas if has_quotas(self.settings) else None,
        )

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs that the app declares, as stored now."""
        listed = self.scheduler().jobs.list(limit=LARGEST_PAGE)
        return [job for job in listed if job.name in self.app.jobs and job.origin is Origin.CODE]

    def invoke(self, function: str, event: Mapping[str, Any] | None = None) -> InvocationOutcome:
        """Invoke a function now, such as ``sweep``."""
        return self._functions.invoke(self._names.function(function), event or {})

    def client(self, service: Any) -> Any:
        """Return a boto3 client of this cloud."""
        return boto3.client(service)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
