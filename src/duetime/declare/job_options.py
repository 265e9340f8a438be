"""The options of a job beside its name, handler and cadences, and what they set in its definition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from duetime.cadence.errors import did_you_mean
from duetime.declare.job_rules import overlap_of
from duetime.errors import DeclarationError
from duetime.model.job import Definition, Overlap, Precision
from duetime.payload import Payload
from duetime.retry import Duration, RetryPolicy

if TYPE_CHECKING:  # imported where a job is declared: an app without jobs loads no cadence
    from duetime.cadence import Cadence


class SharedOptions(TypedDict, total=False):
    """The options of each job, which `Definition` describes; one that is not given has its default there."""

    title: str
    category: str
    description: str
    overlap: Overlap | Literal["skip", "queue_one", "allow", "cancel_running"] | None
    catch_up: int
    precision: Precision
    failure_threshold: int
    deadline: str | None
    within: Duration | None
    every_success_within: Duration | None
    after: str | None
    after_timeout: Duration | None


class JobOptions(SharedOptions, total=False):
    """The options of a job that code declares; `duetime.app.App.job` describes them."""

    name: str | None
    payload: Payload | None
    retry: RetryPolicy | None
    timeout: Duration


def check_names(given: Iterable[str], known: Collection[str]) -> None:
    """Check that a job has all given options.

    Raises:
        DeclarationError: it has no such option.
    """
    for name in given:
        if name not in known:
            remedy = (
                'pass it to a cadence, as in cron(…, tz="Europe/Paris"),'
                ' or to all: App(default_tz="Europe/Paris")'
                if name in ("tz", "timezone", "default_tz")
                else did_you_mean(name, known) or f"its options are {', '.join(known)}"
            )
            raise DeclarationError(f"a job takes no {name}=; {remedy}")


_SPANS = ("within", "every_success_within", "after_timeout")


def with_options(definition: Definition, options: SharedOptions, cadences: Sequence[Cadence]) -> Definition:
    """Return a definition with these cadences and the given options, unchecked.

    Raises:
        DeclarationError: a value has another type than it must have, or there is no such overlap policy.
    """
    given: dict[str, Any] = {name: options[name] for name in SharedOptions.__annotations__ if name in options}  # type: ignore[literal-required]
    given |= {name: _whole_seconds(name, given[name]) for name in _SPANS if name in given}
    given["overlap"] = overlap_of(options.get("overlap"), cadences)
    return replace(definition, cadences=tuple(cadence.text for cadence in cadences), **given)


def _whole_seconds(field: str, value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, timedelta | int | float):
        raise DeclarationError(
            f"{field} is {value!r}; use a timedelta, such as timedelta(hours=2), or seconds"
        )
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if not seconds.is_integer():
        raise DeclarationError(f"{field} is {value!r}; use whole seconds")
    return int(seconds)
