"""The bases of the API's models, and the JSON views of actions. Instants are ISO 8601 in UTC, with ``Z``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from types import MappingProxyType, UnionType
from typing import Annotated, Any, ClassVar, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema, create_model

from duetime.environment import lambda_region
from duetime.model.action import FIELDS, SHOWN, Action, Attempt
from duetime.model.redaction import Redacted
from duetime.ports.actions import Scanned

_ABSENT = object()
_TRACE_ID = re.compile(r"1-[0-9a-f]{8}-[0-9a-f]{24}", re.ASCII)
_TRACEPARENT = re.compile(r"00-([0-9a-f]{8})([0-9a-f]{24})-[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


class ApiModel(BaseModel):
    """A model whose validator is built at its first use: a cold start builds those of its request alone."""

    model_config = ConfigDict(defer_build=True)

    shown: ClassVar[Mapping[str, Sequence[tuple[type, str]]]] = MappingProxyType({})
    """Of each field that other classes declare: these classes, and its name there; the first describes it."""


M = TypeVar("M", bound=ApiModel)


def with_fields(model: type[M], fields: Mapping[str, Any], source: type) -> type[M]:
    """Return a model with further fields, which a class declares and describes."""
    made: type[M] = create_model(model.__name__, __base__=model, __module__=model.__module__, **fields)
    made.__doc__, made.shown = model.__doc__, {name: [(source, name)] for name in fields}
    return made


def kinds_of(source: type, annotations: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types that annotations of a class mean; `names` are those that its module lacks."""
    facts = type("Facts", (), {"__annotations__": annotations, "__module__": source.__module__})
    return get_type_hints(facts, localns=dict(names), include_extras=True)


def instant_text(instant: datetime) -> str:
    """``2027-06-01T07:00:00Z``; microseconds only where there are some."""
    return instant.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


Instant = Annotated[
    datetime,
    PlainSerializer(instant_text),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2027-06-01T07:00:00Z"]}),
]


