"""The handlers of one worker, with what they need to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from duetime.declare.handler import Handler
from duetime.declare.resources import Factories, Factory, Resources
from duetime.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class HandlerSet:
    """What a worker runs.

    Attributes:
        worker: the name of the worker, and of its queue.
        by_name: each handler, by its payload type's name or its job's.
        factories: the factories of the handlers' resources.
    """

    worker: str
    by_name: Mapping[str, Handler]
    factories: Factories = field(default_factory=Factories)

    def resources(self) -> Resources:
        """Return the resources of one process; none is made yet.

        Raises:
            DeclarationError: a function has a parameter whose type no resource provides.
        """
        functions: list[Handler | Factory] = [*self.by_name.values(), *self.factories.by_type.values()]
        if missing := [problem for function in functions for problem in self.factories.missing(function)]:
            raise DeclarationError("; ".join(missing))
        return Resources(self.factories.by_type)

    def __contains__(self, name: Any) -> bool:
        """Return whether a type or job has a handler here."""
        return name in self.by_name
