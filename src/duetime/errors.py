"""The exceptions of duetime: one root; each child is also the closest built-in exception.

A class exists for each reaction of a caller, and no other::

    DuetimeError
      DeclarationError        change the code: the app or the stack declares what cannot work
      SettingsError           change the settings
      InvalidArgument         change the call: a value is not allowed
        InvalidPayload        change the payload
        InvalidCursor         read the list from its beginning
      NotFound                nothing has this id or name
      UnknownType             deploy the worker of this type first
      StateConflict           look at the present state, then decide
        HandOverEnded         nothing: another call has ended it, or its time is over
        KeyConflict           choose another key
      QuotaExceeded           remove some, or ask an operator for more
      RateExceeded            repeat the call after a second
      Forbidden               ask for the permission
      CommitRejected          the run goes on: look at the rejected entries
      Unsupported             use the back end that the message names
      UnreadableRow           repair or remove one row; others are still read
      UnreadableMessage       the message ends in the failure queue
      BackendUnavailable      repeat the call
        TimerQuotaReached     repeat it later; until then the sweep wakes actions
      BackendMisconfigured    deploy, or grant the permission
        QueueMissing          deploy that worker; others are not affected
      OtherFormat             use the version that wrote the tables
      OperationFailed         an operator's command cannot continue; follow its message

An error has typed fields and makes its message from them: what is wrong, what is allowed, and what to do.
Its `code` is stable, and finer than its class where clients of the HTTP API distinguish more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from duetime._english import nearest
from duetime._masking import masked

MESSAGE_LIMIT = 500
"""Characters of an outside message (a handler's exception, a client's value) that are stored or shown."""

_ABSENT: Final = object()


def truncate(message: object, limit: int = MESSAGE_LIMIT) -> str:
    """Return the message's text without secrets, in at most `limit` characters; an ellipsis marks its end.

    An exception's ``str()`` is a handler's code, and may itself raise anything.
    """
    try:
        text = str(message)
    except BaseException as error:  # noqa: BLE001 - a run must settle whatever its exception does
        text = f"its text cannot be read: str() raised {type(error).__name__}"
    shown = masked(text, limit)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


class DuetimeError(Exception):
    """The root: ``except DuetimeError`` catches all errors of duetime."""

    code: str = "error"


class DeclarationError(DuetimeError, ValueError):
    """The app or the stack declares something that cannot work.

    A bad or duplicate name, a handler that cannot be called or bundled.
    """

    code = "bad-declaration"


class SettingsError(DuetimeError, ValueError):
    """The settings contradict each other or a limit of AWS; the message lists every problem."""

    code = "bad-settings"

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


class OtherFormat(DuetimeError, RuntimeError):
    """This version does not read the format of the tables; nothing was changed."""

    code = "other-format"

    def __init__(self, table: str, found: int, readable: int) -> None:
        self.table, self.found, self.readable = table, found, readable
        stored = f"format {found}" if found else "an unreadable format"
        super().__init__(
            f"the tables beside {table} have {stored}; this version of duetime reads format {readable}."
            " Nothing was changed: use the version that wrote them, or another prefix"
        )


class InvalidArgument(DuetimeError, ValueError):
    """A value that is not allowed; nothing was changed.

    Attributes:
        problems: what is wrong, each with what is allowed.
        field: the name of the argument; empty if the message names it.
        value: the value, if it is one.
    """

    code = "invalid-argument"

    def __init__(self, *problems: str, field: str = "", value: object = _ABSENT) -> None:
        self.problems, self.field = problems, field
        self.value = None if value is _ABSENT else value
        shown = () if value is _ABSENT else filter(None, (field, repr(truncate(value, 60))))
        super().__init__(" ".join((*shown, "; ".join(problems))))

    @property
    def problem(self) -> str:
        """What is wrong, without the field and the value."""
        return "; ".join(self.problems)


class InvalidPayload(InvalidArgument):
    """A payload that its model rejects, that JSON cannot carry, or that does not fit one DynamoDB item."""

    code = "invalid-payload"

    def __init__(self, type_name: str, problems: Sequence[str]) -> None:
        self.type_name = type_name
        super().__init__(f"payload of {truncate(type_name, 100)!r}: " + truncate("; ".join(problems)))
        self.problems = tuple(problems)


def too_large(type_name: str, size: int, limit: int) -> InvalidPayload:
    """Return the error of a payload of `size` bytes, if `limit` bytes are allowed."""
    problem = f"is {size:,} bytes; at most {limit:,} fit one DynamoDB item"
    error = InvalidPayload(type_name, [f"{problem}. Store it elsewhere and schedule a reference to it"])
    error.code = "payload-too-large"
    return error


class InvalidCursor(InvalidArgument):
    """A page cursor of another query."""

    code = "invalid-cursor"

    def __init__(self) -> None:
        super().__init__("the cursor does not belong to this query; start again without one", field="cursor")


class UnknownType(DuetimeError, LookupError):
    """A type name without a handler: none is registered, or no deployed worker hosts it.

    It is looked up, never imported; nothing was scheduled.
    """

    code = "unknown-type"

    def __init__(self, type_name: str, known: Iterable[str], remedy: str = "") -> None:
        self.type_name, self.known = type_name, tuple(sorted(known))
        remedy = remedy or (f"did you mean {near!r}?" if (near := nearest(type_name, self.known)) else "")
        super().__init__(
            f"no handler is registered for the type {truncate(type_name, 100)!r}; known are: "
            + (truncate(", ".join(self.known)) or "none")
            + (f"; {remedy}" if remedy else "")
        )


class NotFound(DuetimeError, LookupError):
    """Nothing of this kind has this id or name for this tenant; another tenant's gives the same error.

    Attributes:
        kind: what was looked up, such as ``action`` or ``job``; the code is ``action-not-found``.
        name: its id or name.
    """

    def __init__(self, kind: str, name: str | None, hint: str = "") -> None:
        self.kind, self.name = kind, name
        self.code = f"{kind.replace(' ', '-')}-not-found"
        named = "" if name is None else f" {truncate(name, 100)!r}"
        super().__init__(f"there is no {kind}{named}{hint}")


class StateConflict(DuetimeError, RuntimeError):
    """The operation is not possible in the present state; nothing was changed.

    Attributes:
        code: states whose state it is, such as ``action-conflict``.
        problem: the present state, and what is possible.
    """

    def __init__(self, what: str, problem: str, *, code: str) -> None:
        self.code, self.problem = code, problem
        super().__init__(f"{what}: {problem}")


class HandOverEnded(StateConflict):
    """The token was used, its time is over, or another run has taken the action over; nothing was written.

    Attributes:
        action_id: the action.
        reason: why the token changes nothing any more.
    """

    def __init__(self, action_id: str, status: str, reason: str) -> None:
        self.action_id, self.reason = action_id, reason
        problem = f"{reason}. The action is {status}"
        super().__init__(f"the hand-over of {action_id} has ended", problem, code="hand-over-ended")


class KeyConflict(StateConflict):
    """The key belongs to another action; nothing was scheduled.

    An idempotency key's action has another type or payload, a debounce key's pending action another type.

    Attributes:
        key: the key.
        action_id: the action that has it.
    """

    def __init__(self, kind: str, key: str, action_id: str, difference: str) -> None:
        self.key, self.action_id = key, action_id
        what = f"the {kind} key {key!r} stands for action {action_id}, which has {difference}"
        super().__init__(what, "choose another key", code=f"{kind}-conflict")


class QuotaExceeded(DuetimeError, RuntimeError):
    """A tenant has as much as its quota allows; nothing was created."""

    code = "quota-exceeded"

    def __init__(self, tenant_id: str, quota: str, *, used: int, added: int, limit: int) -> None:
        self.tenant_id, self.quota, self.used, self.added, self.limit = tenant_id, quota, used, added, limit
        remedy = "wait until tomorrow (UTC)" if quota == "payload_bytes" else "remove some"
        super().__init__(
            f"the tenant {tenant_id!r} has {used:,} {quota}, and {added:,} more would exceed its quota of"
            f" {limit:,}; {remedy}, or ask an operator to raise the setting quotas"
        )


class RateExceeded(DuetimeError, RuntimeError):
    """A tenant's requests come faster than its quota allows; repeat the request after a second."""

    code = "rate-exceeded"

    def __init__(self, tenant_id: str, quota: str, *, limit: int) -> None:
        self.tenant_id, self.quota, self.limit = tenant_id, quota, limit
        super().__init__(
            f"the tenant {tenant_id!r} sends more than {limit:,} {quota} a second, its quota; send fewer,"
            " or ask an operator to raise the setting quotas"
        )


