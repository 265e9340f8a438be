"""Resources: objects that handlers need beside payload and run, such as a database's client.

A factory function declares a resource, and a parameter's type requests it. It is made once per process, at
the first run that needs it. Imports make none, so a cold start or a check does not pay for unused resources.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from duetime.declare.handler import Handler
from duetime.declare.signature import (
    Dependency,
    Function,
    Signature,
    annotations_of,
    is_generator,
    may_be_a_resource,
    where_of,
)
from duetime.errors import DeclarationError, DuetimeError
from duetime.model.outcome import in_words


class ResourceFailed(DuetimeError, RuntimeError):
    """A factory raised an error; a retry of the run calls it again."""

    code = "resource-failed"

    def __init__(self, factory: Factory, reason: BaseException) -> None:
        self.resource = factory.name
        super().__init__(f"{factory.where} could not make {factory.name}: {in_words(reason)}")


@dataclass(frozen=True, slots=True)
class Factory:
    """A function that makes a resource, and the resources that it needs.

    Attributes:
        makes: the annotation that requests it: exactly this type.
    """

    makes: Any
    function: Function
    wants: tuple[Dependency, ...] = ()

    @property
    def name(self) -> str:
        """The type, for messages."""
        return name_of(self.makes)

    @property
    def where(self) -> str:
        """Where it is defined, for messages."""
        return where_of(self.function)


def factory_of(function: Function) -> Factory:
    """Return the factory of the resource in a function's return annotation.

    Raises:
        DeclarationError: it returns no type, or one too general; it is no plain function, or has another
            parameter.
    """
    if is_generator(function) or inspect.iscoroutinefunction(inspect.unwrap(function)):
        raise DeclarationError(
            f"{where_of(function)}: a resource needs a plain function, neither async nor a generator:"
            " duetime does not close it, it lives as long as the process"
        )
    signature, makes = Signature.from_function(function), annotations_of(function).get("return")
    if not may_be_a_resource(makes):
        raise DeclarationError(
            f"{where_of(function)} must return a type of its own: def database() -> Database;"
            " NewType makes one of a built-in type"
        )
    others = (*signature.payloads, *signature.batches, *signature.runs, *signature.others)
    if others:
        raise DeclarationError(
            f"{where_of(function)} may take other resources, and nothing else without a default; it has"
            f" {', '.join(others)}"
        )
    return Factory(makes, function, signature.wants)


class Factories:
    """The factories of an app, by the annotation that requests their resource."""

    def __init__(self, factories: Iterable[Factory] = ()) -> None:
        self.by_type: dict[Any, Factory] = {factory.makes: factory for factory in factories}

    def add(self, factory: Factory) -> None:
        """Add a factory.

        Raises:
            DeclarationError: its type has another one, or resources would need each other in a cycle.
        """
        other = self.by_type.get(factory.makes)
        if other == factory:
            return
        if other is not None:
            raise DeclarationError(
                f"the resource {factory.name} has two factories, {other.where} and {factory.where};"
                " one type has one factory, and NewType makes another type of it"
            )
        if circle := list(self._way(factory, factory.makes, set())):
            steps = ", ".join(f"{factory.where} takes {name_of(want.annotation)}" for factory, want in circle)
            raise DeclarationError(f"resources need each other in a circle: {steps}")
        self.by_type[factory.makes] = factory

    def _way(self, factory: Factory, goal: object, seen: set[object]) -> Iterator[tuple[Factory, Dependency]]:
        """Return the steps from a factory to the resource `goal`; none if it does not need that."""
        for want in factory.wants:
            if want.annotation == goal:
                yield factory, want
                return
            further = self.by_type.get(want.annotation)
            if further is None or want.annotation in seen:
                continue
            seen.add(want.annotation)
            if way := list(self._way(further, goal, seen)):
                yield factory, want
                yield from way
                return

    def replaced(self, given: Mapping[Any, object]) -> Factories:
        """Return these factories, with given resources in place of some.

        Raises:
            DeclarationError: none of these makes such a resource.
        """
        for resource in given:
            if resource not in self.by_type:
                known = ", ".join(sorted(map(name_of, self.by_type))) or "none"
                raise DeclarationError(
                    f"the app has no resource {name_of(resource)} that could be replaced; it has {known}"
                )
        ready = (Factory(makes, lambda made=made: made) for makes, made in given.items())
        return Factories([*self.by_type.values(), *ready])

    def missing(self, function: Handler | Factory) -> Iterator[str]:
        """Yield a sentence for each parameter of a function that no resource provides."""
        for want in function.wants:
            parameter = f"{function.where} takes {want.name}: {name_of(want.annotation)}"
            if want.annotation in self.by_type:
                continue
            if near := [known for known in self.by_type if known in get_args(want.annotation)]:
                yield f"{parameter}, and a resource needs its exact type; write {name_of(near[0])}"
            elif not want.has_default:
                yield (
                    f"{parameter}, and the app has no such resource; declare a function that makes it"
                    " with @app.resource, or give the parameter a default"
                )


class Resources:
    """The resources of one process, safe to use from several threads.

    The first run that needs a resource makes it for all. After a factory raises, the next run calls it again.
    """

    def __init__(self, factories: Mapping[Any, Factory]) -> None:
        self._factories = dict(factories)
        self._made: dict[Any, object] = {}
        self._locks = {factory: threading.Lock() for factory in self._factories}

    def for_parameters(self, wants: Iterable[Dependency]) -> dict[str, object]:
        """Return the resources for parameters, by their names; one without a resource has its default.

        Raises:
            ResourceFailed: a factory raised.
        """
        return {want.name: self._get(want.annotation) for want in wants if want.annotation in self._factories}

    def _get(self, annotation: object) -> object:
        with self._locks[annotation]:  # held while others are made for this one: there are no circles
            if annotation not in self._made:
                self._made[annotation] = self._make(self._factories[annotation])
            return self._made[annotation]

    def _make(self, factory: Factory) -> object:
        given = self.for_parameters(factory.wants)
        try:
            return factory.function(**given)
        except Exception as error:
            raise ResourceFailed(factory, error) from error


def name_of(annotation: object) -> str:
    """Return a type's name, for messages."""
    if isinstance(annotation, type):
        return annotation.__qualname__
    return getattr(annotation, "__name__", None) or str(annotation)
