"""What the end-to-end tests deploy, first and later.

Nothing tells from outside what ran but the actions' own rows.
"""

from duetime import Payload


class RunErrand(Payload):
    """Something is to be done."""

    what: str


class Collapse(Payload):
    """Something kills the worker in mid-run, once."""


class OrderPlaced(Payload):
    """A shop's event."""

    order: str


class LoseParcel(Payload):
    """Something that can only fail."""

    number: int = 1


class Deliver(Payload):
    """A run's luck is told when it is triggered."""

    arrives: bool
