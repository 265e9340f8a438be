"""Time that a test turns for an embedded cloud."""

from datetime import timedelta


def advance(cloud, clock, span):
    """Turn the clock by a span, and run what the cloud has to do meanwhile."""
    until = clock.now() + span
    while True:
        while (delivery := cloud.turn()) is not None:
            clock.wait_until(delivery.message.due_at)
            cloud.run(delivery)
        if clock.now() >= until:
            return
        soonest = clock.now() + timedelta(seconds=0.1)
        clock.wait_until(min(until, max(cloud.next_at(), soonest)))
