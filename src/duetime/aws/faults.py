"""What AWS answers, in duetime's words: the one place where a ``ClientError`` is translated."""

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

Cures = Callable[[], Mapping[str, str]]
"""What makes a caller's own cures, by the service's word for what went wrong."""

_CONDITION_FAILED = "ConditionalCheckFailedException"
_CONFLICT = "TransactionConflictException"
_CANCELLED = "TransactionCanceledException"

COMMIT = "DynamoDB, for run.commit,"
"""The service of a transaction that has a handler's own writes in it: its cures name the handler's tables."""

_CURES = {
    "ResourceNotFoundException": "Check DUETIME_PREFIX or the name in the settings, and that the stack is deployed",
    "DynamoDB ResourceNotFoundException": "Check DUETIME_PREFIX or DUETIME_ACTIONS_TABLE, and DUETIME_JOBS_TABLE (if none"
    " is said, the tables are duetime-actions and duetime-jobs), the region, and that the stack is deployed",
    "QueueDoesNotExist": "Check DUETIME_QUEUES, and that the stack is deployed",
    "AWS.SimpleQueueService.NonExistentQueue": "Check DUETIME_QUEUES, and that the stack is deployed",
    "DynamoDB AccessDeniedException": "Give this role what scheduler.grant_schedule gives, for this tenant",
    "AccessDeniedException": "Give this role what the stack gives the function",
    "AccessDenied": "Give this role what the stack gives the function",
    "ValidationException": "The request itself is refused; repeating it will not help",
    "UnrecognizedClientException": "Check the credentials",
    "ExpiredTokenException": "Renew the credentials",
    "ServiceQuotaExceededException": "Raise the quota for this account in Service Quotas",
    "LimitExceededException": "Raise the quota for this account in Service Quotas",
    "TemplateDoesNotExist": "Deploy again: the stack makes the mails' templates",
    "MailFromDomainNotVerifiedException": "Have SES verify the domain of DUETIME_MAIL_FROM",
    "AccountSendingPausedException": "SES has stopped this account's mails: have it go on",
    "SNS NotFound": "Check DUETIME_TOPIC_ARN, and that the topic is there",
    "AuthorizationError": "Give this role what the stack gives the function",
    "InvalidEventPatternException": "EventBridge does not take what the trigger must match; change its match=",
}


class ConditionFailed(Exception):
    """A conditional write changed nothing; `item` is the row that stood in its way, if there is one."""

    def __init__(self, item: Item | None) -> None:
        self.item = item
        super().__init__("the condition of a write did not hold")


class TransactionFailed(Exception):
    """A transaction changed nothing, since some of its conditions did not hold.

    `failed` has the place of each in the transaction, and the item that stood in its way, if there is one.
    """

    def __init__(self, failed: Mapping[int, Item | None]) -> None:
        self.failed = failed
        super().__init__("a condition of a transaction did not hold")


class TransactionCancelled(BackendUnavailable):
    """A transaction was cancelled for reasons that pass; nothing was changed, and the call may be repeated.

    `codes` has the reason of each of its entries that has one, by their place; none where it was one write alone.
    """

    def __init__(self, service: str, reason: str, codes: Mapping[int, str] | None = None) -> None:
        self.codes = codes or {}
        super().__init__(service, reason)


class TransactionConflict(TransactionCancelled):
    """A transaction was at work on the same item; nothing was changed, and the call may be repeated at once."""


def code_of(error: ClientError) -> str:
    """The service's own word for what went wrong."""
    return str(error.response.get("Error", {}).get("Code", ""))


@contextmanager
def translate_errors(service: str, cures: Cures = dict) -> Iterator[None]:
    """Raise what goes wrong inside as `BackendMisconfigured` (it will not pass) or `BackendUnavailable` (it may).

    `cures` come before the usual ones.

    A condition that did not hold is neither: that is `ConditionFailed`, in a transaction `TransactionFailed`, and the
    store's own to answer.
    """
    try:
        yield
    except ClientError as error:
        if code_of(error) == _CONDITION_FAILED:
            raise ConditionFailed(dict(error.response).get("Item")) from None  # type: ignore[arg-type]
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


def _of_reasons(service: str, error: ClientError) -> Exception:
    """Why a transaction was cancelled: its entries have a reason each, most of them none."""
    reasons: list[Any] = dict(error.response).get("CancellationReasons") or []  # type: ignore[assignment]
    codes = [reason.get("Code", "None") for reason in reasons]
    if "ConditionalCheckFailed" in codes:
        places = (place for place, code in enumerate(codes) if code == "ConditionalCheckFailed")
        return TransactionFailed({place: reasons[place].get("Item") for place in places})
    code = next((named for reason, named in _REASONS.items() if reason in codes), "")
    if code in _CURES:
        return _of_refusal(service, code, str(error))
    passing = {place: code for place, code in enumerate(codes) if code != "None"}
    return (TransactionConflict if code == _CONFLICT else TransactionCancelled)(service, str(error), passing)


_REASONS = {"ValidationError": "ValidationException", "TransactionConflict": _CONFLICT}
"""The errors that two of the reasons stand for, the graver one first; the others pass by themselves."""


def _of_refusal(service: str, code: str, reason: str) -> BackendMisconfigured | BackendUnavailable:
    """A service's refusal: with its cure where repeating the call is no use."""
    cure = _CURES.get(f"{service} {code}") or _CURES.get(code)
    if cure is not None:
        return BackendMisconfigured(service, reason, cure)
    return TransactionConflict(service, reason) if code == _CONFLICT else BackendUnavailable(service, reason)
