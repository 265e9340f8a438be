"""The bodies that were sent to queues, for tests."""

from __future__ import annotations


class MemoryBodies:
    """A list of the sent bodies with their queues.

    See `duetime.ports.undelivered.BodyQueues`.
    """

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def put(self, queue: str, body: str) -> None:
        self.sent.append((queue, body))
