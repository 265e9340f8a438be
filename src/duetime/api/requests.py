"""Request bodies. Unknown fields are rejected; a client's claims about its identity are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Self, TypedDict

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from duetime.actions.order import Order
from duetime.api.api_model import ApiModel
from duetime.api.errors import Flaw, InvalidRequest
from duetime.errors import InvalidTime
from duetime.instant import Precision, When
from duetime.model.new_action import MOST_SLOTS
from duetime.model.predecessors import AfterFailure
from duetime.model.priority import Priority
from duetime.payload import Payload
from duetime.settings import LONGEST_KEY_TTL, SHORTEST_KEY_TTL

IDENTITY = frozenset({"tenant", "tenant_id", "actor", "user", "created_by"})
"""Fields of the caller's identity, which are ignored in requests."""

FARTHEST = 80_000_000_000_000
"""Seconds: within what a ``timedelta`` holds, and beyond every instant that the scheduler admits."""


class RequestBody(ApiModel):
    """The base of every body."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_identity(cls, sent: Any) -> Any:
        if not isinstance(sent, Mapping):
            return sent
        return {name: value for name, value in sent.items() if name not in IDENTITY}


_NULL: JsonDict = {"type": "null"}
DUE_AT: JsonDict = {"required": ["at"], "properties": {"at": {"type": "string"}, "in": _NULL}}
DUE_IN: JsonDict = {"required": ["in"], "properties": {"in": {"type": "number"}, "at": _NULL, "tz": _NULL}}
NOT_SAID: JsonDict = {"properties": {"at": False, "in": False, "tz": _NULL}}
"""The valid combinations of `RequestedTime`'s fields, which pydantic cannot derive."""


