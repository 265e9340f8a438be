"""Reads one resource of the account, which may be absent."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from duetime.aws import clients
from duetime.aws.faults import code_of, translate_errors

_ABSENT = {
    "WAFNonexistentItemException",
    "ResourceNotFoundException",
    "ResourceNotFound",
    "NotFoundException",
    "NotFound",
    "QueueDoesNotExist",
    "AWS.SimpleQueueService.NonExistentQueue",
    "TemplateDoesNotExist",
    "ParameterNotFound",
    "NoSuchResourceException",
}


def find(service: str, operation: str, **parameters: Any) -> Any:
    """Return the response, or None if what it describes does not exist.

    Raises:
        DuetimeError: as `translate_errors`.
    """
    with translate_errors(service):
        try:
            return getattr(clients.of(service), operation)(**parameters)
        except ClientError as error:
            if code_of(error) in _ABSENT:
                return None
            raise
