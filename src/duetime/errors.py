"""The exceptions of duetime: one root; each child is also the closest built-in exception.

An error has typed fields and makes its message from them: what is wrong, and what is right.
Its `code` is stable; the HTTP API and the command line show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from duetime._english import nearest
from duetime._masking import masked

MESSAGE_LIMIT = 500
"""Characters of an outside message (a handler's exception, a client's value) that are stored or shown."""


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

    code: ClassVar[str] = "error"


class DeclarationError(DuetimeError, ValueError):
    """The app declares something that cannot work.

    A bad or duplicate name, a handler that cannot be called.
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


class TooManyDueShards(SettingsError):
    """This caller would put actions into due shards that the stack does not read; nothing was scheduled."""

    def __init__(self, own: int, deployed: int) -> None:
        self.own, self.deployed = own, deployed
        problem = f"this caller has due_shards={own}, the deployed stack reads {deployed}"
        remedy = f"set DUETIME_DUE_SHARDS={deployed} for the caller, or first deploy the stack with {own}"
        super().__init__([f"{problem}: {remedy}"])


class InvalidTime(DuetimeError, ValueError):
    """A time without an instant, or out of range."""

    code = "invalid-time"

    def __init__(self, value: object, problem: str, *, field: str = "") -> None:
        self.value, self.problem, self.field = value, problem, field
        super().__init__(f"{truncate(value, 60)!r} {problem}")


class InvalidIdentifier(DuetimeError, ValueError):
    """A tenant, an actor, or a caller's key or id that cannot be part of a table key."""

    code = "invalid-identifier"

    def __init__(self, field: str, value: object, problem: str) -> None:
        self.field, self.value, self.problem = field, value, problem
        super().__init__(f"{field} {truncate(value, 60)!r} {problem}")


class InvalidPayload(DuetimeError, ValueError):
    """A payload that its model rejects, or that JSON cannot carry."""

    code = "invalid-payload"

    def __init__(self, type_name: str, problems: Sequence[str]) -> None:
        self.type_name, self.problems = type_name, tuple(problems)
        super().__init__(f"payload of {truncate(type_name, 100)!r}: " + truncate("; ".join(self.problems)))


class PayloadTooLarge(DuetimeError, ValueError):
    """A payload that does not fit one DynamoDB item."""

    code = "payload-too-large"

    def __init__(self, type_name: str, size: int, limit: int) -> None:
        self.type_name, self.size, self.limit = type_name, size, limit
        super().__init__(
            f"payload of {type_name!r} is {size:,} bytes; at most {limit:,} fit one DynamoDB item."
            " Store it elsewhere and schedule a reference to it"
        )


class UnknownType(DuetimeError, LookupError):
    """A type name without a registered handler; it is looked up, never imported."""

    code = "unknown-type"

    def __init__(self, type_name: str, known: Iterable[str], remedy: str = "") -> None:
        self.type_name, self.known = type_name, tuple(sorted(known))
        remedy = remedy or (f"did you mean {near!r}?" if (near := nearest(type_name, self.known)) else "")
        super().__init__(
            f"no handler is registered for the type {truncate(type_name, 100)!r}; known are: "
            + (", ".join(self.known) or "none")
            + (f"; {remedy}" if remedy else "")
        )


class TypeNotHosted(DuetimeError, LookupError):
    """A type that no deployed worker hosts; nothing was scheduled."""

    code = "type-not-hosted"

    def __init__(self, type_name: str, hosted: Iterable[str]) -> None:
        self.type_name, self.hosted = type_name, tuple(sorted(hosted))
        meant = f"did you mean {near!r}? " if (near := nearest(type_name, self.hosted)) else ""
        remedy = "Deploy its worker first"
        if type_name.startswith("target-"):
            remedy = "Grant the target in the stack: scheduler.grant_target(…)"
        super().__init__(
            f"no worker hosts the type {truncate(type_name, 100)!r}; {meant}Workers host:"
            f" {truncate(', '.join(self.hosted))}. {remedy}, or set DUETIME_CHECK_TYPES=false"
        )


class TenantRequired(DuetimeError, ValueError):
    """The deployment has several tenants, and the caller names none."""

    code = "tenant-required"

    def __init__(self, tenants: str) -> None:
        self.tenants = tenants
        known = "many tenants" if tenants == "*" else f"the tenants {', '.join(tenants.split())}"
        super().__init__(
            f"this deployment has {known} (DUETIME_TENANTS), and no tenant was given; pass tenant_id=…"
        )


