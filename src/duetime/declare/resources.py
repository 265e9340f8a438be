"""Resources: what handlers are given beside payload and run, such as a database's client.

A resource is declared by the function that makes it, and asked for by its type. It is made once per process, at the
first run that needs it: an import makes none, so that neither a cold start nor a check pays for what it does not use.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_args

from duetime.declare.handler import Dependency, Function, Signature, may_be_a_resource, returned_by, where_of
from duetime.errors import DeclarationError, DuetimeError, truncate


class ResourceFailed(DuetimeError, RuntimeError):
    """A resource could not be made; the run that needed it may be repeated, and tries again."""

    code = "resource-failed"

    def __init__(self, factory: Factory, reason: BaseException) -> None:
        self.resource = factory.name
        super().__init__(
            f"{factory.where} could not make {factory.name}: {type(reason).__name__}: {truncate(reason)}"
        )


@dataclass(frozen=True, slots=True)
class Factory:
    """A function that makes a resource, and the resources that it takes itself."""

    makes: Any
    """The annotation that asks for it: that very type, no other."""
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
    """The factory of the resource that a function says it returns.

    Raises:
        DeclarationError: it says no type, or one too general; it is no plain function, or takes what no resource can be.
    """
    bare = inspect.unwrap(function)
    if (
        inspect.isgeneratorfunction(bare)
        or inspect.iscoroutinefunction(bare)
        or inspect.isasyncgenfunction(bare)
    ):
        raise DeclarationError(
            f"{where_of(function)}: a resource is made by a plain function, neither async nor a generator: nothing"
            " takes it down, it lives as long as the process"
        )
    takes, makes = Signature.from_function(function), returned_by(function)
    if not may_be_a_resource(makes):
        raise DeclarationError(
            f"{where_of(function)} must say what it makes, by a type of its own: def database() -> Database;"
            " NewType makes one of a built-in type"
        )
    refused = (*takes.payloads, *takes.runs, *takes.others)
    if refused:
        raise DeclarationError(
            f"{where_of(function)} may take other resources, and nothing else without a default; it has"
            f" {', '.join(refused)}"
        )
    return Factory(makes, function, takes.wants)


class Factories:
    """The factories of an app, by what they make."""

    def __init__(self, factories: Iterable[Factory] = ()) -> None:
        self._by_type: dict[Any, Factory] = {factory.makes: factory for factory in factories}

    @property
    def by_type(self) -> Mapping[Any, Factory]:
        """Each factory, by the annotation that asks for its resource."""
        return MappingProxyType(self._by_type)

    def add(self, factory: Factory) -> None:
        """Take in a factory.

        Raises:
            DeclarationError: its type has another one, or resources would need each other in a circle.
        """
        standing = self._by_type.get(factory.makes)
        if standing == factory:
            return
        if standing is not None:
            raise DeclarationError(
                f"the resource {factory.name} has two factories, {standing.where} and {factory.where}; one type has"
                " one factory, and NewType makes another type of it"
            )
        if circle := list(self._way(factory, factory.makes, set())):
            steps = ", ".join(f"{each.where} takes {name_of(want.annotation)}" for each, want in circle)
            raise DeclarationError(f"resources need each other in a circle: {steps}")
        self._by_type[factory.makes] = factory

    def _way(self, factory: Factory, goal: object, seen: set[object]) -> Iterator[tuple[Factory, Dependency]]:
        """The steps from a factory to the resource `goal`; none if it does not need that."""
        for want in factory.wants:
            if want.annotation == goal:
                yield factory, want
                return
            further = self._by_type.get(want.annotation)
            if further is None or want.annotation in seen:
                continue
            seen.add(want.annotation)
            if way := list(self._way(further, goal, seen)):
                yield factory, want
                yield from way
                return

    def replaced(self, given: Mapping[Any, object]) -> Factories:
        """These, with resources that are made already in place of some.

        Raises:
            DeclarationError: none of these makes such a resource.
        """
        for each in given:
            if each not in self._by_type:
                known = ", ".join(sorted(map(name_of, self._by_type))) or "none"
                raise DeclarationError(
                    f"the app has no resource {name_of(each)} that could be replaced; it has {known}"
                )
        ready = (Factory(makes, lambda made=made: made) for makes, made in given.items())
        return Factories([*self._by_type.values(), *ready])

    def missing(self, where: str, wants: Iterable[Dependency]) -> Iterator[str]:
        """What a function asks for in vain, in a sentence each."""
        for want in wants:
            asked = f"{where} takes {want.name}: {name_of(want.annotation)}"
            if want.annotation in self._by_type:
                continue
            if meant := [each for each in self._by_type if each in get_args(want.annotation)]:
                yield f"{asked}, and a resource is asked for by its very type; say {name_of(meant[0])}"
            elif not want.has_default:
                yield (
                    f"{asked}, and the app has no such resource; declare a function that makes it with @app.resource,"
                    " or give the parameter a default"
                )


class Resources:
    """The resources of one process. Safe to use from several threads: whoever needs one first makes it for all.

    A factory that raises leaves nothing behind; whoever needs its resource next calls it again.
    """

    def __init__(self, factories: Mapping[Any, Factory]) -> None:
        self._factories = dict(factories)
        self._made: dict[Any, object] = {}
        self._locks = {factory: threading.Lock() for factory in self._factories}

    def of(self, wants: Iterable[Dependency]) -> dict[str, object]:
        """What fills these parameters, by their names; one without a resource keeps its default.

        Raises:
            ResourceFailed: a factory raised.
        """
        return {want.name: self._get(want.annotation) for want in wants if want.annotation in self._factories}

    def _get(self, wanted: object) -> object:
        with self._locks[wanted]:  # held while others are made for this one: there are no circles
            if wanted not in self._made:
                self._made[wanted] = self._make(self._factories[wanted])
            return self._made[wanted]

    def _make(self, factory: Factory) -> object:
        given = self.of(factory.wants)
        try:
            return factory.function(**given)
        except Exception as error:
            raise ResourceFailed(factory, error) from error


def name_of(annotation: object) -> str:
    """A type's name, for messages."""
    if isinstance(annotation, type):
        return annotation.__qualname__
    return getattr(annotation, "__name__", None) or str(annotation)
