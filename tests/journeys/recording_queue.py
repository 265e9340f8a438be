"""A queue that remembers what was sent."""

from __future__ import annotations

from datetime import timedelta

from duetime.errors import BackendUnavailable, QueueMissing


class RecordingQueue:
    """Remembers what was sent; each send may take time, or fail."""

    def __init__(self, clock):
        self.clock, self.sent, self.takes, self.fails_for = clock, [], timedelta(0), set()
        self.missing = None

    def send(self, sends):
        if any(send.queue == self.missing for send in sends):
            raise QueueMissing("SQS", f"no queue is named {self.missing!r}", "Deploy again")
        self.clock.wait_until(self.clock.now() + self.takes)
        if any(send.message.ref.id in self.fails_for for send in sends):
            raise BackendUnavailable("SQS", "this one never works")
        self.sent += [send.message.ref.id for send in sends]
