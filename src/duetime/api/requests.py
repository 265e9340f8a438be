"""Request bodies. Unknown fields are rejected; a client's claims about its identity are ignored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import UnionType
from typing import Annotated, Any, Self, Union, get_args, get_origin

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from duetime.actions.order import MOST_SLOTS, Order
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.views import ApiModel, M, kinds_of, with_fields
from duetime.errors import InvalidArgument
from duetime.instant import Precision, When
from duetime.model.predecessors import AfterFailure
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


LONGEST_TEXT, _MANY = 2_000, 1_000_000
"""Bounds that keep an answer short; the rules' own limits are narrower, and say what is right."""

Whole = Annotated[int, Field(strict=True, ge=-_MANY, le=_MANY)]
Number = Annotated[float, Field(strict=True, ge=0, le=FARTHEST, allow_inf_nan=False)]
_Span = Annotated[
    float,
    Field(strict=True, gt=0, le=FARTHEST, allow_inf_nan=False),
    AfterValidator(lambda seconds: timedelta(seconds=seconds)),
]
_SENT = {
    int: Whole,
    bool: Annotated[bool, Field(strict=True)],
    str: Annotated[str, Field(max_length=LONGEST_TEXT)],
}


def has_options_of(options: type, declared: type[Any], **names: Any) -> Callable[[type[M]], type[M]]:
    """Add options of a call to a request, in the form that JSON has them.

    Args:
        options: declares their types.
        declared: the dataclass that has their defaults, and describes them.
        names: the types that the module of `options` imports for type checkers only.
    """

    def taken(request: type[M]) -> type[M]:
        defaults = {
            name: field.default
            for name, field in declared.__dataclass_fields__.items()
            if name in options.__annotations__ and name not in request.model_fields
        }
        kinds = kinds_of(options, {name: options.__annotations__[name] for name in defaults}, names)
        fields = {name: (_as_sent(kind), defaults[name]) for name, kind in kinds.items()}
        return with_fields(request, fields, declared)

    return taken


def _as_sent(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        plain, text = get_args(kind)
        return Annotated[_as_sent(plain), Field(description=text)]
    parts = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if timedelta in parts:
        return (Number if float in parts else _Span) | None
    return Union[tuple(_SENT.get(part, part) for part in parts)]  # noqa: UP007 - computed


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
            InvalidArgument: `at` is no ISO 8601 time, or a local one without its zone.
        """
        if self.at is None:
            return timedelta(seconds=self.in_ or 0)
        return read_time(self.at, "at", remedy=", or its zone as tz", is_local=self.tz is not None)


def read_time(written: str, field: str, *, remedy: str = "", is_local: bool = False) -> datetime:
    """Parse the time in a field of a request; a naive time needs `is_local`, for a separate zone.

    Raises:
        InvalidArgument: it is no ISO 8601 time, or has no offset.
    """
    try:
        at = datetime.fromisoformat(written)
    except ValueError:
        raise InvalidArgument(
            "is no ISO 8601 time such as 2027-06-01T09:00:00Z", value=written, field=field
        ) from None
    if at.tzinfo is None and not is_local:
        raise InvalidArgument(f"has no offset; say …Z or …+02:00{remedy}", value=written, field=field)
    return at


class DueRequest(RequestedTime):
    """Another due time, for an action that exists."""

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

    def expiry(self) -> dict[str, Any]:
        """Return the expiry for the scheduler.

        Raises:
            InvalidArgument: `expires_at` is no ISO 8601 time, or a local one without its zone.
        """
        at = self.expires_at
        is_local = self.tz is not None
        return {
            "expires_at": None if at is None else read_time(at, "expires_at", is_local=is_local),
            "expires_after": None if self.expires_after is None else timedelta(seconds=self.expires_after),
        }


KeyTtl = Annotated[
    float | None,
    Field(
        description="how long the key holds at least, in seconds: a minute to 30 days",
        strict=True,
        ge=SHORTEST_KEY_TTL.total_seconds(),
        le=LONGEST_KEY_TTL.total_seconds(),
    ),
]
"""The time to live of an idempotency key."""


@has_options_of(Order, Order, AfterFailure=AfterFailure)
class ScheduleRequest(DueRequest):
    """An action to schedule."""

    type: Annotated[str, Field(description="a payload type that the app has registered")]
    payload: Annotated[dict[str, Any], Field(description="what the type's model admits")]
    idempotency_ttl: KeyTtl = None
    concurrency_limit: Annotated[
        int,
        Field(description="how many of them, this one included: 1 to 100", strict=True, ge=1, le=MOST_SLOTS),
    ] = 1
    after: Annotated[
        list[str] | None,
        Field(description="ids of actions, and `batch:name`, after whose end it is due; at most 20"),
    ] = None

    def order(self, payload: Payload, key: str | None) -> Order:
        """The order for the scheduler; `key` is what the header ``Idempotency-Key`` says.

        Raises:
            InvalidRequest: the header and the body say two keys.
            InvalidArgument: as `when`.
        """
        options: Any = {name: getattr(self, name) for name in self.shown}
        if key is not None and options["idempotency_key"] not in {None, key}:
            raise InvalidRequest([Flaw("idempotency_key", "is another than in the header Idempotency-Key")])
        if key is not None:
            options["idempotency_key"] = key
        return Order(
            payload,
            self.when(),
            tz=self.tz,
            precision=self.precision,
            idempotency_ttl=None if self.idempotency_ttl is None else timedelta(seconds=self.idempotency_ttl),
            concurrency_limit=self.concurrency_limit,
            after=self.after,
            **self.expiry(),
            **options,
        )


class DismissRequest(RequestBody):
    """Why a dead letter needs no redrive."""

    reason: Annotated[
        str, Field(description="for later readers, in the action and the trail", min_length=1, max_length=500)
    ]


class RedriveBody(RequestedTime):
    """A redrive: at once, without `at` and `in`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [DUE_AT, DUE_IN, NOT_SAID]})

    @model_validator(mode="before")
    @classmethod
    def _at_once(cls, sent: Any) -> Any:
        says_when = not isinstance(sent, Mapping) or sent.keys() & {"at", "in"}
        return sent if says_when else {**sent, "in": 0}
