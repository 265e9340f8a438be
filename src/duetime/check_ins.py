"""Check-ins, a dead man's switch: work elsewhere reports that it ran, and a missing report fails an action.

The app includes the handler::

    from duetime import App, check_ins

    app = App()
    app.include(check_ins)

Each report moves one action of its name to the next deadline, by a debounce key::

    scheduler.place(check_ins.check_in("backup", within=timedelta(hours=26)))

Over HTTP, ``PUT /check-ins/backup`` does the same. If none comes in time, the action runs and fails: a
dead letter, with its event, metric and notification. The next check-in starts again. To end the reports,
cancel the pending action.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from duetime.actions.order import Order
from duetime.app import App
from duetime.cadence.words import span_words
from duetime.errors import InvalidArgument
from duetime.model.run import Run
from duetime.payload import Payload
from duetime.retry import NEVER, Fatal

SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=366)
"""The bounds of the time to the next check-in."""

KEY = "check-in:"
"""The beginning of the debounce key and of the correlation id; the name follows."""

app = App()
"""Has the handler; include it in yours."""


class CheckIn(Payload):
    """The latest check-in of a name."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """What checks in, such as ``backup``: letters, digits, ``.``, ``_`` and ``-``."""
    within: Annotated[float, Field(ge=SHORTEST.total_seconds(), le=LONGEST.total_seconds())]
    """The seconds in which the next one must come."""


@app.action(retry=NEVER)
def report_missing(check: CheckIn, run: Run) -> None:
    """Fail, since no check-in came in time.

    Raises:
        Fatal: always.
    """
    within = timedelta(seconds=check.within)
    last = run.nominal_at - within
    since, longest = f"{last:%Y-%m-%dT%H:%M:%SZ}", span_words(within)
    raise Fatal(f"{check.name} has not checked in since {since}; it must within {longest}")


def check_in(name: str, *, within: timedelta) -> Order:
    """Return the order that reports that `name` ran; `Scheduler.place` and `schedule_many` take it.

    Args:
        name: what ran: 1 to 60 letters, digits, ``.``, ``_`` and ``-``.
        within: when the next check-in must have come: a minute to 366 days.

    Raises:
        InvalidArgument: `within` is no such span.
        InvalidPayload: the name has other characters.
    """
    _check(within)
    return order_of(CheckIn(name=name, within=within.total_seconds()))


def order_of(check: CheckIn) -> Order:
    """Return the order of a check-in: it moves the one action of its name."""
    key = f"{KEY}{check.name}"
    return Order(check, timedelta(seconds=check.within), debounce_key=key, correlation_id=key)


def _check(within: object) -> None:
    if not isinstance(within, timedelta) or not SHORTEST <= within <= LONGEST:
        raise InvalidArgument(
            f"is no time to the next check-in; allowed is a timedelta from {SHORTEST} to {LONGEST}",
            value=within,
        )
