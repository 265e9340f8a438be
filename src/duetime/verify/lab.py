"""Schedules probes of one verification, and reads their rows: all have one correlation id."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

from duetime import instant
from duetime.clock import Clock
from duetime.errors import DuetimeError

Json = Mapping[str, Any]

FINAL = frozenset({"executed", "failed", "cancelled", "skipped"})
ACTIONS = "actions"
"""The API's path of actions."""

_PAGE = "100"


class Api(Protocol):
    """Calls the admin API as one caller."""

    def ask(
        self,
        method: str,
        *path: str,
        query: Mapping[str, str | None] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Make one call, and return the response's body.

        Raises:
            DuetimeError: no server responds, or it rejects the request.
        """
        ...


class Bounds(NamedTuple):
    """The least and the greatest difference that the observations allow."""

    low: timedelta
    high: timedelta

    def within(self, other: Bounds) -> Bounds:
        """Return the bounds that both allow."""
        return Bounds(max(self.low, other.low), min(self.high, other.high))


_UNBOUNDED = Bounds(timedelta.min, timedelta.max)


@dataclass(slots=True)
class Sighting:
    """When this machine scheduled a probe, and first saw it final; by this machine's clock."""

    scheduled_at: datetime
    final_at: datetime | None = None


@dataclass(slots=True)
class Lab:
    """The probes of one verification. Due times are by the API's clock."""

    api: Api
    clock: Clock
    run_id: str = field(default_factory=lambda: f"verify-{secrets.token_hex(4)}")
    rows: dict[str, Json] = field(default_factory=dict)
    """The newest view of each probe, by id."""
    sightings: dict[str, Sighting] = field(default_factory=dict)
    ahead: Bounds = _UNBOUNDED
    """How far the API's clock is ahead of this machine's."""

    def health(self) -> dict[str, Any]:
        """Return the deployment's health, and compare the clocks."""
        sent_at = self.clock.now()
        health = self.api.ask("GET", "health", "details")
        requested_at = instant.parse(health["requested_at"])
        self.ahead = self.ahead.within(Bounds(requested_at - self.clock.now(), requested_at - sent_at))
        return health

    def now(self) -> datetime:
        """Return the present time of the API's clock."""
        return self.clock.now() + (self.ahead.low + self.ahead.high) / 2

    def schedule(self, type_name: str, due_at: datetime, *, key: str | None = None, **payload: Any) -> Json:
        """Schedule a probe; `key` is its concurrency key."""
        body: dict[str, Any] = {
            "type": type_name,
            "at": instant.text(due_at),
            "payload": payload,
            "correlation_id": self.run_id,
        }
        if key is not None:
            body["concurrency_key"] = key
        return self.place(body)

    def place(self, body: Json) -> Json:
        """Schedule a probe by the request's body."""
        sighting = Sighting(self.clock.now())
        row = self.api.ask("POST", ACTIONS, body=body)
        self.rows.setdefault(row["id"], row)
        self.sightings.setdefault(row["id"], sighting)
        return row

    def change(self, verb: str, row: Json, **body: Any) -> None:
        """Reschedule or redrive a probe."""
        self.api.ask("PUT" if verb == "reschedule" else "POST", ACTIONS, row["id"], verb, body=body)

    def cancel(self, row: Json) -> None:
        """Cancel a probe."""
        self.api.ask("DELETE", ACTIONS, row["id"])

    def refresh(self) -> None:
        """Read all rows of this verification."""
        for row in self._listed():
            if row["id"] in self.rows:
                self.rows[row["id"]] = row
                sighting = self.sightings[row["id"]]
                if row["status"] in FINAL and sighting.final_at is None:
                    sighting.final_at = self.clock.now()

    def _listed(self) -> Iterator[Json]:
        cursor: str | None = None
        while True:
            query = {"correlation_id": self.run_id, "limit": _PAGE, "cursor": cursor}
            page = self.api.ask("GET", ACTIONS, "query", query=query)
            yield from page["items"]
            if (cursor := page["next_cursor"]) is None:
                return

    def clean_up(self) -> list[str]:
        """Cancel what is not final, and redrive what has failed; return what could not be removed."""
        left = []
        for row in self.rows.values():
            try:
                if row["status"] == "failed":
                    self.change("redrive", row)
                elif row["status"] not in FINAL:
                    self.cancel(row)
            except DuetimeError as error:
                left.append(f"{row['id']}: {error}")
        return left