class ActionNotFound(DuetimeError, LookupError):
    """No such action for this tenant; another tenant's action gives the same error."""

    code = "action-not-found"

    def __init__(self, action_id: str) -> None:
        self.action_id = action_id
        super().__init__(f"there is no action {truncate(action_id, 100)!r}")


class ActionConflict(DuetimeError, RuntimeError):
    """The operation is not possible in the action's present status; nothing was changed."""

    code = "action-conflict"

    def __init__(self, action_id: str, *, operation: str, status: str, possible: str) -> None:
        self.action_id, self.operation, self.status, self.possible = action_id, operation, status, possible
        super().__init__(f"cannot {operation} action {action_id}: it is {status}, and only {possible} can be")


class BatchNotFound(DuetimeError, LookupError):
    """No such batch for this tenant; another tenant's batch gives the same error."""

    code = "batch-not-found"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is no batch {truncate(name, 100)!r}")


class BatchConflict(DuetimeError, RuntimeError):
    """The operation is not possible in the batch's present state; nothing was changed."""

    code = "batch-conflict"

    def __init__(self, name: str, operation: str, state: str, possible: str) -> None:
        self.name, self.operation, self.state = name, operation, state
        super().__init__(f"cannot {operation} batch {name}: it is {state}; {possible}")


class InvalidReason(DuetimeError, ValueError):
    """The reason of a dismissal is empty or too long; nothing was changed."""

    code = "invalid-reason"

    def __init__(self, reason: str, longest: int) -> None:
        self.reason = reason
        super().__init__(
            f"the reason has {len(reason)} characters; write 1 to {longest}, not only spaces,"
            " such as: the order was refunded by hand"
        )


class IdempotencyConflict(DuetimeError, RuntimeError):
    """The idempotency key belongs to an action of another type or payload; nothing was scheduled."""

    code = "idempotency-conflict"

    def __init__(self, key: str, action_id: str) -> None:
        self.key, self.action_id = key, action_id
        super().__init__(
            f"the idempotency key {key!r} stands for action {action_id}, which has another type or payload;"
            " choose another key"
        )


class DebounceConflict(DuetimeError, RuntimeError):
    """The debounce key belongs to a pending action of another type; nothing was scheduled."""

    code = "debounce-conflict"

    def __init__(self, key: str, action_id: str, type_name: str) -> None:
        self.key, self.action_id = key, action_id
        super().__init__(
            f"the debounce key {key!r} stands for the pending action {action_id} of type {type_name!r};"
            " choose another key for each type"
        )


class PriorityNotEnabled(DuetimeError, ValueError):
    """A caller gives an action a high priority, and the deployment has no queues for that."""

    code = "priority-not-enabled"

    def __init__(self) -> None:
        super().__init__(
            "priority is 'high', but this deployment does not enable it for single actions: set"
            ' high_priority=true and deploy, or declare the type with @app.action(priority="high")'
        )


class JobNotFound(DuetimeError, LookupError):
    """No such job for this caller; another tenant's job gives the same error."""

    code = "job-not-found"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is no job {truncate(name, 100)!r}")


class UndeliveredNotFound(DuetimeError, LookupError):
    """Nothing undelivered has that id: it was redriven, or removed when its time was over."""

    code = "undelivered-not-found"

    def __init__(self, undelivered_id: str) -> None:
        self.undelivered_id = undelivered_id
        super().__init__(f"there is no undelivered input {truncate(undelivered_id, 100)!r}")


class NotificationNotFound(DuetimeError, LookupError):
    """No notification of this list has that id.

    It is another list's, or was removed when its time was over.
    """

    code = "notification-not-found"

    def __init__(self, notification_id: str) -> None:
        self.notification_id = notification_id
        super().__init__(f"there is no notification {truncate(notification_id, 100)!r}")


class OperatorsOnly(DuetimeError, PermissionError):
    """Data of the deployment, and of no tenant."""

    code = "forbidden"

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"{what} is the deployment's own, and for its operators only")


class JobConflict(DuetimeError, RuntimeError):
    """The operation is not possible in the job's present state; nothing was changed."""

    code = "job-conflict"

    def __init__(self, name: str, *, operation: str, problem: str) -> None:
        self.name, self.operation, self.problem = name, operation, problem
        super().__init__(f"cannot {operation} job {name}: {problem}")


