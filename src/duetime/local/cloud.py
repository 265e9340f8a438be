"""The local cloud: moto, the pumps that play AWS' event sources, the deployed handlers, and one port.

::

                      one port ─┬─ /api/v1 ── Gateway ── api ─┐
                                ├─ signed ────────────────────┤
                                ├─ /outbox: what was sent     ▼
                                ├─ /: the console
    Scheduler.schedule ───────────────────────────────────── Gate ── moto
                                                              │
            StreamPump ── arm ─┬── near ── SQS ── QueuePump ──┼── work ── the app's handlers
                               └── far ── SchedulePump ───────┴── dispatch
            StreamPump ── publish ── EventBus ── SQS ── QueuePump ─── notify ── mails, and messages of the topic
                                 SchedulePump, EventBus ── what wakes a job ── dispatch
            SchedulePump ── sweep each minute, catch-up every six hours       ExpiryPump ── time to live

The handlers and back ends are those that a deploy ships. None of them knows that it is here.
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

from duetime.api import PREFIX
from duetime.api.authenticator import check_access
from duetime.app import App
from duetime.aws import action_store, job_ports, undelivered_ports
from duetime.clock import SystemClock
from duetime.console import ConsoleConfig, Site
from duetime.errors import DeclarationError, SettingsError
from duetime.jobs.reconcile import Reconciled
from duetime.local.addresses import ResourceNames
from duetime.local.default_preferences import choose_everything
from duetime.local.emulator import Emulator
from duetime.local.environment import Environment, for_another_process
from duetime.local.event_sources import EventSources
from duetime.local.functions import InvocationOutcome, LocalFunctions
from duetime.local.gate import Gate
from duetime.local.gateway import LocalGateway
from duetime.local.handlers import functions_of
from duetime.local.job_lines import upcoming_runs
from duetime.local.metrics import Metrics
from duetime.local.options import LocalOptions
from duetime.local.outbox import Outbox
from duetime.local.outbox_pages import PATH as OUTBOX
from duetime.local.outbox_pages import OutboxPages
from duetime.local.outbox_tap import tap
from duetime.local.page import page
from duetime.local.server import Server
from duetime.local.stack import Stack
from duetime.local.wsgi_app import START, WsgiApp
from duetime.model.job import Job, Origin
from duetime.model.selection import LARGEST_PAGE
from duetime.scheduler import Scheduler

_CONSOLE = ConsoleConfig(PREFIX.removeprefix("/"), links=(("Outbox", OUTBOX), ("This local cloud", START)))

log = logging.getLogger(__name__)
news = logging.getLogger("duetime.local.news")
"""What somebody at the terminal wants to be told, beside the runs."""


class LocalCloud:
    """Runs an app on a cloud of its own, in this process: ``with LocalCloud(app) as cloud: cloud.scheduler()…``.

    One at a time in a process, as often as you like; each begins with nothing in it. What its functions count and measure
    is in ``cloud.metrics``, what they send to the bus, to people and to the topic in ``cloud.outbox``.

    Args:
        app: its handlers are what the cloud runs.
        options: how it behaves.

    Raises:
        PortUnavailable: when it starts, and something else listens on its port.
        AlreadyRunning: when it starts, and another one runs in this process.
        SettingsError: the settings contradict each other.
    """

    def __init__(self, app: App, options: LocalOptions | None = None) -> None:
        self.app, self.options = app, options or LocalOptions()
        self.settings = self.options.settings
        self._clock = SystemClock()
        self._names = ResourceNames(self.settings.prefix, app.worker)
        self._functions = LocalFunctions(self._clock)
        self.metrics, self.outbox = Metrics(), Outbox()
        self._site = Site(_CONSOLE)
        self._environment = Environment()
        self._undo = ExitStack()

    def start(self) -> None:
        """Start everything, and return when it answers; what fails half-way is undone."""
        with ExitStack() as undo:
            self._server = Server(self.options.port)
            undo.callback(self._server.stop)
            self._environment.use_dummy_credentials()
            undo.callback(self._environment.restore)
            gate = Gate()
            emulator = Emulator(gate, self._clock)
            emulator.start()
            undo.callback(emulator.stop)
            undo.enter_context(tap(self.outbox, lambda: self.settings))
            if self.options.setup is not None:
                self.options.setup()
            self._stack = Stack(self._names, self._clock, max_receives=self.options.max_receives)
            self._deploy()
            undo.callback(self._functions.deploy, {})
            if self.options.mail_to:
                choose_everything(self.options.mail_to, self.settings, self._clock)
            self._start_sources(gate, undo)
            self._start_answering(emulator, undo)
            gc.freeze()  # what was imported stays: a full collection of it would hold up a run by 0.2 s
            undo.callback(gc.unfreeze)
            self._undo = undo.pop_all()

    def _start_sources(self, gate: Gate, undo: ExitStack) -> None:
        sources = EventSources(self.settings, self._names, self._functions, gate, self.options)
        sources.start()

        def stop() -> None:
            longest = self.options.stop_within
            if left := sources.stop(longest):
                log.warning("%d still running after %g s, left behind", left, longest.total_seconds())

        undo.callback(stop)

    def _start_answering(self, emulator: Emulator, undo: ExitStack) -> None:
        gateway = LocalGateway(self._functions, self._names.function("api"), self._clock)
        outbox = OutboxPages(self.outbox, self.metrics)
        self._server.start(WsgiApp(gateway, emulator, self._page, outbox, self._site))
        undo.callback(self._server.stop)  # before the sources are stopped

    def redeploy(self, *, app: App | None = None, **changes: Any) -> None:
        """Deploy again with other settings, such as ``enabled=False``; all data stays, runs under way end as they began.

        Args:
            app: takes the place of the app, with the jobs that it declares now.
            changes: of the settings.

        Raises:
            DeclarationError: the app is not complete, or its worker is another: this cloud has one alone.
            SettingsError: a setting is out of its range, two contradict each other, roles or identities make no sense, or
                `events` is another: what is read of the streams is decided when the cloud starts.
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
        app.complete()  # before anything changes
        self.settings, self.app = settings, app
        for line in self._deploy().changes:
            news.info(line)

    def _deploy(self) -> Reconciled:
        """The tables and the jobs first, the functions last: as on AWS, an old worker puts off what it does not know yet."""
        self.settings, done = self._stack.deploy(self.app, self.settings)
        self._environment.use(self.settings)
        console = self.url if self.has_console else ""
        made = functions_of(self.app, self.settings, self._names, self.metrics.take, console_url=console)
        self._functions.deploy(made)
        if done.changes:
            kinds = Counter(line.partition(" ")[0] for line in done.changes)
            news.info("jobs: %s", ", ".join(f"{count} {kind}" for kind, count in kinds.items()))
        return done

    def stop(self) -> None:
        """Deliver nothing more, let what is running finish for a while, and forget everything."""
        self._undo.close()

    @property
    def url(self) -> str:
        """Where it listens, such as ``http://127.0.0.1:8080``."""
        return self._server.url

    @property
    def has_console(self) -> bool:
        """Whether the console is built, so that it is shown at the URL."""
        return self._site.is_built

    @property
    def environment(self) -> dict[str, str]:
        """What another process needs in its environment to use this cloud through the SDK."""
        return for_another_process(self.url, self.settings)

    def scheduler(self, *, tenant_id: str = "acme", actor: str = "local") -> Scheduler:
        """A scheduler on this cloud's tables."""
        return Scheduler(
            action_store(self.settings),
            tenant_id=tenant_id,
            actor=actor,
            clock=self._clock,
            settings=self.settings,
            jobs=job_ports(self.settings, self._clock),
            undelivered=undelivered_ports(self.settings),
        )

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs that the app declares, as they stand now."""
        listed = self.scheduler().jobs.list(limit=LARGEST_PAGE)
        return [each for each in listed if each.name in self.app.jobs and each.origin is Origin.CODE]

    def invoke(self, function: str, event: Mapping[str, Any] | None = None) -> InvocationOutcome:
        """Call a function now, such as ``sweep``, instead of waiting until its time comes."""
        return self._functions.invoke(self._names.function(function), event or {})

    def client(self, service: Any) -> Any:
        """A boto3 client of this cloud."""
        return boto3.client(service)

    def _page(self) -> str:
        return page(
            self.app, self.settings, self.url, self.environment, upcoming_runs(self.jobs, self._clock.now())
        )

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
