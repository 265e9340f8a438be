"""Translation of AWS errors into duetime's errors: no other module translates a ``ClientError``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
)

from duetime.aws.keys import Item
from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.ports.keyed_items import Cancelled, Conflict

Cures = Callable[[], Mapping[str, str]]
"""Returns a caller's own remedies by error code."""

_CONDITION_FAILED = "ConditionalCheckFailedException"
_CONFLICT = "TransactionConflictException"
_CANCELLED = "TransactionCanceledException"

COMMIT = "DynamoDB, for run.commit,"
"""The service name of a transaction with a handler's writes: its remedies name the handler's tables."""

_CURES = {
    "ResourceNotFoundException": "Check DUETIME_PREFIX or the name in the settings, and that"
    " the stack is deployed",
    "DynamoDB ResourceNotFoundException": "Check DUETIME_PREFIX or DUETIME_ACTIONS_TABLE, and"
    " DUETIME_JOBS_TABLE (by"
    " default, the tables are duetime-actions and duetime-jobs), the region, and that the stack is deployed",
    "QueueDoesNotExist": "Check DUETIME_QUEUES, and that the stack is deployed",
    "AWS.SimpleQueueService.NonExistentQueue": "Check DUETIME_QUEUES, and that the stack is deployed",
    "DynamoDB AccessDeniedException": "Give this role what scheduler.grant_schedule gives, for this tenant",
    "AccessDeniedException": "Give this role what the stack gives the function",
    "AccessDenied": "Give this role what the stack gives the function",
    "ValidationException": "The service rejects the request; a repeat does not help",
    "UnrecognizedClientException": "Check the credentials",
    "ExpiredTokenException": "Renew the credentials",
    "ServiceQuotaExceededException": "Raise the quota for this account in Service Quotas",
    "LimitExceededException": "Raise the quota for this account in Service Quotas",
    "TemplateDoesNotExist": "Deploy again: the stack makes the mails' templates",
    "MailFromDomainNotVerifiedException": "Have SES verify the domain of DUETIME_MAIL_FROM",
    "AccountSendingPausedException": "SES has paused this account's mails; resume sending in SES",
    "SNS NotFound": "Check DUETIME_TOPIC_ARN, and that the topic is there",
    "AuthorizationError": "Give this role what the stack gives the function",
    "InvalidEventPatternException": "EventBridge rejects the pattern of the trigger; change its match=",
}


class ConditionFailed(Exception):
    """A conditional write changed nothing.

    Attributes:
        item: the item that failed the condition, if there is one.
        was_repeated: the SDK sent the request more than once, so an earlier copy may have changed the item.
    """

    def __init__(self, item: Item | None, *, was_repeated: bool = False) -> None:
        self.item, self.was_repeated = item, was_repeated
        super().__init__("the condition of a write did not hold")


class TransactionFailed(Exception):
    """A transaction changed nothing, because some of its conditions failed.

    Attributes:
        failed: the position of each failed entry, and the item that failed its condition, if there is one.
        was_repeated: see `ConditionFailed`. A request of several writes has a token, so DynamoDB recognises
            its copies.
    """

    def __init__(self, failed: Mapping[int, Item | None], *, was_repeated: bool = False) -> None:
        self.failed, self.was_repeated = failed, was_repeated
        super().__init__("a condition of a transaction did not hold")


def code_of(error: ClientError) -> str:
    """Return the service's error code."""
    return str(error.response.get("Error", {}).get("Code", ""))


_DENIED = {"AccessDenied", "AccessDeniedException", "AuthorizationError"}
_ROLE_UNKNOWN = "to assume the role"
"""EventBridge Scheduler's ValidationException for a role that it cannot assume (yet)."""


def is_denied(error: BaseException | None) -> bool:
    """Return whether a service denied a call, or could not assume the role that the call names.

    Both also happen in the first seconds of a new role, until IAM has distributed it.
    """
    while error is not None:
        if isinstance(error, ClientError) and (code_of(error) in _DENIED or _ROLE_UNKNOWN in str(error)):
            return True
        error = error.__cause__
    return False


