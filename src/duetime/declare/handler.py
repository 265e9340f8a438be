"""The handler: a function that code registers for a payload type or as a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from duetime.declare.batch import Batch
from duetime.declare.call_result import RunCoroutine, result_of
from duetime.declare.job_options import JobOptions
from duetime.declare.rate import Rate
from duetime.declare.signature import Dependency, Function, Signature, where_of
from duetime.errors import DeclarationError, InvalidPayload
from duetime.model.built_in import RESERVED, TARGETS
from duetime.model.expiry import NO_EXPIRY, Expiry
from duetime.model.hand_over import HandedOver
from duetime.model.job import Definition
from duetime.model.priority import Priority
from duetime.model.run import Run
from duetime.payload import Payload
from duetime.retry import Duration, RetryPolicy, duration

if TYPE_CHECKING:  # imported where it is declared: an app without jobs loads no cadence
    from duetime.cadence import Cadence
    from duetime.model.breaker import Breaker

_NOTHING: Mapping[str, object] = MappingProxyType({})

USUAL_TIMEOUT, LONGEST_RUN = timedelta(minutes=5), timedelta(minutes=15)
"""Lambda ends a function after 15 minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A registered function, with its parameters and its retry policy.

    Attributes:
        name: the name in rows: its payload type's name, or its job's.
        payload: None for a job without payload.
        job: the job's definition; None for the handler of a payload type.
        cadences: the job's cadences, whose texts are in its definition.
        options: the given options of the job's lowest decorator.
        wants: the parameters that resources fill.
        expiry: the expiry of its payload type's actions.
        breaker: the circuit breaker of its payload type.
        batch_parameter: of a handler that takes many runs at once.
        rate: the rate limit of its payload type.
        priority: the priority of its payload type's actions.
    """

    name: str
    function: Function
    payload: type[Payload] | None
    payload_parameter: str | None
    run_parameter: str | None
    retry: RetryPolicy
    timeout: timedelta
    job: Definition | None = None
    cadences: tuple[Cadence, ...] = ()
    options: JobOptions | None = None
    wants: tuple[Dependency, ...] = ()
    expiry: Expiry = NO_EXPIRY
    breaker: Breaker | None = None
    batch_parameter: str | None = None
    rate: Rate | None = None
    priority: Priority = "normal"

    @property
    def where(self) -> str:
        """Where it is defined, for messages."""
        return where_of(self.function)

    @property
    def takes_many(self) -> bool:
        """Whether one call takes many runs, as a `Batch`."""
        return self.batch_parameter is not None

    @property
    def version(self) -> int:
        """The newest version of its payload that it reads; 1 if it takes none."""
        return self.payload.type_version if self.payload else 1

    @property
    def is_in_events(self) -> bool:
        """Whether lifecycle events may contain its payload."""
        return self.payload is not None and self.payload.type_is_in_events

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The paths of its payload's sensitive fields."""
        return self.payload.type_sensitive if self.payload else ()

    def read(self, written: str | None, version: int | None = None) -> Payload | None:
        """Parse the payload of a row; return None if the function takes none.

        Args:
            written: the payload as JSON.
            version: the payload's version; the handler's own by default.

        Raises:
            InvalidPayload: its model rejects it, or there is none.
        """
        if self.payload is None:
            return None
        if written is None:
            raise InvalidPayload(self.name, [f"there is none; {self.where} takes one"])
        return self.payload.from_json(written, version=version)

    def __call__(
        self,
        payload: Payload | None,
        run: Run,
        resources: Mapping[str, object] = _NOTHING,
        run_coroutine: RunCoroutine | None = None,
    ) -> HandedOver | None:
        """Run the function to its end, and return its hand-over, if any; its exceptions pass through.

        Args:
            payload: the action's payload.
            run: the facts of this attempt.
            resources: by the names of its parameters.
            run_coroutine: runs an async function; by default on a new event loop.
        """
        given = dict(resources)
        if self.payload_parameter is not None:
            given[self.payload_parameter] = payload
        if self.run_parameter is not None:
            given[self.run_parameter] = run
        return result_of(self.function(**given), run, run_coroutine, self.where)

    def call_with_many(
        self,
        batch: Batch[Any],
        resources: Mapping[str, object] = _NOTHING,
        run_coroutine: RunCoroutine | None = None,
    ) -> HandedOver | None:
        """Run a function that takes a batch, until the first of its deadlines; as `__call__`."""
        first = min((item.run for item in batch.items), key=lambda run: run.deadline)
        given = {**resources, str(self.batch_parameter): batch}
        return result_of(self.function(**given), first, run_coroutine, self.where)


