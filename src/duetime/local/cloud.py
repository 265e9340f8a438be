"""The local cloud: moto, the pumps that play AWS' event sources, the deployed handlers, and one port.

::

                      one port ─┬─ /api/v1 ── Gateway ── api ─┐
                                └─ signed ────────────────────┤
                                                              ▼
    Scheduler.schedule ───────────────────────────────────── Gate ── moto
                                                              │
            StreamPump ── arm ─┬── near ── SQS ── QueuePump ──┼── work ── the app's handlers
                               └── far ── SchedulePump ───────┴── dispatch
            SchedulePump ── sweep each minute, catch-up every six hours       ExpiryPump ── time to live

The handlers and back ends are those that a deploy ships. None of them knows that it is here.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import boto3

from duetime.app import App
from duetime.aws import action_store
from duetime.clock import SystemClock
from duetime.local.addresses import Names
from duetime.local.emulator import Emulator
from duetime.local.environment import Environment, for_another_process
from duetime.local.event_sources import EventSources
from duetime.local.front import Front
from duetime.local.functions import Functions, Outcome
from duetime.local.gate import Gate
from duetime.local.gateway import Gateway
from duetime.local.handlers import functions_of
from duetime.local.options import Options
from duetime.local.page import page
from duetime.local.server import Server
from duetime.local.stack import Stack
from duetime.scheduler import Scheduler

log = logging.getLogger(__name__)


class LocalCloud:
    """Runs an app on a cloud of its own, in this process: ``with LocalCloud(app) as cloud: cloud.scheduler()…``.

    One at a time in a process, as often as you like; each begins with nothing in it.

    Args:
        app: its handlers are what the cloud runs.
        options: how it behaves.

    Raises:
        PortUnavailable: when it starts, and something else listens on its port.
        AlreadyRunning: when it starts, and another one runs in this process.
        SettingsError: the settings contradict each other.
    """

    def __init__(self, app: App, options: Options | None = None) -> None:
        self.app, self.options = app, options or Options()
        self.settings = self.options.settings
        self._clock = SystemClock()
        self._names = Names(self.settings.prefix, app.worker)
        self._functions = Functions(self._clock)
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
            self._stack = Stack(self.app, self._names, max_receives=self.options.max_receives)
            self.redeploy()
            undo.callback(self._functions.deploy, {})
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
        gateway = Gateway(self._functions, self._names.function("api"), self._clock)
        self._server.start(Front(gateway, emulator, self._page))
        undo.callback(self._server.stop)  # before the sources are stopped

    def redeploy(self, **changes: Any) -> None:
        """Deploy again with other settings, such as ``enabled=False``; all data stays, runs under way end as they began."""
        self.settings = self._stack.deploy(replace(self.settings, **changes))
        self._environment.use(self.settings)
        self._functions.deploy(functions_of(self.app, self.settings, self._names))

    def stop(self) -> None:
        """Deliver nothing more, let what is running finish for a while, and forget everything."""
        self._undo.close()

    @property
    def url(self) -> str:
        """Where it listens, such as ``http://127.0.0.1:8080``."""
        return self._server.url

    @property
    def environment(self) -> dict[str, str]:
        """What another process needs in its environment to use this cloud through the SDK."""
        return for_another_process(self.url, self.settings)

    def scheduler(self, *, tenant_id: str = "acme", actor: str = "local") -> Scheduler:
        """A scheduler on this cloud's table."""
        store = action_store(self.settings)
        return Scheduler(store, tenant_id=tenant_id, actor=actor, clock=self._clock, settings=self.settings)

    def invoke(self, function: str, event: Mapping[str, Any] | None = None) -> Outcome:
        """Call a function now, such as ``sweep``, instead of waiting until its time comes."""
        return self._functions.invoke(self._names.function(function), event or {})

    def client(self, service: Any) -> Any:
        """A boto3 client of this cloud."""
        return boto3.client(service)

    def _page(self) -> str:
        return page(self.app, self.settings, self.url, self.environment)

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
