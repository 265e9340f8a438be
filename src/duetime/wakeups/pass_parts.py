"""Run the parts of a pass, each in a share of its time: a part whose calls hang starves no other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from duetime.clock import Clock

log = logging.getLogger(__name__)

Part = Callable[[datetime], Mapping[str, Any]]
"""A part of a pass, to end by an instant; returns what it did."""

LONGEST_CALL = timedelta(seconds=7)
"""The longest call of a pass: two attempts, each with one second to connect and two to read, and a pause."""


def in_turn(parts: Sequence[Part], stop_at: datetime, clock: Clock) -> Mapping[str, Any]:
    """Run the parts in turn, each with an equal share of the remaining time; a failing part stops no other.

    The last call of a part may exceed its share. So the passes' calls are short; see `aws.clients.PROMPT`.

    Raises:
        Exception: what the first part raised that failed.
    """
    done, failure = dict[str, Any](), None
    for index, part in enumerate(parts):
        now = clock.now()
        try:
            done |= part(now + (stop_at - now) / (len(parts) - index))
        except Exception as error:
            log.exception("a part of the pass failed, the others go on")
            failure = failure or error
    if failure is not None:
        raise failure
    return done
