"""The order: the arguments of `Scheduler.schedule`, and their result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypeVar

from duetime import ids, instant
from duetime.errors import InvalidArgument, InvalidPayload
from duetime.instant import Precision, When
from duetime.jobs.tenant_context import TenantContext
from duetime.model import read_back
from duetime.model.action import Action
from duetime.model.expiry import expiry_time
from duetime.model.idempotency import KeyTerms, key_terms
from duetime.model.new_action import new_action, rate_key_of
from duetime.model.priority import Priority, check_priority
from duetime.model.row_parts import Concurrency, Debounced

if TYPE_CHECKING:
    from duetime.model.predecessors import After, AfterFailure
    from duetime.payload import Payload

P = ParamSpec("P")
Made = TypeVar("Made")
T = TypeVar("T")

KEYS = ("idempotency_key", "debounce_key")
"""The options by which a repeated call schedules no other action."""

MOST_SLOTS = 100
"""Actions with one concurrency key that may run at once. Only a processing action holds a slot.

Actions with different limits may share a key. An action begins while fewer slots than its own limit are held.
"""


@dataclass(frozen=True, slots=True)
class Order:
    """One payload to schedule; the fields are the arguments of `Scheduler.schedule`.

    A text beside a type describes the same option of a request to the API.
    """

    payload: Payload
    at: When
    _: KW_ONLY
    tz: str | None = None
    precision: Precision = "second"
    expires_at: datetime | None = None
    expires_after: timedelta | None = None
    correlation_id: Annotated[str | None, "an id to find it by later"] = None
    idempotency_key: Annotated[str | None, "the same key again is answered with the first action"] = None
    idempotency_ttl: timedelta | None = None
    concurrency_key: Annotated[str | None, "of the actions that share it only so many run at once"] = None
    concurrency_limit: int = 1
    priority: Annotated[Priority, "`high` needs the setting `high_priority`; its type may be high too"] = (
        "normal"
    )
    after: After | None = None
    after_failure: Annotated[
        AfterFailure, "what it does if one of them is not executed; `run`: it runs after any end of all"
    ] = "fail"
    debounce_key: Annotated[
        str | None, "until its first run begins, the same key again changes this action"
    ] = None
    at_most_after: Annotated[
        timedelta | None,
        "how long after the first call of the debounce key it is due at the latest, in seconds",
    ] = None
    rate_key: Annotated[str | None, "of a type whose rate has a key: the key, instead of the payload's"] = (
        None
    )

    def check_without(self, problem: str, *options: str) -> None:
        """Check that the order has none of these options.

        Raises:
            InvalidArgument: it has one, with this problem.
        """
        for option in options:
            if (value := getattr(self, option)) is not None:
                raise InvalidArgument(problem, field=option, value=value)

    def action(self, context: TenantContext, *, trace: str | None = None) -> tuple[Action, KeyTerms | None]:
        """Return a new pending action, and the terms of its idempotency key if it has one; write nothing.

        Args:
            context: the tenant and actor that schedule.
            trace: the trace header of the caller.

        Raises:
            DuetimeError: see `Scheduler.schedule`.
        """
        now, settings, key = context.clock.now(), context.settings, self.idempotency_key
        due_at = instant.due_time(self.at, now=now, tz=self.tz, precision=self.precision)
        debounced = debounced_by(self.debounce_key, key, due_at=due_at, until=self._debounce_until(now))
        action = new_action(
            self.payload,
            due_at=due_at,
            now=now,
            tenant_id=context.tenant_id,
            actor=context.actor,
            correlation_id=ids.optional_key("correlation_id", self.correlation_id),
            due_shards=settings.due_shards,
            random_bytes=context.random_bytes,
            idempotency_key=ids.optional_key("idempotency_key", key),
            concurrency=concurrency_of(self.concurrency_key, self.concurrency_limit),
            trace=trace,
            expires_at=self.expiry_from(due_at, now),
            debounced=debounced,
            rate_key=rate_key_of(self.payload, self.rate_key),
            is_high=check_priority(self.priority, enabled=settings.high_priority) == "high",
        )
        return self._held(action, context), key_terms(key, self.idempotency_ttl, now=now, settings=settings)

    def _held(self, action: Action, context: TenantContext) -> Action:
        """Return the action, held if it has predecessors."""
        if self.after is None:
            if self.after_failure != "fail":
                raise InvalidArgument(
                    "is missing; after_failure is a rule for it", field="after", value=self.after
                )
            return action
        from duetime.actions.chains import after_rule, held  # noqa: PLC0415 - few orders have predecessors

        rule = after_rule(self.after_failure)
        problem = "is not possible with after: each call would move the due time of a held action"
        self.check_without(problem, "debounce_key")
        return held(action, self.after, rule, context.store, context.clock.now())

    def is_repeat_of(self, first: Action) -> bool:
        """Return whether an action has the type and an equal payload, though its JSON may differ.

        The JSON of equal values may differ: of 1.10 and 1.1, of an instant in two zones, of a joined set.
        """
        if first.type != self.payload.type_name or first.payload is None:
            return False
        try:
            read = type(self.payload).from_json(first.payload, version=first.payload_version)
        except InvalidPayload:
            return False
        return not any(read_back.differences(self.payload, read))

    def expiry_from(self, due_at: datetime, now: datetime) -> datetime | None:
        """Return the expiry of the action with this due time; None without one."""
        return expiry_time(due_at, self.expires_at, self.expires_after, now=now, tz=self.tz)

    def _debounce_until(self, now: datetime) -> datetime | None:
        span: object = self.at_most_after
        if span is None:
            return None
        if not isinstance(span, timedelta) or span <= timedelta(0):
            problem = "is no timedelta above 0; it counts from the first call"
            raise InvalidArgument(problem, value=span, field="at_most_after")
        return instant.due_time(span, now=now, precision=self.precision)


def concurrency_of(key: object, limit: object) -> Concurrency | None:
    """Return an order's key and limit; without a key, the limit is 1.

    Raises:
        InvalidArgument: the key cannot be part of a table key, or the limit is out of range.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_SLOTS:
        raise InvalidArgument(
            f"must be a whole number from 1 to {MOST_SLOTS}", field="concurrency_limit", value=limit
        )
    if key is None:
        if limit != 1:
            raise InvalidArgument(
                "limits no key; pass concurrency_key as well", field="concurrency_limit", value=limit
            )
        return None
    return Concurrency(ids.key("concurrency_key", key), limit)


