"""Functions that may be jobs, and their definitions or rejections."""

from datetime import UTC, datetime

import pytest

from duetime import App, Payload, Run
from duetime.errors import DeclarationError

NOW = datetime(2026, 11, 1, tzinfo=UTC)


class OldOrders(Payload, version=2):
    days: int = 30
    shops: tuple[str, ...] = ()


class NewOrders(OldOrders, name="new-orders"):
    pass


def clean_up(run: Run) -> None: ...


def remove(orders: OldOrders, run: Run) -> None: ...


def definition_of(*cadences, function=clean_up, **options):
    """The definition of a job that is declared so."""
    app = App()
    app.job(*cadences, **options)(function)
    [definition] = app.jobs.values()
    return definition


def rejection(*cadences, function=clean_up, error=DeclarationError, **options):
    """How it is refused; the function is always named."""
    with pytest.raises(error) as caught:
        definition_of(*cadences, function=function, **options)
    assert f"{function.__module__}.{function.__qualname__}" in str(caught.value)
    return str(caught.value)


def takes_new(payload: NewOrders) -> None: ...
