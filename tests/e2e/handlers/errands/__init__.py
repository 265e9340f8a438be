"""What the end-to-end tests deploy, first and later.

Only the actions' own rows show from outside what ran.
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
    """The trigger of a run sets its luck."""

    arrives: bool