class JobDefinitionNotFound(DuetimeError, LookupError):
    """The job has no such definition."""

    code = "definition-not-found"

    def __init__(self, job: str, definition_id: str) -> None:
        self.job, self.definition_id = job, definition_id
        super().__init__(
            f"job {job} has no definition {truncate(definition_id, 50)!r}; list them with"
            f" `duetime jobs versions {job}`"
        )


class BackfillNotFound(DuetimeError, LookupError):
    """The job has no such backfill."""

    code = "backfill-not-found"

    def __init__(self, job: str, backfill_id: str | None = None) -> None:
        self.job, self.backfill_id = job, backfill_id
        what = (
            "no unfinished backfill" if backfill_id is None else f"no backfill {truncate(backfill_id, 50)!r}"
        )
        super().__init__(f"job {job} has {what}; list them with `duetime jobs backfills {job}`")


class BackfillConflict(DuetimeError, RuntimeError):
    """The operation is not possible beside the job's backfills as they stand; nothing was changed."""

    code = "backfill-conflict"

    def __init__(self, job: str, *, operation: str, problem: str) -> None:
        self.job, self.operation, self.problem = job, operation, problem
        super().__init__(f"cannot {operation} of job {job}: {problem}")


class InvalidBackfill(DuetimeError, ValueError):
    """The range, the order or the bound of a backfill is not possible; nothing was changed."""

    code = "invalid-backfill"

    def __init__(self, field: str, value: object, problem: str) -> None:
        self.field, self.value = field, value
        super().__init__(f"{field} {truncate(str(value), 100)} {problem}")


class JobNameTaken(DuetimeError, RuntimeError):
    """A registration under a name that another job has."""

    code = "job-name-taken"

    def __init__(self, name: str, owner: str) -> None:
        self.name, self.owner = name, owner
        super().__init__(f"the name {name!r} is taken by {owner}; choose another")


class TenantPaused(DuetimeError, RuntimeError):
    """An operator has paused the tenant; nothing was created. Reads and cancels work."""

    code = "tenant-paused"

    def __init__(self, tenant_id: str, *, reason: str, until: datetime | None) -> None:
        self.tenant_id, self.reason, self.until = tenant_id, reason, until
        end = f"until {until:%Y-%m-%dT%H:%M:%SZ}" if until else "until an operator resumes it"
        super().__init__(f"the tenant {tenant_id!r} is paused {end}: {truncate(reason)}")


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


class InvalidCommit(DuetimeError, ValueError):
    """`Run.commit` received no list of entries for one transaction; nothing was written."""

    code = "invalid-commit"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"cannot commit this: {truncate(problem)}")


class InvalidCheckpoint(DuetimeError, ValueError):
    """`Run.checkpoint` received no JSON value, or one that is too large; nothing was stored."""

    code = "invalid-checkpoint"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"cannot store this checkpoint: {truncate(problem)}")


class AlreadyCommitted(DuetimeError, RuntimeError):
    """A second `Run.commit` of one run; nothing was written by it."""

    code = "already-committed"

    def __init__(self, action_id: str) -> None:
        self.action_id = action_id
        super().__init__(f"the run of {action_id} has committed; commit all that belongs together at once")


@dataclass(frozen=True, slots=True)
class RejectedEntry:
    """The reason why an entry of a commit was rejected.

    Attributes:
        index: its index among the given entries.
        code: dynamoDB's code for the reason; ``TransactionConflict`` if other writers kept its item busy.
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


class InvalidCursor(DuetimeError, ValueError):
    """A page cursor of another query."""

    code = "invalid-cursor"

    def __init__(self) -> None:
        super().__init__("the cursor does not belong to this query; start again without one")


class InvalidSelection(DuetimeError, ValueError):
    """Malformed or contradictory filters."""

    code = "invalid-selection"

    def __init__(self, problem: str, *, field: str = "") -> None:
        self.problem, self.field = problem, field
        super().__init__(problem)


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


class StandbyRegion(DuetimeError, RuntimeError):
    """The end or heartbeat of a hand-over in a region that stands by; nothing was written.

    Attributes:
        own: the region that was called.
        active: the active region; empty during a failover.
    """

    code = "standby-region"

    def __init__(self, own: str, active: str) -> None:
        self.own, self.active = own, active
        remedy = f"call the active region, {active}" if active else "call again when the failover has ended"
        super().__init__(f"{own} stands by; {remedy}")


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
