"""The handler: a plain function that code registered for a payload type, and how it is called."""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duetime.errors import DeclarationError
from duetime.payload import Payload
from duetime.retry import RetryPolicy
from duetime.run import Run, RunTimedOut

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A registered function: for which payloads, under which names it takes them, and how it is retried."""

    function: Function
    payload: type[Payload]
    payload_parameter: str
    run_parameter: str | None
    retry: RetryPolicy
    timeout: timedelta

    @property
    def type_name(self) -> str:
        """The payload type's stable name."""
        return self.payload.type_name

    @property
    def where(self) -> str:
        """Where it is defined, for messages."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def __call__(self, payload: Payload, run: Run) -> None:
        """Run the function to its end, on an event loop of its own if it is async; whatever it raises passes through."""
        given: dict[str, object] = {self.payload_parameter: payload}
        if self.run_parameter is not None:
            given[self.run_parameter] = run
        if inspect.iscoroutinefunction(self.function):
            asyncio.run(self._awaited(given, run))
        else:
            self.function(**given)

    async def _awaited(self, given: dict[str, object], run: Run) -> None:
        left = (run.deadline - run.now()).total_seconds()
        try:
            async with asyncio.timeout(left) as limit:
                await self.function(**given)
        except TimeoutError:
            if limit.expired():
                raise RunTimedOut(run.deadline) from None
            raise


def handler_of(function: Function, retry: RetryPolicy, timeout: timedelta) -> Handler:
    """Read off a function's annotations how it is to be called.

    Raises:
        DeclarationError: it does not take exactly one payload, or asks for something nobody could give it.
    """
    parameters = inspect.signature(function).parameters
    annotations = _annotations(function)
    payloads = [name for name in parameters if _is_a(annotations.get(name), Payload)]
    runs = [name for name in parameters if _is_a(annotations.get(name), Run)]
    others = [
        name
        for name, each in parameters.items()
        if name not in {*payloads, *runs} and each.default is each.empty and each.kind not in _VARIADIC
    ]
    if len(payloads) != 1 or len(runs) > 1 or others:
        raise DeclarationError(
            f"{_name(function)} must take one parameter annotated with a subclass of Payload, may take one annotated"
            " with Run, and no other without a default: say (payload: MyPayload, run: Run)"
            + (f"; it has {', '.join(others)}" if others else "")
        )
    return Handler(
        function=function,
        payload=annotations[payloads[0]],
        payload_parameter=payloads[0],
        run_parameter=runs[0] if runs else None,
        retry=retry,
        timeout=timeout,
    )


_VARIADIC = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def _annotations(function: Function) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except NameError as error:
        raise DeclarationError(
            f"{_name(function)}: an annotation cannot be resolved ({error}); define the payload at module level"
        ) from error


def _is_a(annotation: object, base: type) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, base) and annotation is not Payload


def _name(function: Function) -> str:
    return getattr(function, "__qualname__", repr(function))