class Forbidden(DuetimeError, PermissionError):
    """The caller lacks a permission, a role or a tenant, or another person must approve."""

    code = "forbidden"


@dataclass(frozen=True, slots=True)
class RejectedEntry:
    """The reason why an entry of a commit was rejected.

    Attributes:
        index: its index among the given entries.
        code: DynamoDB's code for the reason; ``TransactionConflict`` if other writers kept its item busy.
        item: the present item, if the entry requests it: ``ReturnValuesOnConditionCheckFailure="ALL_OLD"``.
    """

    index: int
    code: str = "ConditionalCheckFailed"
    item: Mapping[str, Any] | None = None


class CommitRejected(DuetimeError, RuntimeError):
    """A commit was not written; this run still holds the action, and the handler may continue."""

    code = "commit-refused"

    def __init__(self, reasons: Sequence[RejectedEntry]) -> None:
        self.reasons = tuple(reasons)
        entries = ", ".join(f"entry {reason.index}: {reason.code}" for reason in self.reasons)
        super().__init__(
            f"the commit was refused, and nothing was written ({entries or 'the action was busy'})"
        )


class Unsupported(DuetimeError, NotImplementedError):
    """This back end cannot do that; the message names one that can."""

    code = "unsupported"


class UnreadableRow(DuetimeError, ValueError):
    """A damaged item of the actions table, or one that duetime did not write; others are still read."""

    code = "unreadable-row"

    def __init__(self, key: object, problem: BaseException) -> None:
        self.key = key
        super().__init__(
            f"the row {truncate(key, 150)} cannot be read: {type(problem).__name__}: {truncate(problem, 150)}"
        )


