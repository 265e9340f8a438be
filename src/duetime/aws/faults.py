"""What AWS answers, in duetime's words: the one place where a ``ClientError`` is translated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, NoRegionError

from duetime.aws.keys import Item
from duetime.errors import BackendMisconfigured, BackendUnavailable

_CONDITION_FAILED = "ConditionalCheckFailedException"

_CURES = {
    "ResourceNotFoundException": "Check DUETIME_PREFIX or the name in the settings, and that the stack is deployed",
    "QueueDoesNotExist": "Check DUETIME_QUEUES, and that the stack is deployed",
    "AWS.SimpleQueueService.NonExistentQueue": "Check DUETIME_QUEUES, and that the stack is deployed",
    "AccessDeniedException": "Give this role what scheduler.grant_schedule gives, for this tenant",
    "AccessDenied": "Give this role what the stack gives the function",
    "ValidationException": "The request itself is refused; repeating it will not help",
    "UnrecognizedClientException": "Check the credentials",
    "ExpiredTokenException": "Renew the credentials",
}


class ConditionFailed(Exception):
    """A conditional write changed nothing; `item` is the row that stood in its way, if there is one."""

    def __init__(self, item: Item | None) -> None:
        self.item = item
        super().__init__("the condition of a write did not hold")


def code_of(error: ClientError) -> str:
    """The service's own word for what went wrong."""
    return str(error.response.get("Error", {}).get("Code", ""))


@contextmanager
def translated(service: str) -> Iterator[None]:
    """Raise what goes wrong inside as `BackendMisconfigured` (it will not pass) or `BackendUnavailable` (it may).

    A condition that did not hold is neither: that is `ConditionFailed`, and the store's own to answer.
    """
    try:
        yield
    except ClientError as error:
        if code_of(error) == _CONDITION_FAILED:
            raise ConditionFailed(dict(error.response).get("Item")) from None  # type: ignore[arg-type]
        raise _of_client_error(service, error) from error
    except (NoCredentialsError, NoRegionError) as error:
        raise BackendMisconfigured(
            service, str(error), "Give the process credentials and a region"
        ) from error
    except BotoCoreError as error:
        raise BackendUnavailable(service, str(error)) from error


def _of_client_error(service: str, error: ClientError) -> BackendMisconfigured | BackendUnavailable:
    """A service's refusal: with its cure where repeating the call is no use."""
    cure = _CURES.get(code_of(error))
    if cure is not None:
        return BackendMisconfigured(service, str(error), cure)
    return BackendUnavailable(service, str(error))