@contextmanager
def ignoring(*codes: str) -> Iterator[None]:
    """Ignore errors with one of these codes of the service."""
    try:
        yield
    except ClientError as error:
        if code_of(error) not in codes:
            raise


@contextmanager
def translate_errors(service: str, cures: Cures = dict) -> Iterator[None]:
    """Translate AWS errors into `BackendMisconfigured` (permanent) or `BackendUnavailable` (temporary).

    A failed condition raises `ConditionFailed`, in a transaction `TransactionFailed`; the store handles both.

    Args:
        service: the name for messages.
        cures: returns remedies that override the default ones.
    """
    try:
        yield
    except ClientError as error:
        if code_of(error) == _CONDITION_FAILED:
            response: Any = error.response
            retries = response.get("ResponseMetadata", {}).get("RetryAttempts", 0)
            raise ConditionFailed(response.get("Item"), was_repeated=retries > 0) from None
        if code_of(error) == _CANCELLED:
            raise _of_reasons(service, error) from error
        if (code := code_of(error)) in (own := cures()):
            raise BackendMisconfigured(service, str(error), own[code]) from error
        raise _of_refusal(service, code, str(error)) from error
    except NoCredentialsError as error:
        raise BackendMisconfigured(service, str(error), "Give the process credentials") from error
    except NoRegionError as error:
        raise BackendMisconfigured(service, str(error), "Give the process AWS_DEFAULT_REGION") from error
    except ParamValidationError as error:
        raise BackendMisconfigured(
            service, str(error), "Write it as a low-level client takes it, types and all"
        ) from error
    except BotoCoreError as error:
        raise BackendUnavailable(service, str(error)) from error


@contextmanager
def translate_calls(service: str) -> Iterator[None]:
    """Translate the errors of a call that an action sends to a user's resource.

    A rejection is permanent, except for throttling and for missing rights, which IAM may still distribute.

    Raises:
        BackendMisconfigured: a repeat does not help.
        BackendUnavailable: a repeat may help.
    """
    try:
        yield
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        code = code_of(error)
        is_rejected = _REJECTED <= status < _SERVER_ERROR and status != _TOO_MANY
        if is_rejected and code not in _DENIED and "Throttl" not in code and "TooMany" not in code:
            raise BackendMisconfigured(service, str(error), "Change the action or the resource") from error
        raise BackendUnavailable(service, str(error)) from error
    except ParamValidationError as error:
        raise BackendMisconfigured(service, str(error), "Change the action") from error
    except BotoCoreError as error:
        raise BackendUnavailable(service, str(error)) from error


_REJECTED, _TOO_MANY, _SERVER_ERROR = 400, 429, 500


def _of_reasons(service: str, error: ClientError) -> Exception:
    reasons: list[Any] = dict(error.response).get("CancellationReasons") or []  # type: ignore[assignment]
    codes = [reason.get("Code", "None") for reason in reasons]
    if "ConditionalCheckFailed" in codes:
        places = (place for place, code in enumerate(codes) if code == "ConditionalCheckFailed")
        return TransactionFailed({place: reasons[place].get("Item") for place in places})
    code = next((named for reason, named in _REASONS.items() if reason in codes), "")
    if code in _CURES:
        return _of_refusal(service, code, str(error))
    passing = {place: code for place, code in enumerate(codes) if code != "None"}
    return (Conflict if code == _CONFLICT else Cancelled)(service, str(error), passing)


_REASONS = {"ValidationError": "ValidationException", "TransactionConflict": _CONFLICT}
"""The error codes of two reasons, the graver one first. All other reasons are temporary."""


def _of_refusal(service: str, code: str, reason: str) -> BackendMisconfigured | BackendUnavailable:
    """Return the error for a rejection, with a remedy if a repeat does not help."""
    cure = _CURES.get(f"{service} {code}") or _CURES.get(code)
    if cure is not None:
        return BackendMisconfigured(service, reason, cure)
    return Conflict(service, reason) if code == _CONFLICT else BackendUnavailable(service, reason)