class UnreadableMessage(DuetimeError, ValueError):
    """A message or an event that duetime did not write. It ends in the failure queue."""

    code = "unreadable-message"

    def __init__(self, problem: object) -> None:
        kind = f"{type(problem).__name__}: " if isinstance(problem, BaseException) else ""
        super().__init__(f"cannot be read as a message of duetime: {kind}{truncate(problem, 200)}")


class BackendUnavailable(DuetimeError, ConnectionError):
    """A service did not answer, or it requested a later call; the call may be repeated."""

    code = "unavailable"

    def __init__(self, service: str, reason: str) -> None:
        self.service, self.reason = service, reason
        super().__init__(f"{service} is not available: {truncate(reason)}")


class BackendMisconfigured(DuetimeError, RuntimeError):
    """A service permanently rejects the call, because of a missing table or permission."""

    code = "misconfigured"

    def __init__(self, service: str, reason: str, cure: str) -> None:
        self.service, self.reason, self.cure = service, reason, cure
        super().__init__(f"{service} refuses: {truncate(reason).rstrip('.')}. {cure}")


class TimerQuotaReached(BackendUnavailable):
    """As many timers exist as the account's quota allows; a later call may succeed."""


class QueueMissing(BackendMisconfigured):
    """A worker's queue does not exist: its messages cannot be sent, those of other queues can."""


class OperationFailed(DuetimeError, RuntimeError):
    """An operator's command, a build or a local cloud cannot continue; the message has the remedy.

    Nothing was changed, unless the message states otherwise.
    """

    code = "operation-failed"
