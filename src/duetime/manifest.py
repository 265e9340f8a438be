"""The manifest: which payload types a worker runs. A deploy publishes it; `arm` and the sweeps route by it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

DEFAULT_WORKER = "default"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One worker's types, each with the newest payload version that it reads."""

    worker: str
    types: Mapping[str, int]

    @property
    def hash(self) -> str:
        """Changes when, and only when, the content does."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """A text form; the same content gives the same text."""
        return json.dumps({"worker": self.worker, "types": dict(self.types)}, sort_keys=True)


def workers_by_type(manifests: Iterable[Manifest]) -> dict[str, str]:
    """Which worker runs each type. A type that moves is in two manifests for the time of a roll-over: either may run it."""
    return {type_name: manifest.worker for manifest in manifests for type_name in manifest.types}