def handler_of(
    function: Function,
    retry: RetryPolicy,
    timeout: timedelta,
    expiry: Expiry = NO_EXPIRY,
    *,
    many: bool = False,
    rate: Rate | None = None,
) -> Handler:
    """Return the handler of the payload type that a function signature has.

    Raises:
        DeclarationError: it does not take exactly one payload, or batch of payloads with `many`, has a
            parameter that duetime cannot fill, or its type has a reserved name.
    """
    signature = Signature.from_function(function)
    if many is not True and many is not False:
        raise DeclarationError(f"{where_of(function)}: many is {many!r}; allowed is True or False")
    if rate is not None and not isinstance(rate, Rate):
        raise DeclarationError(
            f"{where_of(function)}: rate is {rate!r}; allowed is a Rate, such as Rate(100, per='minute')"
        )
    if signature.payload is None or not (signature.takes_many if many else signature.is_valid):
        raise DeclarationError(_refusal(function, signature, many=many))
    if signature.payload.type_name.startswith(RESERVED):
        raise DeclarationError(
            f"the payload type of {where_of(function)} is named {signature.payload.type_name!r}; choose a"
            f" name that does not begin with {RESERVED!r}, which is reserved for duetime's own"
        )
    if signature.payload.type_name in TARGETS:
        raise DeclarationError(
            f"the payload type of {where_of(function)} is named {signature.payload.type_name!r}, which is a"
            " target's; choose another name"
        )
    signature.payload.type_rate = rate
    return Handler(
        name=signature.payload.type_name,
        function=function,
        payload=signature.payload,
        payload_parameter=next(iter(signature.payloads), None),
        run_parameter=next(iter(signature.runs), None),
        retry=retry,
        timeout=timeout,
        wants=signature.wants,
        expiry=expiry,
        batch_parameter=next(iter(signature.batches), None),
        rate=rate,
    )


def _refusal(function: Function, signature: Signature, *, many: bool) -> str:
    if many:
        found = (*signature.payloads, *signature.runs, *signature.others)
        has = f"; it has {', '.join(found)}" if found else ""
        return (
            f"{where_of(function)} must, with many=True, take one parameter annotated with a Batch of a"
            " subclass of Payload, may take some with the types of resources, and no other without a"
            f" default: write (batch: Batch[MyPayload]){has}"
        )
    if signature.takes_many:
        return f"{where_of(function)} takes a Batch; declare it with @app.action(many=True)"
    return (
        f"{where_of(function)} must take one parameter annotated with a subclass of Payload,"
        " may take one annotated with Run, some with the types of resources, and no other"
        " without a default:"
        f" write (payload: MyPayload, run: Run){signature.problem}"
    )


def timeout_of(function: Function, timeout: Duration) -> timedelta:
    """Check and return the timeout of a function's runs.

    Raises:
        DeclarationError: it is no duration, or longer than Lambda allows.
    """
    try:
        limit = duration("timeout", timeout)
    except DeclarationError as refused:
        raise DeclarationError(f"{where_of(function)}: {refused}") from None
    if not timedelta(0) < limit <= LONGEST_RUN:
        raise DeclarationError(
            f"{where_of(function)}: timeout is {timeout!r}; allowed is more than 0 s, up to {LONGEST_RUN}"
        )
    return limit
