"""An app as users write them: a handler that reads a row of its own, and writes it, by boto3's resources."""

from __future__ import annotations

import os
from decimal import Decimal
from functools import cache
from typing import Any

import boto3

from duetime import App, Payload, Run

app = App()


class CloseOrder(Payload):
    """A payload of some fields."""

    order: str
    amount: Decimal
    lines: tuple[str, ...] = ()


@cache
def orders() -> Any:
    return boto3.resource("dynamodb").Table(os.environ["ORDERS"])


@app.action
def close_order(payload: CloseOrder, run: Run) -> None:
    """Read an order and write it: two calls of a handler's own."""
    orders().get_item(Key={"pk": payload.order, "sk": "order"})
    orders().put_item(
        Item={"pk": payload.order, "sk": "order", "amount": payload.amount, "lines": list(payload.lines)}
    )
    run.log.info("closed")
