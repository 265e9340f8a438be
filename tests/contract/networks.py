"""Networks between the store and DynamoDB that lose answers. The calls themselves reach a real engine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ReadTimeoutError

from tests.emulated.fast_path.requests import activate


class LosesAnAnswer:
    """Makes each call, but loses the answer of the first `operation`.

    `meanwhile` then happens before anybody knows.
    """

    def __init__(self, client: Any, operation: str, meanwhile: Callable[[], object] = lambda: None) -> None:
        self._client, self._operation, self._meanwhile = client, operation, meanwhile
        self._is_to_come = True

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if name != self._operation or not self._is_to_come:
            return found

        def call(**request: Any) -> Any:
            self._is_to_come = False
            found(**request)
            self._meanwhile()
            raise ReadTimeoutError(endpoint_url="the table")

        return call


class SendsTwice:
    """Makes each write twice and hands out the second answer.

    What botocore does by itself after a lost one.
    """

    WRITES = frozenset({"put_item", "update_item", "delete_item"})

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if name not in self.WRITES:
            return found

        def call(**request: Any) -> Any:
            found(**request)
            return found(**request)

        return call


@contextmanager
def repeating(client: Any, operation: str, meanwhile: Callable[[], object]) -> Iterator[None]:
    """Have botocore repeat the next `operation`, such as UpdateItem, as if its response were lost.

    Other calls come between the two requests: `meanwhile` makes them.
    """
    events, event, repeated = client.meta.events, f"needs-retry.dynamodb.{operation}", []

    def repeat(**_response: Any) -> int | None:
        if repeated:
            return None
        repeated.append(operation)
        meanwhile()
        return 0

    events.register_first(event, repeat)
    try:
        with activate(None):  # it sends no request that botocore could repeat
            yield
    finally:
        events.unregister(event, repeat)
    assert repeated