def debounced_by(
    key: object, idempotency_key: str | None, *, due_at: datetime, until: datetime | None
) -> Debounced | None:
    """Return the debounce key and the bound of a call, or None without a key.

    Args:
        key: the debounce key.
        idempotency_key: the idempotency key of the call.
        due_at: when the call's action is due.
        until: the latest due time that further calls can give it.

    Raises:
        InvalidArgument: there is a bound without a key, or the bound is before the first due time; or there
            is an idempotency key too; or `duetime.ids.key` refuses the key.
    """
    if key is None:
        if until is not None:
            problem = "is a bound without a key; pass debounce_key as well"
            raise InvalidArgument(problem, value=instant.text(until), field="at_most_after")
        return None
    if idempotency_key is not None:
        problem = "is given beside idempotency_key, under which a repeat changes nothing; pass one of them"
        raise InvalidArgument(problem, field="debounce_key", value=key)
    if until is not None and until < due_at:
        problem = (
            f"ends before the first due time, {instant.text(due_at)};"
            " allowed is the span up to it, or a longer one"
        )
        raise InvalidArgument(problem, value=instant.text(until), field="at_most_after")
    return Debounced(ids.key("debounce_key", key), until)


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """The action of an order."""

    action: Action
    is_new: bool
    """False if the idempotency key was taken: `action` is then the first one, in its present state.

    False too if the call changed the pending action of its debounce key.
    """


def takes(
    make: Callable[P, Made],
) -> Callable[[Callable[[Any, Made], T]], Callable[Concatenate[Any, P], T]]:
    """Let a method take the arguments of `make`, whose result its function receives: an order's options."""

    def taking(method: Callable[[Any, Made], T]) -> Callable[Concatenate[Any, P], T]:
        @wraps(method)
        def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                made = make(*args, **kwargs)
            except TypeError as error:  # it names the constructor, and its caller has never heard of that
                raise TypeError(
                    str(error).replace(f"{make.__qualname__}.__init__", method.__qualname__)
                ) from None
            return method(self, made)

        vars(call)["__signature__"] = signature(method).replace(
            parameters=[signature(method).parameters["self"], *signature(make).parameters.values()]
        )
        return call

    return taking
