"""Idempotency keys as a tenant's callers use them, and what must hold of the actions under them."""

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

from duetime.testing.journey import short

SECOND = timedelta(seconds=1)
TTLS = [None, None, timedelta(minutes=1), timedelta(minutes=10)]


@dataclass(eq=False)
class Key:
    """One key, with the errand that it was used for last."""

    name: str
    errand: object
    ttl: timedelta | None
    confused: list[str] = field(default_factory=list)

    def schedule(self, scheduler, at, other=None):
        """Schedule its errand, or another one instead, which its tenant should not do.

        The answer is for what was requested.
        """
        request = other or self.errand
        answer = scheduler.schedule(request, at=at, idempotency_key=self.name, idempotency_ttl=self.ttl)
        if answer.payload != request.to_json():
            self.confused.append(answer.id)
        self.errand = request
        return answer


class Keys:
    """The keys of one tenant."""

    def __init__(self, tenant, usual_ttl):
        self.tenant, self.usual_ttl = tenant, usual_ttl
        self.keys: list[Key] = []

    def new(self, errand, draw):
        self.keys.append(Key(f"order-{len(self.keys)}", errand, draw.choice(TTLS)))
        return self.keys[-1]

    def previous(self, draw):
        return draw.choice(self.keys[-4:])

    def broken(self, rows):
        """Of two actions under one key, the second was made when the first one's time had passed."""
        for key in self.keys:
            yield from (
                f"{short(item)} is returned for {key.name}, which did not schedule it"
                for item in key.confused
            )
            mine = [row for row in rows if (row.tenant_id, row.idempotency_key) == (self.tenant, key.name)]
            for first, second in pairwise(sorted(mine, key=lambda row: row.created_at)):
                until = first.created_at + (key.ttl or self.usual_ttl) - SECOND
                if second.created_at < until:
                    yield f"{short(second.id)} is made under the key {key.name}, which {short(first.id)} has"