class View(ApiModel):
    """The base of views: what a response shows of one or several things."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, *shown: Any, **made: Any) -> Self:
        """Return the view of things: each field is the attribute of that name, unless it is computed.

        Args:
            shown: the things; of several that have an attribute, the first one counts.
            made: the computed fields.
        """
        found = {
            name: value
            for thing in reversed(shown)
            for name in cls.model_fields.keys() - made.keys()
            if (value := _fact_of(thing, name)) is not _ABSENT
        }
        return cls.model_validate(found | made)


def _fact_of(thing: Any, name: str) -> Any:
    if isinstance(thing, Action) and name in FIELDS:
        return FIELDS[name].of(thing)
    return getattr(thing, name, _ABSENT)


def shows(source: type, names: str) -> Callable[[type[M]], type[M]]:
    """Add attributes of a class to a view, with their types; the document has their descriptions, too."""

    def shown(view: type[M]) -> type[M]:
        facts = {name: (source, name, "") for name in names.split()}
        if source is Action:
            in_parts = {name: FIELDS[name] for name in facts if name in FIELDS and FIELDS[name].of_part}
            facts |= {
                name: (fact.source, fact.of_part or "", " | None" if fact.absent is None else "")
                for name, fact in in_parts.items()
            }
        fields = {
            name: (_as_json(kinds_of(owner, {name: _annotation(owner, fact, absent)}, {})[name]), ...)
            for name, (owner, fact, absent) in facts.items()
        }
        made = with_fields(view, fields, source)
        made.shown = {
            name: [(source, FIELDS[name].field if absent else name), (owner, fact)]
            for name, (owner, fact, absent) in facts.items()
        }
        return made

    return shown


def _annotation(source: type, name: str, absent: str) -> Any:
    found = source.__annotations__.get(name) or getattr(source, name).fget.__annotations__["return"]
    return f"{found}{absent}" if absent else found


def _as_json(kind: Any) -> Any:
    parts = get_args(kind)
    if kind is datetime:
        return Instant
    if get_origin(kind) is tuple:
        return list[_as_json(parts[0])]  # type: ignore[misc]
    return Union[tuple(map(_as_json, parts))] if isinstance(kind, UnionType) else kind  # noqa: UP007 - computed


V = TypeVar("V", bound=View)


@shows(Attempt, "queued_at started_at finished_at message instance")
class AttemptView(View):
    """One run of an action."""

    number: int
    """Counts runs from 1; a run that takes over from a lost one has the same number."""
    outcome: str
    """``running``, ``lost`` (its worker died), ``executed``, ``retry``, ``continued`` (from its checkpoint),
    ``failed`` or ``cancelled``."""


@shows(Action, SHOWN)
class ActionSummary(View):
    """An action without its payload: in lists, and after a change."""

    attempts: list[AttemptView]
    """Its runs, the first first; of many the latest 20."""

    @classmethod
    def of(cls, *shown: Any, **made: Any) -> Self:
        """Return the view of an action."""
        [action] = shown
        numbered = action.numbered_attempts()
        attempts = [
            AttemptView.of(run, number=number, outcome=_outcome(run, is_last=place == len(numbered)))
            for place, (number, run) in enumerate(numbered, 1)
        ]
        return super().of(action, attempts=attempts, **made)


def _outcome(attempt: Attempt, *, is_last: bool) -> str:
    word = "continued" if attempt.is_continued else attempt.ending and attempt.ending.value
    return word or ("running" if is_last else "lost")


def answer(view: V, status: HTTPStatus = HTTPStatus.OK, **headers: str) -> Response[V]:
    """Return a response with headers, such as ``Location``."""
    return Response(status, "application/json", view, headers={**headers})


def payload_fields(redacted: Redacted) -> dict[str, Any]:
    """Return the fields `payload` and `redacted` of a view."""
    return {"payload": redacted.payload, "redacted": list(redacted.paths)}


class ActionView(ActionSummary):
    """An action in full."""

    payload: Any
    """As JSON; null if a large one has expired. Sensitive values are `[redacted]` without `payloads:read`."""
    redacted: list[str]
    """The paths of sensitive values that are hidden from the caller; `*` if all is hidden."""
    checkpoint: Any
    """What its latest run stored for the next one, as JSON; null without one.

    Of a type with sensitive fields, `[redacted]` without `payloads:read`.
    """
    result: Any
    """What the completion of its hand-over stored, as JSON; null without one. Hidden as the checkpoint is."""
    trace_id: str | None
    """The trace that its runs continue, as W3C writes it: that of its caller; null without one."""
    trace_url: str | None
    """Where X-Ray shows that trace, if its spans are sent there."""

    @classmethod
    def in_full(cls, action: Action, payload: Redacted, *, checkpoint: Any, result: Any) -> Self:
        """Return the full view: payload, checkpoint and result as the caller may see them."""
        found = _TRACEPARENT.fullmatch(action.trace or "")
        trace = () if found is None else found.groups()
        return cls.of(
            action,
            **payload_fields(payload),
            checkpoint=checkpoint,
            result=result,
            trace_id="".join(trace) or None,
            trace_url=trace_url("-".join(("1", *trace))),
        )


@shows(Scanned, "rows until")
class ScannedView(View):
    """How far a search by `error` or `payload` came: it reads rows one by one, for no index holds these."""


class PageView(View):
    """The base of pages."""

    next_cursor: str | None
    """The cursor of the next page; null on the last one."""


class ActionPage(PageView):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[ActionSummary]
    """At most `limit`; a page may be short, or empty, and still lead on."""
    includes_runs: bool
    """Whether the list has runs of jobs too: of one job, or among failed actions."""
    scanned: ScannedView | None = None
    """How far this page of a search by `error` or `payload` came; null of other lists."""


class RunSummary(ActionSummary):
    """A run in the list of its job's runs."""

    payload: Any
    """Of a triggered run its payload, up to 2 KB; null of other runs. Hidden as an action's payload is."""
    redacted: list[str]
    """The paths of sensitive values that are hidden from the caller; `*` if all is hidden."""


class RunPage(PageView):
    """A page of a job's runs; `next_cursor` is null on the last one."""

    items: list[RunSummary]
    """At most `limit`; a page may be short, or empty, and still lead on."""
    includes_runs: bool
    """True: all are runs of the job."""


def trace_url(trace_id: str | None) -> str | None:
    """Return where X-Ray shows a trace; None without one, or if this process is no Lambda function."""
    region = lambda_region()
    if trace_id is None or region is None or not _TRACE_ID.fullmatch(trace_id):
        return None
    domain = "amazonaws.cn" if region.startswith("cn-") else "aws.amazon.com"
    if region.startswith("us-gov-"):
        domain = "amazonaws-us-gov.com"
    return f"https://{region}.console.{domain}/cloudwatch/home?region={region}#xray:traces/{trace_id}"
