"""Event sources: queues and streams with their functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duetime.model.event_pattern import Pattern


@dataclass(frozen=True, slots=True)
class QueueSource:
    """A queue that feeds a function one message at a time.

    Attributes:
        url: the queue's URL.
        arn: the queue's ARN.
        function: the function's ARN.
    """

    url: str
    arn: str
    function: str


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A stream that feeds a function batches of records.

    Attributes:
        arn: the stream's ARN.
        function: the function's ARN.
        filters: patterns; one must match a record.
    """

    arn: str
    function: str
    filters: Sequence[Pattern]