class RequestedTime(RequestBody):
    """When something is due: at an instant, or in some seconds from now. Exactly one of the two."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [DUE_AT, DUE_IN]})

    at: Annotated[
        str | None, Field(description="ISO 8601, with an offset or `Z`; or a local time together with `tz`")
    ] = None
    in_: Annotated[
        float | None,
        Field(
            alias="in", description="seconds from now", strict=True, ge=0, le=FARTHEST, allow_inf_nan=False
        ),
    ] = None
    tz: Annotated[str | None, Field(description="the IANA zone of a local `at`, such as Europe/Paris")] = None

    precision: Annotated[
        Precision, Field(description="what `in` is rounded up to: a whole second, or nothing")
    ] = "second"

    @model_validator(mode="after")
    def _says_when(self) -> Self:
        if (self.at is None) == (self.in_ is None):
            raise ValueError('needs either "at", such as 2027-06-01T09:00:00Z, or "in", a number of seconds')
        if self.in_ is not None and self.tz is not None:
            raise ValueError('has "tz" beside "in", which counts from now; leave out one of them')
        return self

    def when(self) -> When:
        """Return the due time for the scheduler.

        Raises:
            InvalidTime: `at` is no ISO 8601 time, or a local one without its zone.
        """
        if self.at is None:
            return timedelta(seconds=self.in_ or 0)
        return read_time(self.at, "at", remedy=", or its zone as tz", is_local=self.tz is not None)


def read_time(written: str, field: str, *, remedy: str = "", is_local: bool = False) -> datetime:
    """Parse the time in a field of a request; a naive time needs `is_local`, for a separate zone.

    Raises:
        InvalidTime: it is no ISO 8601 time, or has no offset.
    """
    try:
        at = datetime.fromisoformat(written)
    except ValueError:
        raise InvalidTime(written, "is no ISO 8601 time such as 2027-06-01T09:00:00Z", field=field) from None
    if at.tzinfo is None and not is_local:
        raise InvalidTime(written, f"has no offset; say …Z or …+02:00{remedy}", field=field)
    return at


class Expiring(RequestedTime):
    """When something is due, and from when on no run of it begins."""

    expires_at: Annotated[
        str | None, Field(description="no run begins from then on; ISO 8601, local together with `tz`")
    ] = None
    expires_after: Annotated[
        float | None,
        Field(
            description="the same as seconds after the due time",
            strict=True,
            gt=0,
            le=FARTHEST,
            allow_inf_nan=False,
        ),
    ] = None

    def expiry(self) -> Expires:
        """Return the expiry for the scheduler.

        Raises:
            InvalidTime: `expires_at` is no ISO 8601 time, or a local one without its zone.
        """
        at = self.expires_at
        is_local = self.tz is not None
        return {
            "expires_at": None if at is None else read_time(at, "expires_at", is_local=is_local),
            "expires_after": None if self.expires_after is None else timedelta(seconds=self.expires_after),
        }


class Expires(TypedDict):
    """The arguments of `Scheduler.schedule` for an expiry."""

    expires_at: datetime | None
    expires_after: timedelta | None


KeyTtl = Annotated[
    float | None,
    Field(
        description="seconds for which the key holds at least",
        strict=True,
        ge=SHORTEST_KEY_TTL.total_seconds(),
        le=LONGEST_KEY_TTL.total_seconds(),
    ),
]
"""The time to live of an idempotency key."""


class ScheduleRequest(Expiring):
    """An action to schedule."""

    type: Annotated[str, Field(description="a payload type that the app has registered")]
    payload: Annotated[dict[str, Any], Field(description="what the type's model admits")]
    correlation_id: Annotated[str | None, Field(description="what to find it by later")] = None
    idempotency_key: Annotated[
        str | None, Field(description="the same key again is answered with the first action")
    ] = None
    idempotency_ttl: KeyTtl = None
    concurrency_key: Annotated[
        str | None, Field(description="of the actions that share it only so many run at once")
    ] = None
    concurrency_limit: Annotated[
        int, Field(description="how many, this one included", strict=True, ge=1, le=MOST_SLOTS)
    ] = 1

    priority: Annotated[
        Priority, Field(description="`high` needs the setting `high_priority`; its type may be high too")
    ] = "normal"
    after: Annotated[
        list[str] | None,
        Field(description="ids of actions, and `batch:name`, after whose end it is due; at most 20"),
    ] = None
    after_any_end: Annotated[
        bool, Field(strict=True, description="run after any end of them, not only after executed ones")
    ] = False
    after_failure: Annotated[
        AfterFailure, Field(description="what it does if one of them is not executed")
    ] = "fail"
    debounce_key: Annotated[
        str | None, Field(description="until its first run begins, the same key again changes this action")
    ] = None
    at_most_after: Annotated[
        float | None,
        Field(
            description="seconds from the first request of the debounce key to the latest due time",
            strict=True,
            gt=0,
            le=FARTHEST,
            allow_inf_nan=False,
        ),
    ] = None
    rate_key: Annotated[
        str | None, Field(description="of a type whose rate has a key: the key, instead of the payload's")
    ] = None

    def order(self, payload: Payload, key: str | None) -> Order:
        """The order for the scheduler; `key` is what the header ``Idempotency-Key`` says.

        Raises:
            InvalidRequest: the header and the body say two keys.
            InvalidTime: as `when`.
        """
        if key is not None and self.idempotency_key not in {None, key}:
            raise InvalidRequest([Flaw("idempotency_key", "is another than in the header Idempotency-Key")])
        return Order(
            payload=payload,
            at=self.when(),
            tz=self.tz,
            correlation_id=self.correlation_id,
            idempotency_key=key if self.idempotency_key is None else self.idempotency_key,
            idempotency_ttl=None if self.idempotency_ttl is None else timedelta(seconds=self.idempotency_ttl),
            concurrency_key=self.concurrency_key,
            concurrency_limit=self.concurrency_limit,
            precision=self.precision,
            rate_key=self.rate_key,
            **self.expiry(),
            priority=self.priority,
            debounce_key=self.debounce_key,
            after=self.after,
            after_any_end=self.after_any_end,
            after_failure=self.after_failure,
            at_most_after=None if self.at_most_after is None else timedelta(seconds=self.at_most_after),
        )


class DueRequest(Expiring):
    """Another due time, for an action that exists."""


class DismissRequest(RequestBody):
    """Why a dead letter needs no redrive."""

    reason: Annotated[
        str, Field(description="for later readers, in the action and the trail", min_length=1, max_length=500)
    ]


class ApproveRequest(RequestBody):
    """The approval of an action that waits for it."""

    reason: Annotated[
        str, Field(description="in the action's history, its result and the trail", max_length=500)
    ] = ""


class RejectRequest(RequestBody):
    """The rejection of an action that waits for an approval."""

    reason: Annotated[
        str, Field(description="in the action's history and the trail", min_length=1, max_length=500)
    ]


class RedriveBody(RequestedTime):
    """A redrive: at once, without `at` and `in`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [DUE_AT, DUE_IN, NOT_SAID]})

    @model_validator(mode="before")
    @classmethod
    def _at_once(cls, sent: Any) -> Any:
        says_when = not isinstance(sent, Mapping) or sent.keys() & {"at", "in"}
        return sent if says_when else {**sent, "in": 0}
