"""The local cloud: the embedded engine, with the API, the console and an outbox on one port.

::

                   one port ─┬─ /api/v1 ── LocalGateway ── api ─┐
                             ├─ /: the console                  │
                             ├─ /outbox: what was sent          ▼
    another process ─────────┼──────────────────────── one SQLite file ── Engine ── the app's handlers
    events of other SDKs ────┴─ AwsRequests ── the bus ──────────────────────┘ └── LocalNotifications

The steps are those of a deployment; tables are in a file, which other processes open too, and messages and
timers in memory. With a setup, the tables are on moto, beside those of the handlers.
"""

from __future__ import annotations

import gc
import logging
import tempfile
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from werkzeug.wrappers import Request, Response

from duetime.api import PREFIX
from duetime.api.authenticator import check_access
from duetime.app import App
from duetime.clock import SystemClock
from duetime.console import ConsoleConfig, Site
from duetime.embedded.embedded import Engine
from duetime.environment import FILE
from duetime.errors import DeclarationError, OperationFailed
from duetime.jobs.reconcile import Reconciled
from duetime.lambdas import api
from duetime.local.aws_requests import AwsRequests
from duetime.local.environment import ACCOUNT, REGION, Environment, for_another_process
from duetime.local.gateway import LOCAL_TENANT, LocalGateway
from duetime.local.metrics import Metrics
from duetime.local.notifications import SENDER, choose_everything
from duetime.local.options import LocalOptions
from duetime.local.outbox import Outbox
from duetime.local.outbox_pages import PATH as OUTBOX
from duetime.local.outbox_pages import OutboxPages
from duetime.local.steps import FileSteps, LocalSteps
from duetime.local.welcome import exports, page, upcoming_runs
from duetime.local.wsgi_app import EXPORTS, START, Server, WsgiApp
from duetime.model.action import Action
from duetime.model.job import Job, Origin
from duetime.model.selection import LARGEST_PAGE
from duetime.ports.run_logs import MOST_LINES, LogLine, LogPage
from duetime.scheduler import Scheduler
from duetime.settings import Settings, check_variables
from duetime.sqlite.rows import Found
from duetime.telemetry.tracebacks import traceback_of

_LATEST = 20_000
"""The most lines that are kept, of all actions."""


class LocalRunLogs(logging.Handler):
    """Keeps the lines that name an action.

    See `duetime.ports.run_logs.RunLogs`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[tuple[tuple[object, object], LogLine]] = deque(maxlen=_LATEST)

    def __enter__(self) -> Self:
        """Keep duetime's lines and those of handlers, from now on."""
        logging.getLogger("duetime").addHandler(self)
        return self

    def __exit__(self, *_error: object) -> None:
        logging.getLogger("duetime").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        fields = vars(record)
        if "action" not in fields or "tenant" not in fields:
            return
        raised = record.exc_info[1] if record.exc_info else None
        message, reason = record.getMessage(), fields.get("reason")
        line = LogLine(
            at=datetime.fromtimestamp(record.created, UTC),
            level=record.levelname,
            message=f"{message}: {reason}" if reason else message,
            exception=None if raised is None else traceback_of(raised),
        )
        self._lines.append(((fields["tenant"], fields["action"]), line))

    def lines(self, action: Action, worker: str, since: datetime, until: datetime) -> LogPage:
        """See `duetime.ports.run_logs.RunLogs`."""
        del worker  # a local cloud has a single one
        mine = action.tenant_id, action.id
        found = [line for key, line in [*self._lines] if key == mine and since <= line.at <= until]
        found.sort(key=lambda line: line.at)
        return LogPage(found[:MOST_LINES], len(found) <= MOST_LINES)


_CONSOLE = ConsoleConfig(PREFIX.removeprefix("/"), links=(("Outbox", OUTBOX), ("This local cloud", START)))

_COLLECT_AFTER = 2_000, 10, 1_000
"""The thresholds of Python's garbage collector, by generation."""

_ONE = threading.Lock()
"""Held by the local cloud of this process, whose environment it sets."""

