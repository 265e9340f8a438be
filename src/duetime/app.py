"""The app: the handlers, jobs and resources that code registered.

Only names registered here are ever resolved to code.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast, overload

from duetime.declare.built_in import probe_handler
from duetime.declare.handler import USUAL_TIMEOUT, Handler, handler_of, timeout_of
from duetime.declare.handler_set import HandlerSet
from duetime.declare.job_declaration import JobDefaults, job_handler_of, stacked_on
from duetime.declare.job_options import JobOptions
from duetime.declare.rate import Rate
from duetime.declare.resources import Factories, Factory, Resources, factory_of
from duetime.declare.signature import Function
from duetime.errors import DeclarationError, UnknownType
from duetime.ids import DEFAULT_WORKER, JobName
from duetime.model.expiry import OnExpiry, expiry_of
from duetime.model.job import Definition
from duetime.model.manifest import Manifest
from duetime.model.priority import Priority, declared_priority
from duetime.payload import Payload
from duetime.retry import Duration, RetryPolicy, policy

if TYPE_CHECKING:
    from duetime.cadence import Cadence
    from duetime.model.breaker import Breaker
    from duetime.scheduler import Scheduler

F = TypeVar("F", bound=Function)

importing: list[str] = []
"""The ``module:name`` that a worker or a command is importing, in any thread: that must not run an app."""


class App:
    """The functions that run when an action is due.

    Each is registered for the payload type in its annotation, or as a job. It remains a plain function.
    """

    def __init__(self, worker: str = DEFAULT_WORKER, *, default_tz: str | None = None) -> None:
        """Make an app.

        Args:
            worker: the name of the worker that runs it.
            default_tz: the IANA zone of cadences without a zone, such as ``"Europe/Paris"``.

        Raises:
            UnknownZone: there is no such zone.
        """
        if default_tz is not None:
            from duetime.cadence.zones import zone  # noqa: PLC0415 - an app without jobs loads no zone

            zone(default_tz)
        self.worker = worker
        self._home = JobDefaults(worker, default_tz)
        self._handlers: dict[str, Handler] = {}
        self._factories = Factories()

    @overload
    def action(self, function: F, /) -> F: ...
    @overload
    def action(
        self,
        function: None = None,
        /,
        *,
        retry: RetryPolicy | None = None,
        timeout: Duration = ...,
        expires_after: Duration | None = None,
        on_expiry: OnExpiry = ...,
        many: bool = ...,
        rate: Rate | None = None,
        breaker: Breaker | None = None,
        priority: Priority = ...,
    ) -> Callable[[F], F]: ...
    def action(
        self,
        function: F | None = None,
        /,
        *,
        retry: RetryPolicy | None = None,
        timeout: Duration = USUAL_TIMEOUT,
        expires_after: Duration | None = None,
        on_expiry: OnExpiry = "skip",
        many: bool = False,
        rate: Rate | None = None,
        breaker: Breaker | None = None,
        priority: Priority = "normal",
    ) -> F | Callable[[F], F]:
        """Register a function as the handler of its payload type.

        Args:
            function: takes one `Payload`, and optionally the `Run` and resources; plain or async.
            retry: the attempts and the waits between them; by default three with growing waits.
            timeout: after it, an async run is cancelled and fails. A plain function runs on, and another
                worker may take its action over.
            expires_after: how long after its due time, or a redrive, a run of an action may begin; an
                action's own expiry comes first.
            on_expiry: ``skip`` or ``fail`` an action that no run may begin any more.
            breaker: after so many failures of a tenant, no run begins for a time; then one probes.
            many: the function takes a ``Batch[MyPayload]`` instead: up to `worker_batch` actions in one call.
            rate: how many runs may start in a period; further ones wait for an instant of their own.
            priority: ``high``: its actions do not wait behind normal ones; the worker gets a second queue.

        Raises:
            DeclarationError: the function has other parameters, or its type has a handler already; or there
                is no such priority.
        """

        def register(registered: F) -> F:
            limit, checked = timeout_of(registered, timeout), _checked(breaker)
            expiry = expiry_of(expires_after, on_expiry)
            made = handler_of(registered, policy(retry), limit, expiry, many=many, rate=rate)
            self.add(replace(made, breaker=checked, priority=declared_priority(priority)))
            return registered

        return register if function is None else register(function)

    @overload
    def job(self, function: F, /) -> F: ...
    @overload
    def job(self, *cadences: Cadence | str, **options: Unpack[JobOptions]) -> Callable[[F], F]: ...
    def job(self, *cadences: Any, **options: Any) -> Any:  # noqa: D417 - the options are described one by one
        """Register a function as a job, which runs whenever one of its cadences is due.

        Several cadences, or several decorators, make one job; pass its options to the lowest decorator.

        Args:
            cadences: such as ``daily("09:00")``, or their texts, such as ``"0 9 * * *"``; a job without any
                runs only when it is triggered. The function may take the `Run`, a `Payload` and resources;
                plain or async.
            name: two or more kebab-case segments; by default ``nightly-cleanup-old`` for
                ``billing.nightly.cleanup_old``.
            payload: the payload of each run, at most 2 KB as JSON; required if the function takes one and a
                cadence has times. A run started by an event has the event's detail. A triggered run has its
                trigger's payload.
            retry: the attempts and the waits between them; by default three with growing waits.
            title: its title in lists, at most 100 characters.
            category: its group in lists, at most 50 characters.
            description: at most 500 characters.
            overlap: the policy for an occurrence that is due while another runs: ``skip`` (the default),
                ``queue_one``, ``cancel_running``, or ``allow`` (the default of a job that only events start).
            catch_up: the number of latest missed occurrences that run later: 0 to 100.
            precision: ``minute`` if it may be up to a minute late; its cadences must then have whole minutes.
            timeout: after it, an async run is cancelled and fails. A plain function runs on, and another
                worker may take its action over.
            failure_threshold: the number of failures in a row after which a notification is sent.
            deadline: the wall time by which a nominal time must have succeeded, such as ``06:00``: in its
                cadence's zone, on the same day or the next. A miss is reported.
            within: or how long after the nominal time.
            every_success_within: a longer time without a success is reported, once.
            after: another job of the app. Each nominal time waits until that job's run of the same day, in
                its cadence's zone, has succeeded.
            after_timeout: how long it waits, 12 hours by default; then it is skipped.

        Raises:
            DeclarationError: it cannot work as declared, or its name is taken.
            InvalidCadence: a cadence is mistyped, or never fires.
        """

        def register(registered: F) -> F:
            self._declare(registered, () if bare else cadences, cast("JobOptions", options))
            return registered

        bare = len(cadences) == 1 and callable(cadences[0])
        return register(cadences[0]) if bare else register

    def _declare(self, function: Function, cadences: tuple[Cadence | str, ...], options: JobOptions) -> None:
        for current in self._handlers.values():
            if current.job and current.function is function:
                self._handlers[current.name] = stacked_on(current, cadences, options, self._home)
                return
        self.add(job_handler_of(function, cadences, options, self._home))

    def resource(self, factory: F, /) -> F:
        """Register a function that makes a resource, for all parameters of its return type.

        It is called once per process, when a run first needs it, and may take other resources. If it raises,
        the run fails and may be retried; the next run calls it again. duetime never closes a resource.

        Raises:
            DeclarationError: it is no plain function, returns no type of its own, or its type has a factory;
                or resources would need each other in a circle.
        """
        self._factories.add(factory_of(factory))
        return factory

    def include(self, *others: App | ModuleType) -> None:
        """Add the handlers, jobs and resources of other apps, or of every app in a module.

        Jobs then belong to this app's worker. A zone from the other app's `default_tz` remains.

        Raises:
            DeclarationError: a module has no app, a name has two handlers, or a resource two factories.
        """
        for other in others:
            apps = [other] if isinstance(other, App) else _apps_in(other)
            for factory in (resource for app in apps for resource in app.resources.values()):
                self._factories.add(factory)
            for handler in (handler for app in apps for handler in app.handlers.values()):
                own = self._owned(handler)
                if self._handlers.get(own.name) != own:
                    self.add(own)

    def _owned(self, handler: Handler) -> Handler:
        if handler.job is None or handler.options is None:
            return handler
        return job_handler_of(handler.function, handler.cadences, handler.options, self._home)

    def add(self, handler: Handler) -> None:
        """Register a handler; `action` and `job` make one from a function.

        Raises:
            DeclarationError: its name has another handler.
        """
        current = self._handlers.get(handler.name)
        if current is not None:
            kind = "job" if handler.job and current.job else "name" if handler.job or current.job else "type"
            raise DeclarationError(
                f"the {kind} {handler.name!r} has two handlers, {current.where} and {handler.where};"
                f" one {kind} has one handler"
            )
        self._handlers[handler.name] = handler

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Each registered handler, by its payload type's name or its job's."""
        return MappingProxyType(self._handlers)

    @property
    def resources(self) -> Mapping[Any, Factory]:
        """Each resource's factory, by the type that requests it."""
        return MappingProxyType(self._factories.by_type)

    @property
    def handler_set(self) -> HandlerSet:
        """The handlers of this app's worker, with its probe."""
        probe = probe_handler(self.worker)
        return HandlerSet(self.worker, {**self._handlers, probe.name: probe}, self._factories)

    def complete(self) -> Resources:
        """Check the app, and return the resources for its handlers; none is made yet.

        Raises:
            DeclarationError: a function has a parameter whose type no resource provides.
        """
        return self.handler_set.resources()

    def missing(self, function: Handler | Factory) -> Iterator[str]:
        """Yield a sentence for each parameter of a function that no resource provides."""
        return self._factories.missing(function)

    def with_resources(self, given: Mapping[Any, object]) -> App:
        """Return this app with other resources in place of some of its own; their factories are not called.

        Raises:
            DeclarationError: it has no resource of such a type.
        """
        other = copy.copy(self)
        other._factories = self._factories.replaced(given)  # noqa: SLF001 - another App's
        return other

    def extended(self, *others: App) -> App:
        """Return this app with the handlers of others, which `include` would add to this one.

        Raises:
            DeclarationError: as `include`.
        """
        other = copy.copy(self)
        other._handlers, other._factories = dict(self._handlers), self._factories.replaced({})  # noqa: SLF001 - another App's
        other.include(*others)
        return other

    @property
    def jobs(self) -> Mapping[JobName, Definition]:
        """Each job's definition, by its name."""
        return MappingProxyType(
            {handler.job.name: handler.job for handler in self._handlers.values() if handler.job}
        )

    @property
    def manifest(self) -> Manifest:
        """The types and jobs of this app's worker, which a deploy publishes and reconciles."""
        hosted = sorted(self.handler_set.by_name.items())
        types = {name: handler.version for name, handler in hosted}
        in_events = frozenset(name for name, handler in self._handlers.items() if handler.is_in_events)
        jobs = tuple(job for _, job in sorted(self.jobs.items()))
        sensitive = {name: paths for name in sorted(in_events) if (paths := self._handlers[name].sensitive)}
        high = frozenset(name for name, handler in self._handlers.items() if handler.priority == "high")
        return Manifest(self.worker, types, jobs, in_events, sensitive, high)

    def payload(self, type_name: str, written: str | bytes) -> Payload:
        """Parse a payload of a registered type.

        Raises:
            UnknownType: no handler is registered for it; the name of a job is no such type.
            InvalidPayload: its model rejects it.
        """
        handler = self.handler_set.by_name.get(type_name)
        if handler is None or handler.job is not None or handler.payload is None:
            raise UnknownType(
                type_name, (name for name, handler in self._handlers.items() if handler.job is None)
            )
        return handler.payload.from_json(written, by_alias=True)

    def embedded(
        self,
        path: Path | str | None = None,
        *,
        tenant_id: str = "default",
        actor: str = "embedded",
        resources: Mapping[Any, object] | None = None,
        worker_batch: int = 1,
    ) -> AbstractContextManager[Scheduler]:
        """Run everything in this process: by the real clock, without AWS.

        ``with app.embedded() as scheduler: scheduler.schedule(…)`` has all in memory: an action that is not
        due when the block ends never runs. ``app.embedded("jobs.db")`` has actions and jobs in a SQLite file
        that outlasts the process. Several processes of one machine may share the file; each runs the app.

        Args:
            path: the file; by default there is none. It must be on a local disk.
            tenant_id: the tenant of the scheduler.
            actor: who schedules, in the rows' history.
            resources: replace the app's own of those types.
            worker_batch: the most actions in one call of a handler of many, 1 to 10.

        Raises:
            SettingsError: `worker_batch` is out of its range.
            BackendMisconfigured: the file cannot be opened, or duetime did not make it.
            DeclarationError: a worker or a command is importing the app, so the call stands at module level.
        """
        if importing:
            raise DeclarationError(
                f"importing {importing[-1]} would run its actions here, because it calls app.embedded() at"
                ' module level; put that under `if __name__ == "__main__":`'
            )
        from duetime.embedded.embedded import embedded  # noqa: PLC0415 - a Lambda never needs the memory back ends
        from duetime.scheduler import Scheduler  # noqa: PLC0415 - as above

        app, options = self.with_resources(resources or {}), dict[str, Any](worker_batch=worker_batch)
        if path is not None:
            from duetime.sqlite.cloud import SqliteCloud  # noqa: PLC0415 - as above

            options |= {"make": SqliteCloud, "path": Path(path)}
        return embedded(Scheduler, app, tenant_id=tenant_id, actor=actor, **options)


def _apps_in(module: ModuleType) -> list[App]:
    apps = [var for var in vars(module).values() if isinstance(var, App)]
    if not apps:
        raise DeclarationError(f"the module {module.__name__} has no App to include")
    return apps


def _checked(breaker: object) -> Breaker | None:
    """Return a breaker as given.

    Raises:
        DeclarationError: it is none.
    """
    if breaker is None:
        return None
    from duetime.model.breaker import Breaker  # noqa: PLC0415 - an app without breakers loads none

    if not isinstance(breaker, Breaker):
        example = 'Breaker(failures=20, within="1m", open_for="5m")'
        raise DeclarationError(f"breaker is {breaker!r}; use {example}, or none")
    return breaker
