"""The options that a job of code and a registered one share, as parts of a definition."""

# ruff: noqa: D102 - `Definition` describes the options

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from duetime.declare.job_rules import overlap_of
from duetime.declare.whole_seconds import whole_seconds
from duetime.ids import JobName
from duetime.model.job import Definition, Precision
from duetime.retry import Duration

if TYPE_CHECKING:  # imported where a job is declared: an app without jobs loads no cadence
    from duetime.cadence import Cadence


class SharedOptions(Protocol):
    """The options of a decorator or a registration that mean the same in both."""

    @property
    def overlap(self) -> str | None: ...
    @property
    def catch_up(self) -> int: ...
    @property
    def precision(self) -> Precision: ...
    @property
    def failure_threshold(self) -> int: ...
    @property
    def deadline(self) -> str | None: ...
    @property
    def within(self) -> Duration | None: ...
    @property
    def every_success_within(self) -> Duration | None: ...
    @property
    def after(self) -> str | None: ...
    @property
    def after_timeout(self) -> Duration | None: ...
    @property
    def title(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def description(self) -> str: ...


def with_options(definition: Definition, options: SharedOptions, cadences: Sequence[Cadence]) -> Definition:
    """Return a definition with these options and cadences, unchecked.

    Raises:
        DeclarationError: a value has another type than it must have, or there is no such overlap policy.
    """
    return replace(
        definition,
        cadences=tuple(cadence.text for cadence in cadences),
        overlap=overlap_of(options.overlap, cadences),
        catch_up=options.catch_up,
        precision=options.precision,
        failure_threshold=options.failure_threshold,
        deadline=options.deadline,
        within=whole_seconds("within", options.within),
        every_success_within=whole_seconds("every_success_within", options.every_success_within),
        after=None if options.after is None else JobName(options.after),
        after_timeout=whole_seconds("after_timeout", options.after_timeout),
        title=options.title,
        category=options.category,
        description=options.description,
    )
