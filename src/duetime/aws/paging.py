"""Paging: the one loop that follows ``LastEvaluatedKey`` and its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Page = dict[str, Any]
"""A response of DynamoDB's ``Query``: ``Items``, and ``LastEvaluatedKey`` if more follow."""


def paginate(query: Callable[..., Any], start: Any = None, **request: Any) -> Iterator[Page]:
    """Yield the pages of a query, and send each request only when the caller needs its page.

    Args:
        query: performs one request.
        start: the key after which the first page begins; None begins at the first item.
        request: the arguments of each request.
    """
    while True:
        page = query(**request, **({"ExclusiveStartKey": start} if start else {}))
        yield page
        start = page.get("LastEvaluatedKey")
        if not start:
            return


def items_of(query: Callable[..., Any], start: Any = None, **request: Any) -> Iterator[Any]:
    """Yield the items of all pages of a query; see `paginate`."""
    for page in paginate(query, start, **request):
        yield from page["Items"]
