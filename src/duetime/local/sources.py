"""Event sources: which queue or stream is read for which function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duetime.model.event_pattern import Pattern


@dataclass(frozen=True, slots=True)
class QueueSource:
    """A queue that feeds a function one message at a time.

    Attributes:
        url: the queue's.
        arn: the queue's.
        function: the function's ARN.
    """

    url: str
    arn: str
    function: str


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A stream that feeds a function batches of records.

    Attributes:
        arn: the stream's.
        function: the function's ARN.
        filters: a record is let through when one of these patterns matches it.
    """

    arn: str
    function: str
    filters: Sequence[Pattern]
