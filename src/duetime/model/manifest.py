"""The manifest: the types and jobs of a worker.

A deploy publishes the types for routing, and reconciles the jobs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Self

from duetime.model.priority import high_queue_of

if TYPE_CHECKING:
    from duetime.model.job import Definition


@dataclass(frozen=True, slots=True)
class Manifest:
    """One worker's types, each with the newest payload version that it reads, and its jobs.

    The names of its jobs are types too.
    """

    worker: str
    types: Mapping[str, int]
    jobs: tuple[Definition, ...] = ()
    in_events: frozenset[str] = frozenset()
    """The types whose payloads lifecycle events may contain."""
    sensitive: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The paths of sensitive fields, by type."""
    high: frozenset[str] = frozenset()
    """The types whose actions have a high priority."""
    has_high_queue: bool = False
    """Whether the deployment has a high queue of this worker."""

    @property
    def hash(self) -> str:
        """A hash of the content."""
        return hashlib.sha256(f"{self.to_json()}\n{self.jobs_json()}".encode()).hexdigest()

    def to_json(self) -> str:
        """Return worker and types, which a deploy publishes; the same content gives the same text."""
        fields: dict[str, object] = {"worker": self.worker, "types": dict(self.types)}
        if self.in_events:
            fields["in_events"] = sorted(self.in_events)
        if self.sensitive:
            fields["sensitive"] = {name: list(paths) for name, paths in self.sensitive.items()}
        if self.high:
            fields["high"] = sorted(self.high)
        if self.has_high_queue:
            fields["has_high_queue"] = True
        return json.dumps(fields, sort_keys=True)

    def jobs_json(self) -> str:
        """Return the jobs' definitions, sorted by name, too large for one item.

        The same content gives the same text.
        """
        return f"[{','.join(job.to_json() for job in sorted(self.jobs, key=lambda job: job.name))}]"

    @classmethod
    def from_json(cls, written: str, jobs: str = "[]") -> Self:
        """Read the results of `to_json` and `jobs_json`."""
        from duetime.model.job import Definition  # noqa: PLC0415 - routing needs no definitions

        definitions = tuple(Definition.from_json(json.dumps(job)) for job in json.loads(jobs))
        fields = json.loads(written)
        in_events = frozenset(fields.get("in_events", ()))
        sensitive = {name: tuple(paths) for name, paths in fields.get("sensitive", {}).items()}
        return cls(
            fields["worker"],
            fields["types"],
            jobs=definitions,
            in_events=in_events,
            sensitive=sensitive,
            high=frozenset(fields.get("high", ())),
            has_high_queue=fields.get("has_high_queue") is True,
        )

    def deployed(self, *, high_priority: bool) -> Self:
        """Return the manifest as a deploy with that setting publishes it."""
        return replace(self, has_high_queue=high_priority or bool(self.high))


class WorkerRoute(NamedTuple):
    """The worker of a type: the one that reads the newest payload version."""

    version: int
    worker: str
    is_in_events: bool = False
    """Whether lifecycle events may contain its payload."""
    sensitive: tuple[str, ...] = ()
    """The paths to redact in that payload."""
    is_high: bool = False
    """Whether all its actions have a high priority."""
    has_high_queue: bool = False
    """Whether the worker has a high queue."""

    def queue(self, *, is_high: bool) -> str:
        """Return the queue for an action's messages, by the action's own priority."""
        return (
            high_queue_of(self.worker) if self.has_high_queue and (self.is_high or is_high) else self.worker
        )


def routes_by_type(manifests: Iterable[Manifest]) -> dict[str, WorkerRoute]:
    """Return the route of each type.

    During a roll-over two manifests may have a type, and either may run it.
    """
    found = dict[str, WorkerRoute]()
    for manifest in manifests:
        for type_name, version in manifest.types.items():
            sensitive = manifest.sensitive.get(type_name, ())
            route = WorkerRoute(
                version,
                manifest.worker,
                type_name in manifest.in_events,
                sensitive,
                type_name in manifest.high,
                manifest.has_high_queue,
            )
            other = found.get(type_name, route)
            both = tuple(dict.fromkeys((*other.sensitive, *sensitive)))
            found[type_name] = max(other, route)._replace(sensitive=both)
    return found


PLAIN_LIMIT = 20_000
"""The most characters of JSON that the template contains uncompressed."""

_COMPRESSED = "z:"


def packed(json_text: str) -> str:
    """Return the jobs as a property for CloudFormation, whose limit is short: long JSON is compressed."""
    if len(json_text) <= PLAIN_LIMIT:
        return json_text
    return _COMPRESSED + base64.b64encode(zlib.compress(json_text.encode(), 9)).decode()


def unpacked(written: str) -> str:
    """Return the JSON of a property that `packed` has made."""
    if not written.startswith(_COMPRESSED):
        return written
    return zlib.decompress(base64.b64decode(written.removeprefix(_COMPRESSED))).decode()
