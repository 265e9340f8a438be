"""The manifest: what a worker runs. A deploy publishes its types, by which `arm` and the sweeps route, and reconciles its jobs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from duetime.model.job import Definition


@dataclass(frozen=True, slots=True)
class Manifest:
    """One worker's types, each with the newest payload version that it reads, and its jobs, whose names are types too."""

    worker: str
    types: Mapping[str, int]
    jobs: tuple[Definition, ...] = ()
    in_events: frozenset[str] = frozenset()
    """The types whose payloads lifecycle events may tell."""
    sensitive: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of those types, the paths of what they keep as sensitive."""

    @property
    def hash(self) -> str:
        """Changes when, and only when, the content does."""
        return hashlib.sha256(f"{self.to_json()}\n{self.jobs_json()}".encode()).hexdigest()

    def to_json(self) -> str:
        """Worker and types, which a deploy publishes; the same content gives the same text."""
        said: dict[str, object] = {"worker": self.worker, "types": dict(self.types)}
        if self.in_events:
            said["in_events"] = sorted(self.in_events)
        if self.sensitive:
            said["sensitive"] = {name: list(paths) for name, paths in self.sensitive.items()}
        return json.dumps(said, sort_keys=True)

    def jobs_json(self) -> str:
        """The jobs' definitions, by name: too much for one item. The same content gives the same text."""
        return f"[{','.join(each.to_json() for each in sorted(self.jobs, key=lambda job: job.name))}]"

    @classmethod
    def from_json(cls, written: str, jobs: str = "[]") -> Self:
        """Read what `to_json` and `jobs_json` wrote."""
        from duetime.model.job import Definition  # noqa: PLC0415 - a job names its manifest's worker; and routing needs none

        definitions = tuple(Definition.from_json(json.dumps(load)) for load in json.loads(jobs))
        said = json.loads(written)
        in_events = frozenset(said.get("in_events", ()))
        sensitive = {name: tuple(paths) for name, paths in said.get("sensitive", {}).items()}
        return cls(said["worker"], said["types"], jobs=definitions, in_events=in_events, sensitive=sensitive)


class WorkerRoute(NamedTuple):
    """Where a type is run: the newest payload version that any worker reads of it, and that worker."""

    version: int
    worker: str
    is_told: bool = False
    """Whether lifecycle events may tell its payload."""
    sensitive: tuple[str, ...] = ()
    """Without what these paths lead to."""


def routes_by_type(manifests: Iterable[Manifest]) -> dict[str, WorkerRoute]:
    """The route of each type. One that moves is in two manifests for the time of a roll-over: either may run it."""
    found = dict[str, WorkerRoute]()
    for manifest in manifests:
        for type_name, version in manifest.types.items():
            sensitive = manifest.sensitive.get(type_name, ())
            route = WorkerRoute(version, manifest.worker, type_name in manifest.in_events, sensitive)
            standing = found.get(type_name, route)
            both = tuple(dict.fromkeys((*standing.sensitive, *sensitive)))
            found[type_name] = max(standing, route)._replace(sensitive=both)
    return found