log = logging.getLogger(__name__)
news = logging.getLogger("duetime.local.news")
"""Lines for the terminal, beside the runs."""


class LocalCloud:
    """Runs an app in this process: ``with LocalCloud(app) as cloud: cloud.scheduler()…``.

    A process runs one local cloud at a time; each starts empty, or with the file in the folder
    `LocalOptions.data`: then ``cloud.found`` describes the actions that an earlier process left there.
    ``cloud.metrics`` holds what its steps measure. ``cloud.outbox`` holds the events, mails and topic
    messages that they send.

    Args:
        app: the cloud runs its handlers and jobs.
        options: the cloud's options.

    Raises:
        OperationFailed: at the start, if another program uses its port; or at the start, if this process
            already runs a local cloud; or at the start, if the folder can be neither created nor used.
        SettingsError: the settings contradict each other.
    """

    def __init__(self, app: App, options: LocalOptions | None = None) -> None:
        self.app, self.options = app, options or LocalOptions()
        settings = self.options.settings
        self.settings = replace(settings, metric_types=settings.metric_types or "*")
        if settings.events != "off":
            topic = f"arn:aws:sns:{REGION}:{ACCOUNT}:{settings.prefix}notifications"
            self.settings = replace(
                self.settings, mail_from=settings.mail_from or SENDER, topic_arn=settings.topic_arn or topic
            )
        self._clock = SystemClock()
        self.metrics = Metrics(self.settings, lambda name: name in self.app.handlers)
        self.outbox, self._run_logs = Outbox(), LocalRunLogs()
        self._site, self._environment = Site(_CONSOLE), Environment()
        self.found: Found | None = None
        self._forward: Callable[[Request], Response] | None = None
        self._undo = ExitStack()

    def start(self) -> None:
        """Start everything and return when it answers; a failed start is undone."""
        check_variables()
        if not _ONE.acquire(blocking=False):
            raise OperationFailed("a local cloud already runs in this process; stop it first")
        with ExitStack() as undo:
            undo.callback(_ONE.release)
            self._server = Server(self.options.port)
            undo.callback(self._server.stop)
            undo.callback(self._environment.restore)
            undo.enter_context(self._run_logs)
            make, self._places = undo.enter_context(self._tables())
            self._environment.use(self.settings)
            engine = self._engine = Engine(
                self.app,
                self.settings,
                make,
                concurrency=self.options.concurrency,
                message_doubles=self.options.message_doubles,
                outbox=self.outbox,
                linked=self._linked,
                meter=self.metrics,
            )
            undo.callback(self._stop_engine)
            self._is_deployed(engine.cloud.reconciled)
            if isinstance(engine.cloud, FileSteps) and self.options.data is not None:
                self.found = engine.cloud.found
            if self.options.mail_to:
                choose_everything(self.options.mail_to, engine.cloud.ports, self._clock)
            engine.start()
            self._start_answering()
            undo.callback(self._server.stop)  # before the engine is stopped
            self._collect_seldom(undo)
            self._undo = undo.pop_all()

    @contextmanager
    def _tables(self) -> Iterator[tuple[Callable[..., LocalSteps], Mapping[str, str]]]:
        """Return what makes the steps, and the variables by which other processes find the tables."""
        if self.options.setup is not None:
            from duetime.local.moto import (  # noqa: PLC0415 - moto takes a second to load
                MotoSteps,
                forwarder,
                moto_server,
            )

            with moto_server() as url:
                self._forward = forwarder(url)
                places = {"AWS_ENDPOINT_URL": url}
                self._environment.use_dummy_credentials(places)
                self.options.setup()
                places["AWS_ENDPOINT_URL_EVENTBRIDGE"] = self.url  # which does not answer before
                self._environment.use_dummy_credentials(places)
                yield MotoSteps, places
            return
        with tempfile.TemporaryDirectory(prefix="duetime-") as temporary:
            file = _file_in(self.options.data or Path(temporary))
            places = {"AWS_ENDPOINT_URL": self.url, FILE: str(file)}
            self._environment.use_dummy_credentials(places)
            yield lambda app, **options: FileSteps(app, path=file, **options), places

    def _linked(self) -> Settings:
        """Return the settings, with which mails link to the console."""
        return replace(
            self.settings, console_url=self.settings.console_url or (self.url if self.has_console else "")
        )

    def _collect_seldom(self, undo: ExitStack) -> None:
        """Spare the runs full collections: one over the modules or 10,000 rows delays them by 0.2 s."""
        undo.callback(gc.set_threshold, *gc.get_threshold())
        gc.set_threshold(*_COLLECT_AFTER)
        gc.freeze()
        undo.callback(gc.unfreeze)

    def _stop_engine(self) -> None:
        longest = self.options.stop_within
        if left := self._engine.stop(longest):
            log.warning("%d still running after %g s, left behind", left, longest.total_seconds())

    def _start_answering(self) -> None:
        self._make_api()
        gateway = LocalGateway(
            lambda event: self._api(event, None),
            self._clock,
            tenant=self.settings.only_tenant or LOCAL_TENANT,
        )
        requests = AwsRequests(
            self._engine.cloud.event, lambda: self.settings.event_bus, self._clock, self._forward
        )
        pages = {START: self._page, EXPORTS: lambda: exports(self.environment)}
        self._server.start(
            WsgiApp(gateway, requests, pages, OutboxPages(self.outbox, self.metrics), self._site)
        )

    def _make_api(self) -> None:
        self._api = api.make_handler(
            self._engine.cloud.settings,
            self.app,
            backends=self._engine.cloud.ports,
            run_logs=self._run_logs,
            worker_concurrency=self.options.concurrency,
        )

    def redeploy(self, *, app: App | None = None, **changes: Any) -> None:
        """Deploy again with changed settings, such as ``enabled=False``.

        Data stays; started runs finish unchanged.

        Args:
            app: replaces the app and its jobs.
            changes: the changed settings.

        Raises:
            DeclarationError: the app is incomplete, or has another worker; this cloud has a single one.
            SettingsError: the settings are invalid.
        """
        if app is not None and app.worker != self.app.worker:
            raise DeclarationError(
                f"the local cloud runs the worker {self.app.worker!r}, and the app's is {app.worker!r}"
            )
        settings, app = replace(self.settings, **changes), app or self.app
        check_access(settings)
        reconciled = self._engine.deploy(app, settings)
        self.settings, self.app = settings, app
        self._environment.use(settings)
        self._make_api()
        self._is_deployed(reconciled)
        for line in reconciled.changes:
            news.info(line)

    def _is_deployed(self, reconciled: Reconciled) -> None:
        if reconciled.changes:
            kinds = Counter(line.partition(" ")[0] for line in reconciled.changes)
            news.info("jobs: %s", ", ".join(f"{count} {kind}" for kind, count in kinds.items()))

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
        return for_another_process(self.url, self._places, self.settings)

    def scheduler(self, *, tenant_id: str = "", actor: str = "local") -> Scheduler:
        """Return a scheduler on this cloud's tables, by default of the only tenant, or of ``acme``."""
        ports = self._engine.cloud.ports
        tenant_id = tenant_id or self.settings.only_tenant or LOCAL_TENANT
        return Scheduler(ports.store, tenant_id=tenant_id, actor=actor, **ports.of_schedulers(self.settings))

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs that the app declares, as stored now."""
        listed = self.scheduler().jobs.list(limit=LARGEST_PAGE)
        return [job for job in listed if job.name in self.app.jobs and job.origin is Origin.CODE]

    def _page(self) -> str:
        return page(
            self.app,
            self.settings,
            self.url,
            self.environment,
            upcoming_runs(self.jobs, self._clock.now()),
            folder=self.options.data,
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


def _file_in(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OperationFailed(
            f"the folder {folder} cannot be used: {error.strerror}; choose another"
        ) from error
    return folder / "duetime.db"
