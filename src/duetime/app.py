"""The app: the handlers that code registered. Only names registered here are ever resolved to code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, TypeVar, overload

from duetime.errors import DeclarationError, UnknownType
from duetime.handler import Function, Handler, handler_of
from duetime.manifest import DEFAULT_WORKER, Manifest
from duetime.payload import Payload
from duetime.retry import Duration, RetryPolicy, duration

if TYPE_CHECKING:
    from duetime.scheduler import Scheduler

F = TypeVar("F", bound=Function)

LONGEST_RUN = timedelta(minutes=15)
"""Lambda ends a function after 15 minutes."""


class App:
    """Gathers the functions that run when something is due.

    A function is registered for the payload type that it is annotated with; it stays the plain function it was.
    """

    def __init__(self, worker: str = DEFAULT_WORKER) -> None:
        self.worker = worker
        self._handlers: dict[str, Handler] = {}

    @overload
    def action(self, function: F, /) -> F: ...
    @overload
    def action(
        self, function: None = None, /, *, retry: RetryPolicy | None = None, timeout: Duration = ...
    ) -> Callable[[F], F]: ...
    def action(
        self,
        function: F | None = None,
        /,
        *,
        retry: RetryPolicy | None = None,
        timeout: Duration = timedelta(minutes=5),
    ) -> F | Callable[[F], F]:
        """Register a function as the handler of the payload type that it takes.

        Args:
            function: takes one `Payload` and, if it wants, the `Run`; plain or async.
            retry: how often it is run; three runs with growing pauses by default.
            timeout: after this long a run counts as overdue: it is told to stop and its lease is renewed no more.

        Raises:
            DeclarationError: the function cannot be called so, or its type has a handler already.
        """

        def register(registered: F) -> F:
            limit = duration("timeout", timeout)
            if not timedelta(0) < limit <= LONGEST_RUN:
                raise DeclarationError(
                    f"timeout is {timeout!r}; allowed is more than 0 s, up to {LONGEST_RUN}"
                )
            self._add(handler_of(registered, retry or RetryPolicy(), limit))
            return registered

        return register if function is None else register(function)

    def include(self, *others: App | ModuleType) -> None:
        """Take in the handlers of other apps, or of every app that a module holds.

        Raises:
            DeclarationError: a module holds no app, or a type has two handlers.
        """
        for other in others:
            apps = [other] if isinstance(other, App) else _apps_in(other)
            for app in apps:
                for handler in app.handlers.values():
                    if self._handlers.get(handler.type_name) != handler:
                        self._add(handler)

    def _add(self, handler: Handler) -> None:
        standing = self._handlers.get(handler.type_name)
        if standing is not None:
            raise DeclarationError(
                f"the type {handler.type_name!r} has two handlers, {standing.where} and {handler.where};"
                " one type has one handler"
            )
        self._handlers[handler.type_name] = handler

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Each registered type's handler, by the type's name."""
        return MappingProxyType(self._handlers)

    @property
    def manifest(self) -> Manifest:
        """What a deploy publishes: the types that this app's worker runs."""
        return Manifest(
            self.worker, {name: each.payload.type_version for name, each in sorted(self._handlers.items())}
        )

    def payload(self, type_name: str, written: str | bytes) -> Payload:
        """Read a payload of a registered type.

        Raises:
            UnknownType: no handler is registered for it.
            InvalidPayload: its model refuses it.
        """
        handler = self._handlers.get(type_name)
        if handler is None:
            raise UnknownType(type_name, self._handlers)
        return handler.payload.from_json(written)

    def embedded(
        self, *, tenant_id: str = "default", actor: str = "embedded"
    ) -> AbstractContextManager[Scheduler]:
        """Run everything in this process: memory back ends, the real clock, no cloud.

        ``with app.embedded() as scheduler: scheduler.schedule(…)``. What is not due when the block ends never runs.
        """
        from duetime.memory.embedded import embedded  # noqa: PLC0415 - a Lambda never needs the memory back ends

        return embedded(self, tenant_id=tenant_id, actor=actor)


def _apps_in(module: ModuleType) -> list[App]:
    apps = [each for each in vars(module).values() if isinstance(each, App)]
    if not apps:
        raise DeclarationError(f"the module {module.__name__} holds no App to include")
    return apps
